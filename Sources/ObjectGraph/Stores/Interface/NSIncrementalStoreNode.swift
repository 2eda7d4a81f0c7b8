public import Foundation
internal import Platform
internal import Predicates

/// The values of one object in an incremental store: attributes and, where available, the IDs of to-one relationships.
///
/// Values are by property name; a to-one relationship is an ``NSManagedObjectID`` or `NSNull`. An omitted relationship is loaded with
/// ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)``; an omitted attribute is nil.
///
/// Source: [NSIncrementalStoreNode](https://developer.apple.com/documentation/coredata/nsincrementalstorenode).
// All mutable state is in a `LockedBox`.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
    /// The ID of the object.
    public let objectID: NSManagedObjectID

    private struct State {
        var values: [String: Any]
        var version: UInt64
        var row: Row?
        /// The number of times that the values were replaced.
        var replacements = 0
    }
    private let state: LockedBox<State>

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: The ID of the object.
    ///   - values: The values by property name.
    ///   - version: The version number, which the store increments at each save of the object.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        state = LockedBox(State(values: values, version: version))
    }

    /// The version of the values.
    open var version: UInt64 { state.withLock { $0.version } }

    /// Replaces the values after the object was saved or read again. Loaded objects keep their values until they are refreshed.
    open func update(withValues values: [String: Any], version: UInt64) {
        replace(State(values: values, version: version))
    }

    /// Returns the value of a property; nil if the node has none.
    open func value(for prop: NSPropertyDescription) -> Any? { state.withLock { $0.values[prop.name] } }

    /// Returns the node as a row.
    ///
    /// - Throws: A sentence that names the value that the entity cannot hold.
    func makeRow() throws -> Row {
        let known = state.withLock { $0 }
        if let row = known.row { return row }
        // Without the lock: the values are the program's own.
        let row = try Row.make(
            known.values, entity: objectID.owningEntity, objectID: objectID, version: Int64(clamping: known.version))
        return state.withLock { state in
            // Another thread may have made one, or replaced the values.
            if state.replacements != known.replacements { return row }
            if let other = state.row { return other }
            state.row = row
            return row
        }
    }

    /// Takes the row of a save.
    func adopt(_ saved: Row) {
        replace(State(values: saved.dictionary(of: objectID.owningEntity), version: UInt64(clamping: saved.version), row: saved))
    }

    private func replace(_ new: State) {
        // Released without the lock: values may be the program's own.
        let old = state.withLock { state in
            let old = state
            state = new
            state.replacements = old.replacements + 1
            return old
        }
        withExtendedLifetime(old) {}
    }
}

/// The error of values that do not fit an entity.
struct NodeMistake: Error, CustomStringConvertible {
    let description: String
}

extension Row {
    /// Returns a row with values by property name.
    ///
    /// - Throws: ``NodeMistake`` for a key that is not a property and for a value that the property cannot hold.
    static func make(
        _ values: [String: Any], entity: NSEntityDescription, objectID: NSManagedObjectID, version: Int64
    ) throws -> Row {
        let frozen = entity.frozen!
        let row = Row.blank(frozen.layout, objectID: objectID, version: version)
        for relationship in frozen.relationships where !relationship.isToMany && values[relationship.name] == nil {
            row.setObjectID(.unresolved, at: frozen.layout.slots[relationship.slotIndex])
        }
        for (key, value) in values {
            guard let property = frozen.byName[key] else {
                throw NodeMistake(description: "The key “\(key)” is not a property of “\(entity)”.")
            }
            let slot = frozen.layout.slots[property.slotIndex]
            if let relationship = property as? NSRelationshipDescription {
                try row.store(value, of: relationship, at: slot)
            } else if let stored = AttributeCheck.conform(value, to: property as! NSAttributeDescription) {
                row.store(stored, in: slot)
            } else {
                throw NodeMistake(description: "“\(property)” cannot hold the \(Swift.type(of: value)) \(value).")
            }
        }
        return row
    }

    private func store(_ value: Any, of relationship: NSRelationshipDescription, at slot: RowLayout.Slot) throws {
        if relationship.isToMany {
            guard let ids = value as? [NSManagedObjectID] else {
                throw NodeMistake(
                    description: "“\(relationship)” is to-many; leave it out of the node, or give an array of NSManagedObjectID.")
            }
            for id in ids { try Self.check(id, for: relationship) }
            setObjectIDs(ObjectIDList(ids), at: slot)
        } else if value is NSNull {
            setObjectID(nil, at: slot)
        } else if let id = value as? NSManagedObjectID {
            try Self.check(id, for: relationship)
            setObjectID(id, at: slot)
        } else {
            throw NodeMistake(
                description:
                    "“\(relationship)” holds a \(Swift.type(of: value)); a node has the NSManagedObjectID of a related object, or NSNull.")
        }
    }

    private static func check(_ id: NSManagedObjectID, for relationship: NSRelationshipDescription) throws {
        guard let destination = relationship.destinationEntity, !id.owningEntity.isKindOf(entity: destination) else { return }
        throw NodeMistake(description: "“\(relationship)” leads to “\(destination)”, but \(id) is none.")
    }
}
