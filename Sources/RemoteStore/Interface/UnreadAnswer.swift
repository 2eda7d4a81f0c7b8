public import Foundation

/// The error of a change that the backend has accepted, but whose answer cannot be used: it lacks something that the backend's description promises, such as
/// the identifier of a new resource.
///
/// A backend uses it as the reason of ``BackendOutcome/unknown(_:)``. The change is not sent again. The store looks for a new resource without an identifier by
/// the values that were sent, and reads any other resource, several times if necessary. ``BackendOutcome/saved(id:version:values:)`` without the identifier of
/// a new resource has the same meaning.
public struct UnreadAnswer: LocalizedError, Sendable {
    /// The defect of the answer.
    public let cause: any Error
    /// Whether the backend has said that it will make the change later. The change counts as not made until a read shows it.
    public let isLater: Bool

    /// Creates an error.
    public init(_ cause: any Error, isLater: Bool = false) { (self.cause, self.isLater) = (cause, isLater) }

    /// The defect of the answer, and the statement that the change was accepted.
    public var errorDescription: String? { "\((cause as NSError).localizedDescription) The change itself was accepted." }
}

/// Marks the error of a change that was reported as successful but that a read does not show. A read from a lagging replica may also miss the change.
package enum UnseenChange {
    private static let key = "OpenCoreDataUnseenChange"
    /// The entry for the error's `userInfo`.
    package static var info: [String: Any] { [key: true] }

    static func isOne(_ error: any Error) -> Bool { (error as NSError).userInfo[key] != nil }
}
