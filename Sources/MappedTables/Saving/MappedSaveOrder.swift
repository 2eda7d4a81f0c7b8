internal import Foundation
@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// The order in which the rows of a save are written to tables whose rows refer to each other.
///
/// Rows are inserted after those that they refer to, and deleted before them. What refers to rows that are yet to be inserted is updated last.
package struct MappedSaveOrder<Dialect: TableDialect> {
    /// A change, and properties of it that are written later.
    package typealias Part = (change: StoreChange, slots: Set<Int>)

    /// Updates before rows are deleted and inserted, and those that refer to new rows.
    package private(set) var early: [StoreChange] = []
    package private(set) var late: [StoreChange] = []
    /// Deleted objects by entity, none after one that it refers to, as far as there is such an order.
    package private(set) var deletions: [(entity: SQLEntity, changes: [StoreChange])] = []
    /// New objects, each part to be inserted at once, without some properties.
    package private(set) var insertions: [[Part]] = []
    /// What those are set to when all rows are there.
    package private(set) var postponed: [Part] = []

    private let mapping: Mapping<Dialect>
    /// Returns the mapping of an entity.
    private let sqlEntity: (NSEntityDescription) throws -> SQLEntity

    /// - Parameter sqlEntity: Returns the mapping of an entity; throws for one that the store does not hold.
    /// - Throws: Code 134030 where no new object can be inserted first; the errors of `sqlEntity`.
    package init(
        _ changes: StoreChangeSet, _ mapping: Mapping<Dialect>, _ sqlEntity: @escaping (NSEntityDescription) throws -> SQLEntity
    ) throws {
        (self.mapping, self.sqlEntity) = (mapping, sqlEntity)
        try split(changes)
        try orderDeletions(changes.deleted)
        try orderInsertions(changes.inserted)
    }

    /// Checks that nothing is to be written to rows that are read only.
    ///
    /// - Throws: Code 134030 for an object whose row is.
    package static func checkWritable(
        _ changes: StoreChangeSet, _ mapping: Mapping<Dialect>, _ sqlEntity: (NSEntityDescription) throws -> SQLEntity
    ) throws {
        for change in changes.inserted + changes.updated + changes.deleted {
            guard let reason = mapping.table(try sqlEntity(change.entity)).readOnlyReason else { continue }
            // An object at the far end of a relationship has nothing to write.
            let isAtFarEnd = change.changedProperties.allSatisfy { ($0 as? NSRelationshipDescription)?.isToMany ?? false }
            if change.row != nil, change.base != nil, isAtFarEnd { continue }
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.", reason: reason,
                next: "Change the tables that the view reads, and refresh the object.", info: [NSAffectedObjectsErrorKey: [change.objectID]]
            )
        }
    }

    // MARK: Updates

    private mutating func split(_ changes: StoreChangeSet) throws {
        let waiting = Set(changes.inserted.map(\.objectID).filter(\.isTemporaryID))
        if waiting.isEmpty { return early = changes.updated }
        for change in changes.updated {
            let values = mapping.table(try sqlEntity(change.entity)).values
            let waits = change.row.map { row in
                values.contains { slot, value in
                    guard case .toOne = value, change.changed.contains(slot), let id = row.objectID(at: row.layout.slots[slot]) else {
                        return false
                    }
                    return waiting.contains(id)
                }
            }
            if waits ?? false { late.append(change) } else { early.append(change) }
        }
    }

    // MARK: Deletions

    private mutating func orderDeletions(_ deleted: [StoreChange]) throws {
        var groups: [ObjectIdentifier: (entity: SQLEntity, changes: [StoreChange])] = [:]
        for change in deleted {
            let entity = try sqlEntity(change.entity)
            groups[ObjectIdentifier(entity), default: (entity, [])].changes.append(change)
        }
        var left = groups.values.sorted { $0.entity.number < $1.entity.number }
        while !left.isEmpty {
            let free =
                left.firstIndex { group in !left.contains { $0.entity !== group.entity && refers($0.entity, to: group.entity) } } ?? 0
            deletions.append(left.remove(at: free))
        }
    }

    private func refers(_ entity: SQLEntity, to other: SQLEntity) -> Bool {
        mapping.table(entity).values.contains { slot, value in
            guard case .toOne = value else { return false }
            return (entity.entity.frozenParts.properties[slot] as? NSRelationshipDescription)?.destinationEntity === other.entity
        }
    }

    // MARK: Insertions

    private mutating func orderInsertions(_ inserted: [StoreChange]) throws {
        let new = Set(inserted.map(\.objectID))
        var left: [(change: StoreChange, needs: [Int: NSManagedObjectID])] = try inserted.map { change in
            (change, try needs(of: change).filter { new.contains($0.value) })
        }
        var done: Set<NSManagedObjectID> = []
        while !left.isEmpty {
            var level: [Part] = []
            var rest: [(change: StoreChange, needs: [Int: NSManagedObjectID])] = []
            for entry in left {
                if entry.needs.values.allSatisfy(done.contains) { level.append((entry.change, [])) } else { rest.append(entry) }
            }
            if level.isEmpty {
                // All refer to each other: one begins whose reference may be NULL meanwhile.
                guard let index = try rest.firstIndex(where: { try isPostponable($0, done) }) else { throw circular(rest.map(\.change)) }
                let entry = rest.remove(at: index)
                let open = Set(entry.needs.filter { !done.contains($0.value) }.keys)
                level = [(entry.change, open)]
                postponed.append((entry.change, open))
            }
            insertions.append(level)
            done.formUnion(level.map(\.change.objectID))
            left = rest
        }
    }

    /// Returns the to-one relationships of a new row, by slot index.
    private func needs(of change: StoreChange) throws -> [Int: NSManagedObjectID] {
        guard let row = change.row else { return [:] }
        let table = mapping.table(try sqlEntity(change.entity))
        var needs: [Int: NSManagedObjectID] = [:]
        for (slot, value) in table.values {
            if case .toOne = value, let id = row.objectID(at: row.layout.slots[slot]) { needs[slot] = id }
        }
        return needs
    }

    private func isPostponable(
        _ entry: (change: StoreChange, needs: [Int: NSManagedObjectID]), _ done: Set<NSManagedObjectID>
    ) throws -> Bool {
        let table = mapping.table(try sqlEntity(entry.change.entity))
        return entry.needs.allSatisfy { slot, id in
            guard !done.contains(id), case .toOne(let key)? = table.values[slot] else { return true }
            return key.columns.allSatisfy { !$0.isRequired }
        }
    }

    private func circular(_ changes: [StoreChange]) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "New objects cannot be saved.",
            reason: "They refer to each other, and no column of their references may be NULL, so that none can be the first.",
            next: "Save some of them before others.", info: [NSAffectedObjectsErrorKey: changes.map(\.objectID)])
    }
}

/// A pair of a many-to-many relationship.
package struct MappedPair: Hashable {
    package let table: SQLIdentifier
    package let first: NSManagedObjectID.Reference
    package let second: NSManagedObjectID.Reference

    package init(table: SQLIdentifier, first: NSManagedObjectID.Reference, second: NSManagedObjectID.Reference) {
        (self.table, self.first, self.second) = (table, first, second)
    }
}
