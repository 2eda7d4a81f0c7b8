public import Foundation
@_spi(Stores) internal import ObjectGraph

/// A position in the order of a backend's changes, in its own terms: a number, a time, a cursor.
public struct ChangeToken: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The token.
    public let text: String

    /// Creates a token.
    public init(_ text: String) { self.text = text }
    /// The token.
    public var description: String { text }
}

/// A request for the changes since a token.
public struct ChangesRequest: Sendable {
    /// The token of the previous answer; nil for the first request.
    public let token: ChangeToken?
    let decoding: AnswerDecoding

    /// Returns an empty answer to this request, for the backend to fill.
    ///
    /// - Parameter token: The position to continue from in the next request.
    public func answer(_ token: ChangeToken) -> BackendChanges {
        BackendChanges(token: token, answer: BackendAnswer(entity: "", decoding: decoding), decoding: decoding)
    }
}

/// An answer to a ``ChangesRequest``: the changed resources and the removed ones.
///
/// A resource that was changed several times needs to be listed once, in its current state. The changes of this program may be included.
///
/// ```swift
/// var changes = request.answer(ChangeToken(page.cursor))
/// for album in page.albums { try changes.add(album.id, entity: "Album", ["title": .value(.string(album.title))]) }
/// for id in page.removed { try changes.remove(id, entity: "Album") }
/// ```
public struct BackendChanges: Sendable {
    /// The position to continue from in the next request.
    public var token: ChangeToken
    /// Whether there are more changes, which the next answer contains.
    public var hasMore = false
    private(set) var answer: BackendAnswer
    /// The removed objects.
    private(set) var removed: [(id: NSManagedObjectID, version: ResourceVersion?)] = []
    private let decoding: AnswerDecoding

    init(token: ChangeToken, answer: BackendAnswer, decoding: AnswerDecoding) {
        self.token = token
        self.answer = answer
        self.decoding = decoding
    }

    /// Adds a resource that is new or was changed, with its current values. As in any answer, the other values are unknown.
    ///
    /// - Throws: Code 134070 for names that the model does not have, and values that do not fit.
    public mutating func add(
        _ id: some ResourceIdentifier, entity: String, version: ResourceVersion? = nil, _ values: [String: ResourceValue]
    ) throws { try answer.add(id, entity: entity, version: version, values) }

    /// Adds a resource that is new or was changed, whose values are written by a closure.
    ///
    /// - Throws: The errors of the closure; code 134070 for an entity that the model does not have.
    public mutating func add(
        _ id: some ResourceIdentifier, entity: String, version: ResourceVersion? = nil, writing: (inout ResourceWriter) throws -> Void
    ) throws { try answer.add(id, entity: entity, version: version, writing: writing) }

    /// Adds a resource that no longer exists.
    ///
    /// If the same answer also adds the resource, it was replaced: another resource has its identifier now.
    ///
    /// - Parameters:
    ///   - id: Its identifier.
    ///   - entity: Its entity.
    ///   - version: The version of the deletion: a resource with a newer version is not the one that was deleted.
    /// - Throws: Code 134070 for an entity that the model does not have.
    public mutating func remove(_ id: some ResourceIdentifier, entity: String, version: ResourceVersion? = nil) throws {
        removed.append((decoding.id(id.resourceID, of: try decoding.entity(entity).description), version))
    }
}

/// The error of a backend that no longer has the changes since a token. All displayed objects are then read again.
public struct ExpiredChangeToken: LocalizedError, Sendable {
    /// Creates an error.
    public init() {}

    /// A description of the error, with its remedy.
    public var errorDescription: String? { "The backend has no changes since the token any more: everything is to be read again." }
}
