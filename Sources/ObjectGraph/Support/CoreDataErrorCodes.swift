internal import Foundation

// Codes in `NSCocoaErrorDomain`, with the names and numbers of Apple's `CoreDataErrors.h`.

/// The code of a validation error without a more specific code.
public let NSManagedObjectValidationError = 1550
/// The code of several validation errors, which are under ``NSDetailedErrorsKey``.
public let NSValidationMultipleErrorsError = 1560
/// The code for a nil value in a property that is not optional.
public let NSValidationMissingMandatoryPropertyError = 1570
/// The code for a to-many relationship with fewer objects than its minimum count.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// The code for a to-many relationship with more objects than its maximum count.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// The code for deleting an object whose relationship with the deny rule is not empty.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// The code for a number above the maximum of its attribute.
public let NSValidationNumberTooLargeError = 1610
/// The code for a number below the minimum of its attribute.
public let NSValidationNumberTooSmallError = 1620
/// The code for a date after the maximum of its attribute.
public let NSValidationDateTooLateError = 1630
/// The code for a date before the minimum of its attribute.
public let NSValidationDateTooSoonError = 1640
/// The code for a value that is not a date.
public let NSValidationInvalidDateError = 1650
/// The code for a string longer than the maximum length of its attribute.
public let NSValidationStringTooLongError = 1660
/// The code for a string shorter than the minimum length of its attribute.
public let NSValidationStringTooShortError = 1670
/// The code for a string that does not match the regular expression of its attribute.
public let NSValidationStringPatternMatchingError = 1680
/// The code for a value that is not a URI.
public let NSValidationInvalidURIError = 1690

/// The code of Apple's framework for a context that could not be locked. Contexts have no locks here: no error has it.
public let NSManagedObjectContextLockingError = 132000
/// The code of Apple's framework for a coordinator that could not be locked. Coordinators cannot be locked here: no error has it.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// The code for a reference to an object that does not exist.
public let NSManagedObjectReferentialIntegrityError = 133000
/// The code for a reference to an object of another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// The code for merge conflicts that the merge policy did not resolve.
public let NSManagedObjectMergeError = 133020

/// The code for violated uniqueness constraints that the merge policy did not resolve.
public let NSManagedObjectConstraintMergeError = 133021

/// The code for a type without a registered store class, or whose class is not a store class.
public let NSPersistentStoreInvalidTypeError = 134000
/// The code for a store whose metadata names another type than the one it was opened with.
public let NSPersistentStoreTypeMismatchError = 134010
/// The code for a store that cannot hold the entities of the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// The code for a store that could not be written.
public let NSPersistentStoreSaveError = 134030
/// The code for a save that only some stores completed.
public let NSPersistentStoreIncompleteSaveError = 134040
/// The code for a save that conflicts with changes others made since the objects were read.
public let NSPersistentStoreSaveConflictsError = 134050
/// The code of an error of the framework without a more specific code.
public let NSCoreDataError = 134060
/// The code for a store that violates its contract or does not support an operation.
public let NSPersistentStoreOperationError = 134070
/// The code for a store that could not be opened.
public let NSPersistentStoreOpenError = 134080
/// The code for a store that others locked for longer than ``NSPersistentStoreTimeoutOption`` allows.
public let NSPersistentStoreTimeoutError = 134090
/// The code for a model that is another version than the one the store was written with.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// The code of an SQLite error without a more specific code; SQLite's own code is under ``NSSQLiteErrorDomain``.
public let NSSQLiteError = 134180
/// The code for a request type that the store does not support.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091

/// The user-info key of the property that failed validation, as a name.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The user-info key of the object that failed validation.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The user-info key of the value that failed validation.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The user-info key of the predicate that the value does not satisfy.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The user-info key of the errors combined in an ``NSValidationMultipleErrorsError``.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The user-info key of the objects that an error affects.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The user-info key of the stores that an error affects.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The user-info key of the ``NSMergeConflict``s of an ``NSManagedObjectMergeError``, and of the ``NSConstraintConflict``s of an
/// ``NSManagedObjectConstraintMergeError``.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's error codes: a key in the user info of errors, and the domain of underlying errors.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
