internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import RemoteStore

/// Creates the errors of web services: what failed, why, and what to do next.
enum WebBackendError {
    /// The error of a description that does not fit the model, or itself.
    static func description(_ place: String, _ reason: String, next: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "The description of the service is wrong at \(place).", reason: reason, next: next)
    }

    /// The error of an identifier or value that would lead a request to another address.
    static func path(_ value: String, _ label: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "“\(value)” cannot be part of an address (\(label)).",
            reason: "It is empty, or names another place, as “..” does.", next: "Do not fetch by this value.")
    }

    /// The error of a value that the service has no form for.
    static func unwritable(
        _ property: String, _ entity: String, _ reason: String, next: String = "Change the value, or the transform in the description."
    ) -> NSError {
        CoreDataError.make(NSPersistentStoreOperationError, "“\(property)” of “\(entity)” cannot be sent.", reason: reason, next: next)
    }

    /// The error of an answer that is not what the description says.
    static func answer(_ label: String, _ reason: String, next: String = "Compare the description with what the service answers.")
        -> NSError
    {
        CoreDataError.make(NSPersistentStoreOperationError, "The answer to \(label) cannot be read.", reason: reason, next: next)
    }

    /// The error of an answer that contradicts its description.
    ///
    /// - Parameters:
    ///   - expected: What the description says that it has.
    ///   - found: What it has.
    static func unfit(
        _ label: String, _ expected: String, _ found: String, next: String = "Compare the description with what the service answers."
    ) -> NSError { answer(label, "The description has \(expected), and the answer has \(found).", next: next) }

    /// The reason why a change that was accepted for later is still open.
    static func later(_ label: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change is not made yet.",
            reason: "\(label) was answered with 202: the service makes it later, and a read does not show it.",
            next: "Look again later, or send the change again.")
    }

    /// The error of an answer that leads to another service.
    static func foreign(_ label: String) -> NSError {
        answer(
            label, "It names an address outside of the service as its next page.",
            next: "If the service has moved, change the address in the description.")
    }
}
