internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// What a sender knows for as long as it runs.
struct SenderState {
    /// A call that can be made.
    struct Call {
        var keys: [LocalKey]
        /// The properties that are left out, by object.
        var postponed: [LocalKey: Set<String>] = [:]
        /// Whether the objects are read before.
        var isRead = false
        /// Whether the objects were accepted without identifiers, and are sought.
        var isSought = false
        /// The attribute whose value is uploaded; nil for a call that sends changes.
        var upload: String?
        /// How often its changes were sent before.
        var attempts = 0
    }

    /// Whether it sends until nothing is left.
    var isActive = false
    var isPlanning = false
    /// Whether something has happened since the last plan was begun.
    var isOutdated = false
    /// Whether it was closed.
    var isClosed = false
    /// What is done once it is closed and nothing is under way any more.
    var atEnd: [@Sendable () -> Void] = []
    /// Whether it was asked to send what is not due.
    var isForced = false
    /// What was sent since it was asked to.
    var attempted: Set<LocalKey> = []
    var ready: [Call] = []
    var inFlight: Set<LocalKey> = []
    var calls = 0
    /// The times before which changes are not sent again, by the monotonic clock.
    var due: [LocalKey: Duration] = [:]
    /// The number of calls under way with new objects whose identifiers the backend assigns, by the name of the inheritance.
    var inserting: [String: Int] = [:]
    /// Those who wait until one of these calls has ended.
    var insertWaiters: [CheckedContinuation<Void, Never>] = []
    /// Changes that are sent without others.
    var alone: Set<LocalKey> = []
    /// Changes whose objects were read, and which are sent next, by their numbers: the next change of an object is another one.
    var wasRead: [LocalKey: Int64] = [:]
    /// Conflicts that reads have not explained.
    var unexplained: [LocalKey: OutboxSender.UnexplainedConflict] = [:]
    /// Changes whose objects were merged with what others have made of them.
    var merged: Set<LocalKey> = []
    /// Changes that the application has given up, for those who wait for their outcome.
    var dropped: Set<LocalKey> = []
    /// The changes that wait for another one which is set aside, through whatever others, as the last plan has found.
    var held: [LocalKey: LocalKey] = [:]
    /// The number of saves that wait for their outcomes.
    var awaited = 0
    /// Whether another process had the right to send when it was last wanted.
    var isElsewhere = false
    /// The time until which the backend is taken for unreachable or too busy, and the number of attempts to reach it.
    var pausedUntil: Duration?
    var pauses = 0
    /// The changes that the backend was too busy for since it last looked at one.
    var deferred: Set<LocalKey> = []
    /// Whether the backend takes the credentials.
    var credentials = CredentialState.unknown
    /// How often the connection, or credentials, are said to have come.
    var returns = 0
    /// How far uploads have come that are under way.
    var uploading: [LocalKey: [String: Int64]] = [:]
    /// Those who watch them.
    var uploadProgress: [LocalKey: WatchedProgress] = [:]
    var timer: Task<Void, Never>?
    var idle: [CheckedContinuation<Void, Never>] = []
    var failure: (any Error)?

    /// What an application watches for as long as it has it.
    struct WatchedProgress {
        weak var progress: Progress?
    }
}
