public import Foundation

// The codes of opening and migrating stores as Swift spells them, see CocoaError+CoreData.swift.

extension CocoaError.Code {
    /// The code for a model that is not the one the store was written with. See ``NSPersistentStoreIncompatibleVersionHashError``.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleVersionHashError)
    }
    /// The code for a store that did not answer in time. See ``NSPersistentStoreTimeoutError``.
    public static var persistentStoreTimeout: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreTimeoutError) }
    /// The code for a migration error without a more specific code. See ``NSMigrationError``.
    public static var migration: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationError) }
    /// The code for a cancelled migration. See ``NSMigrationCancelledError``.
    public static var migrationCancelled: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationCancelledError) }
    /// The code for a missing model of the version that the store was written with. See ``NSMigrationMissingSourceModelError``.
    public static var migrationMissingSourceModel: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationMissingSourceModelError) }
    /// The code for a missing mapping model between two versions of the model. See ``NSMigrationMissingMappingModelError``.
    public static var migrationMissingMappingModel: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationMissingMappingModelError) }
    /// The code for a migration whose source store could not be read. See ``NSMigrationManagerSourceStoreError``.
    public static var migrationManagerSourceStore: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationManagerSourceStoreError) }
    /// The code for a migration whose destination store could not be written. See ``NSMigrationManagerDestinationStoreError``.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationManagerDestinationStoreError)
    }
    /// The code for a migration in which an entity migration policy failed. See ``NSEntityMigrationPolicyError``.
    public static var entityMigrationPolicy: CocoaError.Code { CocoaError.Code(rawValue: NSEntityMigrationPolicyError) }
    /// The code for a mapping model that could not be inferred. See ``NSInferredMappingModelError``.
    public static var inferredMappingModel: CocoaError.Code { CocoaError.Code(rawValue: NSInferredMappingModelError) }
    /// The code for an external record that could not be imported. See ``NSExternalRecordImportError``.
    public static var externalRecordImport: CocoaError.Code { CocoaError.Code(rawValue: NSExternalRecordImportError) }
    /// The code for an error of SQLite. See ``NSSQLiteError``.
    public static var sqlite: CocoaError.Code { CocoaError.Code(rawValue: NSSQLiteError) }
}

extension CocoaError {
    /// The code for a model that is not the one the store was written with. See ``NSPersistentStoreIncompatibleVersionHashError``.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { .persistentStoreIncompatibleVersionHash }
    /// The code for a store that did not answer in time. See ``NSPersistentStoreTimeoutError``.
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
    /// The code for a migration error without a more specific code. See ``NSMigrationError``.
    public static var migration: CocoaError.Code { .migration }
    /// The code for a cancelled migration. See ``NSMigrationCancelledError``.
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
    /// The code for a missing model of the version that the store was written with. See ``NSMigrationMissingSourceModelError``.
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
    /// The code for a missing mapping model between two versions of the model. See ``NSMigrationMissingMappingModelError``.
    public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
    /// The code for a migration whose source store could not be read. See ``NSMigrationManagerSourceStoreError``.
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
    /// The code for a migration whose destination store could not be written. See ``NSMigrationManagerDestinationStoreError``.
    public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
    /// The code for a migration in which an entity migration policy failed. See ``NSEntityMigrationPolicyError``.
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
    /// The code for a mapping model that could not be inferred. See ``NSInferredMappingModelError``.
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
    /// The code for an external record that could not be imported. See ``NSExternalRecordImportError``.
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
    /// The code for an error of SQLite. See ``NSSQLiteError``.
    public static var sqlite: CocoaError.Code { .sqlite }
}
