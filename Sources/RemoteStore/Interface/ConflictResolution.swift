public import ObjectGraph

/// The rule for an object that was changed here and, meanwhile, by others.
///
/// Properties that only one side has changed are merged one by one, except by ``overwrite`` and ``rollback``. The other rules differ in how they treat
/// properties that both sides have changed to different values. An object that one side has deleted and the other has changed is in conflict as a whole.
public enum ConflictResolution: Sendable {
    /// The change is set aside as conflicting. The application then retries it, which keeps the displayed values, or drops it, which takes the backend's
    /// values. Nothing is lost until then.
    case setAside
    /// The local values win.
    case preferMine
    /// The backend's values win.
    case preferTheirs
    /// The local object wins, as under `NSOverwriteMergePolicy`: the backend receives every attribute that is known here, including attributes that only others
    /// have changed. Relationships that only others have changed keep the backend's value.
    ///
    /// The local object includes values that were read before the change met the conflict.
    case overwrite
    /// The local changes are discarded, even if others have changed different properties.
    case rollback
    /// A function of the application decides. It is called on any thread, while no lock is held; the change waits for it.
    ///
    /// An error that it throws sets the change aside.
    case resolver(@Sendable (SaveConflict) async throws -> SaveConflict.Decision)

    /// Creates the rule that corresponds to a merge policy. A custom subclass of the policy becomes ``setAside``.
    public init(_ policy: NSMergePolicy) {
        switch policy.mergeType {
        case .mergeByPropertyObjectTrumpMergePolicyType: self = .preferMine
        case .mergeByPropertyStoreTrumpMergePolicyType: self = .preferTheirs
        case .overwriteMergePolicyType: self = .overwrite
        case .rollbackMergePolicyType: self = .rollback
        default: self = .setAside
        }
    }
}

/// An object that was changed both here and by others, for the application to decide.
///
/// The values refer to other objects by the backend's identifiers. A reference to a new object, which has none yet, is nil.
public struct SaveConflict: Sendable {
    /// The ID of the object.
    public let objectID: NSManagedObjectID
    /// The values that the changed properties had when the change was made.
    public let base: [String: ResourceValue]
    /// The local values of these properties; nil if the object was deleted here.
    public let mine: [String: ResourceValue]?
    /// The values that the backend has; nil if others have deleted the object.
    public let theirs: [String: ResourceValue]?
    /// The names of the properties that both sides have changed.
    public let contested: Set<String>

    /// The application's decision about the change.
    public enum Decision: Sendable {
        /// The local values are sent.
        case mine
        /// The change is dropped.
        case theirs
        /// These values are sent for the contested properties. A property that is left out keeps its local value.
        case merged([String: ResourceValue])
        /// The change is set aside as conflicting.
        case setAside
    }
}
