#if PostgreSQL
internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The store about the tables of another program in a PostgreSQL database.
///
/// The class is internal: coordinators create it, and programs use it as an `NSPersistentStore`.
// Unchecked, as its superclass; `openedMetadata` is set once, before the store is shared.
final class MappedStore: DatabaseStore, AnsweringStore, @unchecked Sendable {
    // A property list, which is not changed.
    private var openedMetadata: [String: Any] = [:]

    override class var layout: PostgreSQLStoreOptions.Layout { .existing }

    override func loadMetadata() throws {
        try super.loadMetadata()
        openedMetadata = metadata ?? [:]
    }

    /// Whether the metadata are still those that were made at opening.
    private var hasNewMetadata: Bool {
        !NSDictionary(dictionary: metadata ?? [:]).isEqual(NSDictionary(dictionary: openedMetadata))
    }

    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        if hasNewMetadata {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store at \(content.place) cannot be saved.",
                reason: "The tables are another program's, and have no place for them.", next: "Keep what is in them elsewhere.")
        }
        if changes.isEmpty { return SaveOutcome() }
        let saving = MappedSaving(content)
        // On threads that are not the pool's, all of which may wait for saves; and not cancelled with the task, for a save has an outcome.
        return try await Task(executorPreference: BlockingCall.executor) { try await saving.save(changes) }.value
    }
}

extension MappedStore: KeySpellingStore {
    func spelled(_ reference: NSManagedObjectID.Reference, of entity: NSEntityDescription) -> NSManagedObjectID.Reference {
        guard let content, let found = content.schema.entity(entity) else { return reference }
        return content.mapping?.table(found).key.spelled(reference) ?? reference
    }
}

extension MappedStore: LateIdentityStore {
    /// The database assigns the keys, or they are among the values.
    func knownIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID?] { Array(repeating: nil, count: new.count) }
}
#endif
