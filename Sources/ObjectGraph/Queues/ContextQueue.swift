internal import Foundation
internal import Platform
internal import Predicates
internal import Synchronization

/// A context's serial queue: runs one block at a time, in the order of submission.
///
/// Any number of queues shares the few threads of ``QueueWorkers``. A caller that finds the queue free runs its block itself, on its own thread; a
/// caller that has to wait may meanwhile be asked to serve the queues that it waits for, see ``DeadlockResolution``.
// `lock` guards the waiting blocks and their states; `holder` is written under it, and read by any thread. `owner` is set once, before the queue has
// anything to do. It is not a `LockedBox`: `holder` is read without it, and every block passes here.
final class ContextQueue: @unchecked Sendable {
    /// A waiting request or job.
    private enum Entry {
        case job(@Sendable () -> Void, canBeDeferred: Bool)
        case request(QueueRequest)
    }

    /// A name for logs.
    let label: String
    let isMain: Bool
    /// The registry of the context whose private queue this is; ``context`` knows its type.
    var owner: AnyObject?

    private let lock = Mutex()
    private var waiting = Fifo<Entry>()
    /// The number of waiting requests made from threads of ``QueueWorkers``.
    private var waitingWorkers = 0
    /// The number of waiting entries that cannot be deferred.
    private var undeferrableCount = 0
    /// Whether a worker was called because a job waits on a free queue.
    private var isWorkerRequested = false
    /// Whether the called worker may serve other queues first, because all waiting entries can be deferred.
    private var isDeferred = false
    // The activity that holds the queue; it outlives its hold.
    private let holderAddress = Atomic<UInt>(0)

    /// The main queue.
    static let main = ContextQueue("com.apple.main-thread", isMain: true)

    /// Creates a private queue.
    static func makePrivate(_ label: String = "NSManagedObjectContext") -> ContextQueue { ContextQueue(label, isMain: false) }

    private init(_ label: String, isMain: Bool) {
        self.label = label
        self.isMain = isMain
        if isMain { DispatchQueue.main.setSpecific(key: Self.mainKey, value: true) }
    }

    // MARK: Place of the caller

    /// Whether the caller may use the objects of the queue: it runs on the queue, or in a block that the queue waits for.
    var isCurrent: Bool {
        if let activity = QueueThread.current.activity, isHeld(by: activity) { return true }
        return isMain && Self.isOnMainQueue
    }

    /// The queue of a context or coordinator that the caller is on. With an asynchronous `main`, as in many servers, the main queue has
    /// no thread of its own; otherwise the main thread is on it.
    static var current: ContextQueue? { QueueThread.current.activity?.currentQueue ?? (isOnMainQueue ? main : nil) }

    private static var isOnMainQueue: Bool {
        _ = main
        // The workers are not the main thread, and need not query the system; but with an asynchronous `main`, the main queue may run on them.
        return QueueThread.current.worker == nil && Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) != nil
    }
    private static let mainKey = DispatchSpecificKey<Bool>()

    // MARK: Holder

    private func isHeld(by activity: Activity) -> Bool { holderAddress.load(ordering: .relaxed) == Self.address(activity) }
    private static func address(_ activity: Activity?) -> UInt { activity.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0 }

    /// The activity that holds the queue; nil while the queue is free. Read it under ``DeadlockResolution/lock``, so that a blocked activity
    /// cannot end.
    private(set) var holder: Activity? {
        get {
            UnsafeRawPointer(bitPattern: holderAddress.load(ordering: .acquiring)).map {
                Unmanaged<Activity>.fromOpaque($0).takeUnretainedValue()
            }
        }
        set { holderAddress.store(Self.address(newValue), ordering: .releasing) }
    }

    // MARK: Jobs

    /// Enqueues `job` and returns at once.
    ///
    /// - Parameter canBeDeferred: Whether other queues may go first while nothing else waits behind the job.
    func async(canBeDeferred: Bool = false, execute job: @escaping @Sendable () -> Void) {
        if isMain { return DispatchQueue.main.async(execute: job) }
        lock.lock()
        waiting.append(.job(job, canBeDeferred: canBeDeferred))
        if !canBeDeferred { undeferrableCount += 1 }
        let (needsWorker, isDeferred) = (requestWorker(), isDeferred)
        lock.unlock()
        // Without the lock, which the worker takes at once.
        if needsWorker { QueueWorkers.shared.add(self, isDeferred: isDeferred) }
    }

    /// Runs `job` on this thread if the queue is free, and enqueues it otherwise: waking a thread would often take longer than the job.
    ///
    /// It is for a few instructions that call no code of the program, and for threads that may wait.
    func inPlace(_ job: @escaping @Sendable () -> Void) {
        if !isMain {
            let thread = QueueThread.current
            let activity = thread.activity ?? thread.own
            if takeIfFree(activity) {
                run(activity, on: thread, job)
                return release()
            }
        }
        async(execute: job)
    }

    /// Calls a worker if the queue is free. Call it under `lock`.
    private func callWorker() { if requestWorker() { QueueWorkers.shared.add(self, isDeferred: isDeferred) } }

    /// Notes that a worker is requested if the queue is free, and returns whether to request one. Call it under `lock`.
    private func requestWorker() -> Bool {
        guard holderAddress.load(ordering: .relaxed) == 0, !isWorkerRequested || (isDeferred && undeferrableCount > 0) else { return false }
        isWorkerRequested = true
        isDeferred = undeferrableCount == 0
        return true
    }

    /// Runs waiting jobs unless the queue is taken. A queue with many jobs yields to other queues.
    func drain() {
        let thread = QueueThread.current
        let activity = thread.activity == nil ? thread.own : Activity(on: thread)
        lock.lock()
        guard isWorkerRequested else { return lock.unlock() }
        isWorkerRequested = false
        holder = activity
        lock.unlock()
        var turn = 0
        while turn < 32, let job = takeJob(turn) {
            run(activity, on: thread, job)
            turn += 1
        }
        release()
    }

    private func takeJob(_ turn: Int) -> (@Sendable () -> Void)? {
        lock.lock()
        defer { lock.unlock() }
        guard case .job(let job, let canBeDeferred)? = waiting.first, turn == 0 || !canBeDeferred || undeferrableCount > 0 else {
            return nil
        }
        waiting.removeFirst()
        if !canBeDeferred { undeferrableCount -= 1 }
        return job
    }

    /// Runs a block as an activity on this queue.
    private func run<T>(_ activity: Activity, on thread: QueueThread, _ block: () throws -> T) rethrows -> T {
        let (outer, currentQueue) = (thread.activity, activity.currentQueue)
        thread.activity = activity
        activity.currentQueue = self
        defer {
            activity.currentQueue = currentQueue
            thread.activity = outer
        }
        return try block()
    }

    /// Ends the hold of an activity and passes the queue on.
    private func release() {
        lock.lock()
        if waiting.isEmpty {
            holder = nil
            return lock.unlock()
        }
        lock.unlock()
        DeadlockResolution.lock.lock()
        lock.lock()
        passOn()
        lock.unlock()
        DeadlockResolution.lock.unlock()
    }

    /// Passes the queue to the next entry. Call it under both locks.
    private func passOn() {
        switch waiting.first {
        case nil: holder = nil
        case .request(let request):
            waiting.removeFirst()
            undeferrableCount -= 1
            if request.activity.thread.isWorker { waitingWorkers -= 1 }
            holder = request.activity
            request.grant()
        case .job:
            holder = nil
            // A worker that waits for this queue runs the jobs before its own request; otherwise all workers might wait for a missing
            // one.
            if waitingWorkers > 0, let worker = waiting.lazy.compactMap(Self.worker).first {
                (isWorkerRequested, isDeferred) = (true, false)
                worker.runWhileBlocked { self.drain() }
            } else {
                callWorker()
            }
        }
    }

    private static func worker(_ entry: Entry) -> QueueThread? {
        guard case .request(let request) = entry, request.activity.thread.isWorker else { return nil }
        return request.activity.thread
    }

    // MARK: Waiting

    /// Runs `block` and waits for it.
    ///
    /// - Parameter isForChild: Whether a child context calls its parent during its own work, where no other request may be served.
    func sync<T>(isForChild: Bool = false, _ block: () throws -> T) rethrows -> T {
        let thread = QueueThread.current
        if let activity = thread.activity {
            if isHeld(by: activity) { return try block() }
        } else if Self.isOnMainQueue {
            return try isMain ? block() : Self.main.whileBlocked(thread) { try wait(isForChild, thread, block) { throw $0 } }
        }
        if isMain, Self.isOnMainQueue { return try block() }
        return try wait(isForChild, thread, block) { throw $0 }
    }

    /// Marks this queue as blocked while `body` waits for other queues.
    private func whileBlocked<T>(_ thread: QueueThread, _ body: () throws -> T) rethrows -> T {
        lock.lock()
        let isFree = holder == nil
        if isFree { holder = thread.own }
        lock.unlock()
        defer {
            if isFree {
                lock.lock()
                holder = nil
                lock.unlock()
            }
        }
        return try body()
    }

    private func wait<T>(
        _ isForChild: Bool, _ thread: QueueThread, _ block: () throws -> T, failing: (any Error) throws -> T
    ) rethrows -> T {
        let activity = thread.activity ?? thread.own
        if !isMain, takeIfFree(activity) {
            defer { release() }
            return try run(activity, on: thread, block)
        }
        var result: Result<T, any Error>?
        withoutActuallyEscaping(block) { block in
            let request = QueueRequest(activity, for: self, isForChild: isForChild) { result = Result { try block() } }
            waitBlocked(for: request, on: thread)
        }
        switch result.known("a caller that waits until the request is done has its result") {
        case .success(let value): return value
        case .failure(let error): return try failing(error)
        }
    }

    private func takeIfFree(_ activity: Activity) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard waiting.isEmpty, holderAddress.load(ordering: .relaxed) == 0 else { return false }
        holder = activity
        return true
    }

    /// Waits until the request is done, here or on a thread that serves it.
    private func waitBlocked(for request: QueueRequest, on thread: QueueThread) {
        DeadlockResolution.lock.lock()
        var drains = false
        if isMain {
            DispatchQueue.main.async { self.runOnMain(request) }
        } else {
            lock.lock()
            waiting.append(.request(request))
            undeferrableCount += 1
            if thread.isWorker { waitingWorkers += 1 }
            if !isWorkerRequested, holder == nil { passOn() }
            drains = isWorkerRequested && thread.isWorker
            if !drains, !request.isGranted { callWorker() }
            lock.unlock()
        }
        if !request.isGranted {
            request.activity.request = request
            DeadlockResolution.resolve(from: request.activity)
        }
        if drains { thread.runWhileBlocked { self.drain() } }
        DeadlockResolution.wait(for: request, on: thread)
        DeadlockResolution.lock.unlock()
        guard request.isGranted else { return }
        run(request.activity, on: thread, request.run)
        release()
    }

    /// Runs a request while the activity that holds the queue is blocked; the activity stays blocked until the request is done. Call it
    /// under ``DeadlockResolution/lock``.
    func lend(to request: QueueRequest, by lender: Activity) {
        if !isMain {
            lock.lock()
            waiting.removeFirst { if case .request(let other) = $0 { other === request } else { false } }
            undeferrableCount -= 1
            if request.activity.thread.isWorker { waitingWorkers -= 1 }
            lock.unlock()
        }
        let thread = lender.thread
        start(request, on: thread)
        thread.runWhileBlocked {
            self.run(request.activity, on: thread, request.run)
            self.finish(request, backTo: lender)
        }
    }

    /// Serves a request for the main queue, unless it was served while the main thread was blocked.
    private func runOnMain(_ request: QueueRequest) {
        let thread = QueueThread.current
        DeadlockResolution.lock.lock()
        if request.isStarted { return DeadlockResolution.lock.unlock() }
        let before = holder
        start(request, on: thread)
        DeadlockResolution.lock.unlock()
        run(request.activity, on: thread, request.run)
        finish(request, backTo: before)
    }

    private func start(_ request: QueueRequest, on thread: QueueThread) {
        request.start(on: thread)
        lock.lock()
        holder = request.activity
        lock.unlock()
    }

    private func finish(_ request: QueueRequest, backTo before: Activity?) {
        DeadlockResolution.lock.lock()
        lock.lock()
        holder = before
        lock.unlock()
        request.finish()
        DeadlockResolution.lock.unlock()
    }
}
