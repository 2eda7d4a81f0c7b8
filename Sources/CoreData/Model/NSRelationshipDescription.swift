internal import Foundation

/// What happens to the objects at the other end of a relationship when the object at this end is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing; the application keeps the graph whole by itself.
    case noActionDeleteRule = 0
    /// Their inverse is set to nil, or loses the deleted object.
    case nullifyDeleteRule = 1
    /// They are deleted too.
    case cascadeDeleteRule = 2
    /// The delete fails at save while there are any.
    case denyDeleteRule = 3
}

/// Describes a relationship to another entity.
///
/// A relationship is to-one when ``maxCount`` is 1 and to-many otherwise (0 means no limit).
///
/// Source: [NSRelationshipDescription](https://developer.apple.com/documentation/coredata/nsrelationshipdescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity of the objects at the other end.
    open var destinationEntity: NSEntityDescription? {
        get { destination }
        set {
            requireMutable()
            destination = newValue
        }
    }
    /// The relationship back; nil where there is none.
    ///
    /// The two must name each other. A relationship whose inverse names another (or none) is one without inverse to contexts and stores: what
    /// is set at one end does not show at the other. ``NSManagedObjectModel/check(namesOfClasses:)`` warns of it.
    open var inverseRelationship: NSRelationshipDescription? {
        get { inverse }
        set {
            requireMutable()
            inverse = newValue
        }
    }
    /// The names of the ends that the model file does not hold. They are found when the model is merged with another.
    final var missingDestination: String?
    final var missingInverse: String?
    // Entities and relationships refer to each other in circles; the model cuts them when it goes.
    private var destination: NSEntityDescription?
    private var inverse: NSRelationshipDescription?

    /// The relationship back, where that one leads back here: the end that follows when this one changes.
    final var keptInverse: NSRelationshipDescription? {
        guard let inverse, inverse.inverse === self else { return nil }
        return inverse
    }

    /// Cuts the references to the other end.
    final func cutCircle() {
        destination = nil
        inverse = nil
    }
    /// What deleting the object at this end does to those at the other.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { requireMutable() } }
    /// The smallest number of objects that a save accepts, where there are any or the relationship is not optional.
    open var minCount: Int = 0 { willSet { requireMutable() } }
    /// The largest number of objects that a save accepts; 0 means no limit, 1 makes the relationship to-one.
    open var maxCount: Int = 0 { willSet { requireMutable() } }
    /// Whether the objects of a to-many relationship keep an order.
    open var isOrdered: Bool = false { willSet { requireMutable() } }

    /// Whether the relationship leads to any number of objects.
    open var isToMany: Bool { maxCount != 1 }

    /// The place of the relationship among the relationships of its entity and all its subentities.
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
    /// Makes a named relationship in one line. Set ``inverseRelationship`` on both ends once both exist, or use `inverse(to:)`.
    ///
    /// - Parameters:
    ///   - name: the key of the relationship.
    ///   - destination: the entity at the other end.
    ///   - toMany: whether it leads to any number of objects.
    ///   - isOrdered: whether a to-many relationship keeps an order.
    ///   - isOptional: whether it may be empty when saved.
    ///   - deleteRule: what deleting this end does.
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
