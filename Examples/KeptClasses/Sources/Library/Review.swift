import Catalogue
import CoreData

/// A class beside the excluded folder, with types of the folder and of another module.
final class Review: NSManagedObject {
    enum Verdict: String {
        case good, bad
    }

    @NSManaged var verdict: Verdict
    @NSManaged var artist: Artist?
    @NSManaged var album: Album?
    @NSManaged private var secret: String?

    func tell(_ text: String) -> String? {
        secret = text
        return secret
    }
}

/// A property that this module gives a class of another.
extension Label {
    @NSManaged var address: URL?
}
