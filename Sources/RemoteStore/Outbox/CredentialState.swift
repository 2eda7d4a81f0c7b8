/// Whether the backend takes the credentials, as far as its answers to changes have told in this run.
///
/// It is one state of the sender, and not of each change: where one is refused for its credentials, all wait. A call now and then sees whether they are taken
/// again, so that new ones are found also where nobody tells of them.
enum CredentialState: Sendable {
    /// Nothing has told.
    case unknown
    /// They are taken.
    case taken
    /// They are not: nothing is sent before `next`, by the monotonic clock, and then one call.
    case refused(Refusal, next: Duration)
    /// That call is under way.
    case tried(Refusal)

    struct Refusal: Sendable {
        /// Why.
        let failure: PendingRecord.Failure
        /// Whose credentials they are; nil where nobody knows.
        let principal: String?
        /// The number of refused calls, one after the other.
        var count = 1
    }

    /// Why they are not taken; nil where they are, for all that is known.
    var refusal: Refusal? {
        switch self {
        case .unknown, .taken: nil
        case .refused(let refusal, _), .tried(let refusal): refusal
        }
    }

    /// The time before which nothing is sent; nil for none.
    var next: Duration? { if case .refused(_, let next) = self { next } else { nil } }

    /// The number of calls that may be begun now.
    ///
    /// - Parameters:
    ///   - limit: The number of calls that may be under way.
    ///   - calls: The number of those that are.
    func callsAllowed(_ limit: Int, calls: Int, now: Duration) -> Int {
        switch self {
        case .unknown, .taken: max(0, limit - calls)
        case .refused(_, let next): calls == 0 && next <= now ? 1 : 0
        case .tried: 0
        }
    }

    // MARK: Transitions

    /// Forgets what is known of another user's credentials: any → unknown.
    mutating func notePrincipal(_ principal: String?) { if let refusal, refusal.principal != principal { self = .unknown } }

    /// Begins the one call: refused → tried.
    mutating func beginTrial() { if case .refused(let refusal, _) = self { self = .tried(refusal) } }

    /// Notes that the call has ended without a word of the credentials: tried → refused. Another one may be made at once.
    mutating func endTrial(now: Duration) { if case .tried(let refusal) = self { self = .refused(refusal, next: now) } }

    /// Notes that the backend has looked at a change: unknown, tried → taken. A call that was begun before another one was refused says nothing.
    mutating func noteTaken() {
        switch self {
        case .unknown, .taken, .tried: self = .taken
        case .refused: break
        }
    }

    /// Notes that a call was refused: any → refused.
    ///
    /// - Parameters:
    ///   - next: Returns the time before which nothing is sent, by the number of refused calls.
    /// - Returns: Whether that is new.
    mutating func noteRefused(_ failure: PendingRecord.Failure, of principal: String?, until next: (Int) -> Duration) -> Bool {
        switch self {
        case .unknown, .taken:
            self = .refused(.init(failure: failure, principal: principal), next: next(1))
            return true
        case .tried(let refusal):
            self = .refused(.init(failure: failure, principal: principal, count: refusal.count + 1), next: next(refusal.count + 1))
            return false
        // One that was under way beside the first.
        case .refused: return false
        }
    }

    /// Notes that there may be other credentials: refused → the same, with a call at once.
    mutating func expectOthers(now: Duration) { if case .refused(let refusal, _) = self { self = .refused(refusal, next: now) } }
}
