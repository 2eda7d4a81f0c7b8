public import Foundation

/// The error of a change that the backend has accepted, and whose answer cannot be used: it lacks what the backend's description says that it has, such as
/// the identifier of a new resource.
///
/// A backend gives it as the reason of ``BackendOutcome/unknown(_:)``. The change is not sent again: a new resource without an identifier is sought by the
/// values that were sent, and any other is read. ``BackendOutcome/saved(id:version:values:)`` without the identifier of a new resource means the same.
public struct UnreadAnswer: LocalizedError, Sendable {
    /// What is wrong with the answer.
    public let cause: any Error

    /// Creates an error.
    public init(_ cause: any Error) { self.cause = cause }

    /// What is wrong with the answer, and that the change was accepted.
    public var errorDescription: String? { "\((cause as NSError).localizedDescription) The change itself was accepted." }
}
