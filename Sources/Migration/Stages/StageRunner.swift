internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// Runs the stages of a migration.
struct StageRunner {
    let opening: StoreOpening
    let url: URL
    let manager: NSStagedMigrationManager
    let steps: StepRunner

    func run(_ part: StagedJourney.Part) throws {
        switch part {
        case .step(let step, let stage): try manager.running(stage) { try steps.take(step) }
        case .custom(let step, let stage): try manager.running(stage) { try run(stage, step) }
        }
    }

    /// Runs a custom stage from the point where it was interrupted: the mark in the store shows that its first handler has returned, and the version
    /// whether the store was migrated since.
    private func run(_ stage: NSCustomMigrationStage, _ step: VersionStep) throws {
        let metadata = try opening.storeClass.metadataForPersistentStore(with: url)
        let hasBegun = UnfinishedStage(metadata)?.isOf(stage) ?? false
        let isMigrated = hasBegun && StoreModelHashes(metadata)?.areThose(of: step.destination.model.entities) ?? false
        if !isMigrated {
            if !hasBegun {
                if let handler = stage.willMigrateHandler { try call(handler, stage, step.source) }
                try UnfinishedStage(stage).write(to: opening.storeClass, at: url)
            }
            try steps.take(step)
        }
        if let handler = stage.didMigrateHandler { try call(handler, stage, step.destination) }
        try UnfinishedStage.remove(from: opening.storeClass, at: url)
    }

    /// Calls a handler with the store open in a version.
    private func call(
        _ handler: (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void, _ stage: NSCustomMigrationStage,
        _ version: KnownVersion
    ) throws {
        let container = NSPersistentContainer(name: stage.label ?? "Migration", managedObjectModel: version.whole)
        if let error = container.modelError { throw error }
        let coordinator = container.persistentStoreCoordinator
        var options = opening.options ?? [:]
        for key in [
            NSPersistentStoreStagedMigrationManagerOptionKey, NSMigratePersistentStoresAutomaticallyOption,
            NSInferMappingModelAutomaticallyOption, MigrationProgressOption,
        ] { options[key] = nil }
        options[StoreOpening.unfinishedStageKey] = true
        let store = try coordinator.addPersistentStore(
            ofType: opening.type, configurationName: opening.configuration, at: url, options: options)
        do {
            try manager.with(container) { try handler(manager, stage) }
        } catch {
            try coordinator.remove(store)
            throw error
        }
        try coordinator.remove(store)
    }
}
