internal import Foundation
internal import Logging
internal import Predicates

// What the coordinator asks and tells the store; the answers are in the other extensions.

extension SQLiteStore: StoreInterface {
    func holdingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try requestLock.withLock(body) }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try requestLock.withLock { try answered(query) }
    }

    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try ids.compactMap { try row(for: $0, for: caller) }
    }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(
            try ids.map { ($0, try relatedIDs(of: relationship, for: $0, for: caller)) }, uniquingKeysWith: { first, _ in first })
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try requestLock.withLock { try makePermanentIDs(for: new) }
    }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try requestLock.withLock {
            try refuseSharedValues(changes)
            try write(changes, for: caller)
            return SaveOutcome()
        }
    }
}

extension SQLiteStore: RowAccess {
    var batchesFaults: Bool { true }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        try requestLock.withLock { try knownRow(for: id, for: caller) }
    }

    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers? {
        requestLock.withLock {
            related.related(of: relationship, for: origin.key(number), notOlderThan: caller.stalenessInterval)?.numbers
        }
    }

    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers? {
        try requestLock.withLock { try readRelatedNumbers(of: relationship, for: numbers, of: origin, for: caller) }
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        try requestLock.withLock { try knownOrReadRelatedIDs(of: relationship, for: id, for: caller) }
    }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool {
        try requestLock.withLock { try readRows(for: ids, for: caller) }
    }

    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { try requestLock.withLock { try readRelated(of: relationship, for: ids, for: caller) } }

    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? {
        requestLock.withLock { related.related(of: relationship, for: id.key, notOlderThan: -1)?.ids }
    }

    func knownRow(for id: NSManagedObjectID) -> Row? {
        requestLock.withLock { place(of: id).flatMap { cache.row($0.entity.rootNumber, $0.key) } }
    }

    func forgetRow(of id: NSManagedObjectID) {
        requestLock.withLock {
            guard let place = place(of: id) else { return }
            // What is read next is to be new.
            if storm.isOn { endStorm() }
            cache.remove(place.entity.rootNumber, place.key)
            related.removeAll(of: id)
        }
    }
}

extension SQLiteStore: ConflictFinding {
    /// The statements of a save find what others have saved.
    func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }

    func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        try readHolders(of: constraint, key).compactMap { id in
            guard let place = place(of: id) else { return nil }
            return try readRow(place.entity, place.key)
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
    func lastHistoryNumber() throws -> Int64? { try requestLock.withLock { try readLastHistoryNumber() } }
    func history(_ request: NSPersistentHistoryChangeRequest) throws -> [HistoryRecord] {
        try requestLock.withLock { try readHistory(request) }
    }
    func deleteHistory(_ request: NSPersistentHistoryChangeRequest) throws -> Int {
        try requestLock.withLock { try removeHistory(request) }
    }
}

extension SQLiteStore: GenerationStore {
    var keepsGenerations: Bool {
        requestLock.withLock {
            do { return try isLogged() } catch {
                // It is read by nobody then, in whatever state.
                Log.store.error("The mode of the store's file cannot be read: \(error)")
                return false
            }
        }
    }

    func makeView() throws -> NSPersistentStore? { try requestLock.withLock { try openView() } }
}
