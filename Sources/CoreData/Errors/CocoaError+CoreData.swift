public import Foundation

// The codes of CoreDataErrorCodes.swift as Swift spells them: `catch CocoaError.validationMissingMandatoryProperty`.

extension CocoaError.Code {
    /// See ``NSManagedObjectValidationError``.
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectValidationError) }
    /// See ``NSValidationMultipleErrorsError``.
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code(rawValue: NSValidationMultipleErrorsError) }
    /// See ``NSValidationMissingMandatoryPropertyError``.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError)
    }
    /// See ``NSValidationRelationshipLacksMinimumCountError``.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError)
    }
    /// See ``NSValidationRelationshipExceedsMaximumCountError``.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError)
    }
    /// See ``NSValidationRelationshipDeniedDeleteError``.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError)
    }
    /// See ``NSValidationNumberTooLargeError``.
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code(rawValue: NSValidationNumberTooLargeError) }
    /// See ``NSValidationNumberTooSmallError``.
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code(rawValue: NSValidationNumberTooSmallError) }
    /// See ``NSValidationDateTooLateError``.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooLateError) }
    /// See ``NSValidationDateTooSoonError``.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooSoonError) }
    /// See ``NSValidationInvalidDateError``.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidDateError) }
    /// See ``NSValidationStringTooLongError``.
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringTooLongError) }
    /// See ``NSValidationStringTooShortError``.
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringTooShortError) }
    /// See ``NSValidationStringPatternMatchingError``.
    public static var validationStringPatternMatching: CocoaError.Code { CocoaError.Code(rawValue: NSValidationStringPatternMatchingError) }
    /// See ``NSValidationInvalidURIError``.
    public static var validationInvalidURI: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidURIError) }
    /// See ``NSManagedObjectReferentialIntegrityError``.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)
    }
    /// See ``NSManagedObjectExternalRelationshipError``.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectExternalRelationshipError)
    }
    /// See ``NSManagedObjectMergeError``.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectMergeError) }
    /// See ``NSManagedObjectConstraintMergeError``.
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError) }
    /// See ``NSPersistentStoreInvalidTypeError``.
    public static var persistentStoreInvalidType: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError) }
    /// See ``NSPersistentStoreTypeMismatchError``.
    public static var persistentStoreTypeMismatch: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError) }
    /// See ``NSPersistentStoreIncompatibleSchemaError``.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleSchemaError)
    }
    /// See ``NSPersistentStoreSaveError``.
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreSaveError) }
    /// See ``NSPersistentStoreIncompleteSaveError``.
    public static var persistentStoreIncompleteSave: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError) }
    /// See ``NSPersistentStoreSaveConflictsError``.
    public static var persistentStoreSaveConflicts: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError) }
    /// See ``NSCoreDataError``.
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: NSCoreDataError) }
    /// See ``NSPersistentStoreOperationError``.
    public static var persistentStoreOperation: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreOperationError) }
    /// See ``NSPersistentStoreOpenError``.
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreOpenError) }
    /// See ``NSPersistentStoreUnsupportedRequestTypeError``.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    }
}

extension CocoaError {
    /// See ``NSManagedObjectValidationError``.
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    /// See ``NSValidationMultipleErrorsError``.
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    /// See ``NSValidationMissingMandatoryPropertyError``.
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
    /// See ``NSValidationRelationshipLacksMinimumCountError``.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code { .validationRelationshipLacksMinimumCount }
    /// See ``NSValidationRelationshipExceedsMaximumCountError``.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { .validationRelationshipExceedsMaximumCount }
    /// See ``NSValidationRelationshipDeniedDeleteError``.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
    /// See ``NSValidationNumberTooLargeError``.
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    /// See ``NSValidationNumberTooSmallError``.
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    /// See ``NSValidationDateTooLateError``.
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    /// See ``NSValidationDateTooSoonError``.
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    /// See ``NSValidationInvalidDateError``.
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    /// See ``NSValidationStringTooLongError``.
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    /// See ``NSValidationStringTooShortError``.
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
    /// See ``NSValidationStringPatternMatchingError``.
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
    /// See ``NSValidationInvalidURIError``.
    public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
    /// See ``NSManagedObjectReferentialIntegrityError``.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
    /// See ``NSManagedObjectExternalRelationshipError``.
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
    /// See ``NSManagedObjectMergeError``.
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    /// See ``NSManagedObjectConstraintMergeError``.
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
    /// See ``NSPersistentStoreInvalidTypeError``.
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    /// See ``NSPersistentStoreTypeMismatchError``.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    /// See ``NSPersistentStoreIncompatibleSchemaError``.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
    /// See ``NSPersistentStoreSaveError``.
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    /// See ``NSPersistentStoreIncompleteSaveError``.
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
    /// See ``NSPersistentStoreSaveConflictsError``.
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
    /// See ``NSCoreDataError``.
    public static var coreData: CocoaError.Code { .coreData }
    /// See ``NSPersistentStoreOperationError``.
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    /// See ``NSPersistentStoreOpenError``.
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    /// See ``NSPersistentStoreUnsupportedRequestTypeError``.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
}
