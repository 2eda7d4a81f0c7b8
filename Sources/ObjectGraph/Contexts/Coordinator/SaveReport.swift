internal import Foundation

/// Collects the results of a save, store by store.
struct SaveReport {
    private let changeCount: Int
    private let storeCount: Int
    /// The IDs saved by a partial save, and the rows that stores changed during it.
    private var accepted: [NSManagedObjectID] = []
    private(set) var values = SavedValues()
    private var savedStores = 0
    private var isPartial = false
    private var failedStores: [NSPersistentStore] = []
    private var errors: [NSError] = []
    private var conflicts: [StoreConflicts.Version] = []
    /// Whether changes were refused for another reason than a conflict.
    private var isRefused = false

    init(changeCount: Int, storeCount: Int) {
        self.changeCount = changeCount
        self.storeCount = storeCount
    }

    /// Records the outcome of a store.
    ///
    /// - Throws: The error of a store that failed.
    mutating func note(
        _ outcome: Result<SaveOutcome, any Error>, of part: StoreChangeSet, in store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws {
        switch outcome {
        case .success(let outcome): note(outcome, of: part, in: store)
        case .failure(let error): try note(error, of: part, in: store, context)
        }
    }

    /// Records the success of a store.
    private mutating func note(_ outcome: SaveOutcome, of part: StoreChangeSet, in store: NSPersistentStore) {
        savedStores += 1
        note(outcome.rows, outcome.assignedIDs, of: part)
        // Skipped for a single store, for which the IDs are not needed.
        if storeCount > 1 { accepted += part.ids }
    }

    private mutating func note(_ rows: [Row], _ assigned: [NSManagedObjectID: NSManagedObjectID], of part: StoreChangeSet) {
        if !assigned.isEmpty {
            values.assignedIDs.merge(assigned) { _, new in new }
            // Rows that the store has changed replace them.
            values.rows += part.naming(assigned).renamedRows(since: part)
        }
        values.rows += rows
    }

    /// Updates a store's row cache after its save. Call it on any thread, as soon as the store has answered.
    ///
    /// - Parameter prepared: The entries that were made for the inserted objects; nil for none.
    static func keep(
        _ outcome: Result<SaveOutcome, any Error>, of part: StoreChangeSet, _ prepared: PreparedRows? = nil, in store: NSPersistentStore
    ) {
        if case .success = outcome { store.persistentStoreCoordinator?.didSaveMetadata(of: store) }
        guard let access = store.rowAccess as? CachedAccess else { return }
        if case .failure = outcome, let prepared { access.cache.remove(prepared) }
        switch outcome {
        case .success(let outcome):
            // Rows that contain assigned IDs differ from the prepared ones.
            access.didSave(part.naming(outcome.assignedIDs), outcome.assignedIDs.isEmpty ? prepared : nil)
            access.keep(outcome.rows)
        case .failure(let incomplete as IncompleteSave):
            let isNamed = Dictionary(incomplete.assignedIDs.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
            access.didSave(part.naming(incomplete.assignedIDs)) { !incomplete.isAccepted(isNamed[$0] ?? $0) }
            access.keep(incomplete.rows)
        case .failure: break
        }
    }

    /// Records the failure of a store.
    ///
    /// - Throws: The store's error if nothing was saved, so that a merge policy can resolve conflicts; ``PartialSave`` otherwise.
    private mutating func note(
        _ error: any Error, of part: StoreChangeSet, in store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws {
        guard let incomplete = error as? IncompleteSave else {
            let error = (error as? StoreConflicts).map { context.error(of: $0) } ?? error
            if savedStores == 0 { throw error }
            failedStores.append(store)
            errors.append(error as NSError)
            throw partialSave(context)
        }
        let ids = part.ids
        let saved = ids.filter(incomplete.isAccepted)
        isPartial = true
        accepted += saved
        note(incomplete.rows, incomplete.assignedIDs, of: part)
        failedStores.append(store)
        let refused = Set(ids).subtracting(saved)
        for id in ids where refused.contains(id) {
            if case .conflicting(let row)? = incomplete.outcomes[id] {
                conflicts.append(StoreConflicts.Version(id, stored: row))
                errors.append(context.error(of: StoreConflicts([StoreConflicts.Version(id, stored: row)])))
            } else {
                isRefused = true
                errors.append(Self.error(incomplete.outcomes[id], of: id, context))
            }
        }
        throw partialSave(context)
    }

    private func partialSave(_ context: NSManagedObjectContext) -> PartialSave {
        let ids = accepted
        let reason =
            isPartial
            ? "\(ids.count) of \(changeCount) changes were saved before, or although, others failed."
            : "\(savedStores) of \(storeCount) stores were written before one failed."
        let error = CoreDataError.make(
            NSPersistentStoreIncompleteSaveError, "Some changes were saved and others were not.", reason: reason,
            next: "Fix the cause and save again: only unsaved changes are sent.", cause: errors.first,
            info: [
                NSAffectedStoresErrorKey: failedStores, NSDetailedErrorsKey: errors,
                NSAffectedObjectsErrorKey: errors.flatMap { $0.userInfo[NSAffectedObjectsErrorKey] as? [Any] ?? [] },
            ])
        let named = ids.compactMap { values.assignedIDs[$0] }
        return PartialSave(
            accepted: Set(ids + named), values: values, error: error,
            conflicts: isRefused || savedStores < storeCount - 1 ? [] : conflicts)
    }

    /// Returns the error of one change that was not saved.
    private static func error(_ outcome: IncompleteSave.Outcome?, of id: NSManagedObjectID, _ context: NSManagedObjectContext) -> NSError {
        let (words, cause): (String, NSError?) =
            switch outcome {
            case .refused(let error): ("The store has refused it.", error)
            case .unknown(let error): ("Whether the store has saved it, or under which identifier, is not known.", error)
            case .accepted, .conflicting, nil: ("The store did not get to it.", nil)
            }
        let object = context.object(with: id)
        var info: [String: Any] = [NSAffectedObjectsErrorKey: [object]]
        // A store's error about a property has the form of a validation error before a save.
        for key in [NSValidationKeyErrorKey, NSValidationValueErrorKey, NSDetailedErrorsKey] { info[key] = cause?.userInfo[key] }
        if info[NSValidationKeyErrorKey] != nil { info[NSValidationObjectErrorKey] = object }
        return CoreDataError.make(
            cause?.code ?? NSPersistentStoreSaveError, "\(id) was not saved.",
            reason: [words, cause?.localizedDescription].compactMap { $0 }.joined(separator: " "),
            next: "See the underlying error, and save again.", cause: cause, info: info)
    }
}

/// A save of which only a part succeeded.
struct PartialSave: Error {
    /// The IDs of the saved objects, both those in their changes and those that were assigned.
    let accepted: Set<NSManagedObjectID>
    /// The values that stores changed and assigned during the save.
    let values: SavedValues
    /// The error for the caller of the save.
    let error: NSError
    /// The conflicts, if nothing else has prevented the rest from being saved.
    let conflicts: [StoreConflicts.Version]
}

extension StoreChangeSet {
    /// The IDs of all changes.
    fileprivate var ids: [NSManagedObjectID] { [inserted, updated, deleted, locked].flatMap { $0.map(\.objectID) } }
}

extension NSManagedObjectContext {
    /// Returns the error that passes conflicts found by a store to the merge policy.
    func error(of conflicts: StoreConflicts) -> NSError {
        if !conflicts.versions.isEmpty {
            return NSMergeConflict.error(conflicts.versions.map { NSMergeConflict(object(with: $0.objectID), stored: $0.stored) })
        }
        return NSConstraintConflict.error(
            conflicts.constraints.map { conflict in
                let conflicting = conflict.conflictingIDs.map(object(with:))
                let owner = conflict.stored?.objectID
                let made = NSConstraintConflict(
                    constraint: conflict.names, database: owner.map(object(with:)),
                    databaseSnapshot: conflict.stored.flatMap { row in owner.map { row.conflictSnapshot(of: $0.owningEntity) } },
                    conflicting: conflicting, conflictingSnapshots: conflicting.map { $0.row?.conflictSnapshot(of: $0.owningEntity) ?? [:] }
                )
                made.storedRow = conflict.stored
                return made
            })
    }
}
