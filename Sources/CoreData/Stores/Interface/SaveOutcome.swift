public import Foundation

/// What a store has made of a save.
@_spi(Stores) public struct SaveOutcome: Sendable {
    /// Objects whose values the store has changed while it saved them, as they are now, by ID: what a server has computed, or a version that it
    /// counts by itself. The context takes them.
    public var rows: [Row] = []

    /// Everything was saved as it came.
    public init() {}
}

/// A save that a store could do only in part. A store throws it that does not ``StoreInterface/savesAtomically``.
///
/// What was accepted is clean in the context and told in its did-save notification; the rest stays as it is, and the next save sends only that.
/// The program is thrown code 134040, with the errors under `NSDetailedErrorsKey` and the objects under ``NSAffectedObjectsErrorKey``.
@_spi(Stores) public struct IncompleteSave: Error, Sendable {
    /// What has become of one change.
    public enum Outcome: Sendable {
        /// It is saved.
        case accepted
        /// It is not saved, and why.
        case refused(NSError)
        /// Nobody knows, for the answer was lost, and why. It counts as not saved.
        case unknown(NSError)
    }

    /// What has become of each change, by the ID that it had. A change that is not named counts as not saved.
    public let outcomes: [NSManagedObjectID: Outcome]
    /// As in ``SaveOutcome``, for what was accepted.
    public let rows: [Row]

    /// Says what has become of each change.
    public init(_ outcomes: [NSManagedObjectID: Outcome], rows: [Row] = []) {
        self.outcomes = outcomes
        self.rows = rows
    }

    func isAccepted(_ id: NSManagedObjectID) -> Bool {
        if case .accepted? = outcomes[id] { true } else { false }
    }
}
