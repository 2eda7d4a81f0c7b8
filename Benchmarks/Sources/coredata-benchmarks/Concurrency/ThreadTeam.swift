import Foundation
import MachineSettings
import Synchronization

/// The wall clock.
enum WallClock {
    /// The time in nanoseconds since an arbitrary time.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Returns the seconds between two times.
    static func seconds(_ start: UInt64, _ end: UInt64) -> Double { Double(end &- start) / 1e9 }
}

/// Transfers a value from one thread to the next that uses it.
// A semaphore orders the two threads: they never use the value at once.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// A flag that is set once and may be read by any thread.
final class Flag: Sendable {
    private let raised = Atomic(false)
    var isRaised: Bool { raised.load(ordering: .acquiring) }
    func raise() { raised.store(true, ordering: .releasing) }
}

/// Runs work on dedicated threads, each bound to its own processor as far as there are enough: the system's placement of threads that run
/// for some milliseconds is not to be measured.
enum ThreadTeam {
    /// Runs each piece of work on a thread; all start together.
    ///
    /// - Returns: The seconds until the last was done, and the results in the order of the work.
    static func run<Outcome>(_ work: [() throws -> Outcome]) throws -> (seconds: Double, outcomes: [Outcome]) {
        let start = DispatchSemaphore(value: 0)
        let workers = work.enumerated().map { Worker($1, processor: $0, start: start) }
        for worker in workers { worker.ready.wait() }
        let began = WallClock.now
        for _ in workers { start.signal() }
        for worker in workers { worker.finished.wait() }
        let ended = workers.map(\.ended).max() ?? began
        return (WallClock.seconds(began, ended), try workers.map { try $0.outcome() })
    }

    /// Runs work on a thread concurrently with the caller.
    ///
    /// - Parameter processor: The number of the thread's processor; nil for any.
    static func begin<Outcome>(processor: Int?, _ work: @escaping () throws -> Outcome) -> Worker<Outcome> {
        let start = DispatchSemaphore(value: 0)
        start.signal()
        return Worker(work, processor: processor, start: start)
    }

    /// A thread and its work.
    // Only the thread uses the rest until it signals `finished`; others read it after waiting for that.
    final class Worker<Outcome>: @unchecked Sendable {
        fileprivate let ready = DispatchSemaphore(value: 0)
        fileprivate let finished = DispatchSemaphore(value: 0)
        private var result: Result<Outcome, any Error>?
        fileprivate private(set) var ended: UInt64 = 0

        private var work: (() throws -> Outcome)?

        fileprivate init(_ work: @escaping () throws -> Outcome, processor: Int?, start: DispatchSemaphore) {
            self.work = work
            Thread.detachNewThread { [self] in
                if let processor, stay_on_processor(Int32(processor)) != 0 {
                    FileHandle.standardError.write(Data("A thread cannot be kept on one processor: times will differ more.\n".utf8))
                }
                ready.signal()
                start.wait()
                doWork()
                finished.signal()
            }
        }

        /// Runs the work and releases everything it used: the waiting thread may open the same files.
        private func doWork() {
            let result = Result { try work?() }
            ended = WallClock.now
            work = nil
            self.result = result.map { $0.unsafelyUnwrapped }
        }

        /// Waits for the work, once, and returns its result.
        func wait() throws -> Outcome {
            finished.wait()
            return try outcome()
        }

        fileprivate func outcome() throws -> Outcome {
            guard let result else { preconditionFailure("The thread has not finished.") }
            return try result.get()
        }
    }
}
