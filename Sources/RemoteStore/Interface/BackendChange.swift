public import Foundation

/// A change of one resource, for a backend to save.
public struct BackendChange: Hashable, Sendable {
    /// The key of a change among those of one save.
    public struct Key: Hashable, Sendable {
        let number: Int

        /// Creates a key, for tests of backends. The store creates the keys of its changes.
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

    /// The key of the change in the answer.
    public internal(set) var key: Key
    /// The kind of change.
    public let kind: Resource.Saving.Kind
    /// The name of the entity.
    public let entity: String
    /// The identifier of the resource; nil for a new one whose identifier the backend assigns.
    public internal(set) var id: ResourceID?
    /// The values of attributes and to-one relationships. For a new resource, all that are set; otherwise the changed ones, or all if the resource
    /// ``Resource/Saving/sendsWholeObjects``. Empty for a deletion.
    public internal(set) var values: [String: ResourceValue] = [:]
    /// The names of the changed properties; for a new resource, of all properties that have a value.
    public internal(set) var changedProperties: Set<String> = []
    /// The changes of to-many relationships whose inverse is not to-one.
    public internal(set) var lists: [String: ListChange] = [:]
    /// The version that the resource was read with; nil for a new resource, or if none is known.
    public package(set) var version: ResourceVersion?
    /// The values on which the change is based: of the changed attributes and to-one relationships, or of all properties for a deletion, if they are known.
    ///
    /// If the backend detects conflicts (``Resource/Saving/ConflictDetection/backend``) and ``version`` is nil, it reads the resource before it changes it, and
    /// compares. If an answer leaves the outcome of an update unknown, the backend reads the resource afterwards: a value that still equals its base value was
    /// not saved. A deletion has a base in the first case only. A change that follows another one of the same save has no base.
    public package(set) var base: [String: ResourceValue] = [:]
    /// The user who made the change, according to ``Backend/principal`` at that time; nil if that was not known. A backend sends the change with the
    /// credentials of that user or not at all: otherwise it refuses the change with an error that ``PassingError/needsCredentials``.
    public package(set) var principal: String?
    /// A key that stays the same each time this change is sent, and that no other change has. It is generated once. A change that follows one with an unknown
    /// outcome has a key of its own, and is sent after the other one was sent again.
    public internal(set) var idempotencyKey: UUID

    /// Creates a change, for tests of a backend; a store makes its own.
    ///
    /// - Parameters:
    ///   - kind: The kind of change.
    ///   - entity: The name of the entity.
    ///   - id: The identifier; nil for a new resource whose identifier the backend assigns.
    ///   - values: The values of attributes and to-one relationships.
    ///   - changedProperties: The names of the changed properties; those of the values and lists by default.
    ///   - lists: The changes of to-many relationships.
    ///   - version: The version that the resource was read with.
    ///   - base: The values on which the change is based.
    ///   - key: The key of the outcome.
    ///   - idempotencyKey: A key that stays the same each time the change is sent.
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

/// The outcome of a change.
public enum BackendOutcome: Sendable {
    /// The change was saved.
    ///
    /// - Parameters:
    ///   - id: The identifier that the backend has assigned, for a new resource without one. If it is missing, the store looks for the resource: see
    ///     ``UnreadAnswer``.
    ///   - version: The new version; nil if the backend does not report it.
    ///   - values: Values that the backend has computed or changed.
    case saved(id: ResourceID? = nil, version: ResourceVersion? = nil, values: [String: ResourceValue] = [:])
    /// Others have changed the resource since it was read, or deleted it.
    ///
    /// - Parameters:
    ///   - current: Its current values; nil if it was deleted. If the dictionary is empty, the store reads the resource.
    ///   - version: Its current version.
    case conflict(current: [String: ResourceValue]?, version: ResourceVersion? = nil)
    /// The change was refused.
    case refused(any Error)
    /// It is not known whether the change was saved or, with an ``UnreadAnswer``, what was saved.
    case unknown(any Error)
}

/// The error of a save whose answer was lost: it is not known whether anything was saved.
public struct UnknownOutcome: LocalizedError, Sendable {
    /// The reason why there is no answer.
    public let cause: any Error

    /// Creates an error.
    public init(_ cause: any Error) { self.cause = cause }

    /// States that the outcome is unknown, and why there is no answer.
    public var errorDescription: String? { "Whether the change was saved is not known: \(cause.localizedDescription)" }
}
