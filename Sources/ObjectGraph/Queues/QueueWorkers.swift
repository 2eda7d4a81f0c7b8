internal import Foundation
internal import Platform
internal import Predicates
internal import Synchronization

/// The threads that the queues of all contexts share.
///
/// There are as many as the machine has processors, but at least four. A thread that waits for a store is replaced at once. If work is waiting and
/// threads have been blocked otherwise for a while, as on a semaphore, the same number of threads is added, because the work that would wake them may
/// be among the waiting work. The added threads end when they have been idle for some seconds. A thread that computes is not replaced.
// `lock` guards all mutable state except the atomics. It is not a `LockedBox`, because it guards fields of the workers, too. No thread is woken under
// the lock: the woken thread would have to wait for it at once.
final class QueueWorkers: @unchecked Sendable {
    static let shared = QueueWorkers()

    /// The number of threads while none is blocked.
    let usualCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
    /// The number of threads waiting for stores that are replaced at once, and of idle threads that are kept for a while.
    private static let replacedLimit = 64
    private let lock = Platform.Mutex()
    private var ready = Fifo<ContextQueue>()
    /// Queues whose work can be deferred, and the times of their arrival.
    private var deferred = Fifo<(queue: ContextQueue, time: UInt64)>()
    /// The number of queues in both. Written under the lock.
    private let readyCount = Atomic(0)
    private var workers: [Worker] = []
    private var idle: [Worker] = []
    /// The number of workers that wait for stores.
    private let waitingCount = Atomic(0)
    /// The number of workers blocked at the last check that were not replaced at once.
    private var stalledCount = 0
    private var isWatched = false

    /// Adds a queue with waiting jobs.
    ///
    /// - Parameter isDeferred: Whether other queues go first, for up to some milliseconds.
    func add(_ queue: ContextQueue, isDeferred: Bool) {
        lock.lock()
        if isDeferred {
            deferred.append((queue, DispatchTime.now().uptimeNanoseconds))
        } else {
            ready.append(queue)
        }
        readyCount.add(1, ordering: .sequentiallyConsistent)
        let worker = takeWorker()
        if worker == nil { beginWatch() }
        lock.unlock()
        if let worker { begin(worker) }
    }

    /// Runs `body`, which waits for a store: meanwhile another thread serves other queues, if the calling thread is a worker.
    func whileWaiting<Result>(_ body: () -> Result) -> Result {
        guard let worker = QueueThread.current.worker else { return body() }
        defer { worker.waits.subtract(1, ordering: .relaxed) }
        if worker.waits.add(1, ordering: .relaxed).oldValue > 0 { return body() }
        defer { waitingCount.subtract(1, ordering: .sequentiallyConsistent) }
        // A thread that adds a queue afterwards checks the number of waiting workers: if the queue is not found here, that thread sees this worker.
        waitingCount.add(1, ordering: .sequentiallyConsistent)
        if readyCount.load(ordering: .sequentiallyConsistent) > 0 {
            lock.lock()
            let other = takeWorker()
            lock.unlock()
            if let other { begin(other) }
        }
        return body()
    }

    /// The number of workers that serve queues, except replaced ones.
    private var busyCount: Int {
        workers.count - idle.count - min(waitingCount.load(ordering: .sequentiallyConsistent), Self.replacedLimit)
    }

    /// Takes a worker, which begins with the next queue, for the waiting work, if one more is allowed. Call ``begin(_:)`` without the lock.
    private func takeWorker() -> Worker? {
        guard busyCount < usualCount + stalledCount, let queue = takeReady() else { return nil }
        let worker: Worker
        if let known = idle.popLast() {
            worker = known
        } else {
            worker = Worker()
            workers.append(worker)
        }
        worker.isIdle = false
        worker.queue = queue
        worker.queuesTaken += 1
        return worker
    }

    /// Starts a worker that was taken for a queue. Call it without the lock.
    private func begin(_ worker: Worker) {
        if worker.hasThread { return _ = worker.wakeUp.signal() }
        worker.hasThread = true
        Thread.start("NSManagedObjectContext") { self.work(worker) }
    }

    private func work(_ worker: Worker) {
        QueueThread.become(worker)
        lock.lock()
        worker.clock = ThreadClock()
        lock.unlock()
        while let queue = next(worker) { queue.drain() }
    }

    /// Returns the next queue with waiting jobs; nil when the worker is not needed any more.
    private func next(_ worker: Worker) -> ContextQueue? {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let queue = worker.queue {
                worker.queue = nil
                return queue
            }
            // There are too many if others have ended their wait for a store.
            if busyCount <= usualCount + stalledCount, let queue = takeReady() {
                worker.queuesTaken += 1
                return queue
            }
            // The busy workers may become blocked.
            if readyCount.load(ordering: .relaxed) > 0 { beginWatch() }
            guard idle.count < Self.replacedLimit else { break }
            idle.append(worker)
            worker.isIdle = true
            lock.unlock()
            let result = worker.wakeUp.wait(timeout: .now() + 10)
            lock.lock()
            // A worker that is called has been removed already. If it timed out meanwhile, it finds the signal when it next waits.
            if worker.isIdle {
                idle.removeAll { $0 === worker }
                worker.isIdle = false
                if result == .timedOut { break }
            }
        }
        workers.removeAll { $0 === worker }
        return nil
    }

    private func takeReady() -> ContextQueue? {
        guard !ready.isEmpty || !deferred.isEmpty else { return nil }
        readyCount.subtract(1, ordering: .relaxed)
        if let (queue, time) = deferred.first {
            if ready.isEmpty || DispatchTime.now().uptimeNanoseconds - time > 10_000_000 {
                deferred.removeFirst()
                return queue
            }
        }
        return ready.removeFirst()
    }

    // MARK: Blocked threads

    private func beginWatch() {
        if isWatched { return }
        isWatched = true
        Thread.start("NSManagedObjectContext.watch") { self.watch() }
    }

    /// Replaces blocked workers as long as work is waiting, and for a second longer.
    private func watch() {
        repeat {
            var quiet = 0
            while quiet < 100 {
                Thread.sleep(forTimeInterval: 0.01)
                quiet = replaceStalled() ? quiet + 1 : 0
            }
        } while isWatchNeeded()
    }

    /// Checks the progress of all workers, and replaces those that have made none.
    ///
    /// - Returns: Whether no queue was waiting.
    private func replaceStalled() -> Bool {
        lock.lock()
        let isQuiet = readyCount.load(ordering: .relaxed) == 0
        // While other workers make progress, the blockage is probably temporary.
        let hasAny = workers.reduce(into: false) { $0 = $1.checkProgress() || $0 }
        let stalled = workers.filter { !$0.isIdle && $0.stalledChecks >= (hasAny ? 10 : 1) }
        let waiting = stalled.count { $0.waits.load(ordering: .relaxed) > 0 }
        stalledCount = stalled.count - min(waiting, Self.replacedLimit)
        var taken: [Worker] = []
        while let worker = takeWorker() { taken.append(worker) }
        lock.unlock()
        for worker in taken { begin(worker) }
        return isQuiet
    }

    /// Ends the watch, unless a queue was added meanwhile, which has begun no other one.
    private func isWatchNeeded() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        stalledCount = 0
        isWatched = readyCount.load(ordering: .relaxed) > 0
        return isWatched
    }

    /// A worker thread and its progress.
    // Guarded by the lock of the workers.
    final class Worker: @unchecked Sendable {
        fileprivate let wakeUp = DispatchSemaphore(value: 0)
        fileprivate var clock: ThreadClock?
        /// The queue that the worker is called for.
        fileprivate var queue: ContextQueue?
        /// The number of queues the worker has taken.
        fileprivate var queuesTaken = 0
        /// The number of waits for stores, one within another, that it is in. Written by its thread.
        fileprivate let waits = Atomic(0)
        /// Whether it has nothing to do.
        fileprivate var isIdle = false
        /// Whether its thread was started. Used by the thread that has taken the worker.
        fileprivate var hasThread = false
        /// The number of consecutive checks that found the worker blocked.
        fileprivate private(set) var stalledChecks = 0
        private var seen: (queuesTaken: Int, time: Double) = (0, 0)

        /// Checks the progress of the worker.
        ///
        /// - Returns: Whether it has taken a queue since the last check.
        fileprivate func checkProgress() -> Bool {
            let now = (queuesTaken: queuesTaken, time: clock?.seconds ?? 0)
            defer { seen = now }
            let hasTurned = now.queuesTaken != seen.queuesTaken
            stalledChecks = hasTurned || now.time - seen.time >= 0.001 ? 0 : stalledChecks + 1
            return hasTurned
        }
    }
}

/// The processor time of a thread.
fileprivate struct ThreadClock {
    #if canImport(Darwin) || os(Windows)
    // Not available for other threads: each thread that has not taken a queue counts as blocked.
    let seconds = 0.0
    #else
    private let clock: clockid_t

    /// Creates the clock of the calling thread.
    init?() {
        var clock = clockid_t()
        guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return nil }
        self.clock = clock
    }

    var seconds: Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    #endif
}
