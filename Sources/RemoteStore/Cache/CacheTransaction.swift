internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The reads and the staged writes of one transaction of a cache's file.
// Used by the one thread that writes.
final class CacheTransaction {
    let file: CacheFile
    private var staged: [CacheKey: CacheRow] = [:]
    /// The staged rows in the order in which they were first edited.
    private(set) var order: [CacheRow] = []
    /// The new rows that are not in `order`, by root entity.
    private(set) var new: [ObjectIdentifier: NewRows] = [:]
    private var lastNew: (root: ObjectIdentifier, rows: NewRows)?
    /// The rows of new and changed resources, by root entity.
    private var resources: [ObjectIdentifier: [ResourceID: CacheKey]] = [:]
    private var atCommit: [() -> Void] = []
    /// An object that another part keeps for the duration of the transaction.
    var companion: AnyObject?

    init(_ file: CacheFile) { self.file = file }

    /// The wall time of the transaction.
    private(set) lazy var now: Double = file.clock.now

    // MARK: Reading

    /// Returns a row, including staged changes; nil if there is none.
    ///
    /// - Parameter read: The row as the file has it, if the caller has read it.
    func row(_ key: CacheKey, as read: Row? = nil) throws -> Row? {
        if let known = staged[key] { return known.isDeleted ? nil : known.row }
        return try newRow(key) ?? read ?? file.row(key)
    }

    /// Returns rows, including staged changes; missing ones are omitted.
    func rows(_ keys: [CacheKey]) throws -> [Row] {
        if staged.isEmpty, new.isEmpty { return try file.rows(keys) }
        let stored = try file.rows(keys.filter { staged[$0] == nil && newRow($0) == nil })
        let byKey = Dictionary(stored.map { (file.key(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        return keys.compactMap { key in
            if let known = staged[key] { return known.isDeleted ? nil : known.row }
            return newRow(key) ?? byKey[key]
        }
    }

    /// Answers a query for rows of an entity without relationships, including staged changes.
    ///
    /// - Parameters:
    ///   - predicate: The predicate of the rows; nil for all.
    ///   - sorts: The names of attributes to order by, ascending.
    func rows(of entity: CacheEntity, where predicate: PredicateTree? = nil, sortedBy sorts: [String] = [], limit: Int = 0) throws
        -> [Row]
    {
        stageNewRows(of: entity.root)
        let own = order.filter { $0.entity.root == entity.root }
        var query = StoreQuery(entity.inner).with(predicate: predicate.map { NSPredicate(tree: $0) })
        query = query.sorted(by: sorts.map { NSSortDescriptor(key: $0, ascending: true) })
        guard !own.isEmpty else {
            guard case .rows(let rows) = try file.read(query.with(fetchOffset: 0, fetchLimit: limit)) else { return [] }
            return Array(rows)
        }
        guard case .rows(let stored) = try file.read(query) else { return [] }
        let rest = stored.filter { staged[file.key(of: $0)] == nil }
        let source = StagedRows(rest + own.filter { !$0.isDeleted }.map(\.row))
        guard case .rows(let rows) = try RowEvaluator(source).answer(query.with(fetchOffset: 0, fetchLimit: limit)) else { return [] }
        return Array(rows)
    }

    /// Returns the key of a resource; nil if the file has no row of it.
    func key(of resource: ResourceID, in entity: CacheEntity) throws -> CacheKey? {
        try keys(of: [resource], in: entity)[resource]
    }

    /// Returns the keys of resources that have rows.
    func keys(of wanted: [ResourceID], in entity: CacheEntity) throws -> [ResourceID: CacheKey] {
        var found: [ResourceID: CacheKey] = [:]
        try find(wanted, in: entity) { resource, key, _ in found[resource] = key }
        return found
    }

    /// Calls `body` with the resources that have rows, their keys, and the rows as the file has them; nil for staged rows.
    func find(_ wanted: [ResourceID], in entity: CacheEntity, _ body: (ResourceID, CacheKey, Row?) -> Void) throws {
        new[entity.root]?.forEachNotIndexed { key, row in
            if let resource = key.entity.resource(of: row) { resources[entity.root, default: [:]][resource] = key }
        }
        var missing = wanted
        if let here = resources[entity.root], !here.isEmpty {
            missing = []
            for resource in wanted {
                if let key = here[resource] { body(resource, key, nil) } else { missing.append(resource) }
            }
        }
        if missing.isEmpty { return }
        for row in try file.rows(of: missing, in: entity) {
            let key = file.key(of: row)
            guard let resource = key.entity.resource(of: row) else { continue }
            if let known = staged[key] {
                // The row has another identifier now, or is deleted.
                if !known.isDeleted, known.resource == resource { body(resource, key, nil) }
            } else {
                body(resource, key, row)
            }
        }
    }

    /// The identifiers of staged rows of an inheritance tree, except new rows that were not looked up yet.
    func staged(in entity: CacheEntity) -> some Collection<ResourceID> { (resources[entity.root] ?? [:]).keys }

    /// Returns the key of a resource. If the file has no row of it, a stub with only its identity is created.
    func keyOrStub(of resource: ResourceID, in entity: CacheEntity) throws -> CacheKey {
        if let known = try key(of: resource, in: entity) ?? keysOfOtherForms([resource], in: entity)[resource] { return known }
        return try stub(of: resource, in: entity).key
    }

    /// Creates a row with only the identity of a resource.
    func stub(of resource: ResourceID, in entity: CacheEntity) throws -> CacheRow {
        let row = try insert(entity, resource)
        row.setState(.stub)
        return row
    }

    // MARK: Staging

    /// Returns a row for editing; nil if there is none.
    func edit(_ key: CacheKey) throws -> CacheRow? {
        if let known = staged[key] { return known.isDeleted ? nil : known }
        if let new = stageNewRow(key) { return new }
        guard let base = try file.row(key) else { return nil }
        return edit(base)
    }

    /// Returns a row that the caller has read, for editing.
    func edit(_ base: Row) -> CacheRow {
        let key = file.key(of: base)
        if let known = staged[key] ?? stageNewRow(key) { return known }
        let row = CacheRow(key, key.entity, base: base, file)
        staged[key] = row
        order.append(row)
        return row
    }

    /// Creates a new row, whose values are nil.
    ///
    /// - Parameter number: The key of the row; nil for a new one.
    func insert(_ entity: CacheEntity, _ resource: ResourceID? = nil, number: Int64? = nil) throws -> CacheRow {
        let key = CacheKey(entity: entity, number: try number ?? file.newKey(entity))
        let row = CacheRow(key, entity, base: nil, file)
        staged[key] = row
        order.append(row)
        row.setState(.clean)
        if let resource { try setResource(resource, of: row) }
        return row
    }

    /// Creates a new row with the values of a backend's row.
    ///
    /// - Parameters:
    ///   - key: A key from ``CacheFile/newKey(_:expecting:)`` that no row has.
    ///   - reference: A closure that returns the file's ID of a destination.
    func insert(
        _ key: CacheKey, _ resource: ResourceID, _ version: ResourceVersion?, from source: Row,
        reference: (NSManagedObjectID) throws -> NSManagedObjectID
    ) throws {
        guard let columns = key.entity.columns, let copy = key.entity.toInner else { return }
        let writer: RowCopyWriter
        if let lastWriter, lastWriter.entity === key.entity {
            writer = lastWriter.writer
        } else {
            let id = ObjectIdentifier(key.entity)
            writer = writers[id] ?? RowCopyWriter(copy, to: key.entity.inner)
            writers[id] = writer
            lastWriter = (key.entity, writer)
        }
        let now = now
        let row = try writer.row(source, id: key.entity.innerID(key.number, file.token), version: 1, reference: reference) { writer in
            resource.withFileText { writer.set(utf8: $0, at: columns.resource.place) }
            if var version = version?.encoded {
                version.withUTF8 { writer.set(utf8: UnsafeRawBufferPointer($0), at: columns.version.place) }
            } else {
                writer.setNil(columns.version.place)
            }
            writer.set(now, at: columns.fetchedAt.place)
            writer.setNil(columns.lastUsed.place)
            writer.set(CacheState.clean.rawValue, at: columns.state.place)
            writer.setNil(columns.known.place)
        }
        if newRows(key.entity.root).add(row, key) { return }
        stage(CacheRow(key, key.entity, new: row, file))
        resources[key.entity.root, default: [:]][resource] = key
    }

    // MARK: New rows

    private func newRows(_ root: ObjectIdentifier) -> NewRows {
        if let lastNew, lastNew.root == root { return lastNew.rows }
        let rows = new[root] ?? NewRows()
        new[root] = rows
        lastNew = (root, rows)
        return rows
    }

    private func newRow(_ key: CacheKey) -> Row? { new.isEmpty ? nil : new[key.entity.root]?.row(key.number) }

    private func stage(_ row: CacheRow) {
        staged[row.key] = row
        order.append(row)
    }

    /// Turns a new row into a staged one.
    private func stageNewRow(_ key: CacheKey) -> CacheRow? {
        guard !new.isEmpty, let (key, row) = new[key.entity.root]?.take(key.number) else { return nil }
        let made = CacheRow(key, key.entity, new: row, file)
        stage(made)
        if let resource = made.resource { resources[key.entity.root, default: [:]][resource] = key }
        return made
    }

    private func stageNewRows(of root: ObjectIdentifier) {
        guard let rows = new[root], rows.count > 0 else { return }
        for key in rows.keys { _ = stageNewRow(key) }
    }

    /// The writers of new rows, by entity.
    private var writers: [ObjectIdentifier: RowCopyWriter] = [:]
    private var lastWriter: (entity: CacheEntity, writer: RowCopyWriter)?

    /// Replaces a row by one of another entity of the inheritance tree, with the same key and identifier.
    func replace(_ key: CacheKey, by entity: CacheEntity) throws -> CacheRow {
        guard let old = try edit(key) else { return try insert(entity, number: key.number) }
        if let base = old.base { replaced.append(base) }
        order.removeAll { $0 === old }
        let row = try insert(entity, number: key.number)
        try setResource(old.resource, of: row)
        return row
    }

    /// The rows that were replaced by others with their keys.
    private(set) var replaced: [Row] = []

    /// Sets the backend's identifier of a row's object.
    func setResource(_ resource: ResourceID?, of row: CacheRow) throws {
        if let old = row.resource { resources[row.entity.root]?[old] = nil }
        row.setResource(resource)
        if let resource { resources[row.entity.root, default: [:]][resource] = row.key }
    }

    /// Deletes a row.
    func delete(_ key: CacheKey) throws {
        guard let row = try edit(key) else { return }
        if let resource = row.resource { resources[row.entity.root]?[resource] = nil }
        row.isDeleted = true
        if row.base == nil {
            staged[key] = nil
            order.removeAll { $0 === row }
        }
    }

    /// Runs `body` once the transaction is committed.
    func whenCommitted(_ body: @escaping () -> Void) { atCommit.append(body) }

    func finish() { for body in atCommit { body() } }

    // MARK: Lists

    /// Returns the members of a to-many relationship, including staged changes.
    func list(_ owner: CacheKey, _ name: String) throws -> [CacheKey] {
        guard let entity = staged[owner]?.entity ?? Optional(owner.entity),
            let relationship = entity.inner.frozenParts.byName[name] as? NSRelationshipDescription
        else { return [] }
        let isNew = staged[owner].map { $0.base == nil } ?? (newRow(owner) != nil)
        var members = isNew ? [] : try file.related(relationship, of: [owner])[owner] ?? []
        if let inverse = relationship.storedInverse, !inverse.isToMany {
            // The members have the relationship.
            let destination = relationship.destinationEntity.map { ObjectIdentifier($0.top) }
            if let destination { stageNewRows(of: destination) }
            for row in order where row.entity.root == destination {
                guard let own = row.entity.inner.frozenParts.byName[inverse.name] as? NSRelationshipDescription else { continue }
                let isMember = !row.isDeleted && row.row.relatedIDs(own).first.map { file.key(of: $0) } == owner
                if isMember, !members.contains(row.key) { members.append(row.key) }
                if !isMember { members.removeAll { $0 == row.key } }
            }
            if let order = staged[owner]?.lists[relationship.slotIndex]?.members {
                let places = Dictionary(order.enumerated().map { (file.key(of: $1), $0) }, uniquingKeysWith: { first, _ in first })
                members.sort { places[$0] ?? .max < places[$1] ?? .max }
            }
            return members
        }
        if let change = staged[owner]?.lists[relationship.slotIndex] {
            if let all = change.members { return all.map { file.key(of: $0) } }
            let removed = Set(change.removed.map { file.key(of: $0) })
            members.removeAll(where: removed.contains)
            members += change.added.map { file.key(of: $0) }
        }
        return members.filter { staged[$0]?.isDeleted != true }
    }

    /// Sets the members of a to-many relationship. If the inverse is to-one, the members are changed.
    ///
    /// - Parameter isMine: A closure that returns whether a member may lose its owner, if the inverse is to-one.
    func setList(_ owner: CacheKey, _ name: String, _ members: [CacheKey], removing isMine: (Row) -> Bool = { _ in true }) throws {
        guard let entity = staged[owner]?.entity ?? Optional(owner.entity),
            let relationship = entity.inner.frozenParts.byName[name] as? NSRelationshipDescription, relationship.isToMany
        else { throw RemoteStoreError.unknownProperty(name, of: owner.entity.name) }
        let before = try list(owner, name)
        let isReordered = relationship.isOrdered && before != members
        let (old, new) = (Set(before), Set(members))
        if old == new, !isReordered { return }
        let added = members.filter { !old.contains($0) }
        let removed = before.filter { !new.contains($0) }
        if let inverse = relationship.storedInverse, !inverse.isToMany {
            for key in added { try edit(key)?.setOne(owner, inverse.name) }
            for key in removed {
                guard let row = try row(key), isMine(row) else { continue }
                try edit(key)?.setOne(nil, inverse.name)
            }
            if !relationship.isOrdered { return }
        }
        guard let row = try edit(owner) else { return }
        let known = row.lists[relationship.slotIndex]
        var all = (added: known?.added ?? [], removed: known?.removed ?? [])
        let addedIDs = added.map(file.innerID)
        let removedIDs = removed.map(file.innerID)
        let (newly, gone) = (addedIDs.filter { !all.removed.contains($0) }, removedIDs.filter { !all.added.contains($0) })
        all.removed.removeAll { addedIDs.contains($0) }
        all.added.removeAll { removedIDs.contains($0) }
        row.lists[relationship.slotIndex] = (
            all.added + newly, all.removed + gone, relationship.isOrdered ? members.map(file.innerID) : nil
        )
    }
}

/// Rows without relationships, for the evaluation of a query.
// Used by one thread.
private final class StagedRows: RowSource {
    private let rows: [Row]
    init(_ rows: [Row]) { self.rows = rows }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        for row in rows where row.knownObjectID.owningEntity.isKindOf(entity: entity) { try body(row) }
    }
    func row(with id: NSManagedObjectID) throws -> Row? { rows.first { $0.knownObjectID == id } }
}
