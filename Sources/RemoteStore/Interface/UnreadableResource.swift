public import Foundation

extension Resource {
    /// The policy for a resource that a backend cannot read, while the other resources of the page can be read.
    public enum UnreadablePolicy: String, Hashable, Sendable, CaseIterable {
        /// The object exists with the values that could be read, and the others become an error of the object: `NSManagedObject.faultError`. Code that cannot
        /// throw reads nil, and the next save reports the error; `fulfillFault()` and `existingObject(with:)` throw. The resource is also reported. A resource
        /// without an identifier fails the request: the error contains the number of such resources, the reason, and one of them.
        case ownError
        /// The resource is omitted and reported: to the log, and to ``RemoteStoreOptions/didFindUnreadable``.
        case reported
        /// The request fails with an error that names the resource.
        case refused
        /// The object exists with the values that could be read, its other values are nil, and the store keeps the raw data:
        /// `NSPersistentStore.unreadableResource(of:)`. The resource is also reported.
        case keptRaw
    }
}

/// A resource that a backend could not read.
public struct UnreadableResource: LocalizedError, CustomStringConvertible {
    /// The entity of the resource.
    public let entity: String
    /// Its identifier; nil if it could not be read either.
    public let id: ResourceID?
    /// The property that could not be read; nil if it is the whole resource, or not known.
    public let property: String?
    /// The reason why it could not be read.
    public let reason: any Error
    /// The data that the backend received, in its own format.
    public let raw: Data?

    /// Creates a note of a resource that could not be read.
    public init(_ entity: String, id: ResourceID?, property: String? = nil, reason: any Error, raw: Data? = nil) {
        (self.entity, self.id, self.property, self.reason, self.raw) = (entity, id, property, reason, raw)
    }

    /// The beginning of the raw data.
    var sample: String? {
        raw.map { raw in String(decoding: raw.prefix(120), as: UTF8.self) + (raw.count > 120 ? "…" : "") }
    }

    /// The resource and the reason, on one line.
    public var description: String {
        let subject = "\(entity) \(id.map { "\($0)" } ?? "without an identifier")"
        return "\(property.map { "“\($0)” of " } ?? "")\(subject) cannot be read: \((reason as NSError).localizedDescription)"
    }
    /// The same as ``description``.
    public var errorDescription: String? { description }
}
