internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Sends pending changes in the order of their dependencies, independent changes concurrently, until the backend has confirmed or refused each.
///
/// A change is written to disk, with its key, before it is sent: after a crash it is sent again unchanged, or looked for.
// The mutable state is in a `LockedBox`.
final class OutboxSender: Sendable {
    let outbox: Outbox
    let reader: RemoteReader
    let clock: any CacheClock
    let lease: SenderLease
    let state = LockedBox(SenderState())
    let random: @Sendable () -> Double
    /// The token of the IDs that contexts have.
    let outerToken: StoreToken
    private let isAutomatic: Bool
    /// The store's functions that merge the results of reads, and notify contexts of changes.
    let take: @Sendable ([Row], UInt64) throws -> Void
    let takeWithin: @Sendable ([Row], UInt64, CacheTransaction) throws -> Void
    let merge: @Sendable (Changed, UInt64) throws -> Void
    let didChange: @Sendable () -> Void
    /// Reports an error to the application that it would not see otherwise.
    let report: @Sendable (any Error) -> Void

    typealias Changed = CacheTransaction.Changed

    /// The longest wait between two attempts.
    static let longestWait: Duration = .seconds(300)
    /// The number of attempts after which a change is set aside, if its error does not say whether it is temporary.
    static let maximumAttempts = 8

    init(
        _ outbox: Outbox, _ reader: RemoteReader, lease: SenderLease, outerToken: StoreToken, isAutomatic: Bool,
        take: @escaping @Sendable ([Row], UInt64) throws -> Void,
        takeWithin: @escaping @Sendable ([Row], UInt64, CacheTransaction) throws -> Void,
        merge: @escaping @Sendable (Changed, UInt64) throws -> Void,
        didChange: @escaping @Sendable () -> Void, report: @escaping @Sendable (any Error) -> Void
    ) {
        (self.outbox, self.reader, self.lease) = (outbox, reader, lease)
        (self.outerToken, self.isAutomatic) = (outerToken, isAutomatic)
        (self.take, self.takeWithin, self.merge, self.didChange, self.report) = (take, takeWithin, merge, didChange, report)
        (clock, random) = (outbox.file.clock, outbox.random)
    }

    private var file: CacheFile { outbox.file }

    // MARK: Control

    /// Starts sending, if it sends automatically.
    func wake() {
        guard sendsByItself else { return }
        begin { $0.failure = nil }
    }

    /// Whether it sends automatically: if so configured, and while a save waits for its outcome.
    private var sendsByItself: Bool { isAutomatic || state.withLock { $0.awaited > 0 } }

    /// Makes the sender send automatically until a save that begins to wait now has its outcome.
    func beginAwaited() {
        state.withLock { $0.awaited += 1 }
        wake()
    }

    /// Notes that a save no longer waits.
    func endAwaited() { state.withLock { $0.awaited -= 1 } }

    /// Notes that the backend can be reached again.
    func connectionDidReturn() {
        state.withLock { state in
            (state.pausedUntil, state.pauses, state.deferred) = (nil, 0, [])
            state.credentials.expectOthers(now: clock.uptime)
            state.returns += 1
        }
        wake()
    }

    /// Sends everything that can be sent now, even if it is not due, and returns when nothing more can be sent.
    ///
    /// - Throws: The error of a file that cannot be written.
    func sendPending() async throws {
        // Everything is set in one step: otherwise a sender that finishes in between would forget the request.
        begin { state in
            (state.isForced, state.attempted) = (true, [])
            (state.pausedUntil, state.due, state.failure) = (nil, [:], nil)
            state.credentials.expectOthers(now: clock.uptime)
        }
        await waitUntilIdle()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Suspends until nothing is in flight.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.isActive { return true }
                state.idle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Starts no new calls. The outcomes of calls in flight are still recorded. Only after that may another sender take over, or the file be closed.
    ///
    /// - Parameter whenDone: A closure that is called once nothing is in flight, possibly at once.
    func close(whenDone: (@Sendable () -> Void)? = nil) {
        let (timer, idle) = state.withLock { state in
            defer { (state.timer, state.idle, state.insertWaiters) = (nil, [], []) }
            state.isClosed = true
            if let whenDone { state.atEnd.append(whenDone) }
            return (state.timer, state.idle + state.insertWaiters)
        }
        timer?.cancel()
        for continuation in idle { continuation.resume() }
        endIfClosed()
    }

    private func endIfClosed() {
        let atEnd: [@Sendable () -> Void]? = state.withLock { state in
            guard state.isClosed, state.calls == 0 else { return nil }
            defer { state.atEnd = [] }
            return state.atEnd
        }
        guard let atEnd else { return }
        lease.giveBack()
        for body in atEnd { body() }
    }

    /// - Parameter prepare: A closure that updates the state in the same step.
    private func begin(_ prepare: (inout SenderState) -> Void = { _ in }) {
        let plans = state.withLock { state in
            prepare(&state)
            if state.isClosed { return false }
            state.isActive = true
            state.isOutdated = true
            if state.isPlanning { return false }
            state.isPlanning = true
            return true
        }
        if plans { Task(executorPreference: BlockingCall.executor) { await self.work() } }
    }

    /// Plans and starts calls until none can be started.
    private func work() async {
        while true {
            do { try await plan() } catch {
                if state.withLock({ $0.isClosed }) { return }
                RequestRunner.log.error("Pending changes cannot be sent: \(error)")
                state.withLock { $0.failure = error }
                pause()
            }
            let (goesOn, idle) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                if state.isOutdated, !state.isClosed, state.failure == nil { return (true, []) }
                state.isPlanning = false
                if state.calls > 0 { return (false, []) }
                // Nothing is in flight, and nothing can be started.
                (state.isActive, state.isForced) = (false, false)
                defer { state.idle = [] }
                return (false, state.idle)
            }
            if goesOn { continue }
            if !state.withLock({ $0.isActive }) {
                lease.giveBack()
                setTimer()
                didChange()
                for continuation in idle { continuation.resume() }
            }
            return
        }
    }

    private func plan() async throws {
        state.withLock { $0.isOutdated = false }
        if try outbox.count() == 0, state.withLock({ $0.inFlight.isEmpty }) { return }
        let isOwn = try lease.take()
        state.withLock { $0.isElsewhere = !isOwn }
        if !isOwn {
            // Another process sends, or has ended a moment ago: the lease is requested again later.
            state.withLock { $0.pausedUntil = clock.uptime + .milliseconds(500) }
            return
        }
        if state.withLock({ state in state.pausedUntil.map { $0 > clock.uptime } ?? false }) { return }
        let (limit, principal) = (reader.options.concurrentRequests, outbox.principal())
        let (isAllowed, planned) = state.withLock { state in
            state.credentials.notePrincipal(principal)
            return (state.credentials.callsAllowed(limit, calls: state.calls, now: clock.uptime) > 0, state.ready)
        }
        if !isAllowed { return }
        var ready = planned
        if ready.isEmpty {
            let plan = try makePlan(for: principal)
            ready = plan.calls
            state.withLock { $0.held = plan.held }
            for conflict in plan.conflicts { try await resolve(conflict) }
            if !plan.conflicts.isEmpty { state.withLock { $0.isOutdated = true } }
        }
        let begun = state.withLock { state -> [SenderState.Call] in
            if state.isClosed { return [] }
            // A backend that could not be reached, or was too busy, is tried with a single call.
            let most = state.pauses > 0 ? 1 : limit
            let begun = Self.begin(ready, most, for: principal, now: clock.uptime, &state)
            state.calls += begun.count
            for call in begun { state.inFlight.formUnion(call.keys) }
            state.attempted.formUnion(begun.flatMap(\.keys))
            return begun
        }
        for call in begun { Task(executorPreference: BlockingCall.executor) { await self.run(call) } }
    }

    private func run(_ call: SenderState.Call) async {
        do { try await Self.$returnsBefore.withValue(state.withLock { $0.returns }) { try await perform(call) } } catch {
            RequestRunner.log.error("Pending changes cannot be sent: \(error)")
            state.withLock { $0.failure = error }
            pause()
        }
        let isClosed = state.withLock { state in
            state.calls -= 1
            state.inFlight.subtract(call.keys)
            state.credentials.endTrial(now: clock.uptime)
            return state.isClosed
        }
        if isClosed { return endIfClosed() }
        didChange()
        begin()
    }

    // MARK: Waiting

    /// Returns the time to wait before another attempt. It doubles with each attempt, minus a random part.
    func delay(_ attempts: Int, _ asked: Duration?) -> Duration {
        let longest = Self.longestWait.inSeconds
        let seconds = min(longest, Double(1 << min(20, max(0, attempts - 1))))
        let own = Duration.milliseconds(Int64(seconds * (0.5 + random() / 2) * 1000))
        return max(own, min(asked ?? .zero, .seconds(24 * 3600)))
    }

    /// The number of times that the connection had returned when the call of this task was started.
    @TaskLocal static var returnsBefore: Int?

    /// Treats the backend as unreachable or too busy for a while, unless the connection has returned since the failed call was started.
    func pause(_ asked: Duration? = nil) {
        state.withLock { state in
            if let before = Self.returnsBefore, state.returns != before, asked == nil { return }
            let uptime = clock.uptime
            // Concurrent calls count as one failure.
            if state.pausedUntil.map({ $0 <= uptime }) ?? true { state.pauses += 1 }
            state.pausedUntil = max(state.pausedUntil ?? uptime, uptime + delay(state.pauses, asked))
            state.ready = []
        }
    }

    /// Notes that the backend has deferred changes, because it is too busy or does not answer in time. Many deferrals in a row are not caused by the changes.
    ///
    /// - Parameter prospect: The retry information of the error.
    func noteDeferred(_ keys: [LocalKey], _ prospect: Prospect) {
        if prospect.isOffline { return pause(prospect.retryAfter) }
        guard prospect.mayPass == true, !prospect.needsCredentials else { return }
        let most = 2 * reader.options.concurrentRequests
        let isBusy = state.withLock { state in
            state.deferred.formUnion(keys)
            return state.pauses > 0 || state.deferred.count >= most
        }
        if isBusy { pause(prospect.retryAfter) }
    }

    /// Schedules the next wake-up for the next change that becomes due.
    private func setTimer() {
        guard sendsByItself else { return }
        let (now, uptime) = (clock.now, clock.uptime)
        let principal = outbox.principal()
        let (paused, due) = state.withLock { state in ([state.pausedUntil, state.credentials.next].compactMap { $0 }.max(), state.due) }
        var next: Duration?
        do {
            for record in try outbox.records() where !record.isSetAside && record.belongs(to: principal) {
                let wait = Duration.milliseconds(Int64(max(0, min(Self.longestWait.inSeconds, record.nextAttempt - now)) * 1000))
                let time = max(due[record.key] ?? uptime + wait, paused ?? uptime)
                // A change that is due and was not sent waits for something else.
                if time > uptime { next = min(next ?? time, time) }
            }
        } catch { RequestRunner.log.error("Pending changes cannot be read: \(error)") }
        guard let next else { return }
        let (clock, time) = (clock, next)
        let timer = Task(executorPreference: BlockingCall.executor) { [weak self] in
            guard (try? await clock.sleep(until: time)) != nil else { return }
            self?.wake()
        }
        let old = state.withLock { state in
            defer { state.timer = state.isClosed ? nil : timer }
            return state.timer
        }
        old?.cancel()
    }

    /// Whether a change is due now.
    func isDue(_ record: PendingRecord) -> Bool {
        let (now, uptime) = (clock.now, clock.uptime)
        return state.withLock { state in
            if state.isForced, !state.attempted.contains(record.key) { return true }
            if let due = state.due[record.key] { return due <= uptime }
            // If the clock was set back, no change waits longer than the longest delay.
            let wait = record.nextAttempt - now
            return wait <= 0 || wait > Self.longestWait.inSeconds * 2
        }
    }
}
