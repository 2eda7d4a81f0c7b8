/// The acceptance of the credentials by the backend, according to its answers to changes in this run.
///
/// The state belongs to the sender and not to each change: if one change is refused because of its credentials, all changes wait. An occasional trial call
/// checks whether credentials are accepted again, so that new ones are detected even if the program does not report them.
enum CredentialState: Sendable {
    /// No answer has said anything yet.
    case unknown
    /// The credentials are accepted.
    case taken
    /// The credentials are rejected: nothing is sent before `next`, by the monotonic clock, and then a single trial call.
    case refused(Refusal, next: Duration)
    /// The trial call is in flight.
    case tried(Refusal)

    struct Refusal: Sendable {
        /// The reason.
        let failure: PendingRecord.Failure
        /// The user whose credentials they are; nil if not known.
        let principal: String?
        /// The number of consecutive refused calls.
        var count = 1
    }

    /// The current refusal; nil if none is known.
    var refusal: Refusal? {
        switch self {
        case .unknown, .taken: nil
        case .refused(let refusal, _), .tried(let refusal): refusal
        }
    }

    /// The time before which nothing is sent; nil for none.
    var next: Duration? { if case .refused(_, let next) = self { next } else { nil } }

    /// Returns the number of calls that may be started now.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of concurrent calls.
    ///   - calls: The number of calls in flight.
    func callsAllowed(_ limit: Int, calls: Int, now: Duration) -> Int {
        switch self {
        case .unknown, .taken: max(0, limit - calls)
        case .refused(_, let next): calls == 0 && next <= now ? 1 : 0
        case .tried: 0
        }
    }

    // MARK: Transitions

    /// Forgets the state of another user's credentials: any → unknown.
    mutating func notePrincipal(_ principal: String?) { if let refusal, refusal.principal != principal { self = .unknown } }

    /// Begins the trial call: refused → tried.
    mutating func beginTrial() { if case .refused(let refusal, _) = self { self = .tried(refusal) } }

    /// Notes that the trial call has ended without information about the credentials: tried → refused. Another trial may follow at once.
    mutating func endTrial(now: Duration) { if case .tried(let refusal) = self { self = .refused(refusal, next: now) } }

    /// Notes that the backend has looked at a change: unknown, tried → taken. In the state refused, the call was started before the refusal and says nothing.
    mutating func noteTaken() {
        switch self {
        case .unknown, .taken, .tried: self = .taken
        case .refused: break
        }
    }

    /// Notes that a call was refused: any → refused.
    ///
    /// - Parameters:
    ///   - next: A closure that returns the time before which nothing is sent, given the number of refused calls.
    /// - Returns: Whether the refusal is new.
    mutating func noteRefused(_ failure: PendingRecord.Failure, of principal: String?, until next: (Int) -> Duration) -> Bool {
        switch self {
        case .unknown, .taken:
            self = .refused(.init(failure: failure, principal: principal), next: next(1))
            return true
        case .tried(let refusal):
            self = .refused(.init(failure: failure, principal: principal, count: refusal.count + 1), next: next(refusal.count + 1))
            return false
        // The call was in flight at the same time as the first refused one.
        case .refused: return false
        }
    }

    /// Notes that there may be new credentials: refused → refused, with a trial call at once.
    mutating func expectOthers(now: Duration) { if case .refused(let refusal, _) = self { self = .refused(refusal, next: now) } }
}
