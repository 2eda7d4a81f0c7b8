internal import Foundation
internal import Predicates

/// A batch request with prepared rows. Preparing them calls the program's handlers, and is done without a lock.
@_spi(Stores) public struct PreparedBatch {
    fileprivate let request: any BatchRequest
    fileprivate var rows: [BatchRow] = []

    /// Prepares the rows of a batch insert; other requests need no preparation.
    ///
    /// - Throws: Code 134030 or 1550 for values that the entity cannot hold.
    public init(_ request: any BatchRequest) throws {
        self.request = request
        if let insert = request as? NSBatchInsertRequest { rows = try BatchRows(insert).made() }
    }
}

/// Executes batch requests on the rows. Every row is created before the first is changed: a failure leaves the rows unchanged.
extension StoredRows {
    /// Executes a batch request. Counts as writing.
    ///
    /// - Parameter write: Called with the changes at the end: the current rows, and the IDs of deleted ones. If it throws, all rows are
    ///   restored.
    /// - Returns: The outcome of the kind that the request wants.
    /// - Throws: Code 133021 if objects would violate a uniqueness constraint and the merge policy does not resolve it; code 134091
    ///   for a request of another type; the errors of predicates, expressions and `write`.
    public func execute(
        _ batch: PreparedBatch, for caller: StoreCaller, write: (_ rows: [Row], _ deleted: [NSManagedObjectID]) throws -> Void = { _, _ in }
    ) throws -> BatchOutcome {
        let ids: [NSManagedObjectID] = try replacing(write) { put in
            switch batch.request {
            case let insert as NSBatchInsertRequest:
                try add(batch.rows, of: insert.knownEntity, caller.mergePolicy, put)
            case let update as NSBatchUpdateRequest: try self.update(update, put)
            case let delete as NSBatchDeleteRequest: try self.delete(delete, put)
            default:
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError, "\(Swift.type(of: batch.request)) cannot be executed on rows in memory.",
                    next: "Send the request to a store that serves it.")
            }
        }
        return BatchOutcome(ids, as: batch.request.wanted)
    }

    /// Stores or removes a row.
    private typealias Put = (Row?, NSManagedObjectID) -> Void

    /// Adds new rows. If one violates a uniqueness constraint, the context's merge policy decides.
    private func add(
        _ rows: [BatchRow], of entity: NSEntityDescription, _ policy: StoreCaller.MergePolicyKind, _ put: Put
    ) throws -> [NSManagedObjectID] {
        try rows.compactMap { new in
            guard let owner = try owner(of: new.row, entity) else {
                let id = newID(for: entity)
                new.row.objectID = id
                new.row.version = 1
                put(new.row, id)
                return id
            }
            guard let row = try resolvedRow(new, conflictingWith: owner, entity, policy) else { return nil }
            put(row, owner)
            return owner
        }
    }

    /// Returns another object that has unique values of a row.
    private func owner(of row: Row, _ entity: NSEntityDescription, besides id: NSManagedObjectID? = nil) throws -> NSManagedObjectID? {
        let frozen = entity.frozenParts
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            if let owner = try ownerIDs(of: constraint, key).first(where: { $0 != id }) { return owner }
        }
        return nil
    }

    /// Returns the new row of an object that conflicts with an inserted row; nil if it is unchanged and the inserted row is dropped.
    private func resolvedRow(
        _ new: BatchRow, conflictingWith owner: NSManagedObjectID, _ entity: NSEntityDescription, _ policy: StoreCaller.MergePolicyKind
    ) throws -> Row? {
        let isWhole: Bool
        switch policy {
        case .storeTrump, .rollback: return nil
        case .objectTrump: isWhole = false
        case .overwrite: isWhole = true
        default: throw Self.notUnique(entity, owner)
        }
        guard let old = row(with: owner) else { return nil }
        let row = old.copy()
        for property in entity.frozenParts.properties where property is NSAttributeDescription && !property.isTransient {
            guard isWhole || new.given.contains(property.slotIndex) else { continue }
            row.copyValue(from: new.row, at: row.layout.slots[property.slotIndex])
        }
        row.version = old.version + 1
        // Another constraint may be violated by another object.
        if let other = try self.owner(of: row, entity, besides: owner) { throw Self.notUnique(entity, other) }
        return row
    }

    package static func notUnique(_ entity: NSEntityDescription, _ owner: NSManagedObjectID) -> NSError {
        CoreDataError.make(
            NSManagedObjectConstraintMergeError, "The batch request cannot be executed: objects of “\(entity)” would share unique values.",
            reason: "\(owner) has them.", next: "Set a merge policy of the context that resolves the conflict, or leave the values out.",
            info: [NSAffectedObjectsErrorKey: [owner]])
    }

    /// Stores rows, and restores all of them when an error is thrown.
    private func replacing(
        _ write: ([Row], [NSManagedObjectID]) throws -> Void, _ body: (Put) throws -> [NSManagedObjectID]
    ) throws -> [NSManagedObjectID] {
        var before: [(id: NSManagedObjectID, row: Row?)] = []
        do {
            let ids = try body { row, id in
                before.append((id, self.row(with: id)))
                put(row, at: id)
            }
            var rows: [Row] = []
            var deleted: [NSManagedObjectID] = []
            for (id, _) in before {
                if let row = row(with: id) { rows.append(row) } else { deleted.append(id) }
            }
            try write(rows, deleted)
            return ids
        } catch {
            for (id, row) in before.reversed() { put(row, at: id) }
            throw error
        }
    }

    private func update(_ request: NSBatchUpdateRequest, _ put: Put) throws -> [NSManagedObjectID] {
        let entity = request.knownEntity
        let schema = schema(of: entity)
        let assignments = try BatchAssignment.all(of: request, schema)
        let predicate = try request.predicate?.compiled(for: schema)
        var updated: [Row] = []
        try forEachRow(of: entity, includingSubentities: request.includesSubentities) { row in
            guard try predicate?.matches(row.subject) ?? true else { return }
            let copy = row.copy()
            for assignment in assignments { try assignment.assign(from: row, to: copy) }
            copy.version = row.version + 1
            updated.append(copy)
        }
        for row in updated { put(row, row.knownObjectID) }
        for row in updated {
            let id = row.knownObjectID
            if let other = try owner(of: row, id.owningEntity, besides: id) { throw Self.notUnique(id.owningEntity, other) }
        }
        return updated.map { $0.knownObjectID }
    }

    private func delete(_ request: NSBatchDeleteRequest, _ put: Put) throws -> [NSManagedObjectID] {
        let query = try StoreQuery(request.fetchRequest, of: request.fetchRequest.knownEntity)
        guard case .ids(let ids) = try answer(query) else { return [] }
        var nullification = BatchNullification(table: self, deleted: Set(ids))
        for id in ids { try nullification.add(id) }
        for (id, row) in nullification.changed { put(row, id) }
        for id in ids { put(nil, id) }
        return ids
    }
}

/// The effect of a batch delete on remaining rows: deleted objects are removed from their relationships.
struct BatchNullification {
    private let table: any RowTable
    private let deleted: Set<NSManagedObjectID>
    /// The new rows.
    private(set) var changed: [NSManagedObjectID: Row] = [:]
    /// The handled lists of changed rows. Kept separately, so that a list is created once however many objects it loses.
    private var seen: Set<Place> = []

    private struct Place: Hashable {
        let id: NSManagedObjectID
        let relationship: Int
    }

    init(table: any RowTable, deleted: Set<NSManagedObjectID>) {
        self.table = table
        self.deleted = deleted
    }

    /// Removes a deleted row from every inverse relationship.
    mutating func add(_ id: NSManagedObjectID) throws {
        guard let row = try table.row(with: id), let frozen = id.owningEntity.frozen else { return }
        for relationship in frozen.relationships {
            guard let inverse = relationship.mutualInverse else { continue }
            let slot = row.layout.slots[relationship.slotIndex]
            let others =
                relationship.isToMany ? row.objectIDs(at: slot)?.ids ?? [] : row.objectID(at: slot).map { [$0] } ?? []
            for other in others where !deleted.contains(other) { try nullify(inverse, of: other, from: id) }
        }
    }

    private mutating func nullify(_ inverse: NSRelationshipDescription, of id: NSManagedObjectID, from gone: NSManagedObjectID) throws {
        // All deleted objects are removed from a list at once.
        guard seen.insert(Place(id: id, relationship: inverse.relationshipIndex)).inserted else { return }
        guard let old = try table.row(with: id) else { return }
        let row = changed[id] ?? old.copy()
        let slot = row.layout.slots[inverse.slotIndex]
        var isEmpty = true
        if inverse.isToMany {
            let staying = (row.objectIDs(at: slot)?.ids ?? []).filter { !deleted.contains($0) }
            isEmpty = staying.isEmpty
            row.setObjectIDs(isEmpty ? .empty : ObjectIDList(staying), at: slot)
        } else {
            row.setObjectID(nil, at: slot)
        }
        if isEmpty, !inverse.isOptional {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The batch delete cannot be executed.",
                reason: "\(gone) is in “\(inverse)” of \(id), which may not be empty.", next: "Delete or change \(id) first.",
                info: [NSAffectedObjectsErrorKey: [id]])
        }
        row.version = old.version + 1
        changed[id] = row
    }
}
