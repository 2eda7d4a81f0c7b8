internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The state of a sender while it runs.
struct SenderState {
    /// A call that can be made.
    struct Call {
        var keys: [LocalKey]
        /// The omitted properties, by object.
        var postponed: [LocalKey: Set<String>] = [:]
        /// Whether the objects are read first.
        var isRead = false
        /// Whether the objects were accepted without identifiers, and are looked for.
        var isSought = false
        /// The attribute whose value is uploaded; nil for a call that sends changes.
        var upload: String?
        /// The number of times that its changes were sent before.
        var attempts = 0
    }

    /// Whether it sends until nothing is left to send.
    var isActive = false
    var isPlanning = false
    /// Whether something has happened since the last plan was begun.
    var isOutdated = false
    /// Whether it was closed.
    var isClosed = false
    /// The closures to call once it is closed and nothing is in flight.
    var atEnd: [@Sendable () -> Void] = []
    /// Whether it has to send changes that are not due.
    var isForced = false
    /// The changes that were sent since that request.
    var attempted: Set<LocalKey> = []
    var ready: [Call] = []
    var inFlight: Set<LocalKey> = []
    var calls = 0
    /// The times before which changes are not retried, by the monotonic clock.
    var due: [LocalKey: Duration] = [:]
    /// The number of calls in flight with new objects whose identifiers the backend assigns, by the name of the root entity.
    var inserting: [String: Int] = [:]
    /// The callers that wait until one of these calls has ended.
    var insertWaiters: [CheckedContinuation<Void, Never>] = []
    /// The changes that are sent alone.
    var alone: Set<LocalKey> = []
    /// The changes whose objects were read and which are sent next, with their sequence numbers: a later change of the object has another number.
    var wasRead: [LocalKey: Int64] = [:]
    /// The conflicts that reads have not explained.
    var unexplained: [LocalKey: OutboxSender.UnexplainedConflict] = [:]
    /// The changes whose objects were merged with changes of others.
    var merged: Set<LocalKey> = []
    /// The changes that the application has dropped, for callers that wait for their outcome.
    var dropped: Set<LocalKey> = []
    /// The changes that wait, directly or indirectly, for another one that is set aside, according to the last plan.
    var held: [LocalKey: LocalKey] = [:]
    /// The number of saves that wait for their outcomes.
    var awaited = 0
    /// Whether another process had the lease when it was last requested.
    var isElsewhere = false
    /// The time until which the backend counts as unreachable or too busy, and the number of attempts to reach it.
    var pausedUntil: Duration?
    var pauses = 0
    /// The changes that the backend has deferred since it last looked at one.
    var deferred: Set<LocalKey> = []
    /// The acceptance of the credentials by the backend.
    var credentials = CredentialState.unknown
    /// The number of times that the connection or the credentials were reported as renewed.
    var returns = 0
    /// The progress of uploads in flight.
    var uploading: [LocalKey: [String: Int64]] = [:]
    /// The progress objects of their observers.
    var uploadProgress: [LocalKey: WatchedProgress] = [:]
    var timer: Task<Void, Never>?
    var idle: [CheckedContinuation<Void, Never>] = []
    var failure: (any Error)?

    /// A progress object that an application observes as long as it keeps it.
    struct WatchedProgress {
        weak var progress: Progress?
    }
}
