internal import Foundation

// Codes in `NSCocoaErrorDomain`, with the names and numbers of Apple's `CoreDataErrors.h`.

/// A validation failure that no other code describes.
public let NSManagedObjectValidationError = 1550
/// Several validation failures; they stand under ``NSDetailedErrorsKey``.
public let NSValidationMultipleErrorsError = 1560
/// A property that is not optional holds nil.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A to-many relationship holds fewer objects than its minimum count.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A to-many relationship holds more objects than its maximum count.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// An object was deleted whose relationship with the deny rule is not empty.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above the largest that the model allows.
public let NSValidationNumberTooLargeError = 1610
/// A number is below the smallest that the model allows.
public let NSValidationNumberTooSmallError = 1620
/// A date is after the latest that the model allows.
public let NSValidationDateTooLateError = 1630
/// A date is before the earliest that the model allows.
public let NSValidationDateTooSoonError = 1640
/// A value is no date.
public let NSValidationInvalidDateError = 1650
/// A text is longer than the model allows.
public let NSValidationStringTooLongError = 1660
/// A text is shorter than the model allows.
public let NSValidationStringTooShortError = 1670
/// A text does not match the regular expression of the model.
public let NSValidationStringPatternMatchingError = 1680
/// A value is no URI.
public let NSValidationInvalidURIError = 1690

/// An object refers to one that no longer exists.
public let NSManagedObjectReferentialIntegrityError = 133000
/// An object refers to an object of another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// A merge policy could not settle the conflicts of a save.
public let NSManagedObjectMergeError = 133020

/// A merge policy could not settle the conflicts of uniqueness constraints.
public let NSManagedObjectConstraintMergeError = 133021

/// No store class is registered for the type, or it is not a store class.
public let NSPersistentStoreInvalidTypeError = 134000
/// The metadata of the store name another type than the one it was opened with.
public let NSPersistentStoreTypeMismatchError = 134010
/// The store cannot hold the entities of the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// The store could not be written.
public let NSPersistentStoreSaveError = 134030
/// Some stores of a save were written and others were not.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save met changes that others made since the objects were read.
public let NSPersistentStoreSaveConflictsError = 134050
/// An error of the framework that no other code describes.
public let NSCoreDataError = 134060
/// A store did not answer as its contract demands, or could not do what was asked.
public let NSPersistentStoreOperationError = 134070
/// The store could not be opened.
public let NSPersistentStoreOpenError = 134080
/// A store was locked by others for longer than ``NSPersistentStoreTimeoutOption`` allows.
public let NSPersistentStoreTimeoutError = 134090
/// The model is another version than the one that the store was written with.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// An error of SQLite that no other code describes; its code stands under ``NSSQLiteErrorDomain``.
public let NSSQLiteError = 134180
/// The store does not serve requests of this kind.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091

/// The key of a validation failure's property name.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The key of the object that failed validation.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The key of the value that failed validation.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The key of the predicate that a value does not satisfy.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The key of the errors that ``NSValidationMultipleErrorsError`` gathers.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The key of the objects that an error concerns.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The key of the stores that an error concerns.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The key of the ``NSMergeConflict``s of a ``NSManagedObjectMergeError``, and of the ``NSConstraintConflict``s of a
/// ``NSManagedObjectConstraintMergeError``.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's own codes: they stand under this key in the user info of errors, and as the domain of underlying errors.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
