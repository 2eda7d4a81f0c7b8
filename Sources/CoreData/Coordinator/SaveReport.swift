internal import Foundation

/// What has become of a save, store by store.
struct SaveReport {
    private let changeCount: Int
    private let storeCount: Int
    /// What was saved where not everything was: IDs, and the rows that stores have changed while they saved.
    private var accepted: [NSManagedObjectID] = []
    private(set) var rows: [Row] = []
    private var savedStores = 0
    private var isPartial = false
    private var failedStores: [NSPersistentStore] = []
    private var errors: [NSError] = []

    init(changeCount: Int, storeCount: Int) {
        self.changeCount = changeCount
        self.storeCount = storeCount
    }

    /// A store has answered.
    ///
    /// - Throws: where it has failed.
    mutating func note(
        _ outcome: Result<SaveOutcome, any Error>, of part: StoreChangeSet, in store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws {
        switch outcome {
        case .success(let outcome): note(outcome, of: part, in: store)
        case .failure(let error): try note(error, of: part, in: store, context)
        }
    }

    /// A store has saved its part.
    private mutating func note(_ outcome: SaveOutcome, of part: StoreChangeSet, in store: NSPersistentStore) {
        savedStores += 1
        rows += outcome.rows
        // What is not asked for is not gathered: mostly one store saves everything.
        if storeCount > 1 { accepted += part.ids }
    }

    /// Takes what a store has saved over into what is kept of its rows. On any thread, as soon as the store has answered.
    static func keep(_ outcome: Result<SaveOutcome, any Error>, of part: StoreChangeSet, in store: NSPersistentStore) {
        guard let access = store.rowAccess as? CachedAccess else { return }
        switch outcome {
        case .success(let outcome):
            access.didSave(part)
            access.keep(outcome.rows)
        case .failure(let incomplete as IncompleteSave):
            access.didSave(part) { !incomplete.isAccepted($0) }
            access.keep(incomplete.rows)
        case .failure: break
        }
    }

    /// A store has failed.
    ///
    /// - Throws: the error where nothing has been saved, for a merge policy to settle what it can; ``PartialSave`` otherwise.
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
        rows += incomplete.rows
        failedStores.append(store)
        let refused = Set(ids).subtracting(saved)
        for id in ids where refused.contains(id) { errors.append(Self.error(incomplete.outcomes[id], of: id, context)) }
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
            next: "Mend the cause and save again: only what was not saved is sent.", cause: errors.first,
            info: [
                NSAffectedStoresErrorKey: failedStores, NSDetailedErrorsKey: errors,
                NSAffectedObjectsErrorKey: errors.flatMap { $0.userInfo[NSAffectedObjectsErrorKey] as? [Any] ?? [] },
            ])
        return PartialSave(accepted: Set(ids), rows: rows, error: error)
    }

    /// The error of one change that was not saved.
    private static func error(_ outcome: IncompleteSave.Outcome?, of id: NSManagedObjectID, _ context: NSManagedObjectContext) -> NSError {
        let (words, cause): (String, NSError?) =
            switch outcome {
            case .refused(let error): ("The store has refused it.", error)
            case .unknown(let error): ("Whether the store has saved it is not known, for its answer was lost.", error)
            case .accepted, nil: ("The store did not get to it.", nil)
            }
        return CoreDataError.make(
            cause?.code ?? NSPersistentStoreSaveError, "\(id) was not saved.", reason: words,
            next: "See the underlying error, and save again.",
            cause: cause, info: [NSAffectedObjectsErrorKey: [context.object(with: id)]])
    }
}

/// A save of which a part is done.
struct PartialSave: Error {
    /// What was saved, by the IDs that the changes had.
    let accepted: Set<NSManagedObjectID>
    /// Rows that stores have changed while they saved.
    let rows: [Row]
    /// What the program is thrown.
    let error: NSError
}

extension StoreChangeSet {
    /// The IDs of all changes.
    fileprivate var ids: [NSManagedObjectID] { [inserted, updated, deleted, locked].flatMap { $0.map(\.objectID) } }
}

extension NSManagedObjectContext {
    /// Conflicts that a store has found, as the merge policy gets them.
    func error(of conflicts: StoreConflicts) -> NSError {
        if !conflicts.versions.isEmpty {
            return NSMergeConflict.error(conflicts.versions.map { NSMergeConflict(object(with: $0.objectID), stored: $0.stored) })
        }
        return NSConstraintConflict.error(
            conflicts.constraints.map { conflict in
                let claimants = conflict.claimants.map(object(with:))
                let holder = conflict.stored?.objectID
                return NSConstraintConflict(
                    constraint: conflict.names, database: holder.map(object(with:)),
                    databaseSnapshot: conflict.stored.flatMap { row in holder.map { row.conflictSnapshot(of: $0.owningEntity) } },
                    conflicting: claimants, conflictingSnapshots: claimants.map { $0.row?.conflictSnapshot(of: $0.owningEntity) ?? [:] })
            })
    }
}
