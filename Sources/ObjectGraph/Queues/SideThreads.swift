internal import CoreDataRuntime
internal import Foundation
internal import Platform
internal import Predicates

/// Threads of a lower priority for work that is done in parallel to other work.
///
/// They start when there is work for them, and end when there is none: parallel work takes much longer than starting a thread.
// `state` has its own lock.
final class SideThreads: Sendable {
    static let shared = SideThreads()
    /// The number of objects from which on work for each of them is done in parallel.
    static let minimumCount = 10_000

    private struct State {
        var waiting = Fifo<@Sendable () -> Void>()
        /// The number of threads.
        var count = 0

        /// Takes the next piece of work; nil if there is none, which ends the calling thread.
        mutating func next() -> (@Sendable () -> Void)? {
            if !waiting.isEmpty { return waiting.removeFirst() }
            count -= 1
            return nil
        }
    }
    private let state = LockedBox(State())
    private let limit: Int

    /// - Parameter limit: The maximum number of threads. It is one if there are few processors: the work that continues meanwhile, mostly a store and
    ///   its server, then has one each.
    init(limit: Int = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount - 2))) { self.limit = limit }

    /// Runs work on one of the threads. Call it on any thread.
    func run(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.waiting.append(work)
            guard state.count < limit else { return false }
            state.count += 1
            return true
        }
        guard needsThread else { return }
        Thread.start("CoreData.side") {
            coredata_let_others_go_first()
            while let work = self.state.withLock({ $0.next() }) { work() }
        }
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
}
