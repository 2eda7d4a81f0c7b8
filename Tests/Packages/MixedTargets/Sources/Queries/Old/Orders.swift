import CoreData
import Flat

extension Queries {
    public static func byTitle() -> NSSortDescriptor { NSSortDescriptor(key: #keyPath(Album.title), ascending: false) }
}
