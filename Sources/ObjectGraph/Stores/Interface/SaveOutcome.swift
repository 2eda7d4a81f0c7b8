public import Foundation

/// The result of a save.
@_spi(Stores) public struct SaveOutcome: Sendable {
    /// The current rows, by ID, of objects whose values the store has changed during the save, such as values computed by a server or a
    /// version. The context adopts them.
    public var rows: [Row] = []

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
        /// The change was refused, with the reason.
        case refused(NSError)
        /// The outcome is unknown because the answer was lost, with the reason. The change counts as not saved.
        case unknown(NSError)
    }

    /// The outcome of each change, by the ID it had. A missing change counts as not saved.
    public let outcomes: [NSManagedObjectID: Outcome]
    /// The changed rows of accepted changes, as in ``SaveOutcome``.
    public let rows: [Row]

    /// Creates an error with the outcome of each change.
    public init(_ outcomes: [NSManagedObjectID: Outcome], rows: [Row] = []) {
        self.outcomes = outcomes
        self.rows = rows
    }

    func isAccepted(_ id: NSManagedObjectID) -> Bool {
        if case .accepted? = outcomes[id] { true } else { false }
    }
}
