internal import Foundation

/// The threads that the queues of all contexts share.
///
/// There are as many as the machine has processors, four at least. Where work is waiting and threads have stood still for a while, on a semaphore or for a
/// slow store, as many more come in their place, for the one that would wake them may be in what is waiting; they go again when there is nothing for
/// them to do. A thread that computes is not replaced.
// `lock` guards everything that changes. It is no box, for it guards fields of the workers, too.
final class QueueWorkers: @unchecked Sendable {
    static let shared = QueueWorkers()

    /// How many threads work when none stands still.
    let usualCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
    private let lock = Mutex()
    private var ready = Fifo<ContextQueue>()
    /// Queues with something to do that can be deferred, and when they came.
    private var deferred = Fifo<(queue: ContextQueue, time: UInt64)>()
    private var workers: [Worker] = []
    private var idle: [Worker] = []
    /// How many workers stood still when they were last looked at.
    private var stalledCount = 0
    private var isWatched = false

    /// Has the jobs of a queue done.
    ///
    /// - Parameter isDeferred: whether others go first, for up to some milliseconds.
    func add(_ queue: ContextQueue, isDeferred: Bool) {
        lock.lock()
        defer { lock.unlock() }
        if isDeferred {
            deferred.append((queue, DispatchTime.now().uptimeNanoseconds))
        } else {
            ready.append(queue)
        }
        if let worker = idle.popLast() {
            worker.wakeUp.signal()
        } else if workers.count < usualCount + stalledCount {
            startWorker()
        } else if !isWatched {
            isWatched = true
            Self.startThread("NSManagedObjectContext.watch") { self.watch() }
        }
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
        QueueThread.becomeWorker()
        lock.lock()
        worker.clock = ThreadClock()
        lock.unlock()
        while let queue = next(worker) { queue.drain() }
    }

    /// The next queue with something to do; nil when the worker is not needed any more.
    private func next(_ worker: Worker) -> ContextQueue? {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let queue = takeReady() {
                worker.turns += 1
                return queue
            }
            guard workers.count <= usualCount else { break }
            idle.append(worker)
            lock.unlock()
            let result = worker.wakeUp.wait(timeout: .now() + 10)
            lock.lock()
            // Whoever wakes a worker takes it out.
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

    // MARK: Threads that stand still

    /// Replaces workers that stand still, as long as there is something to do.
    private func watch() {
        var quiet = 0
        while quiet < 100 {
            Thread.sleep(forTimeInterval: 0.01)
            lock.lock()
            quiet = readyCount == 0 ? quiet + 1 : 0
            // Where others get on, what holds a worker up is likely to pass.
            let hasAny = workers.reduce(into: false) { $0 = $1.look() || $0 }
            stalledCount = workers.count { $0.stalledLooks >= (hasAny ? 10 : 1) }
            let missing = usualCount + stalledCount - workers.count
            for _ in 0..<max(0, min(missing, readyCount)) { startWorker() }
            lock.unlock()
        }
        lock.lock()
        stalledCount = 0
        isWatched = false
        // What came meanwhile did not start another watch.
        let isNeeded = readyCount > 0
        if isNeeded { isWatched = true }
        lock.unlock()
        if isNeeded { watch() }
    }

    /// A thread, and how far it has come.
    // Guarded by the lock of the workers.
    private final class Worker: @unchecked Sendable {
        let wakeUp = DispatchSemaphore(value: 0)
        var clock: ThreadClock?
        /// How many queues it has taken up.
        var turns = 0
        /// How often in a row it was seen to have done next to nothing.
        private(set) var stalledLooks = 0
        private var seen: (turns: Int, time: Double) = (0, 0)

        /// Looks how far it has come.
        ///
        /// - Returns: whether it has taken up anything since the last look.
        func look() -> Bool {
            let now = (turns: turns, time: clock?.seconds ?? 0)
            defer { seen = now }
            let hasTurned = now.turns != seen.turns
            stalledLooks = hasTurned || now.time - seen.time >= 0.001 ? 0 : stalledLooks + 1
            return hasTurned
        }
    }
}

/// How much time a thread has had on a processor.
private struct ThreadClock {
    #if canImport(Darwin) || os(Windows)
    // Not to be had of another thread: each one that has not taken up anything new counts as standing still.
    let seconds = 0.0
    #else
    private let clock: clockid_t

    /// The clock of the calling thread.
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
