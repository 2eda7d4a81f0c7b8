internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The pending records that one transaction of the file reads and writes.
// Used by the one thread that writes.
final class OutboxTransaction {
    let transaction: CacheTransaction
    let catalog: Catalog
    let file: CacheFile
    private let records: CacheEntity
    private var known: [LocalKey: (record: PendingRecord?, row: CacheKey?)] = [:]

    private init(_ transaction: CacheTransaction, _ catalog: Catalog, _ records: CacheEntity) {
        (self.transaction, self.catalog, self.records) = (transaction, catalog, records)
        file = transaction.file
    }

    /// Returns the instance of a transaction: each transaction has one.
    static func of(_ transaction: CacheTransaction, _ catalog: Catalog) throws -> OutboxTransaction {
        if let known = transaction.companion as? OutboxTransaction { return known }
        guard let records = transaction.file.entity(named: transaction.file.names.pending) else {
            throw RemoteStoreError.unknownEntity(transaction.file.names.pending)
        }
        let made = OutboxTransaction(transaction, catalog, records)
        transaction.companion = made
        return made
    }

    // MARK: Keys

    func local(_ key: CacheKey) -> LocalKey { LocalKey(root: key.entity.inner.top.name ?? "?", key: key.number) }

    /// Returns the place of the row of a record.
    func place(_ record: PendingRecord) throws -> CacheKey {
        guard let entity = file.entity(named: record.entity) ?? file.entity(named: record.key.root) else {
            throw RemoteStoreError.unknownEntity(record.entity)
        }
        return CacheKey(entity: entity, number: record.key.key)
    }

    /// Returns the place of the object of a local reference, with its actual entity; nil if it no longer exists.
    func place(_ number: Int64, _ relationship: NSRelationshipDescription) throws -> CacheKey? {
        guard let destination = relationship.destinationEntity.flatMap({ file.entity(named: $0.name ?? "?") }) else { return nil }
        return try transaction.row(CacheKey(entity: destination, number: number)).map { file.key(of: $0) }
    }

    // MARK: Records

    /// Returns the record of an object; nil if it has no pending change.
    func record(_ key: LocalKey) throws -> PendingRecord? {
        if let known = known[key] { return known.record }
        let same: PredicateTree = .and([
            .compare(.keyPath(["objectEntity"]), .equal, .constant(.string(key.root))),
            .compare(.keyPath(["objectKey"]), .equal, .constant(.int64(key.key))),
        ])
        let query = StoreQuery(records.inner).with(predicate: NSPredicate(tree: same))
        guard case .rows(let rows) = try file.read(query), let row = rows.first else {
            known[key] = (nil, nil)
            return nil
        }
        return try note(row)
    }

    /// Whether there are pending changes.
    var isAny: Bool {
        get throws {
            if known.values.contains(where: { $0.record != nil }) { return true }
            if let wasAny { return wasAny }
            guard case .count(let count) = try file.read(StoreQuery(records.inner).with(resultType: .countResultType)) else { return true }
            wasAny = count > 0
            return count > 0
        }
    }
    /// Whether there were pending changes before the transaction; nil if not determined yet.
    private var wasAny: Bool?

    /// Returns all records, in the order of the queue.
    func all() throws -> [PendingRecord] {
        guard case .rows(let rows) = try file.read(StoreQuery(records.inner)) else { return [] }
        for row in rows {
            let key = LocalKey(root: try text("objectEntity", row), key: try number("objectKey", row))
            if known[key] == nil { try note(row) }
        }
        return known.values.compactMap(\.record).sorted { $0.sequence < $1.sequence }
    }

    @discardableResult private func note(_ row: Row) throws -> PendingRecord {
        let key = LocalKey(root: try text("objectEntity", row), key: try number("objectKey", row))
        let record = try Self.record(row, key, records, file)
        known[key] = (record, file.key(of: row))
        return record
    }

    private func text(_ name: String, _ row: Row) throws -> String {
        guard case .string(let text) = Self.value(name, row, records) else { return "" }
        return text
    }

    private func number(_ name: String, _ row: Row) throws -> Int64 {
        guard case .int64(let number) = Self.value(name, row, records) else { return 0 }
        return number
    }

    private static func value(_ name: String, _ row: Row, _ records: CacheEntity) -> PropertyValue {
        (records.inner.frozenParts.byName[name] as? NSAttributeDescription).map { row.value(of: $0) } ?? .null
    }

    /// Reads a record from its row.
    ///
    /// - Throws: Code 259 for a damaged row.
    static func record(_ row: Row, _ key: LocalKey, _ records: CacheEntity, _ file: CacheFile) throws -> PendingRecord {
        var state = PendingRecord.State.waiting
        if case .int64(let number) = value("state", row, records) { state = .init(rawValue: Int16(clamping: number)) ?? .waiting }
        var sequence: Int64 = 0
        if case .int64(let number) = value("sequence", row, records) { sequence = number }
        guard case .data(let body) = value("body", row, records) else {
            return try PendingRecord(key, sequence: sequence, state: state, Data())
        }
        let record = try PendingRecord(key, sequence: sequence, state: state, body)
        return record.opened(file.entity(named: record.entity)?.outer)
    }

    /// Stages a record, or its removal.
    func put(_ record: PendingRecord?, _ key: LocalKey) throws {
        let place = try known[key]?.row ?? (self.record(key) == nil ? nil : known[key]?.row)
        guard var record else {
            if let place {
                try transaction.delete(place)
                try transaction.noteSettled()
            }
            known[key] = (nil, nil)
            return
        }
        let row: CacheRow
        if let place, let edit = try transaction.edit(place) {
            row = edit
        } else {
            row = try transaction.insert(records)
            record.sequence = row.key.number
            try row.set(.string(key.root), "objectEntity")
            try row.set(.int64(key.key), "objectKey")
            try row.set(.int64(record.sequence), "sequence")
        }
        try row.set(.int64(Int64(record.state.rawValue)), "state")
        try row.set(.data(try record.archived(file.entity(named: record.entity)?.outer).encoded()), "body")
        known[key] = (record, row.key)
    }

    // MARK: Rows

    /// The row of an object, and the description of its saves.
    struct Subject {
        let row: CacheRow
        let saving: Resource.Saving
        let shown: PendingRecord.Shown
    }

    /// The description of saves of an entity; an empty one if the backend has declared none.
    func saving(of entity: CacheEntity) -> Resource.Saving { entity.outer.flatMap { catalog.saving(of: $0) } ?? Resource.Saving([]) }

    /// Returns the row of an object for editing; nil if there is none.
    func subject(_ key: CacheKey) throws -> Subject? {
        guard let row = try transaction.edit(key) else { return nil }
        return Subject(row: row, saving: saving(of: row.entity), shown: shown(row))
    }

    /// Returns the displayed values of a row.
    func shown(_ row: CacheRow) -> PendingRecord.Shown {
        let parts = row.entity.inner.frozenParts
        let uploads = saving(of: row.entity).uploads
        return PendingRecord.Shown(names: Self.names(row.entity)) { [self] name in
            let value = Self.value(row.row, parts.byName[name])
            if uploads.isEmpty || value.isNull || !uploads.contains(name) { return value }
            // The record was read before, or there is none.
            return known[local(row.key)]?.record?.uploads[name]?.standIn ?? PendingRecord.Upload.settled
        } members: { [transaction] name in
            // A list that cannot be read is reported as an error when it is sent.
            ((try? transaction.list(row.key, name)) ?? []).map { .local($0.number) }
        }
    }

    /// Returns the values of the attributes of a row of the file.
    func values(_ row: Row) -> [String: ResourceValue] {
        var values: [String: ResourceValue] = [:]
        for case let attribute as NSAttributeDescription in row.knownObjectID.owningEntity.frozenParts.properties
        where !row.isUnknown(attribute) {
            values[attribute.name] = .value(row.value(of: attribute))
        }
        return values
    }

    /// The names of the attributes and to-one relationships of an entity that are sent.
    static func names(_ entity: CacheEntity) -> [String] {
        (entity.outer?.frozenParts.properties ?? []).filter { !$0.isTransient && !$0.isToManyRelationship }.map(\.name)
    }

    /// Returns a value of a row of the file, with local references.
    static func value(_ row: Row, _ property: NSPropertyDescription?) -> ResourceValue {
        switch property {
        case let attribute as NSAttributeDescription: .value(row.value(of: attribute))
        case let relationship as NSRelationshipDescription:
            .one(row.relatedIDs(relationship).first.flatMap { $0.number.map { .local($0) } })
        default: .value(.null)
        }
    }

    /// Writes values into a row.
    func write(_ values: [String: ResourceValue], _ row: CacheRow) throws {
        let uploads = saving(of: row.entity).uploads
        for (name, value) in values {
            // The stand-in for a large value that is no longer displayed cannot restore it.
            let value = uploads.contains(name) && !value.isNull ? .many([]) : value
            switch (row.entity.inner.frozenParts.byName[name], value) {
            case (let attribute as NSAttributeDescription, .value(let value)): try row.set(value, attribute.name)
            case (let relationship as NSRelationshipDescription, .one) where !relationship.isToMany:
                try row.setOne(value.localKey.flatMap { try place($0, relationship) }, name)
            // The property becomes unknown: it is read when it is needed.
            case (.some, .many):
                var knowledge = row.knowledge
                knowledge.setUnknown(knowledge.unknown.union([name]))
                row.setKnowledge(knowledge)
            default: continue
            }
        }
    }

    /// Reverts edits of lists.
    func undo(_ lists: [String: BackendChange.ListChange], _ row: CacheRow) throws {
        for (name, list) in lists {
            let relationship = try row.relationship(name)
            var members = try transaction.list(row.key, name)
            if let before = list.members {
                members = try before.compactMap { try $0.localKey.flatMap { try place($0, relationship) } }
            } else {
                let added = Set(list.added.compactMap(\.localKey))
                members.removeAll { added.contains($0.number) }
                for reference in list.removed {
                    if let key = try reference.localKey.flatMap({ try place($0, relationship) }), !members.contains(key) {
                        members.append(key)
                    }
                }
            }
            try transaction.setList(row.key, name, members)
        }
    }

    /// Stages a record with the state of its row, or removes both if the record is done.
    ///
    /// - Returns: Whether the record is done.
    @discardableResult func finish(_ record: PendingRecord, _ row: CacheRow) throws -> Bool {
        if record.isDone {
            try put(nil, record.key)
            if record.isShown {
                row.setState(.clean)
            } else {
                if mayHideAnother(record, row) {
                    try transaction.setFeedToken(nil)
                    transaction.whenCommitted { [order = file.order] in order.noteSkip() }
                }
                let resource = row.resource
                let earlier = try resource.flatMap { try predecessor($0, of: row.entity) }
                try remove(row)
                if let earlier { try transaction.setResource(resource, of: earlier) }
            }
            return true
        }
        let state: CacheState =
            switch (record.isShown, record.stage) {
            case (false, _): .pendingDelete
            case (_, .failed): .failed
            case (_, .conflicting): .conflicting
            case (_, .unknown): .unknown
            case (_, .waiting), (_, .sending), (_, .lost), (_, .sought): record.isConfirmed ? .pendingUpdate : .pendingInsert
            }
        row.setState(state)
        try put(record, record.key)
        return false
    }

    /// Returns the row of an object whose deletion is pending, and whose identifier a new object has taken over; nil if there is none.
    ///
    /// If the new object is dropped, the row gets its identifier back: otherwise a read would store the resource, which the backend still has, as yet another
    /// object.
    private func predecessor(_ resource: ResourceID, of entity: CacheEntity) throws -> CacheRow? {
        guard entity.outer.map(catalog.hasKnownIdentifiers) ?? false, let columns = entity.columns,
            let top = entity.inner.top.name.flatMap({ file.entity(named: $0) })
        else { return nil }
        let deleted: PredicateTree = .and([
            .compare(.keyPath([columns.resource.attribute.name]), .equal, .constant(.null)),
            .compare(.keyPath([columns.state.attribute.name]), .equal, .constant(.int64(CacheState.pendingDelete.rawValue))),
        ])
        guard case .rows(let rows) = try file.read(StoreQuery(top.inner).with(predicate: NSPredicate(tree: deleted))) else { return nil }
        for row in rows {
            let key = file.key(of: row)
            guard let record = try record(local(key)), record.isConfirmed, !record.isShown, record.resource == resource,
                !record.isDeletedByOthers, let known = try transaction.edit(key), known.resource == nil
            else { continue }
            return known
        }
        return nil
    }

    /// Whether a dropped new object may have had the identifier of an object of the backend, so that reads of that object were not stored.
    private func mayHideAnother(_ record: PendingRecord, _ row: CacheRow) -> Bool {
        if row.resource == nil { return false }
        switch row.state {
        case .failed, .unknown, .conflicting: return true
        case .pendingInsert: return record.attempts > 0 || record.isMerged
        default: return false
        }
    }

    /// Removes a row, and the references to it.
    func remove(_ row: CacheRow) throws {
        try detach(row, nil)
        try transaction.delete(row.key)
    }

    /// Redirects the references to a row to another row, or removes them.
    func detach(_ row: CacheRow, _ other: CacheKey?) throws {
        for case let relationship as NSRelationshipDescription in row.entity.inner.frozenParts.properties {
            // A to-one relationship is stored in the row itself, and is removed with it.
            guard let inverse = relationship.storedInverse, relationship.isToMany || !inverse.isToMany else { continue }
            let owners = try transaction.list(row.key, relationship)
            for owner in owners where owner != row.key {
                if inverse.isToMany {
                    var members = try transaction.list(owner, inverse.name)
                    guard let index = members.firstIndex(of: row.key) else { continue }
                    if let other, !members.contains(other) { members[index] = other } else { members.remove(at: index) }
                    try transaction.setList(owner, inverse.name, members)
                } else {
                    try transaction.edit(owner)?.setOne(other, inverse.name)
                }
            }
        }
    }
}

extension CacheTransaction {
    /// Returns the destinations of a relationship of any kind.
    func list(_ owner: CacheKey, _ relationship: NSRelationshipDescription) throws -> [CacheKey] {
        if relationship.isToMany { return try list(owner, relationship.name) }
        guard let row = try row(owner) else { return [] }
        return row.relatedIDs(relationship).map { file.key(of: $0) }
    }
}
