internal import CoreDataRuntime
internal import Foundation
internal import Predicates

/// The threads of work beside other work. All other threads go first.
///
/// They begin when there is work for them, and end when there has been none for some seconds.
// `state` has its own lock.
final class SideThreads: Sendable {
    static let shared = SideThreads()
    /// The number of objects from which on what is done for each of them is done beside.
    static let minimumCount = 10_000

    private struct State {
        var waiting = Fifo<@Sendable () -> Void>()
        /// The number of threads, and how many of them wait for work.
        var count = 0
        var idleCount = 0

        /// Takes the next piece of work for a waiting thread, which ends if there is none and it has waited for long enough.
        mutating func next(hasWaited: Bool) -> (work: (@Sendable () -> Void)?, ends: Bool) {
            if waiting.isEmpty, !hasWaited { return (nil, false) }
            idleCount -= 1
            if !waiting.isEmpty { return (waiting.removeFirst(), false) }
            count -= 1
            return (nil, true)
        }
    }
    private let state = LockedBox(State())
    /// Signalled once for each piece of work.
    private let wakeUp = DispatchSemaphore(value: 0)
    private let limit: Int
    private let idleTime: Double

    /// - Parameters:
    ///   - limit: The greatest number of threads. Where there are few processors it is one: what goes on meanwhile, mostly a store and its
    ///     server, has one each then.
    ///   - idleTime: How many seconds a thread waits for more work.
    init(limit: Int = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount - 2)), idleTime: Double = 10) {
        self.limit = limit
        self.idleTime = idleTime
    }

    /// Runs work on one of the threads. Call it on any thread.
    func run(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.waiting.append(work)
            guard state.waiting.count > state.idleCount, state.count < limit else { return false }
            state.count += 1
            return true
        }
        wakeUp.signal()
        guard needsThread else { return }
        let thread = Thread { self.work() }
        thread.name = "CoreData.side"
        thread.start()
    }

    /// Releases a value, mostly as its last owner, on one of the threads. Call it on any thread.
    func release<Value: Sendable>(_ value: consuming Value) {
        let held = Unmanaged.passRetained(Held(consume value))
        run { held.release() }
    }

    private final class Held<Value: Sendable>: Sendable {
        private let value: Value
        init(_ value: consuming Value) { self.value = consume value }
    }

    private func work() {
        coredata_let_others_go_first()
        while let work = next() { work() }
    }

    /// Waits for the next piece of work; returns nil when the thread is not needed any more.
    private func next() -> (@Sendable () -> Void)? {
        state.withLock { $0.idleCount += 1 }
        while true {
            let hasTimedOut = wakeUp.wait(timeout: .now() + idleTime) == .timedOut
            // A thread whose wait ended just when work came has taken it: its signal finds none then.
            let next = state.withLock { $0.next(hasWaited: hasTimedOut) }
            if next.ends || next.work != nil { return next.work }
        }
    }
}
