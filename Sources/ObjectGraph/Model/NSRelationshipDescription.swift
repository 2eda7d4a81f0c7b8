internal import Foundation

/// The effect of deleting an object on the destination objects of its relationship.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing changes; the application keeps the graph consistent.
    case noActionDeleteRule = 0
    /// The deleted object is removed from the inverse relationship.
    case nullifyDeleteRule = 1
    /// The destination objects are deleted too.
    case cascadeDeleteRule = 2
    /// The save fails while there are destination objects.
    case denyDeleteRule = 3
}

/// Describes a relationship to another entity.
///
/// A relationship is to-one when ``maxCount`` is 1 and to-many otherwise (0 means no limit).
///
/// Source: [NSRelationshipDescription](https://developer.apple.com/documentation/coredata/nsrelationshipdescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity of the destination objects.
    open var destinationEntity: NSEntityDescription? {
        get { destination }
        set {
            willEditHash()
            destination = newValue
        }
    }
    /// The inverse relationship; nil if there is none.
    ///
    /// The two must be each other's inverse. A relationship whose inverse has another inverse (or none) is treated as having none: changes at one end
    /// are not applied to the other. ``NSManagedObjectModel/check(namesOfClasses:)`` warns of it.
    open var inverseRelationship: NSRelationshipDescription? {
        get { inverse }
        set {
            willEditHash()
            inverse = newValue
        }
    }
    /// The names of a destination and inverse that the model file does not contain. They are resolved when the model is merged with
    /// another.
    package final var missingDestination: String?
    package final var missingInverse: String?
    // Entities and relationships refer to each other in cycles, which the model breaks when it is deallocated.
    private var destination: NSEntityDescription?
    private var inverse: NSRelationshipDescription?

    /// The inverse relationship if it is mutual: the end that is updated when this one changes.
    package final var mutualInverse: NSRelationshipDescription? {
        guard let inverse, inverse.inverse === self else { return nil }
        return inverse
    }

    /// The inverse relationship that stores keep as well; nil if it is transient, or not mutual.
    package final var storedInverse: NSRelationshipDescription? { mutualInverse.flatMap { $0.isTransient ? nil : $0 } }

    /// Releases the references to the other end.
    package final func breakReferenceCycle() {
        destination = nil
        inverse = nil
    }
    /// The effect of deleting an object on the destination objects.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { requireMutable() } }
    /// The minimum number of objects that a save accepts, if there are any or the relationship is not optional.
    open var minCount: Int = 0 { willSet { willEditHash() } }
    /// The maximum number of objects that a save accepts; 0 and `Int.max` mean no limit, 1 makes the relationship to-one.
    open var maxCount: Int = 0 { willSet { willEditHash() } }
    /// Whether a to-many relationship is ordered. It has no effect on a to-one relationship.
    open var isOrdered: Bool = false { willSet { willEditHash() } }

    /// Whether the relationship is to-many.
    open var isToMany: Bool { maxCount != 1 }

    /// The index of the relationship among the relationships of its entity and of all subentities.
    final var relationshipIndex = -1

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSRelationshipDescription else { return }
        copy.destinationEntity = destinationEntity
        copy.inverseRelationship = inverseRelationship
        copy.missingDestination = missingDestination
        copy.missingInverse = missingInverse
        copy.deleteRule = deleteRule
        copy.minCount = minCount
        copy.maxCount = maxCount
        copy.isOrdered = isOrdered
    }
}

extension NSRelationshipDescription {
    /// Creates a relationship. Set ``inverseRelationship`` on both ends once both exist, or use `inverse(to:)`.
    ///
    /// - Parameters:
    ///   - name: The name of the relationship.
    ///   - destination: The entity of the destination objects.
    ///   - toMany: Whether the relationship is to-many.
    ///   - isOrdered: Whether a to-many relationship is ordered.
    ///   - isOptional: Whether it may be empty when saved.
    ///   - deleteRule: The delete rule.
    public convenience init(
        name: String, destination: NSEntityDescription, toMany: Bool = false, isOrdered: Bool = false, isOptional: Bool = true,
        deleteRule: NSDeleteRule = .nullifyDeleteRule
    ) {
        self.init()
        self.name = name
        self.destinationEntity = destination
        self.maxCount = toMany ? 0 : 1
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.deleteRule = deleteRule
    }

    /// Makes this relationship and `other` each other's inverse.
    public func inverse(to other: NSRelationshipDescription) {
        inverseRelationship = other
        other.inverseRelationship = self
    }
}
