internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The changes of a cache that the backend has not received yet.
///
/// A save becomes one transaction of the file, with the displayed rows and the records of pending changes. The changes are on disk once the transaction is
/// committed.
// The mutable state is in `LockedBox`es.
final class Outbox: Sendable {
    let file: CacheFile
    let catalog: Catalog
    let location: URL
    let rule: ConflictResolution
    let random: @Sendable () -> Double
    /// The current user; nil if not known.
    let principal: @Sendable () -> String?
    /// The objects that contexts have deleted in this run. A missing row alone does not tell who has deleted it.
    let deleted = LockedBox<Set<LocalKey>>([])
    /// The reads that check whether others have changed pending properties, by the times of their requests.
    let comparing = LockedBox<Set<UInt64>>([])

    init(
        _ file: CacheFile, _ catalog: Catalog, at location: URL, _ rule: ConflictResolution, random: @escaping @Sendable () -> Double,
        principal: @escaping @Sendable () -> String?
    ) {
        (self.file, self.catalog, self.location, self.rule, self.random) = (file, catalog, location, rule, random)
        self.principal = principal
    }

    /// The number of pending changes.
    func count() throws -> Int {
        guard let records = file.entity(named: file.names.pending) else { return 0 }
        var query = StoreQuery(records.inner)
        query.resultType = .countResultType
        guard case .count(let count) = try file.read(query) else { return 0 }
        return count
    }

    /// Returns all records, in the order of the queue, as they were after the last transaction.
    func records() throws -> [PendingRecord] {
        guard let records = file.entity(named: file.names.pending),
            case .rows(let rows) = try file.read(StoreQuery(records.inner))
        else { return [] }
        return try rows.map { try record($0, records) }.sorted { $0.sequence < $1.sequence }
    }

    /// Returns the record of an object after the last transaction; nil if it has no pending change.
    func record(_ key: CacheKey) throws -> PendingRecord? {
        guard let records = file.entity(named: file.names.pending) else { return nil }
        let same: PredicateTree = .and([
            .compare(.keyPath(["objectEntity"]), .equal, .constant(.string(key.entity.inner.top.name ?? "?"))),
            .compare(.keyPath(["objectKey"]), .equal, .constant(.int64(key.number))),
        ])
        let query = StoreQuery(records.inner).with(predicate: NSPredicate(tree: same))
        guard case .rows(let rows) = try file.read(query), let row = rows.first else { return nil }
        return try record(row, records)
    }

    /// Returns the record of an object by its key alone.
    func record(_ key: LocalKey) throws -> PendingRecord? {
        try file.entity(named: key.root).flatMap { try record(CacheKey(entity: $0, number: key.key)) }
    }

    private func record(_ row: Row, _ records: CacheEntity) throws -> PendingRecord {
        func value(_ name: String) -> PropertyValue {
            (records.inner.frozenParts.byName[name] as? NSAttributeDescription).map { row.value(of: $0) } ?? .null
        }
        guard case .string(let root) = value("objectEntity"), case .int64(let number) = value("objectKey") else {
            return try PendingRecord(LocalKey(root: "", key: 0), sequence: 0, state: .waiting, Data())
        }
        return try OutboxTransaction.record(row, LocalKey(root: root, key: number), records, file)
    }

    // MARK: New objects

    /// Returns the identifier of a new object; nil if the backend assigns it.
    ///
    /// - Throws: Code 134030 for an entity that cannot be saved, or an object whose identifier is not set.
    func identifier(of entity: NSEntityDescription, _ row: Row?) throws -> ResourceID? {
        let name = entity.name ?? "?"
        guard let saving = catalog.saving(of: entity), saving.kinds.contains(.insert) else {
            throw RemoteStoreError.readOnly(name, at: location)
        }
        switch saving.identity {
        case .assignedByBackend: return nil
        case .newUUID: return .uuid(UUID())
        case .attribute(let key):
            guard let attribute = entity.frozenParts.byName[key] as? NSAttributeDescription,
                let id = ResourceID(row?.value(of: attribute) ?? .null)
            else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "A new “\(name)” cannot be saved.",
                    reason: "“\(key)”, which is its identifier, is not set.", next: "Set it before the save.")
            }
            return id
        case .made(let make):
            var values: [String: ResourceValue] = [:]
            for case let attribute as NSAttributeDescription in entity.frozenParts.properties where !attribute.isTransient {
                if let row { values[attribute.name] = .value(row.value(of: attribute)) }
            }
            return make(values)
        }
    }

    // MARK: Saving

    /// The effects of a save on the file.
    struct Saved {
        var keys: [CacheKey] = []
        /// The versions that the context has given to the rows of new and changed objects.
        var versions: [(key: CacheKey, version: Int64)] = []
    }

    /// Stages the changes of a save.
    ///
    /// - Parameter outerToken: The token of the IDs that contexts have.
    /// - Throws: `StoreConflicts` if another context has saved or deleted the same objects since they were read, or a read has changed the same properties;
    ///   code 134030 for changes that cannot be saved.
    func enqueue(_ changes: StoreChangeSet, _ outerToken: StoreToken, in transaction: CacheTransaction) throws -> Saved {
        let outbox = try OutboxTransaction.of(transaction, catalog)
        var work = SaveWork(self, outbox, outerToken)
        // Deletions come first, because inserted objects may take over their identifiers.
        for change in changes.deleted { try work.delete(change) }
        for id in changes.returning { try work.checkReturning(id) }
        for change in changes.inserted { try work.insert(change) }
        for change in changes.updated { try work.update(change) }
        for change in changes.locked { try work.check(change) }
        try work.finish()
        return work.saved
    }
}

/// The staging of one save.
private struct SaveWork {
    private let outbox: Outbox
    private let pending: OutboxTransaction
    private let outerToken: StoreToken
    private let number: Int64
    /// The user who makes the save.
    private let principal: String?
    private var conflicts: [StoreConflicts.Version] = []
    var saved = Outbox.Saved()

    private var file: CacheFile { pending.file }

    init(_ outbox: Outbox, _ pending: OutboxTransaction, _ outerToken: StoreToken) {
        (self.outbox, self.pending, self.outerToken) = (outbox, pending, outerToken)
        number = Int64(outbox.random() * 9_007_199_254_740_992)
        principal = outbox.principal()
    }

    /// Notes that a change is made by this save and its user.
    ///
    /// - Throws: Code 134030 if another user has a pending change of the object: both changes would become one.
    private func note(in record: inout PendingRecord) throws {
        record.save = number
        guard let principal else { return }
        guard record.belongs(to: principal) else { throw RemoteStoreError.belongsToAnother(record.entity) }
        record.principal = principal
    }

    private func key(_ id: NSManagedObjectID) throws -> CacheKey {
        guard let key = file.key(ofOuter: id.current) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A change of \(id) cannot be saved.", reason: "It has no ID of this store.",
                next: "Save the context that it was inserted into.")
        }
        return key
    }

    private func inner(_ id: NSManagedObjectID) throws -> NSManagedObjectID { file.innerID(try key(id)) }

    func finish() throws { if !conflicts.isEmpty { throw StoreConflicts(conflicts) } }

    private func refuse(_ kind: Resource.Saving.Kind, _ entity: NSEntityDescription) throws {
        if outbox.catalog.saving(of: entity)?.kinds.contains(kind) != true {
            throw RemoteStoreError.readOnly(entity.name ?? "?", at: outbox.location)
        }
    }

    // MARK: Kinds

    mutating func insert(_ change: StoreChange) throws {
        guard let row = change.row else { return }
        let key = try key(change.objectID)
        let entity = file.entity(change.entity)
        if let known = try pending.transaction.edit(key), known.state == .pendingDelete { return try bringBack(change, known) }
        let resource = try outbox.identifier(of: change.entity, row)
        if let resource, let other = try pending.transaction.key(of: resource, in: entity), other != key {
            guard let known = try pending.transaction.edit(other) else { return }
            switch known.state {
            case .pendingDelete: try pending.transaction.setResource(nil, of: known)
            case .stub:
                // Other objects refer to the stub by its identifier: it becomes this object.
                try pending.detach(known, key)
                try pending.transaction.delete(other)
            default:
                throw RemoteStoreError.isTaken(resource, change.entity)
            }
        }
        let new = try pending.transaction.edit(key) ?? pending.transaction.insert(entity, number: key.number)
        try new.take(row, reference: inner)
        if let resource { try pending.transaction.setResource(resource, of: new) }
        new.setKnowledge(.usual)
        try setLists(change, new)
        var record = PendingRecord(entity: entity.name, key: pending.local(key), sequence: 0, isConfirmed: false)
        record.resource = resource
        try note(in: &record)
        pending.noteUploads(outbox.catalog.saving(of: change.entity)?.uploads, new, &record)
        record.edit([:], edits(change, new, outbox.catalog.saving(of: change.entity), before: [:]), pending.shown(new))
        try pending.finish(record, new)
        note(change, new)
    }

    mutating func update(_ change: StoreChange) throws {
        guard let row = change.row else { return }
        let key = try key(change.objectID)
        guard let known = try pending.transaction.edit(key), known.state != .pendingDelete else {
            conflicts.append(.init(change.objectID, stored: nil))
            return
        }
        let names = change.changedProperties.filter { !$0.isToManyRelationship && !$0.isTransient }.map(\.name)
        try check(change, only: Set(names))
        if !conflicts.isEmpty { return }
        known.isSaved = true
        let saving = outbox.catalog.saving(of: change.entity)
        let parts = known.entity.inner.frozenParts
        var knowledge = known.knowledge
        var before: [String: ResourceValue] = [:]
        for name in names {
            // Without a known value there is nothing to go back to: see `OutboxTransaction.write`.
            let isUnknown = knowledge.unknown.contains(name) || saving?.uploads.contains(name) ?? false
            before[name] = isUnknown ? .many([]) : OutboxTransaction.value(known.row, parts.byName[name])
        }
        var orders: [String: [ResourceReference]] = [:]
        for list in change.lists where list.members != nil {
            orders[list.name] = try pending.transaction.list(known.key, list.name).map { .local($0.number) }
        }
        var others = PropertySet()
        let changed = Set(names)
        for (index, property) in parts.properties.enumerated() where !changed.contains(property.name) { others.insert(index) }
        try known.take(row, besides: others, reference: inner)
        if !knowledge.unknown.isDisjoint(with: names) {
            knowledge.setUnknown(knowledge.unknown.subtracting(names))
            known.setKnowledge(knowledge)
        }
        try setLists(change, known)
        let edits = edits(change, known, saving, before: orders)
        let isPending = known.state.isPending
        if !names.isEmpty || !edits.isEmpty {
            try refuse(.update, change.entity)
            var record =
                try (isPending ? pending.record(pending.local(key)) : nil)
                ?? PendingRecord(entity: known.entity.name, key: pending.local(key), sequence: 0, isConfirmed: true)
            if !isPending { (record.resource, record.version) = (known.resource, known.version) }
            try note(in: &record)
            pending.noteUploads(saving?.uploads.intersection(names), known, &record)
            record.edit(before, edits, pending.shown(known))
            try pending.finish(record, known)
        }
        note(change, known)
    }

    mutating func delete(_ change: StoreChange) throws {
        let key = try key(change.objectID)
        let place = pending.local(key)
        guard let known = try pending.transaction.edit(key), known.state != .pendingDelete else {
            // An object that the backend no longer has is already deleted. If another context has deleted the object, that is a conflict.
            if try pending.transaction.row(key) != nil || outbox.deleted.withLock({ $0.contains(place) }) {
                conflicts.append(.init(change.objectID, stored: nil))
            }
            return
        }
        if let version = change.base?.version, let stored = try file.row(key), key.entity.wasSaved(stored, since: version) {
            conflicts.append(.init(change.objectID, stored: file.outer(stored, outerToken)))
            return
        }
        pending.transaction.whenCommitted { [outbox] in
            outbox.deleted.withLock { deleted in
                if deleted.count == 100_000 { deleted = [] }
                deleted.insert(place)
            }
        }
        let isPending = known.state.isPending
        var record =
            try (isPending ? pending.record(pending.local(key)) : nil)
            ?? PendingRecord(entity: known.entity.name, key: pending.local(key), sequence: 0, isConfirmed: true)
        if record.isConfirmed || record.sent != nil { try refuse(.delete, change.entity) }
        if !isPending { (record.resource, record.version) = (known.resource, known.version) }
        try note(in: &record)
        record.delete()
        try pending.finish(record, known)
        saved.keys.append(key)
    }

    /// Restores a deleted object, with the values that a context has of it, before the backend has confirmed the deletion.
    private mutating func bringBack(_ change: StoreChange, _ known: CacheRow) throws {
        guard let row = change.row, var record = try pending.record(pending.local(known.key)) else { return }
        let saving = outbox.catalog.saving(of: change.entity)
        let parts = known.entity.inner.frozenParts
        var before: [String: ResourceValue] = [:]
        let large = saving?.uploads ?? []
        for name in OutboxTransaction.names(known.entity) { before[name] = OutboxTransaction.value(known.row, parts.byName[name]) }
        let old = before.filter { large.contains($0.key) }
        if let resource = record.resource, known.resource == nil, !record.isDeletedByOthers {
            try takeBack(resource, of: record, change.entity, known)
        }
        try known.take(row, reference: inner)
        let replaced = Set(old.filter { OutboxTransaction.value(known.row, parts.byName[$0.key]) != $0.value }.keys)
        for name in old.keys { before[name] = replaced.contains(name) ? .many([]) : nil }
        pending.noteUploads(replaced, known, &record)
        known.setKnowledge(.usual)
        var edits: [String: BackendChange.ListChange] = [:]
        for list in change.lists {
            let old = try pending.transaction.list(known.key, list.name)
            let new = try (list.members ?? list.added).map { try key($0.current) }
            try pending.transaction.setList(known.key, list.name, new)
            guard let relationship = change.entity.frozenParts.byName[list.name] as? NSRelationshipDescription,
                saving?.sends(relationship) == true
            else { continue }
            edits[list.name] = .init(
                added: new.filter { !old.contains($0) }.map { .local($0.number) },
                removed: old.filter { !new.contains($0) }.map { .local($0.number) },
                members: list.members == nil ? nil : old.map { .local($0.number) })
        }
        known.isSaved = true
        try note(in: &record)
        record.isShown = true
        record.edit(before, edits, pending.shown(known))
        try pending.finish(record, known)
        note(change, known)
    }

    /// Gives a restored object its identifier back, which a new object may have taken over since.
    private func takeBack(_ resource: ResourceID, of record: PendingRecord, _ entity: NSEntityDescription, _ known: CacheRow) throws {
        guard let other = try pending.transaction.key(of: resource, in: known.entity) else {
            return try pending.transaction.setResource(resource, of: known)
        }
        if let new = try pending.record(pending.local(other)), !new.isConfirmed { throw RemoteStoreError.isTaken(resource, entity) }
    }

    // MARK: Conflicts

    /// Notes a conflict if another context has already restored the object that this save restores.
    mutating func checkReturning(_ id: NSManagedObjectID) throws {
        let key = try key(id)
        guard let stored = try file.row(key), key.entity.state(of: stored).isShown else { return }
        conflicts.append(.init(id, stored: file.outer(stored, outerToken)))
    }

    /// Notes a conflict if another context has saved the object since this one has read it, or if a changed property has another value now. Other properties
    /// that a read has changed are not a conflict.
    ///
    /// - Parameter names: The changed properties; nil for all.
    mutating func check(_ change: StoreChange, only names: Set<String>? = nil) throws {
        guard let base = change.base else { return }
        let key = try key(change.objectID)
        // The row is compared as it is in the file: this save may have staged it already, as the other end of a relationship.
        guard let stored = try file.row(key), key.entity.state(of: stored) != .pendingDelete else {
            conflicts.append(.init(change.objectID, stored: nil))
            return
        }
        let entity = file.entity(inner: stored.knownObjectID.owningEntity)
        guard entity.shownVersion(of: stored) != base.version, let copy = entity.toInner else { return }
        if entity.wasSaved(stored, since: base.version) {
            conflicts.append(.init(change.objectID, stored: file.outer(stored, outerToken)))
            return
        }
        var others = PropertySet()
        for (index, property) in entity.inner.frozenParts.properties.enumerated() where !(names?.contains(property.name) ?? true) {
            others.insert(index)
        }
        let different = try copy.differences(from: base, to: stored, besides: others, reference: inner)
        let mine = try change.row.map { try copy.differences(from: $0, to: stored, besides: others, reference: inner) }
        for index in entity.inner.frozenParts.properties.indices where different.contains(index) {
            if let mine, !mine.contains(index) { continue }
            conflicts.append(.init(change.objectID, stored: file.outer(stored, outerToken)))
            return
        }
    }

    private mutating func note(_ change: StoreChange, _ row: CacheRow) {
        saved.keys.append(row.key)
        if let version = change.row?.version { saved.versions.append((row.key, version)) }
    }

    // MARK: Lists

    /// Stages both ends of the lists that a context has changed.
    private func setLists(_ change: StoreChange, _ row: CacheRow) throws {
        for list in change.lists {
            guard let relationship = row.entity.inner.frozenParts.byName[list.name] as? NSRelationshipDescription else { continue }
            let known = row.lists[relationship.slotIndex]
            let (added, removed) = (try list.added.map(inner), try list.removed.map(inner))
            row.lists[relationship.slotIndex] = (
                (known?.added ?? []) + added, (known?.removed ?? []) + removed, try list.members?.map(inner) ?? known?.members
            )
        }
    }

    /// Returns the edits of the lists that are sent with this object.
    private func edits(
        _ change: StoreChange, _ row: CacheRow, _ saving: Resource.Saving?, before: [String: [ResourceReference]]
    ) -> [String: BackendChange.ListChange] {
        guard let saving else { return [:] }
        var edits: [String: BackendChange.ListChange] = [:]
        for list in change.lists {
            guard let relationship = change.entity.frozenParts.byName[list.name] as? NSRelationshipDescription, saving.sends(relationship)
            else { continue }
            func references(_ ids: [NSManagedObjectID]) -> [ResourceReference] {
                ids.compactMap { id in id.current.number.map { .local($0) } }
            }
            edits[list.name] = .init(
                added: references(list.added), removed: references(list.removed),
                members: list.members == nil ? nil : before[list.name] ?? [])
        }
        return edits
    }
}
