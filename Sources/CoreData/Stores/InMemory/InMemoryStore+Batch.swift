internal import Foundation
internal import Predicates

/// Batch requests straight on the rows. Every row is made before the first is put in place: a failure leaves the tables as they were.
extension InMemoryStore {
    func rowsChanged(by request: any BatchRequest, _ policy: StoreCaller.MergePolicyKind) throws -> [NSManagedObjectID] {
        switch request {
        case let insert as NSBatchInsertRequest:
            // The handlers run without the lock: they may do anything.
            let rows = try BatchRows(insert).made()
            return try requestLock.withLock { try add(rows, of: insert.entity.unsafelyUnwrapped, policy) }
        case let update as NSBatchUpdateRequest: return try requestLock.withLock { try self.update(update) }
        case let delete as NSBatchDeleteRequest: return try requestLock.withLock { try self.delete(delete) }
        default: throw unsupported(request)
        }
    }

    /// Puts new rows in place. Where one would share the values of a uniqueness constraint, the context's merge policy decides.
    private func add(_ rows: [BatchRow], of entity: NSEntityDescription, _ policy: StoreCaller.MergePolicyKind) throws
        -> [NSManagedObjectID]
    {
        try replacing { put in
            try rows.compactMap { new in
                guard let holder = try holder(of: new.row, entity) else {
                    let id = newID(for: entity)
                    new.row.objectID = id
                    new.row.version = 1
                    put(new.row, id)
                    return id
                }
                guard let row = try settled(new, over: holder, entity, policy) else { return nil }
                put(row, holder)
                return holder
            }
        }
    }

    /// An object that holds unique values of a row already, other than the one whose row it is.
    private func holder(of row: Row, _ entity: NSEntityDescription, besides id: NSManagedObjectID? = nil) throws -> NSManagedObjectID? {
        let frozen = entity.frozen.unsafelyUnwrapped
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            if let holder = try holderIDs(of: constraint, key).first(where: { $0 != id }) { return holder }
        }
        return nil
    }

    /// The row of an object that a new row meets, as it is to be; nil where it stays and the new one goes.
    private func settled(
        _ new: BatchRow, over holder: NSManagedObjectID, _ entity: NSEntityDescription, _ policy: StoreCaller.MergePolicyKind
    ) throws -> Row? {
        let isWhole: Bool
        switch policy {
        case .storeTrump, .rollback: return nil
        case .objectTrump: isWhole = false
        case .overwrite: isWhole = true
        default: throw Self.notUnique(entity, holder)
        }
        guard let old = row(with: holder) else { return nil }
        let row = old.copy()
        for property in entity.frozen.unsafelyUnwrapped.properties where property is NSAttributeDescription && !property.isTransient {
            guard isWhole || new.given.contains(property.slotIndex) else { continue }
            row.copyValue(from: new.row, at: row.layout.slots[property.slotIndex])
        }
        row.version = old.version + 1
        // Another constraint may have another holder.
        if let other = try self.holder(of: row, entity, besides: holder) { throw Self.notUnique(entity, other) }
        return row
    }

    static func notUnique(_ entity: NSEntityDescription, _ holder: NSManagedObjectID) -> NSError {
        CoreDataError.make(
            NSManagedObjectConstraintMergeError, "The batch request cannot be executed: objects of “\(entity)” would share unique values.",
            reason: "\(holder) has them.", next: "Set a merge policy of the context that settles this, or leave the values out.",
            info: [NSAffectedObjectsErrorKey: [holder]])
    }

    /// Puts rows in place; when something fails, all are as they were.
    private func replacing<Result>(_ body: ((Row, NSManagedObjectID) -> Void) throws -> Result) throws -> Result {
        var before: [(NSManagedObjectID, Row?)] = []
        do {
            return try body { row, id in
                before.append((id, self.row(with: id)))
                put(row, at: id)
            }
        } catch {
            for (id, row) in before.reversed() { put(row, at: id) }
            throw error
        }
    }

    private func update(_ request: NSBatchUpdateRequest) throws -> [NSManagedObjectID] {
        let entity = request.entity.unsafelyUnwrapped
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
        return try replacing { put in
            for row in updated { put(row, row.objectID.unsafelyUnwrapped) }
            for row in updated {
                let id = row.objectID.unsafelyUnwrapped
                if let other = try holder(of: row, id.owningEntity, besides: id) { throw Self.notUnique(id.owningEntity, other) }
            }
            return updated.map { $0.objectID.unsafelyUnwrapped }
        }
    }

    private func delete(_ request: NSBatchDeleteRequest) throws -> [NSManagedObjectID] {
        guard
            case .ids(let ids) = try RowFetch(
                table: self, query: StoreQuery(request.fetchRequest, of: request.fetchRequest.entity.unsafelyUnwrapped)
            ).answer()
        else { return [] }
        var nullification = BatchNullification(table: self, deleted: Set(ids))
        for id in ids { try nullification.add(id) }
        for (id, row) in nullification.changed { put(row, at: id) }
        for id in ids { put(nil, at: id) }
        return ids
    }
}

/// What a batch delete does to the rows that stay: their relationships lose what is deleted.
struct BatchNullification {
    private let table: any RowTable
    private let deleted: Set<NSManagedObjectID>
    /// The rows as they are to be.
    private(set) var changed: [NSManagedObjectID: Row] = [:]
    /// What each list of a changed row is to hold. Kept apart, so that a list that loses many is made once.
    private var seen: Set<Place> = []

    private struct Place: Hashable {
        let id: NSManagedObjectID
        let relationship: Int
    }

    init(table: any RowTable, deleted: Set<NSManagedObjectID>) {
        self.table = table
        self.deleted = deleted
    }

    /// Takes a deleted row out of every relationship that leads back to it.
    mutating func add(_ id: NSManagedObjectID) throws {
        guard let row = try table.row(with: id), let frozen = id.owningEntity.frozen else { return }
        for relationship in frozen.relationships {
            guard let inverse = relationship.keptInverse else { continue }
            let slot = row.layout.slots[relationship.slotIndex]
            let others =
                relationship.isToMany ? row.objectIDs(at: slot)?.ids ?? [] : row.objectID(at: slot).map { [$0] } ?? []
            for other in others where !deleted.contains(other) { try nullify(inverse, of: other, from: id) }
        }
    }

    private mutating func nullify(_ inverse: NSRelationshipDescription, of id: NSManagedObjectID, from gone: NSManagedObjectID) throws {
        // All that is deleted leaves a list at once.
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
