internal import Foundation
internal import Predicates

/// The threads that the queues of all contexts share.
///
/// There are as many as the machine has processors, four at least. One that waits for a store is replaced at once. Where work is waiting and threads
/// have stood still otherwise for a while, as on a semaphore, as many more come in their place, for the one that would wake them may be in what is
/// waiting; they go again when there has been nothing for them to do for some seconds. A thread that computes is not replaced.
// `lock` guards everything that changes. It is not a `LockedBox`, for it guards fields of the workers, too.
final class QueueWorkers: @unchecked Sendable {
    static let shared = QueueWorkers()

    /// The number of threads while none is blocked.
    let usualCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
    /// How many threads that wait for stores are replaced at once, and how many without work are kept for a while.
    private static let replacedLimit = 64
    private let lock = Mutex()
    private var ready = Fifo<ContextQueue>()
    /// Queues whose work can be deferred, and the times of their arrival.
    private var deferred = Fifo<(queue: ContextQueue, time: UInt64)>()
    private var workers: [Worker] = []
    private var idle: [Worker] = []
    /// The number of workers that wait for stores.
    private var waitingCount = 0
    /// The number of workers blocked at the last check that were not replaced at once.
    private var stalledCount = 0
    private var isWatched = false

    /// Adds a queue with waiting jobs.
    ///
    /// - Parameter isDeferred: Whether other queues go first, for up to some milliseconds.
    func add(_ queue: ContextQueue, isDeferred: Bool) {
        lock.lock()
        defer { lock.unlock() }
        if isDeferred {
            deferred.append((queue, DispatchTime.now().uptimeNanoseconds))
        } else {
            ready.append(queue)
        }
        if !callWorker() { beginWatch() }
    }

    /// Runs `body`, which waits for a store: meanwhile other queues have another thread, where the calling one is a worker.
    func whileWaiting<Result>(_ body: () -> Result) -> Result {
        guard let worker = QueueThread.current.worker else { return body() }
        lock.lock()
        worker.waits += 1
        if worker.waits == 1 { waitingCount += 1 }
        if readyCount > 0 { callWorker() }
        lock.unlock()
        defer {
            lock.lock()
            worker.waits -= 1
            if worker.waits == 0 { waitingCount -= 1 }
            lock.unlock()
        }
        return body()
    }

    /// The number of workers that serve queues, as far as they are not replaced.
    private var busyCount: Int { workers.count - idle.count - min(waitingCount, Self.replacedLimit) }

    /// Calls a worker for what is waiting, if there may be one more.
    @discardableResult private func callWorker() -> Bool {
        guard busyCount < usualCount + stalledCount else { return false }
        if let worker = idle.popLast() {
            worker.isIdle = false
            worker.wakeUp.signal()
        } else {
            startWorker()
        }
        return true
    }

    private func startWorker() {
        let worker = Worker()
        workers.append(worker)
        Self.startThread("NSManagedObjectContext") { self.work(worker) }
    }

    private static func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
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
            // There are too many where others have ended their wait for a store.
            if busyCount <= usualCount + stalledCount, let queue = takeReady() {
                worker.queuesTaken += 1
                return queue
            }
            // Those that are busy may come to stand still.
            if readyCount > 0 { beginWatch() }
            guard idle.count < Self.replacedLimit else { break }
            idle.append(worker)
            worker.isIdle = true
            lock.unlock()
            let result = worker.wakeUp.wait(timeout: .now() + 10)
            lock.lock()
            // A worker that is woken was already removed.
            if result == .timedOut, let index = idle.firstIndex(where: { $0 === worker }) {
                idle.remove(at: index)
                break
            }
        }
        workers.removeAll { $0 === worker }
        return nil
    }

    private var readyCount: Int { ready.count + deferred.count }

    private func takeReady() -> ContextQueue? {
        if let (queue, time) = deferred.first {
            if ready.isEmpty || DispatchTime.now().uptimeNanoseconds - time > 10_000_000 {
                deferred.removeFirst()
                return queue
            }
        }
        return ready.isEmpty ? nil : ready.removeFirst()
    }

    // MARK: Blocked threads

    private func beginWatch() {
        if isWatched { return }
        isWatched = true
        Self.startThread("NSManagedObjectContext.watch") { self.watch() }
    }

    /// Replaces blocked workers as long as work is waiting.
    private func watch() {
        var quiet = 0
        while quiet < 100 {
            Thread.sleep(forTimeInterval: 0.01)
            lock.lock()
            quiet = readyCount == 0 ? quiet + 1 : 0
            // While other workers make progress, the blockage is probably temporary.
            let hasAny = workers.reduce(into: false) { $0 = $1.checkProgress() || $0 }
            let stalled = workers.filter { !$0.isIdle && $0.stalledChecks >= (hasAny ? 10 : 1) }
            let waiting = stalled.count { $0.waits > 0 }
            stalledCount = stalled.count - min(waiting, Self.replacedLimit)
            for _ in 0..<readyCount where !callWorker() { break }
            lock.unlock()
        }
        lock.lock()
        stalledCount = 0
        isWatched = false
        // Work added meanwhile did not start another watch.
        let isNeeded = readyCount > 0
        if isNeeded { isWatched = true }
        lock.unlock()
        if isNeeded { watch() }
    }

    /// A worker thread and its progress.
    // Guarded by the lock of the workers.
    final class Worker: @unchecked Sendable {
        let wakeUp = DispatchSemaphore(value: 0)
        fileprivate var clock: ThreadClock?
        /// The number of queues the worker has taken.
        fileprivate var queuesTaken = 0
        /// The number of waits for stores, one within another, that it is in.
        fileprivate var waits = 0
        /// Whether it has nothing to do.
        fileprivate var isIdle = false
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
    // Not available for other threads: each one that has not taken a queue counts as blocked.
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
