/// What a backend can do with the resources of one entity.
public struct Resource: Sendable {
    /// The name of the entity.
    public var entity: String
    /// The calls that read.
    public var endpoints: [Endpoint]
    /// What can be saved; nil where the resource is read-only.
    public var saving: Saving?
    /// What becomes of single resources that the backend cannot read.
    public var unreadable = UnreadablePolicy.ownError
    /// The attribute that tells a resource from an earlier one with the same identifier, such as the time at which it was made: it never changes. Nil
    /// where the backend gives no identifier twice, or nothing tells.
    ///
    /// A ``CachedStore`` takes a resource with another value for a new object, and the one before for deleted.
    public var incarnation: String?

    /// Creates the description of a resource.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity in the model.
    ///   - endpoints: The calls that read resources of the entity.
    ///   - saving: What can be saved; nil where the resource is read-only.
    ///   - unreadable: What becomes of single resources that the backend cannot read.
    public init(_ entity: String, endpoints: [Endpoint], saving: Saving? = nil, unreadable: UnreadablePolicy = .ownError) {
        self.unreadable = unreadable
        self.entity = entity
        self.endpoints = endpoints
        self.saving = saving
    }

    /// What a backend can save.
    public struct Saving: Sendable {
        /// The kinds of change.
        public enum Kind: Hashable, Sendable {
            /// New resources.
            case insert
            /// Changed values.
            case update
            /// Removed resources.
            case delete
        }

        /// Where the identifier of a new resource comes from.
        public enum Identity: Sendable {
            /// The backend assigns it when it saves the resource.
            case assignedByBackend
            /// The value of an attribute, which must be set before the save.
            case attribute(String)
            /// A new UUID.
            case newUUID
            /// What a function of the values returns, such as a slug.
            case made(@Sendable ([String: ResourceValue]) -> ResourceID)
        }

        /// Who notices changes that others have made since a resource was read.
        public enum ConflictDetection: Hashable, Sendable {
            /// The backend compares ``BackendChange/version`` with its own.
            case backend
            /// The store reads the resources again before a save and compares their values. Changes between the read and the save are not
            /// noticed.
            case byReading
            /// Nobody: the last change wins.
            case none
        }

        /// The kinds of change that are supported.
        public var kinds: Set<Kind>
        /// Where identifiers come from.
        public var identity: Identity
        /// The to-many relationships whose changes are sent with their owner; nil for those whose other end is not to one. Of two such
        /// ends the one is sent whose entity and name come first.
        public var lists: Set<String>?
        /// Whether an update must have all attributes and to-one relationships, not only those that were changed.
        public var sendsWholeObjects: Bool
        /// The number of changes that one call takes.
        public var maximumChanges: Int
        /// Whether a call succeeds or fails as a whole.
        public var isAtomic: Bool
        /// Who notices changes of others.
        public var conflicts: ConflictDetection
        /// Whether a change that comes again with the same ``BackendChange/idempotencyKey`` is saved once, and gets the outcome that it had.
        ///
        /// Where it is not, a new resource whose identifier the backend assigns is never sent twice: when its outcome is lost, saving it
        /// again is an error.
        public var isIdempotent: Bool
        /// For how long the backend knows a key, in seconds from its first use; nil for as long as anyone may send it.
        ///
        /// A change whose outcome is lost is not sent again under a key that is older: it is looked up, as at a backend that is not idempotent.
        public var keyLifetime: Double?
        /// The binary attributes whose values an ``UploadingBackend`` takes in parts, before the object; they must allow external storage.
        public var uploads: Set<String>
        /// The properties that are never sent, because the backend does not take them: a save that changes one of them, or gives one of a new object another
        /// value than its default, is an error of that object before anything is sent. What deletions of other objects take out of relationships is none.
        public var unsent: Set<String> = []
        /// Those of the unsent properties that new objects may have values of: the backend assigns them, or takes them in another way.
        public var assigned: Set<String> = []
        /// Whether a new resource takes the place of one that has its identifier, as a `PUT` does, instead of being refused. The store then looks for such a
        /// resource before it sends a new one, and takes one that is there for a conflict.
        public var insertsReplace = false
        /// What can be done to many resources by one call, for batch requests; nil for nothing.
        public var bulk: Bulk?

        /// Creates the description of what can be saved.
        public init(
            _ kinds: Set<Kind> = [.insert, .update, .delete], identity: Identity = .assignedByBackend, lists: Set<String>? = nil,
            sendsWholeObjects: Bool = false, maximumChanges: Int = 1, isAtomic: Bool = false, conflicts: ConflictDetection = .backend,
            isIdempotent: Bool = false, keyLifetime: Double? = nil, uploads: Set<String> = [], bulk: Bulk? = nil
        ) {
            self.kinds = kinds
            self.identity = identity
            self.lists = lists
            self.sendsWholeObjects = sendsWholeObjects
            self.maximumChanges = max(1, maximumChanges)
            self.isAtomic = isAtomic
            self.conflicts = conflicts
            self.isIdempotent = isIdempotent
            self.keyLifetime = keyLifetime
            self.uploads = uploads
            self.bulk = bulk
        }
    }
}

extension Resource.Saving {
    /// Whether a change can be sent again under its key.
    ///
    /// - Parameter age: The time since the key was first sent, in seconds; nil where that is not known.
    func repeats(keyOfAge age: Double?) -> Bool {
        guard isIdempotent, let keyLifetime else { return isIdempotent }
        // A clock that was set back does not know.
        return age.map { $0 >= 0 && $0 < keyLifetime } ?? false
    }
}
