// Codes in `NSCocoaErrorDomain` for migrations and stores, with the names and numbers of Apple's `CoreDataErrors.h`.

/// The code for a uniqueness constraint that validation found violated.
public let NSManagedObjectConstraintValidationError = 1551
/// The code of a migration error without a more specific code.
public let NSMigrationError = 134110
/// The code for a migration whose result would violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// The code for a cancelled migration.
public let NSMigrationCancelledError = 134120
/// The code for a missing model of the version that the store was written with.
public let NSMigrationMissingSourceModelError = 134130
/// The code for a missing mapping model between two versions of the model.
public let NSMigrationMissingMappingModelError = 134140
/// The code for a migration whose source store could not be read.
public let NSMigrationManagerSourceStoreError = 134150
/// The code for a migration whose destination store could not be written.
public let NSMigrationManagerDestinationStoreError = 134160
/// The code for a migration in which an entity migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// The code for a mapping model that could not be inferred.
public let NSInferredMappingModelError = 134190
/// The code for an external record that could not be imported.
public let NSExternalRecordImportError = 134200
/// The code for a history token that is older than the history.
public let NSPersistentHistoryTokenExpiredError = 134301
/// The code for a history token of stores that the coordinator does not have. Apple's framework throws it, and has no public name for it.
let historyTokenOfOtherStores = 134501
/// The code for a model of a migration stage that could not be found, and for a store or a coordinator whose version belongs to none of the stages.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// The code for a store of a framework whose versions a staged migration cannot distinguish.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// The code for a store whose version comes after that of the coordinator's model in the stages of a migration.
public let NSStagedMigrationBackwardMigrationError = 134506
/// The code for a store that a newer version of the program has migrated or written. Its files are left unchanged. Not one of Apple's.
public let StoreNewerThanModelError = 134599
