public import CoreData

/// An artist. Its classes are those of an application, without changes for Linux.
open class Artist: NSManagedObject {
    /// The genre of an artist, stored as a number.
    public enum Genre: Int16, Sendable {
        case jazz, rock, folk
    }

    /// A place of origin, stored through a transformer.
    public final class Origin: NSObject {
        public let city: String
        public init(city: String) { self.city = city }
    }

    @NSManaged public var name: String
    @NSManaged open var nickname: String?
    @NSManaged public var genre: Genre
    @NSManaged public var secondGenre: Genre?
    @NSManaged public var origin: Origin?
    @NSManaged public private(set) var visits: Int64
    @NSManaged public var labels: Set<Label>
    @NSManaged private var primitiveName: String

    /// The primitive value of the name, read without firing a fault.
    public var storedName: String {
        get { primitiveName }
        set {
            willChangeValue(forKey: "name")
            primitiveName = newValue
            didChangeValue(forKey: "name")
        }
    }

    public func visit() { visits += 1 }
}

/// A subclass that overrides a generated accessor.
public final class Band: Artist {
    @NSManaged public var members: Int32

    public override var nickname: String? {
        get { super.nickname.map { "The \($0)" } }
        set { super.nickname = newValue }
    }
}

extension Artist {
    @NSManaged public func addToLabels(_ value: Label)
    @NSManaged public func removeFromLabels(_ values: Set<Label>)
}

public class Label: NSManagedObject {
    @NSManaged public var title: String
    @NSManaged public var artists: NSSet?
    @NSManaged internal var secret: Int
}
