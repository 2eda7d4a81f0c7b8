internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The private store of a cache.
// `writing` lets one thread write at a time, and guards `keys`; the rest is set when the file is opened or guards itself.
final class CacheFile: @unchecked Sendable {
    let names: CacheModel.Names
    let clock: any CacheClock
    let order: AskOrder
    let gaps = Gaps()
    /// The store's token in the IDs of its rows.
    let token: StoreToken
    /// The UUID of the file.
    let identifier: String
    private let coordinator: NSPersistentStoreCoordinator
    private let store: NSPersistentStore
    /// The content of a file of another model version that must survive, if its rows were migrated.
    let carried: (any CarriedContent)?
    private let byInner: [ObjectIdentifier: CacheEntity]
    private let byOuter: [ObjectIdentifier: CacheEntity]
    private let byName: [String: CacheEntity]
    /// The root entities of the destinations of relationships.
    private let referred: Set<ObjectIdentifier>
    private let hooks: CommitHooks
    private let writing = NSLock()
    /// The reserved keys of the file, by root entity.
    private var keys: [ObjectIdentifier: ReservedKeys] = [:]
    private var lastKeys: (root: ObjectIdentifier, keys: ReservedKeys)?
    /// The number of committed transactions.
    private let commits = LockedBox(0)
    /// The number of changes that this process has settled, see ``settledElsewhere()``.
    let ownSettled = LockedBox(0.0)
    private static let caller = StoreCaller(author: "cache")
    /// The caller of reads that bypass the rows in memory.
    private static let freshCaller = StoreCaller(author: "cache", stalenessInterval: 0)

    /// Closures that tests run before and after the commit of each transaction, with its number, and the rules that they switch off.
    struct CommitHooks: Sendable {
        var willCommit: (@Sendable (Int) -> Void)?
        var didCommit: (@Sendable (Int) -> Void)?
        var switchedOff: Set<CacheRule> = []
    }

    /// Whether a rule is active: a test may have switched it off to check that the violation is detected.
    func keeps(_ rule: CacheRule) -> Bool { !hooks.switchedOff.contains(rule) }

    /// Opens a file, or creates it.
    ///
    /// - Parameters:
    ///   - url: The location; nil for a cache in memory.
    ///   - options: Further options of the SQLite store.
    ///   - carrying: A closure that reads the content that must survive from a file of another version.
    /// - Throws: Code 134080 for a program without the SQLite store; the errors of opening one.
    init(
        at url: URL?, _ model: NSManagedObjectModel, clock: any CacheClock, hooks: CommitHooks = CommitHooks(),
        options further: [String: any Sendable] = [:], carrying: Carrying = { _, _ in nil }
    ) throws {
        let made = CacheModel.shared(for: model)
        names = made.names
        (self.clock, self.hooks, order) = (clock, hooks, AskOrder { clock.uptime })
        coordinator = try NSPersistentStoreCoordinator(checking: made.model)
        guard NSPersistentStoreCoordinator.registeredStoreTypes[Self.storeType] != nil else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The cache cannot be opened.", reason: "The program has no SQLite store.",
                next: "Import CoreData, which has it.")
        }
        // A save that was acknowledged must survive a power failure.
        var options: [AnyHashable: Any] = [
            "NSSQLitePragmasOption": ["journal_mode": "WAL", "synchronous": "FULL"]
        ]
        for (name, value) in further { options[name] = value }
        (store, carried) = try Self.open(url ?? URL(fileURLWithPath: "/dev/null"), coordinator, options, carrying) { place in
            try CacheFile(at: place, model, clock: clock, options: further)
        }
        token = store.token
        identifier = store.identifier
        var byInner: [ObjectIdentifier: CacheEntity] = [:]
        var byOuter: [ObjectIdentifier: CacheEntity] = [:]
        var byName: [String: CacheEntity] = [:]
        let outer = model.entitiesByName
        for inner in made.model.entities {
            let entity = CacheEntity(inner: inner, outer: inner.name.flatMap { outer[$0] }, made.names)
            byInner[ObjectIdentifier(inner)] = entity
            if let outer = entity.outer { byOuter[ObjectIdentifier(outer)] = entity }
            byName[entity.name] = entity
        }
        (self.byInner, self.byOuter, self.byName) = (byInner, byOuter, byName)
        referred = Set(
            made.model.entities.flatMap {
                $0.relationshipsByName.values.compactMap { $0.destinationEntity.map { ObjectIdentifier($0.top) } }
            })
    }

    /// Whether other objects may refer to those of an entity.
    func isReferredTo(_ entity: CacheEntity) -> Bool { referred.contains(entity.root) }

    static let storeType = "SQLite"

    /// Closes the file.
    func close() { try? coordinator.remove(store) }

    // MARK: Size

    /// The number of bytes that the file uses, including the files of large values; 0 for a cache in memory.
    func usedBytes() throws -> Int64 { try (store.interface as? any SizedStore)?.usedBytes() ?? 0 }

    /// Returns the approximate sizes in bytes of the rows of an inheritance tree, by their keys.
    func sizes(of top: CacheEntity) throws -> [Int64: Int64] { try (store.interface as? any SizedStore)?.sizes(of: top.inner) ?? [:] }

    /// Returns the space of removed rows to the file system.
    func giveBackSpace() throws { try (store.interface as? any SizedStore)?.giveBackSpace() }

    // MARK: Entities and IDs

    /// Returns the file's copy of an entity of the program.
    func entity(_ outer: NSEntityDescription) -> CacheEntity {
        byOuter[ObjectIdentifier(outer)].known("the file has every entity of the model")
    }

    /// Returns the entity of a row of the file.
    func entity(inner: NSEntityDescription) -> CacheEntity { byInner[ObjectIdentifier(inner)].known("the file's rows are of its entities") }

    /// Returns an entity by its name: one of the program's, or one of the cache's own from ``names``.
    func entity(named name: String) -> CacheEntity? { byName[name] }

    /// All entities, including those of the cache's own.
    var allEntities: [CacheEntity] { Array(byInner.values) }

    /// All entities that are copies of the program's.
    var entities: [CacheEntity] { Array(byOuter.values) }

    /// Returns the key of a row.
    func key(of row: Row) -> CacheKey {
        // The ID is not created if it does not exist yet.
        let place = row.block.withOrigin { origin in
            origin.flatMap { $0.store.token === token ? ($0.entity, SlotPointer(row.slots).prefix.pointee.number) : nil }
        }
        if let (entity, number) = place { return CacheKey(entity: self.entity(inner: entity), number: number) }
        return key(of: row.knownObjectID)
    }

    /// Returns the key of a row by its ID in the file.
    func key(of inner: NSManagedObjectID) -> CacheKey {
        CacheKey(entity: entity(inner: inner.owningEntity), number: inner.number.known("the file's keys are numbers"))
    }

    /// Returns the key of the object with a contexts' ID.
    func key(ofOuter id: NSManagedObjectID) -> CacheKey? { id.number.map { CacheKey(entity: entity(id.owningEntity), number: $0) } }

    func innerID(_ key: CacheKey) -> NSManagedObjectID { key.entity.innerID(key.number, token) }

    /// Returns a row in the form for contexts.
    func outer(_ row: Row, _ outerToken: StoreToken) -> Row {
        let key = key(of: row)
        let copy = key.entity.toOuter.known("the row is of an entity of the program")
        let knowledge = key.entity.knowledge(of: row)
        return copy.row(
            row, id: key.entity.outerID(key.number, outerToken), version: row.version &- knowledge.silentWrites,
            unknown: knowledge.unknownSlots
        ) { outerID(of: $0, outerToken) }
    }

    /// Returns rows in the form for contexts.
    func outer(_ rows: some Sequence<Row>, _ outerToken: StoreToken) -> RowList {
        var list = RowList()
        var writers: [ObjectIdentifier: RowCopyWriter] = [:]
        var last: (inner: NSEntityDescription, entity: CacheEntity, writer: RowCopyWriter)?
        for row in rows {
            let id = row.knownObjectID
            if last?.inner !== id.owningEntity {
                let entity = entity(inner: id.owningEntity)
                guard let outer = entity.outer, let copy = entity.toOuter else { continue }
                let writer = writers[ObjectIdentifier(entity)] ?? RowCopyWriter(copy, to: outer)
                writers[ObjectIdentifier(entity)] = writer
                last = (id.owningEntity, entity, writer)
            }
            guard let (_, entity, writer) = last, let number = id.number else { continue }
            let knowledge = entity.knowledge(of: row)
            list.append(
                writer.row(
                    row, id: entity.outerID(number, outerToken), version: row.version &- knowledge.silentWrites,
                    unknown: knowledge.unknownSlots
                ) { outerID(of: $0, outerToken) })
        }
        return list
    }

    /// Returns the contexts' ID of a row of the file.
    func outerID(of inner: NSManagedObjectID, _ outerToken: StoreToken) -> NSManagedObjectID {
        entity(inner: inner.owningEntity).outerID(inner.number.known("the file's keys are numbers"), outerToken)
    }

    // MARK: Reading

    /// Answers a query for an entity of the file, with the state after the last transaction.
    ///
    /// - Parameter isFresh: Whether the rows must be read from the file again, because another process may have written them since.
    func read(_ query: StoreQuery, isFresh: Bool = false) throws -> StoreAnswer {
        try store.interface.answer(query, for: isFresh ? Self.freshCaller : Self.caller)
    }

    /// Returns rows of the file; missing ones are omitted.
    func rows(_ keys: [CacheKey]) throws -> [Row] {
        if keys.isEmpty { return [] }
        let ids = keys.map(innerID)
        if ids.count > 1 { _ = try store.rowAccess.prepareRows(for: ids, for: Self.caller) }
        return try store.interface.rows(for: ids, for: Self.caller)
    }

    /// Returns a row of the file.
    ///
    /// - Parameter isFresh: Whether the row must be read from the file again, because another process may have written it since.
    func row(_ key: CacheKey, isFresh: Bool = false) throws -> Row? {
        try store.interface.row(for: innerID(key), for: isFresh ? Self.freshCaller : Self.caller)
    }

    /// Returns the destinations of a relationship of rows.
    func related(_ relationship: NSRelationshipDescription, of keys: [CacheKey]) throws -> [CacheKey: [CacheKey]] {
        let ids = keys.map(innerID)
        if ids.count > 1, relationship.isToMany {
            _ = try store.rowAccess.prepareRelated(of: relationship, for: ids, for: Self.caller)
        }
        var found: [CacheKey: [CacheKey]] = [:]
        for (key, id) in zip(keys, ids) {
            found[key] = try store.rowAccess.relatedIDs(of: relationship, for: id, for: Self.caller).map { self.key(of: $0) }
        }
        return found
    }

    /// Returns the rows of an entity, including subentities, whose attribute has one of some values.
    func rows(of entity: CacheEntity, where name: String, isOneOf values: [PropertyValue]) throws -> RowList {
        if values.isEmpty { return RowList() }
        let tree: PredicateTree =
            values.count == 1
            ? .compare(.keyPath([name]), .equal, .constant(values[0])) : .compare(.keyPath([name]), .isIn, .constant(.array(values)))
        guard case .rows(let rows) = try read(StoreQuery(entity.inner).with(predicate: NSPredicate(tree: tree))) else { return RowList() }
        return rows
    }

    /// Returns the rows of resources, with their actual entities; missing ones are omitted.
    func rows(of resources: [ResourceID], in entity: CacheEntity) throws -> RowList {
        // This is the case for a first pull, and for resources that are only ever appended.
        if resources.count > 100, try comeAfterAll(resources, in: entity) { return RowList() }
        return try rows(of: self.entity(inner: entity.inner.top), where: names.resource, isOneOf: resources.map { .string($0.fileText) })
    }

    /// Returns whether the identifiers come after all identifiers of the file: then it has none of them, and lookups are unnecessary.
    ///
    /// Rows are ordered by the bytes of their identifiers, but found by equal characters: for ASCII, both are the same.
    private func comeAfterAll(_ resources: [ResourceID], in entity: CacheEntity) throws -> Bool {
        let top = self.entity(inner: entity.inner.top)
        let last = StoreQuery(top.inner).sorted(by: [NSSortDescriptor(key: names.resource, ascending: false)])
        guard case .rows(let rows) = try read(last.with(fetchOffset: 0, fetchLimit: 1)) else { return false }
        // Rows without an identifier come last.
        guard let row = rows.first, let text = key(of: row).entity.resourceText(of: row) else { return true }
        return resources.allSatisfy { resource in
            resource.withFileText { bytes in
                bytes.allSatisfy { $0 < 0x80 } && text.utf8.lexicographicallyPrecedes(bytes)
            }
        }
    }

    /// Returns the keys of resources that have a row in the file, with the rows' entities.
    func keys(of resources: [ResourceID], in entity: CacheEntity) throws -> [ResourceID: CacheKey] {
        var found: [ResourceID: CacheKey] = [:]
        for row in try rows(of: resources, in: entity) {
            let key = key(of: row)
            if let resource = key.entity.resource(of: row) { found[resource] = key }
        }
        return found
    }

    // MARK: Writing

    /// Runs `body`, and commits its staged changes as one transaction that is synced to disk. Calls are serialized.
    ///
    /// - Parameter body: A closure that reads and stages. If another process has written the same rows meanwhile, it is called again.
    /// - Throws: The errors of `body`, in which case nothing is written; those of the store.
    func write<Result>(_ body: (CacheTransaction) throws -> Result) throws -> Result {
        writing.lock()
        defer { writing.unlock() }
        var attempts = 0
        while true {
            let transaction = CacheTransaction(self)
            let result = try body(transaction)
            let changes = transaction.changes
            if changes.isEmpty {
                transaction.finish()
                return result
            }
            do {
                let number = commits.withLock {
                    $0 += 1; return $0
                }
                hooks.willCommit?(number)
                _ = try store.interface.save(changes, for: Self.caller)
                hooks.didCommit?(number)
                transaction.finish()
                return result
            } catch let error as StoreConflicts {
                attempts += 1
                if attempts == 8 { throw error }
            }
        }
    }

    /// Runs `body` while this process does not write. Call it outside transactions.
    func betweenTransactions<Result>(_ body: () throws -> Result) rethrows -> Result { try writing.withLock(body) }

    /// A range of keys that no row has.
    // Guarded by the lock of the file's writing.
    private final class ReservedKeys: @unchecked Sendable {
        var next: Int64
        let end: Int64
        let step: Int

        init(_ next: Int64, _ end: Int64, step: Int) { (self.next, self.end, self.step) = (next, end, step) }
    }

    private func reservedKeys(_ root: ObjectIdentifier) -> ReservedKeys? {
        if let lastKeys, lastKeys.root == root { return lastKeys.keys }
        return keys[root]
    }

    /// Returns a key that no row has. Call it in a transaction.
    ///
    /// - Parameter count: The expected number of rows that need a key.
    func newKey(_ entity: CacheEntity, expecting count: Int = 1) throws -> Int64 {
        let known = reservedKeys(entity.root)
        if let known, known.next <= known.end {
            known.next += 1
            return known.next - 1
        }
        // A reservation takes a transaction of its own: the more keys are needed, the more are reserved at a time.
        let step = max(count, min(4096, (known?.step ?? 8) * 2))
        let ids = try store.interface.permanentIDs(for: NewObjects(step, of: entity.inner.top), for: Self.caller)
        guard let first = ids.first?.number, let last = ids.last?.number else {
            throw CoreDataError.make(NSPersistentStoreSaveError, "The cache has no key for “\(entity.name)”.")
        }
        let reserved = ReservedKeys(first + 1, last, step: step)
        keys[entity.root] = reserved
        lastKeys = (entity.root, reserved)
        return first
    }

    /// Returns the key of the next new row: existing rows have lower ones. Call it in a transaction.
    func nextKey(_ entity: CacheEntity) throws -> Int64 {
        let next = try newKey(entity)
        reservedKeys(entity.root)?.next = next
        return next
    }
}
