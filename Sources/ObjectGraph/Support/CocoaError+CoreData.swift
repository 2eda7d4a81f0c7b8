public import Foundation

// The codes of CoreDataErrorCodes.swift as Swift spells them: `catch CocoaError.validationMissingMandatoryProperty`.

extension CocoaError.Code {
    /// The code of a validation error without a more specific code. See ``NSManagedObjectValidationError``.
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectValidationError) }
    /// The code of several validation errors, which are under ``NSDetailedErrorsKey``. See ``NSValidationMultipleErrorsError``.
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code(rawValue: NSValidationMultipleErrorsError) }
    /// The code for a nil value in a property that is not optional. See ``NSValidationMissingMandatoryPropertyError``.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError)
    }
    /// The code for a to-many relationship with fewer objects than its minimum count. See ``NSValidationRelationshipLacksMinimumCountError``.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError)
    }
    /// The code for a to-many relationship with more objects than its maximum count. See ``NSValidationRelationshipExceedsMaximumCountError``.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError)
    }
    /// The code for deleting an object whose relationship with the deny rule is not empty. See ``NSValidationRelationshipDeniedDeleteError``.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError)
    }
    /// The code for a number above the maximum of its attribute. See ``NSValidationNumberTooLargeError``.
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code(rawValue: NSValidationNumberTooLargeError) }
    /// The code for a number below the minimum of its attribute. See ``NSValidationNumberTooSmallError``.
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code(rawValue: NSValidationNumberTooSmallError) }
    /// The code for a date after the maximum of its attribute. See ``NSValidationDateTooLateError``.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooLateError) }
    /// The code for a date before the minimum of its attribute. See ``NSValidationDateTooSoonError``.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooSoonError) }
    /// The code for a value that is not a date. See ``NSValidationInvalidDateError``.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidDateError) }
    /// The code for a string longer than the maximum length of its attribute. See ``NSValidationStringTooLongError``.
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringTooLongError) }
    /// The code for a string shorter than the minimum length of its attribute. See ``NSValidationStringTooShortError``.
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringTooShortError) }
    /// The code for a string that does not match the regular expression of its attribute. See ``NSValidationStringPatternMatchingError``.
    public static var validationStringPatternMatching: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringPatternMatchingError) }
    /// The code for a value that is not a URI. See ``NSValidationInvalidURIError``.
    public static var validationInvalidURI: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidURIError) }
    /// The code of Apple's framework for a context that could not be locked. See ``NSManagedObjectContextLockingError``.
    public static var managedObjectContextLocking: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectContextLockingError) }
    /// The code of Apple's framework for a coordinator that could not be locked. See ``NSPersistentStoreCoordinatorLockingError``.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreCoordinatorLockingError)
    }
    /// The code for a reference to an object that does not exist. See ``NSManagedObjectReferentialIntegrityError``.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)
    }
    /// The code for a reference to an object of another store. See ``NSManagedObjectExternalRelationshipError``.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectExternalRelationshipError)
    }
    /// The code for merge conflicts that the merge policy did not resolve. See ``NSManagedObjectMergeError``.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectMergeError) }
    /// The code for violated uniqueness constraints that the merge policy did not resolve. See ``NSManagedObjectConstraintMergeError``.
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError) }
    /// The code for a type without a registered store class, or whose class is not a store class. See ``NSPersistentStoreInvalidTypeError``.
    public static var persistentStoreInvalidType: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError) }
    /// The code for a store whose metadata names another type than the one it was opened with. See ``NSPersistentStoreTypeMismatchError``.
    public static var persistentStoreTypeMismatch: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError) }
    /// The code for a store that cannot hold the entities of the model. See ``NSPersistentStoreIncompatibleSchemaError``.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleSchemaError)
    }
    /// The code for a store that could not be written. See ``NSPersistentStoreSaveError``.
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreSaveError) }
    /// The code for a save that only some stores completed. See ``NSPersistentStoreIncompleteSaveError``.
    public static var persistentStoreIncompleteSave: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError) }
    /// The code for a save that conflicts with changes others made since the objects were read. See ``NSPersistentStoreSaveConflictsError``.
    public static var persistentStoreSaveConflicts: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError) }
    /// The code of an error of the framework without a more specific code. See ``NSCoreDataError``.
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: NSCoreDataError) }
    /// The code for a store that violates its contract or does not support an operation. See ``NSPersistentStoreOperationError``.
    public static var persistentStoreOperation: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreOperationError) }
    /// The code for a store that could not be opened. See ``NSPersistentStoreOpenError``.
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreOpenError) }
    /// The code for a request type that the store does not support. See ``NSPersistentStoreUnsupportedRequestTypeError``.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    }
}

extension CocoaError {
    /// The code of a validation error without a more specific code. See ``NSManagedObjectValidationError``.
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    /// The code of several validation errors, which are under ``NSDetailedErrorsKey``. See ``NSValidationMultipleErrorsError``.
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    /// The code for a nil value in a property that is not optional. See ``NSValidationMissingMandatoryPropertyError``.
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
    /// The code for a to-many relationship with fewer objects than its minimum count. See ``NSValidationRelationshipLacksMinimumCountError``.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code { .validationRelationshipLacksMinimumCount }
    /// The code for a to-many relationship with more objects than its maximum count. See ``NSValidationRelationshipExceedsMaximumCountError``.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { .validationRelationshipExceedsMaximumCount }
    /// The code for deleting an object whose relationship with the deny rule is not empty. See ``NSValidationRelationshipDeniedDeleteError``.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
    /// The code for a number above the maximum of its attribute. See ``NSValidationNumberTooLargeError``.
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    /// The code for a number below the minimum of its attribute. See ``NSValidationNumberTooSmallError``.
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    /// The code for a date after the maximum of its attribute. See ``NSValidationDateTooLateError``.
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    /// The code for a date before the minimum of its attribute. See ``NSValidationDateTooSoonError``.
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    /// The code for a value that is not a date. See ``NSValidationInvalidDateError``.
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    /// The code for a string longer than the maximum length of its attribute. See ``NSValidationStringTooLongError``.
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    /// The code for a string shorter than the minimum length of its attribute. See ``NSValidationStringTooShortError``.
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
    /// The code for a string that does not match the regular expression of its attribute. See ``NSValidationStringPatternMatchingError``.
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
    /// The code for a value that is not a URI. See ``NSValidationInvalidURIError``.
    public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
    /// The code of Apple's framework for a context that could not be locked. See ``NSManagedObjectContextLockingError``.
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
    /// The code of Apple's framework for a coordinator that could not be locked. See ``NSPersistentStoreCoordinatorLockingError``.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
    /// The code for a reference to an object that does not exist. See ``NSManagedObjectReferentialIntegrityError``.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
    /// The code for a reference to an object of another store. See ``NSManagedObjectExternalRelationshipError``.
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
    /// The code for merge conflicts that the merge policy did not resolve. See ``NSManagedObjectMergeError``.
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    /// The code for violated uniqueness constraints that the merge policy did not resolve. See ``NSManagedObjectConstraintMergeError``.
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
    /// The code for a type without a registered store class, or whose class is not a store class. See ``NSPersistentStoreInvalidTypeError``.
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    /// The code for a store whose metadata names another type than the one it was opened with. See ``NSPersistentStoreTypeMismatchError``.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    /// The code for a store that cannot hold the entities of the model. See ``NSPersistentStoreIncompatibleSchemaError``.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
    /// The code for a store that could not be written. See ``NSPersistentStoreSaveError``.
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    /// The code for a save that only some stores completed. See ``NSPersistentStoreIncompleteSaveError``.
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
    /// The code for a save that conflicts with changes others made since the objects were read. See ``NSPersistentStoreSaveConflictsError``.
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
    /// The code of an error of the framework without a more specific code. See ``NSCoreDataError``.
    public static var coreData: CocoaError.Code { .coreData }
    /// The code for a store that violates its contract or does not support an operation. See ``NSPersistentStoreOperationError``.
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    /// The code for a store that could not be opened. See ``NSPersistentStoreOpenError``.
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    /// The code for a request type that the store does not support. See ``NSPersistentStoreUnsupportedRequestTypeError``.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
}
