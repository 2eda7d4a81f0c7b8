internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Files the rows of a backend's answers: touches what differs, and nothing that is newer.
struct Importer {
    let file: CacheFile
    /// The space of IDs of the backend's rows.
    let decoding: AnswerDecoding
    let versions: VersionTable
    let catalog: Catalog
    let folding: (any PendingFolding)?
    /// Removes a row whose object the backend does not have any more, as something tells that was asked for at a time.
    let remove: @Sendable (CacheKey, UInt64, CacheTransaction) throws -> Void

    /// Files rows.
    ///
    /// - Parameters:
    ///   - rows: The rows, with IDs of the backend.
    ///   - askedAt: When they were asked for, in the order of the file.
    /// - Returns: The keys of the rows, in their order; nil for those that are older than the deletion of their object.
    @discardableResult func take(_ rows: [Row], askedAt: UInt64, in transaction: CacheTransaction) throws -> [CacheKey?] {
        if rows.isEmpty { return [] }
        var run = ImportRun(self, askedAt, transaction)
        return try run.take(rows)
    }

    /// Files the members of a to-many relationship of an object, all of them.
    ///
    /// - Parameters:
    ///   - owner: The key of the object.
    ///   - members: The IDs of the backend.
    func takeList(
        _ relationship: NSRelationshipDescription, of owner: CacheKey, _ members: [NSManagedObjectID], askedAt: UInt64,
        in transaction: CacheTransaction
    ) throws {
        var run = ImportRun(self, askedAt, transaction)
        try run.place(members)
        try run.takeList(relationship.name, of: owner, members)
    }

    /// Returns the entity of the file for an object of the backend.
    func entity(_ id: NSManagedObjectID) -> CacheEntity { file.entity(id.owningEntity) }
}

/// The filing of some rows.
private struct ImportRun {
    private let importer: Importer
    private let askedAt: UInt64
    private let transaction: CacheTransaction
    /// The rows of the file by the backend's IDs.
    private var places = IDTable<CacheKey>()
    /// The rows of the file as they were, of those that are filed.
    private var bases: [CacheKey: Row] = [:]
    private let uptime: Duration
    private let now: Double
    /// Whether an object was deleted lately.
    private let hasGone: Bool

    init(_ importer: Importer, _ askedAt: UInt64, _ transaction: CacheTransaction) {
        (self.importer, self.askedAt, self.transaction) = (importer, askedAt, transaction)
        uptime = importer.file.clock.uptime
        now = transaction.now
        hasGone = importer.file.order.hasGone
    }

    private var file: CacheFile { importer.file }

    mutating func take(_ rows: [Row]) throws -> [CacheKey?] {
        try find(rows.map(\.knownObjectID))
        var keys: [CacheKey?] = []
        keys.reserveCapacity(rows.count)
        // All keys first: rows may refer to each other.
        var hasNew = false
        var areNew = Array(repeating: false, count: rows.count)
        for (index, row) in rows.enumerated() {
            let id = row.knownObjectID
            if let key = places[id], try !isReplaced(key, by: row) {
                keys.append(key)
            } else if let resource = importer.decoding.resourceID(id), !isGone(resource, row) {
                let entity = importer.entity(id)
                let key = CacheKey(entity: entity, number: try file.newKey(entity, expecting: rows.count - index))
                places[id] = key
                keys.append(key)
                if !hasNew { file.order.noteRead(key, uptime: uptime) }
                hasNew = true
                areNew[index] = true
            } else {
                keys.append(nil)
            }
        }
        var references: [NSManagedObjectID] = []
        var last: (entity: NSEntityDescription, hasRelationships: Bool)?
        for row in rows {
            let own = row.knownObjectID.owningEntity
            if last?.entity !== own { last = (own, !own.frozenParts.relationships.isEmpty) }
            guard last?.hasRelationships == true else { continue }
            importer.entity(row.knownObjectID).toInner?.forEachReference(of: row) { id in if places[id] == nil { references.append(id) } }
            if own.hasToMany { references += row.listedIDs.filter { places[$0] == nil } }
        }
        if !references.isEmpty { try place(references) }
        for index in rows.indices {
            guard let key = keys[index] else { continue }
            if areNew[index] { try insert(rows[index], key) } else { try take(rows[index], key) }
        }
        let filed = keys.compactMap { $0 }
        let (order, askedAt) = (file.order, askedAt)
        transaction.whenCommitted { order.note(filed, at: askedAt) }
        return keys
    }

    /// Looks up the rows of resources.
    private mutating func find(_ ids: [NSManagedObjectID]) throws {
        var wanted: [ObjectIdentifier: (entity: CacheEntity, ids: [ResourceID: NSManagedObjectID])] = [:]
        for id in ids {
            guard places[id] == nil, let resource = importer.decoding.resourceID(id) else { continue }
            let entity = importer.entity(id)
            wanted[entity.root, default: (entity, [:])].ids[resource] = id
        }
        for (entity, ids) in wanted.values {
            for (resource, key) in try transaction.keys(of: Array(ids.keys), in: entity) {
                if let id = ids[resource] { places[id] = key }
            }
        }
    }

    /// Looks up the rows of resources that others refer to, and makes rows of those that there are none of.
    mutating func place(_ ids: [NSManagedObjectID]) throws {
        try find(ids)
        for id in ids where places[id] == nil {
            guard let resource = importer.decoding.resourceID(id) else { continue }
            places[id] = try transaction.stub(of: resource, in: importer.entity(id)).key
        }
    }

    /// Whether a resource was deleted after the row was asked for, or has come as it was before.
    private func isGone(_ resource: ResourceID, _ row: Row) -> Bool {
        let version = importer.versions.version(row.knownObjectID, row.version)
        guard hasGone, file.keeps(.newestRead),
            file.order.isGone(resource, importer.entity(row.knownObjectID).root, version, since: askedAt, uptime: uptime)
        else { return false }
        file.order.noteSkip()
        return true
    }

    /// Whether a row that has come is of another object than the one that had its identifier: then that one is removed.
    private func isReplaced(_ key: CacheKey, by row: Row) throws -> Bool {
        guard importer.catalog.hasIncarnations, let name = importer.catalog.incarnation(of: row.knownObjectID.owningEntity),
            let new = row.knownObjectID.owningEntity.frozenParts.byName[name] as? NSAttributeDescription, !row.isUnknown(new),
            let stored = try transaction.row(key)
        else { return false }
        let known = file.entity(inner: stored.knownObjectID.owningEntity)
        guard let old = known.inner.frozenParts.byName[name] as? NSAttributeDescription else { return false }
        let (before, now) = (stored.value(of: old), row.value(of: new))
        if before.isNull || now.isNull || before == now { return false }
        let state = known.state(of: stored)
        if state == .stub || state == .pendingInsert { return false }
        if isOlder(known, stored, importer.versions.version(row.knownObjectID, row.version), key) { return false }
        try importer.remove(key, askedAt, transaction)
        return true
    }

    private func innerID(_ id: NSManagedObjectID) throws -> NSManagedObjectID {
        guard let key = places[id] else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "A reference of the backend to \(id) cannot be filed.",
                reason: "It has no identifier of the backend.", next: "Let the backend answer with identifiers.")
        }
        return file.innerID(key)
    }

    // MARK: One row

    private func insert(_ row: Row, _ key: CacheKey) throws {
        guard let resource = importer.decoding.resourceID(row.knownObjectID) else { return }
        let version = importer.versions.version(row.knownObjectID, row.version)
        guard let new = try transaction.insert(key, resource, version, from: row, reference: innerID) else { return }
        var knowledge = CacheEntity.Knowledge()
        if let unknown = key.entity.toInner?.unknown(in: row), !unknown.isEmpty {
            knowledge.setUnknown(Set(unknown.names(of: row.knownObjectID.owningEntity)))
        }
        for (name, members) in try lists(row) { try takeList(name, members, new, &knowledge) }
        if knowledge != .usual { new.setKnowledge(knowledge) }
    }

    private func take(_ row: Row, _ key: CacheKey) throws {
        let version = importer.versions.version(row.knownObjectID, row.version)
        let entity = importer.entity(row.knownObjectID)
        guard let stored = try transaction.row(key) else { return }
        let known = file.entity(inner: stored.knownObjectID.owningEntity)
        let state = known.state(of: stored)
        if isOlder(known, stored, version, key) { return }
        if hasGone, let resource = importer.decoding.resourceID(row.knownObjectID), isGone(resource, row) { return }
        if state.isPending {
            guard let folding = importer.folding, let copy = known.toInner else { return }
            let confirmed = try copy.row(row, id: file.innerID(key), version: stored.version, reference: innerID)
            return try folding.receive(
                confirmed: confirmed, lists: lists(row), version: version, askedAt: askedAt, key: key, in: transaction)
        }
        if known !== entity, known.outer !== entity.outer, entity.inner.isKindOf(entity: known.inner) {
            // Another kind than a reference has said.
            let replaced = try transaction.replace(key, by: entity)
            return try fill(replaced, row, version, entity)
        }
        let isStub = state == .stub
        // Nothing is copied where nothing differs.
        let differences = try known.toInner?.differences(from: row, to: stored, reference: innerID) ?? PropertySet()
        let unknown = known.toInner?.unknown(in: row) ?? PropertySet()
        var knowledge = known.knowledge(of: stored)
        let before = known.version(of: stored)
        let isOtherVersion = isStub || version == nil ? isStub : before != version
        if unknown.isEmpty {
            knowledge.setUnknown([])
        } else {
            let names = Set(unknown.names(of: row.knownObjectID.owningEntity))
            // What was known before is that of another version.
            knowledge.setUnknown(isOtherVersion ? names : knowledge.unknown.intersection(names))
        }
        let lists = try lists(row)
        if differences.isEmpty, !isStub, before == version || version == nil, knowledge == known.knowledge(of: stored), lists.isEmpty {
            return
        }
        let edit = transaction.edit(stored)
        if !differences.isEmpty { try edit.take(row, reference: innerID) }
        if let version, version != before {
            if let before { file.order.noteReplaced(before.encoded, of: key, uptime: uptime) }
            edit.setVersion(version)
        }
        if isStub { edit.setState(.clean) }
        for (name, members) in lists { try takeList(name, members, edit, &knowledge) }
        edit.setKnowledge(knowledge)
        if edit.isChanged { edit.setFetchedAt(now) }
    }

    /// Fills a new row.
    private func fill(_ new: CacheRow, _ row: Row, _ version: ResourceVersion?, _ entity: CacheEntity) throws {
        try new.take(row, reference: innerID)
        new.setVersion(version)
        new.setState(.clean)
        new.setFetchedAt(now)
        var knowledge = CacheEntity.Knowledge()
        if let unknown = entity.toInner?.unknown(in: row), !unknown.isEmpty {
            knowledge.setUnknown(Set(unknown.names(of: row.knownObjectID.owningEntity)))
        }
        for (name, members) in try lists(row) { try takeList(name, members, new, &knowledge) }
        if knowledge != .usual { new.setKnowledge(knowledge) }
    }

    /// Whether what is there is newer than what has come.
    private func isOlder(_ entity: CacheEntity, _ stored: Row, _ version: ResourceVersion?, _ key: CacheKey) -> Bool {
        if !file.keeps(.newestRead) { return false }
        if case .number(let new)? = version, case .number(let old)? = entity.version(of: stored) {
            if new != old { return new < old }
            return false
        }
        if file.order.isNewer(key, than: askedAt) {
            file.order.noteSkip()
            return true
        }
        guard let version, version != entity.version(of: stored) else { return false }
        return file.order.wasReplaced(version.encoded, of: key, uptime: uptime)
    }

    // MARK: Lists

    /// Returns the whole lists that a row has brought.
    private func lists(_ row: Row) throws -> [String: [CacheKey]] {
        guard row.knownObjectID.owningEntity.hasToMany else { return [:] }
        var lists: [String: [CacheKey]] = [:]
        for relationship in row.knownObjectID.owningEntity.frozenParts.relationships
        where relationship.isToMany && !relationship.isTransient && !row.isUnknown(relationship) {
            lists[relationship.name] = row.relatedIDs(relationship).compactMap { places[$0] }
        }
        return lists
    }

    private func takeList(_ name: String, _ members: [CacheKey], _ owner: CacheRow, _ knowledge: inout CacheEntity.Knowledge) throws {
        try setList(name, members, owner.key)
        // The time is that of the first answer: one that changes nothing writes nothing.
        if knowledge.lists[name] == nil { knowledge.lists[name] = now }
    }

    /// Sets the members, apart from those whose pending changes say otherwise.
    private func setList(_ name: String, _ members: [CacheKey], _ owner: CacheKey) throws {
        let shown = try shown(members, name, owner)
        try transaction.setList(owner, name, shown) { row in
            !isKept(row)
        }
    }

    /// Whether a member has pending changes, or changes that were acknowledged after the list was asked for.
    private func isKept(_ row: Row) -> Bool {
        let key = file.key(of: row)
        return key.entity.state(of: row).isPending || file.order.isNewer(key, than: askedAt)
    }

    /// Returns the members of a list with what is pending: new members stay, and those that were moved elsewhere do not come back.
    private func shown(_ members: [CacheKey], _ name: String, _ owner: CacheKey) throws -> [CacheKey] {
        let own = file.entity(inner: owner.entity.inner).inner
        guard let relationship = own.frozenParts.byName[name] as? NSRelationshipDescription else { return members }
        var pending: [CacheKey] = []
        for row in try transaction.rows(transaction.list(owner, name)) {
            if isKept(row) { pending.append(file.key(of: row)) }
        }
        var result = members
        if let inverse = relationship.storedInverse, !inverse.isToMany {
            let moved = try Set(
                transaction.rows(members).filter { row in
                    let entity = file.entity(inner: row.knownObjectID.owningEntity)
                    guard isKept(row),
                        let own = entity.inner.frozenParts.byName[inverse.name] as? NSRelationshipDescription
                    else { return false }
                    return row.relatedIDs(own).first.map { file.key(of: $0) } != owner
                }.map { file.key(of: $0) })
            if !moved.isEmpty { result.removeAll(where: moved.contains) }
        }
        let here = Set(result)
        return result + pending.filter { !here.contains($0) }
    }

    mutating func takeList(_ name: String, of owner: CacheKey, _ members: [NSManagedObjectID]) throws {
        guard let stored = try transaction.row(owner) else { return }
        if file.order.isNewer(owner, than: askedAt) { return }
        let keys = members.compactMap { places[$0] }
        let entity = file.entity(inner: stored.knownObjectID.owningEntity)
        if let relationship = entity.inner.frozenParts.byName[name] as? NSRelationshipDescription, !relationship.isToMany {
            return try takeOne(relationship, keys.first, stored, owner, entity)
        }
        if entity.state(of: stored).isPending, let folding = importer.folding {
            let blank = Row.unknown(entity.inner, file.innerID(owner), version: stored.version)
            return try folding.receive(
                confirmed: blank, lists: [name: keys], version: entity.version(of: stored), askedAt: askedAt, key: owner, in: transaction)
        }
        try setList(name, keys, owner)
        var knowledge = entity.knowledge(of: stored)
        if knowledge.lists[name] == nil {
            knowledge.lists[name] = now
            try transaction.edit(owner)?.setKnowledge(knowledge)
        }
    }
}

extension ImportRun {
    /// Files the destination of a to-one relationship that was not known.
    private func takeOne(
        _ relationship: NSRelationshipDescription, _ destination: CacheKey?, _ stored: Row, _ owner: CacheKey, _ entity: CacheEntity
    ) throws {
        if entity.state(of: stored).isPending, let folding = importer.folding {
            let row = Row.unknown(entity.inner, file.innerID(owner), version: stored.version)
            row.setRelatedIDs(destination.map { [file.innerID($0)] } ?? [], of: relationship)
            return try folding.receive(
                confirmed: row, lists: [:], version: entity.version(of: stored), askedAt: askedAt, key: owner, in: transaction)
        }
        guard let edit = try transaction.edit(owner) else { return }
        try edit.setOne(destination, relationship.name)
        var knowledge = edit.knowledge
        knowledge.setUnknown(knowledge.unknown.subtracting([relationship.name]))
        edit.setKnowledge(knowledge)
    }
}

extension PropertySet {
    /// The names of the properties of an entity.
    func names(of entity: NSEntityDescription) -> [String] {
        entity.frozenParts.properties.enumerated().filter { contains($0.offset) }.map(\.element.name)
    }
}

extension NSEntityDescription {
    /// Whether the entity has to-many relationships.
    var hasToMany: Bool { frozenParts.relationships.contains { $0.isToMany } }
}

extension Row {
    /// The IDs in the to-many relationships that the row has.
    var listedIDs: [NSManagedObjectID] {
        knownObjectID.owningEntity.frozenParts.relationships.filter { $0.isToMany && !$0.isTransient }.flatMap(relatedIDs)
    }

    /// Returns a row of which nothing is known.
    static func unknown(_ entity: NSEntityDescription, _ id: NSManagedObjectID, version: Int64) -> Row {
        let row = Row(id, version: version)
        for property in entity.frozenParts.properties where !property.isTransient { row.setUnknown(property) }
        return row
    }
}
