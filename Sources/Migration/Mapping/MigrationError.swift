internal import Foundation
internal import Logging
internal import ObjectGraph

/// Makes the errors of migrations.
enum MigrationError {
    /// An error of a mapping: it names the entity mapping and the property.
    static func make(
        _ code: Int, _ mapping: NSEntityMapping?, _ property: String? = nil, _ what: String? = nil, reason: String,
        next: String? = nil, cause: (any Error)? = nil, info: [String: Any] = [:]
    ) -> NSError {
        var info = info
        if let entity = mapping?.destinationEntityName ?? mapping?.sourceEntityName { info[entityKey] = entity }
        if let property { info[propertyKey] = property }
        let place = [mapping?.name.map { "the entity mapping “\($0)”" }, property.map { "the property “\($0)”" }].compactMap { $0 }
        let text = place.isEmpty ? reason : "In \(place.joined(separator: ", ")): \(reason)"
        return CoreDataError.make(code, what ?? "The store cannot be migrated.", reason: text, next: next, cause: cause, info: info)
    }

    /// The keys of an error's entity and property.
    static let entityKey = "entity"
    static let propertyKey = "property"

    /// Passes an error of the migration through, and makes one of any other.
    static func wrapped(
        _ error: any Error, _ code: Int, _ mapping: NSEntityMapping? = nil, _ property: String? = nil, _ what: String
    ) -> NSError {
        let error = error as NSError
        if error.domain == NSCocoaErrorDomain, codes.contains(error.code) { return error }
        var code = code
        if error.domain == NSCocoaErrorDomain, error.code == NSManagedObjectConstraintMergeError {
            code = NSMigrationConstraintViolationError
        }
        return make(code, mapping, property, what, reason: error.localizedDescription, cause: error)
    }

    private static let codes: Set = [
        NSMigrationError, NSMigrationConstraintViolationError, NSMigrationCancelledError, NSMigrationMissingSourceModelError,
        NSMigrationMissingMappingModelError, NSMigrationManagerSourceStoreError, NSMigrationManagerDestinationStoreError,
        NSEntityMigrationPolicyError, NSInferredMappingModelError,
    ]

    /// Combines several errors into one, with each under `NSDetailedErrorsKey`.
    static func combined(_ errors: [NSError]) -> NSError {
        if errors.count == 1 { return errors[0] }
        return CoreDataError.make(
            errors[0].code, "The store cannot be migrated.",
            reason: CoreDataError.list(errors) { "• \($0.localizedFailureReason ?? $0.localizedDescription)" },
            info: [NSDetailedErrorsKey: errors])
    }
}
