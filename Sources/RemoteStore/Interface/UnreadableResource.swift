public import Foundation

extension Resource {
    /// What becomes of a resource that a backend cannot read: one of a page whose other resources can.
    public enum UnreadablePolicy: String, Hashable, Sendable, CaseIterable {
        /// It is there with what could be read, and what could not is an error of its own: `NSManagedObject.faultError`. Code that cannot throw reads nil, and
        /// the next save says so; `fulfillFault()` and `existingObject(with:)` throw. It is reported, too. A resource without an identifier fails the
        /// request: the error says how many there are, why, and what one of them is.
        case ownError
        /// It is left out, and reported: to the log, and to ``RemoteStoreOptions/didFindUnreadable``.
        case reported
        /// The request fails, with an error that names it.
        case refused
        /// The object exists with what could be read, its other values are nil, and the store keeps what the backend has got:
        /// `NSPersistentStore.unreadableResource(of:)`. It is reported, too.
        case keptRaw
    }
}

/// A resource that a backend could not read.
public struct UnreadableResource: LocalizedError, CustomStringConvertible {
    /// The entity of the resource.
    public let entity: String
    /// Its identifier; nil where that could not be read either.
    public let id: ResourceID?
    /// The property that could not be read; nil where it is the whole resource, or not known.
    public let property: String?
    /// Why it could not be read.
    public let reason: any Error
    /// What the backend has got, in its own form.
    public let raw: Data?

    /// Creates a note of a resource that could not be read.
    public init(_ entity: String, id: ResourceID?, property: String? = nil, reason: any Error, raw: Data? = nil) {
        (self.entity, self.id, self.property, self.reason, self.raw) = (entity, id, property, reason, raw)
    }

    /// The beginning of what the backend has got.
    var sample: String? {
        raw.map { raw in String(decoding: raw.prefix(120), as: UTF8.self) + (raw.count > 120 ? "…" : "") }
    }

    /// The resource and the reason, on one line.
    public var description: String {
        let subject = "\(entity) \(id.map { "\($0)" } ?? "without an identifier")"
        return "\(property.map { "“\($0)” of " } ?? "")\(subject) cannot be read: \((reason as NSError).localizedDescription)"
    }
    /// The same.
    public var errorDescription: String? { description }
}
