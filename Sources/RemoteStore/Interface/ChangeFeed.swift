public import Foundation
@_spi(Stores) internal import ObjectGraph

/// A place in the order of a backend's changes, in its own terms: a number, a time, a cursor.
public struct ChangeToken: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The token.
    public let text: String

    /// Creates a token.
    public init(_ text: String) { self.text = text }
    /// The token.
    public var description: String { text }
}

/// The question what has changed.
public struct ChangesRequest: Sendable {
    /// The token of the answer before; nil for the first question.
    public let token: ChangeToken?
    let decoding: AnswerDecoding

    /// Returns an empty answer to this request, for the backend to fill.
    ///
    /// - Parameter token: The place to ask from next time.
    public func answer(_ token: ChangeToken) -> BackendChanges {
        BackendChanges(token: token, answer: BackendAnswer(entity: "", decoding: decoding), decoding: decoding)
    }
}

/// An answer to a ``ChangesRequest``: the resources that were changed, and those that are gone.
///
/// A resource that was changed several times needs to come once, as it is now. Changes of this program may be among them.
///
/// ```swift
/// var changes = request.answer(ChangeToken(page.cursor))
/// for album in page.albums { try changes.add(album.id, entity: "Album", ["title": .value(.string(album.title))]) }
/// for id in page.removed { try changes.remove(id, entity: "Album") }
/// ```
public struct BackendChanges: Sendable {
    /// The place to ask from next time.
    public var token: ChangeToken
    /// Whether more has changed, which the next answer brings.
    public var hasMore = false
    private(set) var answer: BackendAnswer
    /// The objects that are gone.
    private(set) var removed: [(id: NSManagedObjectID, version: ResourceVersion?)] = []
    private let decoding: AnswerDecoding

    init(token: ChangeToken, answer: BackendAnswer, decoding: AnswerDecoding) {
        self.token = token
        self.answer = answer
        self.decoding = decoding
    }

    /// Adds a resource that is new or was changed, with the values that it has now. As in any answer, the others are unknown.
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

    /// Adds a resource that does not exist any more.
    ///
    /// One that is added as well was replaced: another resource has its identifier now.
    ///
    /// - Parameters:
    ///   - id: Its identifier.
    ///   - entity: Its entity.
    ///   - version: The version that the deletion was given: a resource with a newer one is not what was deleted.
    /// - Throws: Code 134070 for an entity that the model does not have.
    public mutating func remove(_ id: some ResourceIdentifier, entity: String, version: ResourceVersion? = nil) throws {
        removed.append((decoding.id(id.resourceID, of: try decoding.entity(entity).description), version))
    }
}

/// The error of a backend that does not know any more what has changed since a token: everything that is shown is then read anew.
public struct ExpiredChangeToken: LocalizedError, Sendable {
    /// Creates an error.
    public init() {}

    /// Says what to do.
    public var errorDescription: String? { "The backend has no changes since the token any more: everything is to be read again." }
}
