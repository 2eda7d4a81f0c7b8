internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// Takes the steps of a migration in order. Each leaves a complete store. ``ChainRunner`` takes several of them together.
struct StepRunner {
    let opening: StoreOpening
    let url: URL
    /// The versions that the program has.
    let groups: [[KnownVersion]]
    /// The progress of the whole migration, one unit for each step.
    let progress: Progress

    /// Takes a step, and records in the store its former version.
    ///
    /// - Throws: Code 134120 once the progress was cancelled, and the errors of the migration. The store is then of the step's source version.
    func take(_ step: VersionStep) throws {
        if progress.isCancelled { throw cancelled }
        // Not a part of the thread's current progress, to which the whole belongs.
        let part = Progress(parent: nil)
        part.totalUnitCount = 1
        progress.addChild(part, withPendingUnitCount: 1)
        switch step.way {
        case .store(let files, let mapping):
            let rules = MigrationRules(
                forbiddenRows: opening.forbiddenRows, deferred: opening.isSet(NSPersistentStoreDeferredLightweightMigrationOptionKey))
            try files.migrateFiles(
                at: url, options: opening.options, from: step.source.model, to: step.destination.model, by: mapping, rules: rules,
                progress: part)
        case .mappingModel(let mapping, _), .inferred(let mapping):
            try ManagedStep(opening: opening, url: url, source: step.source, destination: step.destination).run(mapping, part)
        }
        part.completedUnitCount = part.totalUnitCount
        VersionTrail.extend(of: opening, at: url, from: step.source, to: step.destination, in: groups)
        Log.store.notice("The store at \(url.path) was migrated from the version \(step.source.name) to \(step.destination.name).")
    }

    private var cancelled: NSError {
        CoreDataError.make(
            NSMigrationCancelledError, "The migration of the store at \(url.path) was cancelled.",
            reason: "Its progress was cancelled between two steps.", next: "Open the store again to continue with the next step, or stage.")
    }
}
