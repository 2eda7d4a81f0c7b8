internal import Foundation
internal import Logging
internal import Platform
internal import Predicates

/// Makes changes wait while the backend rejects the credentials.
extension OutboxSender {
    /// Notes that there may be new credentials.
    func credentialsDidChange() {
        state.withLock { state in
            state.credentials.expectOthers(now: clock.uptime)
            state.returns += 1
        }
        wake()
    }

    /// Takes as many of the available calls as may be started now.
    ///
    /// - Parameter principal: The current user.
    static func begin(_ ready: [SenderState.Call], _ limit: Int, for principal: String?, now: Duration, _ state: inout SenderState)
        -> [SenderState.Call]
    {
        state.credentials.notePrincipal(principal)
        let count = min(ready.count, state.credentials.callsAllowed(limit, calls: state.calls, now: now))
        guard state.credentials.refusal != nil else {
            state.ready = Array(ready.dropFirst(count))
            return Array(ready.prefix(count))
        }
        state.ready = []
        guard count > 0, let trial = ready.min(by: { $0.attempts < $1.attempts }) else { return [] }
        // Each trial uses another call, so that a change that is refused with any credentials does not block the others.
        state.credentials.beginTrial()
        return [trial]
    }

    /// Notes that the backend rejects the credentials, and reports it if that is new.
    ///
    /// - Parameter principal: The user whose credentials they are.
    func noteRefusedCredentials(_ error: any Error, of principal: String?) {
        let failure = Outbox.failure(error)
        let isNew = state.withLock { state in
            let hasReturned = Self.returnsBefore.map { state.returns != $0 } ?? false
            state.ready = []
            return state.credentials.noteRefused(failure, of: principal) { count in
                hasReturned ? clock.uptime : clock.uptime + delay(count, nil)
            }
        }
        guard isNew else { return }
        RequestRunner.log.warning("Pending changes wait for credentials: \(failure.message)")
        report(failure.error)
    }

    /// Whether a change waits for credentials: it belongs to a user who is not signed in, or the current user's credentials are rejected.
    ///
    /// - Parameter principal: The current user.
    func awaitsCredentials(_ record: PendingRecord, _ principal: String?) -> Bool {
        if record.isSetAside { return false }
        if !record.belongs(to: principal) { return true }
        let credentials = state.withLock { $0.credentials }
        if case .taken = credentials { return false }
        if let refusal = credentials.refusal, refusal.principal == principal { return true }
        // Nothing was sent in this run: the last failure of the change decides.
        return record.failure?.isOfCredentials ?? false
    }
}

extension PendingRecord.Failure {
    /// Whether the backend has rejected the credentials.
    var isOfCredentials: Bool { domain == NSCocoaErrorDomain && code == CredentialsExpiredError }
}
