package import Foundation
internal import Logging
@_spi(Stores) package import ObjectGraph

/// Migrates stores of other versions when they are opened.
package struct AutomaticMigrator: StoreMigrator {
    package init() {}

    package func migrate(_ opening: StoreOpening, refusedWith refusal: NSError) throws {
        guard let url = opening.url, url.isFileURL else { throw refusal }
        let refused = refusal.userInfo["metadata"] as? [String: Any]
        // This comes before anything is written beside the store: a store that cannot be migrated is left unchanged.
        let before = try StoreVersion(opening, at: url, refused: refused)
        let planned = try plannedWay(of: before, refusal)
        if opening.isSet(NSReadOnlyPersistentStoreOption) {
            throw CoreDataError.make(
                NSMigrationError, "The store at \(url.path) cannot be migrated.",
                reason: "It is opened read-only. \(refusal.localizedFailureReason ?? "")",
                next: "Open it once for writing, or with the model of its version.", cause: refusal, info: [NSFilePathErrorKey: url.path])
        }
        let lock = try MigrationLock(of: url, timeout: opening.timeout)
        defer { lock.release() }
        // Another process may have migrated it meanwhile.
        let store = try StoreVersion(opening, at: url, refused: refused)
        let isSame = NSDictionary(dictionary: store.metadata).isEqual(NSDictionary(dictionary: before.metadata))
        switch isSame ? planned : try plannedWay(of: store, refusal) {
        case .steps(let journey, let steps):
            try ChainRunner(runner: journey.store.stepRunner(for: steps.count, in: journey.groups)).take(steps)
        case .stages(let journey, let parts):
            let runner = StageRunner(
                opening: opening, url: url, manager: journey.manager,
                steps: journey.store.stepRunner(for: parts.count, in: journey.groups))
            for part in parts { try runner.run(part) }
        case .none: break
        }
    }

    /// The way to migrate a store.
    enum Way {
        /// Nothing.
        case none
        /// Steps without a handler of the program.
        case steps(StoreJourney, [VersionStep])
        /// Stages.
        case stages(StagedJourney, [StagedJourney.Part])
    }

    /// Determines the way to migrate a store, without changing anything.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - refusal: The reason why it could not be opened; nil if that was not tried.
    ///   - permitsMissingValues: Whether values that become required need no default; nil to follow the options.
    func plannedWay(of store: StoreVersion, _ refusal: NSError?, permitsMissingValues: Bool? = nil) throws -> Way {
        let (opening, url) = (store.opening, store.url)
        if let option = opening.options?[NSPersistentStoreStagedMigrationManagerOptionKey] {
            guard let manager = option as? NSStagedMigrationManager else {
                throw CoreDataError.make(
                    NSMigrationError, "The store at \(url.path) cannot be migrated in stages.",
                    reason: "The option \(NSPersistentStoreStagedMigrationManagerOptionKey) is a \(Swift.type(of: option)).",
                    next: "Set an NSStagedMigrationManager.")
            }
            let journey = try StagedJourney(store, by: manager)
            if journey.isAtItsEnd { return .none }
            return .stages(journey, try journey.parts(permitsMissingValues))
        }
        if UnfinishedStage(store.metadata) != nil {
            throw refusal
                ?? CoreDataError.make(
                    NSPersistentStoreIncompatibleVersionHashError, "The last migration of the store at \(url.path) did not end.",
                    next: "Open the store with the staged migration manager that began it.")
        }
        let journey = try StoreJourney(store, refusal: refusal)
        if journey.isAtItsEnd { return .none }
        return .steps(journey, try journey.steps(permitsMissingValues))
    }
}
