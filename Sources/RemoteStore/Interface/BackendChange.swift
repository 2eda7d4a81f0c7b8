public import Foundation

/// A change of one resource, for a backend to save.
public struct BackendChange: Hashable, Sendable {
    /// Identifies a change among those of one save.
    public struct Key: Hashable, Sendable {
        let number: Int

        /// Creates a key, for tests of backends: the store makes those of its changes.
        public init(_ number: Int) { self.number = number }
        init(number: Int) { self.number = number }
    }

    /// The change of a to-many relationship.
    public struct ListChange: Hashable, Sendable {
        /// The added resources.
        public var added: [ResourceReference] = []
        /// The removed resources.
        public var removed: [ResourceReference] = []
        /// All resources in order, for an ordered relationship; nil for an unordered one.
        public var members: [ResourceReference]?

        /// Creates the change of a relationship.
        public init(added: [ResourceReference] = [], removed: [ResourceReference] = [], members: [ResourceReference]? = nil) {
            (self.added, self.removed, self.members) = (added, removed, members)
        }
    }

    /// Identifies the change in the answer.
    public internal(set) var key: Key
    /// The kind of change.
    public let kind: Resource.Saving.Kind
    /// The name of the entity.
    public let entity: String
    /// The identifier of the resource; nil for a new one whose identifier the backend assigns.
    public internal(set) var id: ResourceID?
    /// The values of attributes and to-one relationships: of a new resource all that are set, otherwise the changed ones, or all where the
    /// resource ``Resource/Saving/sendsWholeObjects``. Empty for a deletion.
    public internal(set) var values: [String: ResourceValue] = [:]
    /// The names of the changed properties; of a new resource of all that have a value.
    public internal(set) var changedProperties: Set<String> = []
    /// The changes of to-many relationships whose other end is not to one.
    public internal(set) var lists: [String: ListChange] = [:]
    /// The version that the resource was read with; nil for a new one, and where none is known.
    public package(set) var version: ResourceVersion?
    /// The values that the change was made on: of the changed attributes and to-one relationships, or of all for a deletion, as far as they are known.
    ///
    /// Where the backend notices conflicts (``Resource/Saving/ConflictDetection/backend``) and ``version`` is nil, it reads the resource before it changes
    /// it, and compares. Where an answer does not tell what has become of an update, it reads the resource afterwards: a value that is the one of before
    /// was not saved. A deletion has them in the first case only, and a change that follows another one of the same save has none.
    public package(set) var base: [String: ResourceValue] = [:]
    /// The user who has made the change, as ``Backend/principal`` has told then; nil where that was not known. A backend sends the change with the credentials
    /// of that user or not at all: it refuses it with an error that ``PassingError/needsCredentials``.
    public package(set) var principal: String?
    /// The same each time this change is sent, and of no other change. It is minted once; a change that follows one whose outcome is not
    /// known has its own, and is sent after the other one was sent again.
    public internal(set) var idempotencyKey: UUID

    /// Creates a change, for tests of a backend; a store makes its own.
    ///
    /// - Parameters:
    ///   - kind: The kind of change.
    ///   - entity: The name of the entity.
    ///   - id: The identifier; nil for a new resource whose identifier the backend assigns.
    ///   - values: The values of attributes and to-one relationships.
    ///   - changedProperties: The names of the changed properties; those of the values and lists unless given.
    ///   - lists: The changes of to-many relationships.
    ///   - version: The version that the resource was read with.
    ///   - base: The values that the change was made on.
    ///   - key: What the outcome is given by.
    ///   - idempotencyKey: The same each time the change is sent.
    public init(
        _ kind: Resource.Saving.Kind, _ entity: String, id: ResourceID? = nil, _ values: [String: ResourceValue] = [:],
        changedProperties: Set<String>? = nil, lists: [String: ListChange] = [:], version: ResourceVersion? = nil,
        base: [String: ResourceValue] = [:], key: Key = Key(0), idempotencyKey: UUID = UUID()
    ) {
        self.init(key: key, kind: kind, entity: entity, idempotencyKey: idempotencyKey)
        (self.id, self.values, self.lists, self.version, self.base) = (id, values, lists, version, base)
        self.changedProperties = changedProperties ?? Set(values.keys).union(lists.keys)
    }

    init(key: Key, kind: Resource.Saving.Kind, entity: String, idempotencyKey: UUID) {
        (self.key, self.kind, self.entity, self.idempotencyKey) = (key, kind, entity, idempotencyKey)
    }
}

/// What became of a change.
public enum BackendOutcome: Sendable {
    /// The change was saved.
    ///
    /// - Parameters:
    ///   - id: The identifier that the backend has assigned, for a new resource without one. Where it is missing the resource is sought: see
    ///   ``UnreadAnswer``.
    ///   - version: The new version; nil where the backend has not told.
    ///   - values: Values that the backend has computed or changed.
    case saved(id: ResourceID? = nil, version: ResourceVersion? = nil, values: [String: ResourceValue] = [:])
    /// Others have changed the resource since it was read, or deleted it.
    ///
    /// - Parameters:
    ///   - current: Its current values; nil where it was deleted. Without values the store reads it.
    ///   - version: Its current version.
    case conflict(current: [String: ResourceValue]?, version: ResourceVersion? = nil)
    /// The change was refused.
    case refused(any Error)
    /// Whether the change was saved is not known, or, with an ``UnreadAnswer``, as what.
    case unknown(any Error)
}

/// The error of a save whose answer was lost: whether anything was saved is not known.
public struct UnknownOutcome: LocalizedError, Sendable {
    /// Why there is no answer.
    public let cause: any Error

    /// Creates an error.
    public init(_ cause: any Error) { self.cause = cause }

    /// Says that nobody knows, and why there is no answer.
    public var errorDescription: String? { "Whether the change was saved is not known: \(cause.localizedDescription)" }
}
