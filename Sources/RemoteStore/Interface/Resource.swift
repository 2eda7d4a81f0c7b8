/// The operations that a backend supports for the resources of one entity.
public struct Resource: Sendable {
    /// The name of the entity.
    public var entity: String
    /// The calls that read resources.
    public var endpoints: [Endpoint]
    /// The supported changes; nil if the resource is read-only.
    public var saving: Saving?
    /// The policy for single resources that the backend cannot read.
    public var unreadable = UnreadablePolicy.ownError
    /// The attribute that distinguishes a resource from an earlier one with the same identifier, such as the time of its creation. Its value never changes. Nil
    /// if the backend never reuses an identifier, or no attribute distinguishes them.
    ///
    /// A ``CachedStore`` treats a resource with another value as a new object, and the previous one as deleted.
    public var incarnation: String?

    /// Creates the description of a resource.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity in the model.
    ///   - endpoints: The calls that read resources of the entity.
    ///   - saving: The supported changes; nil if the resource is read-only.
    ///   - unreadable: The policy for single resources that the backend cannot read.
    public init(_ entity: String, endpoints: [Endpoint], saving: Saving? = nil, unreadable: UnreadablePolicy = .ownError) {
        self.unreadable = unreadable
        self.entity = entity
        self.endpoints = endpoints
        self.saving = saving
    }

    /// The changes that a backend can save.
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

        /// The source of a new resource's identifier.
        public enum Identity: Sendable {
            /// The backend assigns it when it saves the resource.
            case assignedByBackend
            /// The value of an attribute, which must be set before the save.
            case attribute(String)
            /// A new UUID.
            case newUUID
            /// The result of a function of the values, such as a slug.
            case made(@Sendable ([String: ResourceValue]) -> ResourceID)
        }

        /// The party that detects changes that others have made since a resource was read.
        public enum ConflictDetection: Hashable, Sendable {
            /// The backend compares ``BackendChange/version`` with its own.
            case backend
            /// The store reads the resources again before a save and compares their values. Changes between the read and the save go undetected.
            case byReading
            /// Conflicts are not detected: the last change wins.
            case none
        }

        /// The kinds of change that are supported.
        public var kinds: Set<Kind>
        /// The source of identifiers.
        public var identity: Identity
        /// The to-many relationships whose changes are sent with their owner; nil for those whose inverse is not to-one. If both ends are such relationships,
        /// the one whose entity and name come first is sent.
        public var lists: Set<String>?
        /// Whether an update must have all attributes and to-one relationships, not only the changed ones.
        public var sendsWholeObjects: Bool
        /// The number of changes that one call accepts.
        public var maximumChanges: Int
        /// Whether a call succeeds or fails as a whole.
        public var isAtomic: Bool
        /// The party that detects changes of others.
        public var conflicts: ConflictDetection
        /// Whether a change that is sent again with the same ``BackendChange/idempotencyKey`` is saved once, and gets its original outcome.
        ///
        /// If false, a new resource whose identifier the backend assigns is never sent twice: if its outcome is lost, saving it again is an error.
        public var isIdempotent: Bool
        /// The time for which the backend remembers a key, in seconds from its first use; nil for as long as it may be sent.
        ///
        /// A change whose outcome is lost is not sent again under an older key. It is looked up instead, as at a backend that is not idempotent.
        public var keyLifetime: Double?
        /// The binary attributes whose values an ``UploadingBackend`` takes in parts, before the object. They must allow external storage.
        public var uploads: Set<String>
        /// The properties that are never sent because the backend does not accept them. A save that changes one of them, or gives one of a new object a value
        /// other than its default, is an error of that object before anything is sent. The removal of deleted objects from relationships is not an error.
        public var unsent: Set<String> = []
        /// The unsent properties that may have values in new objects: the backend assigns them, or receives them in another way.
        public var assigned: Set<String> = []
        /// Whether a new resource replaces an existing one with its identifier, as a `PUT` does, instead of being refused. The store then looks for such a
        /// resource before it sends a new one, and treats an existing one as a conflict.
        public var insertsReplace = false
        /// The changes that one call can make to many resources, for batch requests; nil for none.
        public var bulk: Bulk?

        /// Creates the description of the supported changes.
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
    /// - Parameter age: The time since the key was first sent, in seconds; nil if that is not known.
    func repeats(keyOfAge age: Double?) -> Bool {
        guard isIdempotent, let keyLifetime else { return isIdempotent }
        // A negative age means that the clock was set back.
        return age.map { $0 >= 0 && $0 < keyLifetime } ?? false
    }
}
