public import Foundation
internal import ObjectGraph

/// The error of a change of which a part was saved, or was to be saved, in another place than the rest.
///
/// A backend that keeps the properties of a resource in several places gives it as the reason of ``BackendOutcome/refused(_:)``. What was saved is not
/// sent again: the rest stays a change of the object.
public struct PartRefusal: PassingError, LocalizedError, CustomNSError {
    /// The name of the place that has refused its part.
    public let place: String
    /// The names of the changed properties that were saved in other places, of a deletion those that are gone there; empty where nothing was.
    public let saved: Set<String>
    /// Why the rest was not saved.
    public let cause: any Error
    private let what: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - place: The name of the place that has refused its part.
    ///   - saved: The names of the changed properties that were saved in other places.
    ///   - cause: Why the rest was not saved.
    public init(of change: BackendChange, in place: String, saved: Set<String> = [], because cause: any Error) {
        self.place = place
        self.saved = saved
        self.cause = cause
        what = "“\(change.entity)”\(change.id.map { " \($0)" } ?? "")"
    }

    /// Whether trying again may help: what the cause says of it.
    public var mayPass: Bool { Prospect(cause).mayPass ?? false }
    /// The time to wait before that, which the cause tells.
    public var retryAfter: Duration? { Prospect(cause).retryAfter }
    /// Whether the place could not be reached.
    public var isOffline: Bool { Prospect(cause).isOffline }
    /// Whether the place does not take the credentials.
    public var needsCredentials: Bool { Prospect(cause).needsCredentials }

    /// What was not saved, where, and why.
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
    /// Returns the change of some of the properties only.
    func only(_ names: Set<String>) -> BackendChange {
        var part = self
        part.values = values.filter { names.contains($0.key) }
        part.lists = lists.filter { names.contains($0.key) }
        part.changedProperties = changedProperties.intersection(names)
        return part
    }
}
