internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import RemoteStore

/// Creates the errors of web services: the failure, its reason, and the advice.
enum WebBackendError {
    /// Returns the error of a description that contradicts the model, or itself.
    static func description(_ place: String, _ reason: String, next: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "The description of the service is wrong at \(place).", reason: reason, next: next)
    }

    /// Returns the error of an identifier or value that would lead a request to another address.
    static func path(_ value: String, _ label: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "“\(value)” cannot be part of an address (\(label)).",
            reason: "It is empty, or names another place, as “..” does.", next: "Do not fetch by this value.")
    }

    /// Returns the error of a value that the service cannot express.
    static func unwritable(
        _ property: String, _ entity: String, _ reason: String, next: String = "Change the value, or the transform in the description."
    ) -> NSError {
        CoreDataError.make(NSPersistentStoreOperationError, "“\(property)” of “\(entity)” cannot be sent.", reason: reason, next: next)
    }

    /// Returns the error of an answer that contradicts its description.
    static func answer(_ label: String, _ reason: String, next: String = "Compare the description with what the service answers.")
        -> NSError
    {
        CoreDataError.make(NSPersistentStoreOperationError, "The answer to \(label) cannot be read.", reason: reason, next: next)
    }

    /// Returns the error of an answer that contradicts its description.
    ///
    /// - Parameters:
    ///   - expected: The content that the description promises.
    ///   - found: The content of the answer.
    static func unfit(
        _ label: String, _ expected: String, _ found: String, next: String = "Compare the description with what the service answers."
    ) -> NSError { answer(label, "The description has \(expected), and the answer has \(found).", next: next) }

    /// Returns the reason why a change that was accepted for later is still pending.
    static func later(_ label: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change is not made yet.",
            reason: "\(label) was answered with 202: the service makes it later, and a read does not show it.",
            next: "Look again later, or send the change again.")
    }

    /// Returns the error of an answer that leads to another service.
    static func foreign(_ label: String) -> NSError {
        answer(
            label, "It names an address outside of the service as its next page.",
            next: "If the service has moved, change the address in the description.")
    }
}
