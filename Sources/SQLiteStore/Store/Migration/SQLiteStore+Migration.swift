package import Foundation
@_spi(Stores) package import ObjectGraph

extension SQLiteStore: ModelMigratingStore {
    /// Migrates the file of a store to another version of the model: in place if that writes few rows, otherwise into a copy that replaces it.
    package static func migrateFiles(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping, rules: MigrationRules, progress: Progress?
    ) throws {
        let migration = try SQLiteMigration(url, options, source, destination, mapping)
        try migration.run(rules, SQLMigrationWork(progress: progress, path: url.path))
    }

    package static func migrationEstimate(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping
    ) throws -> MigrationEstimate {
        try SQLiteMigration(url, options, source, destination, mapping).estimate()
    }

    package static func keptModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        let connection = try SQLiteFiles.connectForReadingOnce(url, timeout: SQLiteOptions(options).timeout)
        guard let model = try SQLiteModelCache.model(in: connection) else { return nil }
        StoreModelHashes(try SQLiteMetadata.read(from: connection))?.adopt(in: model)
        return model
    }

    package static func hasDeferredMigration(at url: URL, options: [AnyHashable: Any]?) throws -> Bool {
        let connection = try SQLiteFiles.connectForReading(url, timeout: SQLiteOptions(options).timeout)
        return try SQLiteMetadata.read(from: connection)[SQLiteMigration.deferredKey] != nil
    }

    package static func continueDeferredMigration(
        at url: URL, options: [AnyHashable: Any]?, model: NSManagedObjectModel
    ) throws -> Bool {
        try SQLiteMigration.continueDeferred(url, options, model)
    }
}
