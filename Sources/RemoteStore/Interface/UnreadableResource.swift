public import Foundation

extension Resource {
    /// What becomes of a resource that a backend cannot read: one of a page whose other resources can.
    public enum UnreadablePolicy: Hashable, Sendable {
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
    /// Why it could not be read.
    public let reason: any Error
    /// What the backend has got, in its own form.
    public let raw: Data?

    /// Creates a note of a resource that could not be read.
    public init(_ entity: String, id: ResourceID?, reason: any Error, raw: Data? = nil) {
        (self.entity, self.id, self.reason, self.raw) = (entity, id, reason, raw)
    }

    /// The resource and the reason, on one line.
    public var description: String {
        "\(entity) \(id.map { "\($0)" } ?? "without an identifier") cannot be read: \((reason as NSError).localizedDescription)"
    }
    /// The same.
    public var errorDescription: String? { description }
}

extension BackendAnswer {
    /// Adds a resource, or does with it what its ``Resource/unreadable`` says where its values do not fit: so that one that cannot be read
    /// does not lose the others.
    ///
    /// - Parameters:
    ///   - id: Its identifier.
    ///   - entity: Its entity; nil for that of the request.
    ///   - version: Its version; nil for none.
    ///   - raw: What the backend has got, in its own form; evaluated only where the resource cannot be read.
    ///   - values: The known values, by the names of the properties.
    /// - Throws: Code 134070 for an entity that the model does not have.
    public mutating func addReadable(
        _ id: some ResourceIdentifier, entity: String? = nil, version: ResourceVersion? = nil, raw: @autoclosure () -> Data? = nil,
        _ values: [String: ResourceValue]
    ) throws {
        do { try add(id, entity: entity, version: version, values) } catch {
            let note = UnreadableResource(entity ?? self.entity, id: id.resourceID, reason: error, raw: raw())
            switch unreadablePolicy {
            case .refused, .reported: unreadable.append(note)
            case .keptRaw:
                try add(id, entity: entity, version: version) { row in
                    for (name, value) in values { try? row.set(value, name) }
                }
                unreadable.append(note)
                keptRaw.append((id.resourceID, rows.count - 1, note))
            }
        }
    }
}
