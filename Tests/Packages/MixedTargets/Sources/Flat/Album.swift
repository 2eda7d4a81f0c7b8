import CoreData
import Foundation

@objc(Album)
public final class Album: NSManagedObject {
    @NSManaged public var title: String
    @NSManaged public var year: Int16
    public private(set) var origin = "store"

    /// An initializer of its own, beside which the inherited one has to be written.
    public init(title: String, in context: NSManagedObjectContext) {
        super.init(entity: Album.entity(), insertInto: context)
        self.title = title
        origin = "program"
    }

    public static func anyRequest() -> NSFetchRequest<NSFetchRequestResult> {
        NSFetchRequest<Album>(entityName: "Album") as! NSFetchRequest<NSFetchRequestResult>
    }
}

public protocol Fetchable: NSManagedObject {}

extension Fetchable {
    public static func typedRequest() -> NSFetchRequest<Self> {
        return Album.anyRequest() as! NSFetchRequest<Self>
    }
}

extension Album: Fetchable {}

public extension Album {
    @objc override func awakeFromInsert() {
        super.awakeFromInsert()
        year = 1977
    }

    func place() -> Int { return #line }
}
