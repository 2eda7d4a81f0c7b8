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
    @NSManaged private var primitiveVerdict: Verdict?
    @NSManaged private func primitiveSecret() -> String?
    @NSManaged private func setPrimitiveSecret(_ value: String?)

    func tell(_ text: String) -> String? {
        secret = text
        setPrimitiveSecret(primitiveSecret().map { $0 + "!" })
        return secret
    }

    func turn() { primitiveVerdict = primitiveVerdict == .good ? .bad : nil }
}

/// A property that this module adds to a class of another.
extension Label {
    @NSManaged var address: URL?
}
