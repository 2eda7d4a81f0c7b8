public import Foundation

/// The result of a save.
@_spi(Stores) public struct SaveOutcome: Sendable {
    /// The current rows, by ID, of objects whose values the store has changed during the save, such as values computed by a server or a
    /// version. The context adopts them.
    public var rows: [Row] = []
    /// The IDs that a ``LateIdentityStore`` has assigned to new objects, by their temporary IDs.
    public var assignedIDs: [NSManagedObjectID: NSManagedObjectID] = [:]

    /// Creates the result of a save without changes by the store.
    public init() {}
}

/// The error of a save that succeeded in part, thrown by a store that does not ``StoreInterface/savesAtomically``.
///
/// Accepted changes are saved in the context and reported in its did-save notification; the others stay pending for the next save. The
/// program receives code 134040, with the errors under `NSDetailedErrorsKey` and the objects under ``NSAffectedObjectsErrorKey``.
@_spi(Stores) public struct IncompleteSave: Error, Sendable {
    /// The outcome of one change.
    public enum Outcome: Sendable {
        /// The change was saved.
        case accepted
        /// Others have changed or deleted the object since it was read. The row is the current one, nil for a deleted object.
        ///
        /// If nothing else is left of the save, the context passes the conflicts to its merge policy and saves the rest again.
        case conflicting(Row?)
        /// The change was refused, with the reason.
        case refused(NSError)
        /// The outcome is unknown because the answer was lost, with the reason. The change counts as not saved.
        case unknown(NSError)
    }

    /// The outcome of each change, by the ID it had. A missing change counts as not saved.
    public let outcomes: [NSManagedObjectID: Outcome]
    /// The changed rows of accepted changes, as in ``SaveOutcome``.
    public let rows: [Row]
    /// The IDs that a ``LateIdentityStore`` has assigned to new objects, by their temporary IDs.
    public let assignedIDs: [NSManagedObjectID: NSManagedObjectID]

    /// Creates an error with the outcome of each change.
    public init(
        _ outcomes: [NSManagedObjectID: Outcome], rows: [Row] = [], assignedIDs: [NSManagedObjectID: NSManagedObjectID] = [:]
    ) {
        self.outcomes = outcomes
        self.rows = rows
        self.assignedIDs = assignedIDs
    }

    func isAccepted(_ id: NSManagedObjectID) -> Bool {
        if case .accepted? = outcomes[id] { true } else { false }
    }
}
