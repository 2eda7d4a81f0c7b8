internal import Foundation
internal import Logging
internal import Predicates

// What the coordinator asks and tells the store; the answers are in the other extensions.

extension SQLiteStore: StoreInterface {
    func holdingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try writeLock.withLock(body) }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try answered(query)
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try makePermanentIDs(for: new)
    }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try write(changes, for: caller)
        return SaveOutcome()
    }
}

extension SQLiteStore: RowAccess {
    var batchesFaults: Bool { true }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        try knownRow(for: id, for: caller)
    }

    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers? {
        related.related(of: relationship, for: origin.key(number), notOlderThan: caller.stalenessInterval)?.numbers
    }

    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers? {
        try readRelatedNumbers(of: relationship, for: numbers, of: origin, for: caller)
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        try knownOrReadRelatedIDs(of: relationship, for: id, for: caller)
    }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool {
        try readRows(for: ids, for: caller)
    }

    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { try readRelated(of: relationship, for: ids, for: caller) }

    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? {
        related.related(of: relationship, for: id.key, notOlderThan: -1)?.ids
    }

    func knownRow(for id: NSManagedObjectID) -> Row? {
        place(of: id).flatMap { cache.row($0.entity.rootNumber, $0.key) }
    }

    func forgetRow(of id: NSManagedObjectID) { forget(id) }
}

extension SQLiteStore: ConflictFinding {
    /// The statements of a save find what others have saved.
    func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }

    func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        try reading { reader in
            try reader.readHolders(of: constraint, key).compactMap { id in
                try place(of: id).flatMap { try reader.readRow($0.entity, $0.key) }
            }
        }
    }
}

extension SQLiteStore: BatchStore {
    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        try changed(by: request, for: caller)
    }
}

extension SQLiteStore: HistoryStore {
    var keepsHistory: Bool { historyReader != nil }
    func lastHistoryNumber() throws -> Int64? { try readLastHistoryNumber() }
    func history(_ request: NSPersistentHistoryChangeRequest) throws -> [HistoryRecord] {
        try readHistory(request)
    }
    func deleteHistory(_ request: NSPersistentHistoryChangeRequest) throws -> Int {
        try removeHistory(request)
    }
}

extension SQLiteStore: GenerationStore {
    var keepsGenerations: Bool {
        do { return try isLogged() } catch {
            // It is read by nobody then, in whatever state.
            Log.store.error("The mode of the store's file cannot be read: \(error)")
            return false
        }
    }

    func makeView() throws -> NSPersistentStore? { try openView() }
}
