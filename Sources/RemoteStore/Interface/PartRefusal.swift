public import Foundation
internal import ObjectGraph

/// The error of a change that was refused in part: the other part was saved, or was to be saved, in another place.
///
/// A backend that keeps the properties of a resource in several places uses it as the reason of ``BackendOutcome/refused(_:)``. The saved part is not sent
/// again; the rest remains a change of the object.
public struct PartRefusal: PassingError, LocalizedError, CustomNSError {
    /// The name of the place that has refused its part.
    public let place: String
    /// The names of the changed properties that were saved in other places; for a deletion, of those that were deleted there. Empty if there are none.
    public let saved: Set<String>
    /// The reason why the rest was not saved.
    public let cause: any Error
    private let what: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - place: The name of the place that has refused its part.
    ///   - saved: The names of the changed properties that were saved in other places.
    ///   - cause: The reason why the rest was not saved.
    public init(of change: BackendChange, in place: String, saved: Set<String> = [], because cause: any Error) {
        self.place = place
        self.saved = saved
        self.cause = cause
        what = "“\(change.entity)”\(change.id.map { " \($0)" } ?? "")"
    }

    /// Whether a retry may help, according to the cause.
    public var mayPass: Bool { Prospect(cause).mayPass ?? false }
    /// The time to wait before a retry, according to the cause.
    public var retryAfter: Duration? { Prospect(cause).retryAfter }
    /// Whether the place could not be reached.
    public var isOffline: Bool { Prospect(cause).isOffline }
    /// Whether the place rejects the credentials.
    public var needsCredentials: Bool { Prospect(cause).needsCredentials }

    /// The description of what was not saved, where, and why.
    public var errorDescription: String? {
        let rest = saved.isEmpty ? "" : " What was saved elsewhere is not sent again: \(saved.sorted().joined(separator: ", "))."
        return "\(what) was not saved in “\(place)”: \((cause as NSError).localizedDescription)\(rest)"
    }
    /// The domain of Core Data's errors.
    public static var errorDomain: String { NSCocoaErrorDomain }
    /// Code 134030.
    public var errorCode: Int { NSPersistentStoreSaveError }
    /// The description, and the cause.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: errorDescription ?? "", NSUnderlyingErrorKey: cause as NSError]
    }
}

extension BackendChange {
    /// Returns a change of some of the properties only.
    func only(_ names: Set<String>) -> BackendChange {
        var part = self
        part.values = values.filter { names.contains($0.key) }
        part.lists = lists.filter { names.contains($0.key) }
        part.changedProperties = changedProperties.intersection(names)
        return part
    }
}
