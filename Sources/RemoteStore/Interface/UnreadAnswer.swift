public import Foundation

/// The error of a change that the backend has accepted, and whose answer cannot be used: it lacks what the backend's description says that it has, such as
/// the identifier of a new resource.
///
/// A backend gives it as the reason of ``BackendOutcome/unknown(_:)``. The change is not sent again: a new resource without an identifier is sought by the
/// values that were sent, and any other is read, several times if need be. ``BackendOutcome/saved(id:version:values:)`` without the identifier of a new
/// resource means the same.
public struct UnreadAnswer: LocalizedError, Sendable {
    /// What is wrong with the answer.
    public let cause: any Error
    /// Whether the backend has said that it makes the change later: until a read shows it, it is not made.
    public let isLater: Bool

    /// Creates an error.
    public init(_ cause: any Error, isLater: Bool = false) { (self.cause, self.isLater) = (cause, isLater) }

    /// What is wrong with the answer, and that the change was accepted.
    public var errorDescription: String? { "\((cause as NSError).localizedDescription) The change itself was accepted." }
}

/// Marks the error of a change that was answered with success, and that a read does not show: one from a copy of the service that lags may say so, too.
package enum UnseenChange {
    private static let key = "OpenCoreDataUnseenChange"
    /// What the error's `userInfo` has.
    package static var info: [String: Any] { [key: true] }

    static func isOne(_ error: any Error) -> Bool { (error as NSError).userInfo[key] != nil }
}
