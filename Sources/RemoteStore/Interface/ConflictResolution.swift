public import ObjectGraph

/// What becomes of an object that was changed here and, meanwhile, by others.
///
/// What only one side has changed is merged, property by property, apart from ``overwrite`` and ``rollback``; the other rules differ in what both
/// have changed, each to another value. An object that one side has deleted and the other has changed is in conflict as a whole.
public enum ConflictResolution: Sendable {
    /// The change is set aside as conflicting: the application retries it, which takes what is shown, or drops it, which takes what the
    /// backend has. Nothing is lost until then.
    case setAside
    /// The values that were set here win.
    case preferMine
    /// The backend's values win.
    case preferTheirs
    /// The object as it is here wins, as under `NSOverwriteMergePolicy`: the backend gets every attribute that is known here, also those that only
    /// others have changed. Relationships that only others have changed are theirs.
    ///
    /// What a read has brought before the change met the conflict is a part of the object as it is here.
    case overwrite
    /// What was changed here is given up, also where others have changed other properties.
    case rollback
    /// A function of the application decides. It is called on any thread, while no lock is held; the change waits for it.
    ///
    /// An error that it throws sets the change aside.
    case resolver(@Sendable (SaveConflict) async throws -> SaveConflict.Decision)

    /// Creates the rule that does what a merge policy does; a policy of a class of the program sets aside.
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

/// An object that was changed here and by others, for the application to decide.
///
/// Objects that the values refer to are given by the backend's identifiers; a new object has none yet, and is nil.
public struct SaveConflict: Sendable {
    /// The ID of the object.
    public let objectID: NSManagedObjectID
    /// The values that the changed properties had when the change was made.
    public let base: [String: ResourceValue]
    /// The values that they have here; nil where the object was deleted here.
    public let mine: [String: ResourceValue]?
    /// The values that the backend has; nil where others have deleted the object.
    public let theirs: [String: ResourceValue]?
    /// The names of the properties that both have changed.
    public let contested: Set<String>

    /// What becomes of the change.
    public enum Decision: Sendable {
        /// What is shown here is sent.
        case mine
        /// The change is given up.
        case theirs
        /// These values are sent for the contested properties; of a property that is left out what is shown here.
        case merged([String: ResourceValue])
        /// The change is set aside as conflicting.
        case setAside
    }
}
