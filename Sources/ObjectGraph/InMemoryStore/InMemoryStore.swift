internal import Foundation

/// The in-memory store: rows by entity and number, shared by all contexts of its coordinator.
///
/// A saved object's row is stored unchanged, and contexts that read the object reference the same row: nothing is copied until a value is
/// changed.
// `requestLock` guards all state; it is not a `LockedBox`, because it is recursive: a predicate may use the requesting context. `stored` is set once,
// before the store is shared.
final class InMemoryStore: NSPersistentStore, CopyableStore, BatchStore, ContentsStateProviding, RowAccess, @unchecked Sendable {
    private let requestLock = NSRecursiveLock()
    private var stored: StoredRows!

    override func loadMetadata() throws {
        stored = StoredRows(for: self)
        let version = persistentStoreCoordinator?.managedObjectModel.versionMetadata(forConfigurationName: configurationName) ?? [:]
        metadata = version.merging([NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: NSInMemoryStoreType]) { $1 }
    }

    /// False: the contents are released with the store, whatever its URL.
    override class var isPersistent: Bool { false }

    // MARK: Reading

    var hasRowsInMemory: Bool { true }
    var rowsContainLists: Bool { true }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try requestLock.withLock { try stored.answer(query) }
    }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { knownRow(for: id) }

    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] { requestLock.withLock { stored.rows(with: ids) } }

    func knownRow(for id: NSManagedObjectID) -> Row? {
        requestLock.lock()
        defer { requestLock.unlock() }
        return stored.row(with: id)
    }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] { requestLock.withLock { stored.related(by: relationship, from: ids) } }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) -> [NSManagedObjectID] { knownRow(for: id)?.relatedIDs(relationship) ?? [] }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool { false }
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { false }

    // MARK: Writing

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        requestLock.withLock { stored.makeIDs(for: new) }
    }

    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        let batch = try PreparedBatch(request)
        return try requestLock.withLock { try stored.execute(batch, for: caller) }
    }

    func blockingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try requestLock.withLock(body) }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try requestLock.withLock {
            try stored.checkConflicts(changes)
            stored.apply(changes)
            return SaveOutcome()
        }
    }

    var contentsState: ContentsState? { ContentsState(current: "\(identifier ?? "") \(requestLock.withLock { stored.changeCount })") }
}
