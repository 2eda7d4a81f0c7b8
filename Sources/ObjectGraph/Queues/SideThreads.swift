internal import CoreDataRuntime
internal import Foundation
internal import Platform
internal import Predicates

/// The threads of work beside other work, with a lower priority than others.
///
/// They begin when there is work for them, and end when there is none: what is done beside takes much longer than to begin a thread.
// `state` has its own lock.
final class SideThreads: Sendable {
    static let shared = SideThreads()
    /// The number of objects from which on what is done for each of them is done beside.
    static let minimumCount = 10_000

    private struct State {
        var waiting = Fifo<@Sendable () -> Void>()
        /// The number of threads.
        var count = 0

        /// Takes the next piece of work; nil where there is none, which ends the thread that asks.
        mutating func next() -> (@Sendable () -> Void)? {
            if !waiting.isEmpty { return waiting.removeFirst() }
            count -= 1
            return nil
        }
    }
    private let state = LockedBox(State())
    private let limit: Int

    /// - Parameter limit: The greatest number of threads. Where there are few processors it is one: what goes on meanwhile, mostly a store
    ///   and its server, has one each then.
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
