internal import FileStores
internal import Foundation
package import Migration
internal import ModelFiles
internal import ObjectGraph

/// Migrates a store to the current version of a model, or reports the effects of that.
package struct StoreMigrating {
    private let description: NSPersistentStoreDescription
    private let coordinator: NSPersistentStoreCoordinator

    /// - Parameters:
    ///   - place: The store.
    ///   - modelPath: The model; the migration can use its other versions, and the mapping models beside it.
    ///   - version: The version to migrate to; nil for the current one.
    package init(_ place: String, model modelPath: String, version: String? = nil) throws {
        if DatabaseReference.isDatabase(place) {
            throw CommandError.make(
                "The store in the database is not migrated by this command.",
                reason: "The program does that, where its options say so (PostgreSQLStoreOptions.migratesAutomatically).",
                next: "Start the program with its new model.")
        }
        let found = try StoreKind.find(place)
        let model = try ModelSource.model(at: modelPath, version: version)
        CSVStore.register()
        JSONStore.register()
        coordinator = try NSPersistentStoreCoordinator(checking: model)
        description = NSPersistentStoreDescription(url: found.url)
        description.type = StoreReference.type(of: found.kind)
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
    }

    /// Returns the plan of the migration, without changing the store.
    package func plan() throws -> MigrationPlan { try coordinator.migrationPlan(for: description) }

    /// Migrates the store.
    ///
    /// - Throws: The errors of the migration. The store is then unchanged.
    package func migrate() throws {
        _ = try coordinator.addPersistentStore(
            ofType: description.type, configurationName: nil, at: description.url, options: description.options)
    }
}
