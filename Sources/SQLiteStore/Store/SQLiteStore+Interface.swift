internal import Foundation
internal import Logging
@_spi(Stores) package import ObjectGraph
package import Predicates
internal import SQLQueries

// The store's answers to the coordinator's calls, unless other extensions contain them.

extension SQLiteStore: StoreInterface {
    package func blockingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try writeLock.withLock(body) }

    package func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try write(changes, for: caller)
        return SaveOutcome()
    }
}

extension SQLiteStore: RowAccess {
    package var batchesFaults: Bool { true }

    package func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers? {
        related.related(of: relationship, for: origin.key(number), maximumAge: caller.stalenessInterval)?.numbers
    }

    package func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? {
        related.related(of: relationship, for: id.key, maximumAge: -1)?.ids
    }

    package func knownRow(for id: NSManagedObjectID) -> Row? {
        place(of: id).flatMap { cache.row($0.entity.rootNumber, $0.key) }
    }
}

extension SQLiteStore: ConflictFinding {
    /// Returns `.unknown`, because the statements of a save detect conflicts.
    package func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }

    package func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        try reading { reader in
            try reader.readOwners(of: constraint, key).compactMap { id in
                try place(of: id).flatMap { try reader.readRow($0.entity, $0.key) }
            }
        }
    }
}

extension SQLiteStore: BatchStore {}

extension SQLiteStore: HistoryStore {
    package var keepsHistory: Bool { historyReader != nil }
}

extension SQLiteStore: GenerationStore {
    package var keepsGenerations: Bool {
        do { return try isLogged() } catch {
            // Concurrent reads are then disabled.
            Log.store.error("The mode of the store's file cannot be read: \(error)")
            return false
        }
    }

    package func makeView() throws -> NSPersistentStore? { try openView() }
}
