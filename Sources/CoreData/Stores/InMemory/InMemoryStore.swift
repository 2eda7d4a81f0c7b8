internal import Foundation
internal import Predicates

/// The store that lives in memory: rows by entity and number, shared by every context of its coordinator.
///
/// A saved object's row goes into the store as it is, and contexts that read the object take a reference to the same row: nothing is
/// copied until someone changes a value.
// `requestLock` guards everything; it is recursive, for a predicate may use the context that asks.
final class InMemoryStore: NSPersistentStore, CopyableStore, BatchStore, ConflictFinding, ContentsTelling, RowAccess, @unchecked Sendable {
    let requestLock = NSRecursiveLock()
    /// The rows, by the entity at the top of the inheritance.
    private var tables: [ObjectIdentifier: Table] = [:]
    private var lastTable: (entity: NSEntityDescription, table: Table)?
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    /// Made when it is first asked for.
    private var uniqueness: UniquenessIndex?
    /// How often a row has been put in place.
    private var changeCount = 0

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: NSInMemoryStoreType]
    }

    // MARK: Reading

    var holdsRows: Bool { true }
    var keepsLists: Bool { true }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try requestLock.withLock { try RowFetch(table: self, query: query).answer() }
    }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { knownRow(for: id) }

    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        requestLock.withLock { ids.compactMap { row(with: $0) } }
    }

    func knownRow(for id: NSManagedObjectID) -> Row? {
        requestLock.lock()
        defer { requestLock.unlock() }
        return row(with: id)
    }

    func latestRow(for id: NSManagedObjectID) -> LatestRow { row(with: id).map { .row($0) } ?? .deleted }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(ids.map { ($0, relatedIDs(of: relationship, for: $0, for: caller)) }, uniquingKeysWith: { first, _ in first })
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) -> [NSManagedObjectID] { knownRow(for: id)?.relatedIDs(relationship) ?? [] }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool { false }
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { false }

    func row(with id: NSManagedObjectID) -> Row? {
        guard case .integer(let number) = id.reference else { return nil }
        return tables[ObjectIdentifier(id.owningEntity.rootEntity)]?.pages[number]
    }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        guard let table = tables[ObjectIdentifier(entity.rootEntity)]?.pages else { return }
        if entity === entity.rootEntity, includingSubentities { return try table.forEach(body) }
        let kinds = Set((includingSubentities ? entity.allKinds : [entity]).map { ObjectIdentifier($0.frozen!.layout) })
        try table.forEach { row in
            if kinds.contains(ObjectIdentifier(row.layout)) { try body(row) }
        }
    }

    func schema(of entity: NSEntityDescription) -> RowSchema {
        if let schema = schemas[ObjectIdentifier(entity)] { return schema }
        let schema = RowSchema(entity: entity, table: self)
        schemas[ObjectIdentifier(entity)] = schema
        return schema
    }

    // MARK: Writing

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        requestLock.withLock {
            new.mapEntities { NSManagedObjectID(entity: $0, token: token, reference: .integer(table(of: $0).pages.nextNumber())) }
        }
    }

    /// The ID of a row that is about to be put in place.
    func newID(for entity: NSEntityDescription) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(table(of: entity).pages.nextNumber()))
    }

    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        BatchOutcome(try rowsChanged(by: request, caller.mergePolicy), as: request.wanted)
    }

    func holdingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try requestLock.withLock(body) }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try requestLock.withLock {
            try refuseOldVersions(changes)
            try refuseSharedValues(changes)
            for part in [changes.inserted, changes.updated, changes.locked] {
                part.forEachRow { row, _ in put(row, at: row.objectID.unsafelyUnwrapped) }
            }
            for change in changes.deleted { put(nil, at: change.objectID) }
            return SaveOutcome()
        }
    }

    var contentsState: ContentsState? {
        ContentsState(current: "\(identifier ?? "") \(requestLock.withLock { changeCount })")
    }

    func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        try holderIDs(of: constraint, key).compactMap { row(with: $0) }
    }

    func holderIDs(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
        let index = try uniqueness ?? UniquenessIndex(self, model: model)
        uniqueness = index
        return index.holders(of: constraint, key)
    }

    func put(_ row: Row?, at id: NSManagedObjectID) {
        guard case .integer(let number) = id.reference else { return }
        changeCount &+= 1
        table(of: id.owningEntity).pages[number] = row
        if uniqueness != nil { uniqueness?.set(row, of: id) }
    }

    private func table(of entity: NSEntityDescription) -> Table {
        // Objects mostly come entity by entity.
        if let lastTable, lastTable.entity === entity { return lastTable.table }
        let root = ObjectIdentifier(entity.rootEntity)
        let table = tables[root] ?? Table()
        tables[root] = table
        lastTable = (entity, table)
        return table
    }

    /// The rows of an entity and of those that inherit from it.
    private final class Table {
        var pages = RowPages()
    }
}
