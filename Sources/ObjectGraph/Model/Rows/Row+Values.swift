internal import Foundation
public import Predicates

// The interface of rows for stores outside of the framework: access by property, with self-contained values.

extension Row {
    /// Creates a row whose properties are all nil. Set its values before it is shared.
    ///
    /// - Parameter version: A number that is incremented by each change of the row.
    public init(_ objectID: NSManagedObjectID, version: Int64) {
        self = .blank(objectID.owningEntity.frozenParts.layout, objectID: objectID, version: version)
    }

    /// Returns the value of an attribute, or nil if it is unknown.
    public func value(of attribute: NSAttributeDescription) -> PropertyValue {
        any(at: layout.slots[attribute.slotIndex], of: attribute).map { (try? PropertyValue(any: $0)) ?? .null } ?? .null
    }

    /// Sets the value of an attribute. Call it before the row is shared.
    ///
    /// - Throws: Code 134060 for a value that the attribute cannot hold.
    public func setValue(_ value: PropertyValue, of attribute: NSAttributeDescription) throws {
        guard let stored = AttributeCheck.conform(value.any, to: attribute) else {
            throw CoreDataError.make(
                NSCoreDataError, "“\(attribute)” cannot hold \(value).", reason: "The model gives it another type.",
                next: "Convert the value before it is put into the row.")
        }
        store(stored, in: layout.slots[attribute.slotIndex])
    }

    /// Sets the value of an attribute as a Foundation type, which attributes of types without a ``PropertyValue`` need.
    ///
    /// - Throws: Code 134060 for a value that the attribute cannot hold.
    public func setValue(any value: Any?, of attribute: NSAttributeDescription) throws {
        guard let stored = AttributeCheck.conform(value, to: attribute) else {
            throw CoreDataError.make(
                NSCoreDataError, "“\(attribute)” cannot hold \(AttributeCheck.describe(value)).",
                reason: "The model gives it another type.",
                next: "Convert the value before it is put into the row.")
        }
        store(stored, in: layout.slots[attribute.slotIndex])
    }

    /// Returns the value of an attribute as a Foundation type, or nil if it is unknown.
    public func any(of attribute: NSAttributeDescription) -> Any? { any(at: layout.slots[attribute.slotIndex], of: attribute) }

    /// Returns whether the value of a property is unknown.
    public func isUnknown(_ property: NSPropertyDescription) -> Bool { isUnknown(at: layout.slots[property.slotIndex]) }

    /// Marks the value of a property as unknown: reading it queries the store. Call it before the row is shared.
    public func setUnknown(_ property: NSPropertyDescription) { setUnknown(at: layout.slots[property.slotIndex]) }

    /// Returns the destination IDs of a relationship: at most one for a to-one relationship. The array is also empty if they are unknown.
    public func relatedIDs(_ relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
        relatedIDs(relationship, at: layout.slots[relationship.slotIndex])
    }

    /// Returns the destination IDs at the `slot` of `relationship`: at most one for a to-one relationship.
    func relatedIDs(_ relationship: NSRelationshipDescription, at slot: RowLayout.Slot) -> [NSManagedObjectID] {
        if relationship.isToMany { return objectIDs(at: slot)?.ids ?? [] }
        guard let id = objectID(at: slot), id !== NSManagedObjectID.unresolved else { return [] }
        return [id]
    }

    /// Sets the destination IDs of a relationship: at most one for a to-one relationship. Call it before the row is shared.
    public func setRelatedIDs(_ ids: [NSManagedObjectID], of relationship: NSRelationshipDescription) {
        let slot = layout.slots[relationship.slotIndex]
        if relationship.isToMany {
            setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: slot)
        } else {
            setObjectID(ids.first, at: slot)
        }
    }
}
