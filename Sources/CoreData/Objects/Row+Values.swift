internal import Foundation
public import Predicates

// Rows as stores outside of the framework make and read them: by property, with values that travel alone.

extension Row {
    /// A row of an object, every property of which is nil, to be filled by its maker before anybody else has it.
    ///
    /// - Parameter version: a number that counts up with each change of the row.
    public init(_ objectID: NSManagedObjectID, version: Int64) {
        self = .blank(objectID.owningEntity.frozenParts.layout, objectID: objectID, version: version)
    }

    /// The value of an attribute; nil also where it is unknown.
    public func value(of attribute: NSAttributeDescription) -> PropertyValue {
        any(at: layout.slots[attribute.slotIndex], of: attribute).map { (try? PropertyValue(any: $0)) ?? .null } ?? .null
    }

    /// Sets the value of an attribute. By the row's maker, before anybody else has it.
    ///
    /// - Throws: code 134060 for a value that the attribute cannot hold.
    public func setValue(_ value: PropertyValue, of attribute: NSAttributeDescription) throws {
        guard let stored = AttributeCheck.conform(value.any, to: attribute) else {
            throw CoreDataError.make(
                NSCoreDataError, "“\(attribute)” cannot hold \(value).", reason: "The model gives it another type.",
                next: "Convert the value before it is put into the row.")
        }
        store(stored, in: layout.slots[attribute.slotIndex])
    }

    /// Sets the value of an attribute as Foundation has it, which is what attributes of types without a ``PropertyValue`` need.
    ///
    /// - Throws: code 134060 for a value that the attribute cannot hold.
    public func setValue(any value: Any?, of attribute: NSAttributeDescription) throws {
        guard let stored = AttributeCheck.conform(value, to: attribute) else {
            throw CoreDataError.make(
                NSCoreDataError, "“\(attribute)” cannot hold \(AttributeCheck.describe(value)).",
                reason: "The model gives it another type.",
                next: "Convert the value before it is put into the row.")
        }
        store(stored, in: layout.slots[attribute.slotIndex])
    }

    /// The value of an attribute as Foundation has it; nil also where it is unknown.
    public func any(of attribute: NSAttributeDescription) -> Any? { any(at: layout.slots[attribute.slotIndex], of: attribute) }

    /// Whether the store has not said the value of a property.
    public func isUnknown(_ property: NSPropertyDescription) -> Bool { isUnknown(at: layout.slots[property.slotIndex]) }

    /// Says that the value of a property is not known: reading it will ask the store. By the row's maker.
    public func setUnknown(_ property: NSPropertyDescription) { setUnknown(at: layout.slots[property.slotIndex]) }

    /// The objects of a relationship that the row has: none or one of a to-one; none also where they are unknown.
    public func relatedIDs(_ relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
        relatedIDs(relationship, at: layout.slots[relationship.slotIndex])
    }

    /// The IDs at `slot`, that of `relationship`: none or one for a to-one.
    func relatedIDs(_ relationship: NSRelationshipDescription, at slot: RowLayout.Slot) -> [NSManagedObjectID] {
        if relationship.isToMany { return objectIDs(at: slot)?.ids ?? [] }
        guard let id = objectID(at: slot), id !== NSManagedObjectID.unresolved else { return [] }
        return [id]
    }

    /// Sets the objects of a relationship: one at most for a to-one. By the row's maker.
    public func setRelatedIDs(_ ids: [NSManagedObjectID], of relationship: NSRelationshipDescription) {
        let slot = layout.slots[relationship.slotIndex]
        if relationship.isToMany {
            setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: slot)
        } else {
            setObjectID(ids.first, at: slot)
        }
    }
}
