// Codes in `NSCocoaErrorDomain` of migrations and what else stores meet, with the names and numbers of Apple's `CoreDataErrors.h`.

/// Several objects have the values that a uniqueness constraint wants to be unique, found by validation.
public let NSManagedObjectConstraintValidationError = 1551
/// A migration failed for a reason that no other code describes.
public let NSMigrationError = 134110
/// A migration was cancelled.
public let NSMigrationCancelledError = 134120
/// The model that the store was written with could not be found.
public let NSMigrationMissingSourceModelError = 134130
/// There is no mapping model between the two versions of the model.
public let NSMigrationMissingMappingModelError = 134140
/// The store that was to be migrated could not be read.
public let NSMigrationManagerSourceStoreError = 134150
/// The store to migrate to could not be written.
public let NSMigrationManagerDestinationStoreError = 134160
/// The policy of an entity failed in a migration.
public let NSEntityMigrationPolicyError = 134170
/// A mapping model could not be inferred.
public let NSInferredMappingModelError = 134190
/// A record of another source could not be imported.
public let NSExternalRecordImportError = 134200
/// The history does not reach back to a token.
public let NSPersistentHistoryTokenExpiredError = 134301
