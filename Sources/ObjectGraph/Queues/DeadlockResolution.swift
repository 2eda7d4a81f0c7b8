internal import Foundation
internal import Platform
internal import Predicates

/// The work caused by one block of a queue or one call from outside: it holds its first queue, and every queue it has entered by waiting.
// `thread` and `request` are guarded by `DeadlockResolution.lock`; `currentQueue` is used by the activity's own thread only.
final class Activity: @unchecked Sendable {
    /// The thread that the activity runs on or is blocked on.
    unowned var thread: QueueThread
    /// The request that the activity waits for; nil while it runs.
    var request: QueueRequest?
    /// The queue that the activity entered last.
    var currentQueue: ContextQueue?

    init(on thread: QueueThread) { self.thread = thread }
}

/// The state of a thread that uses queues.
// `workWhileBlocked` is guarded by `DeadlockResolution.lock`; the rest is used on the thread only, or set before others know it.
final class QueueThread: @unchecked Sendable {
    /// The worker whose thread this is; nil for other threads.
    private(set) var worker: QueueWorkers.Worker?
    /// Whether the thread is a worker.
    var isWorker: Bool { worker != nil }
    /// The activity that the thread is running.
    var activity: Activity?
    /// The activity of work that begins on this thread.
    private(set) lazy var own = Activity(on: self)
    /// The work for the thread while it is blocked.
    private var workWhileBlocked = Fifo<() -> Void>()
    private let wakeUp = DispatchSemaphore(value: 0)

    // The thread-specific value owns the instance and releases it when the thread ends.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { value in
            #if canImport(Darwin)
            Unmanaged<QueueThread>.fromOpaque(value).release()
            #else
            if let value { Unmanaged<QueueThread>.fromOpaque(value).release() }
            #endif
        }
        return key
    }()

    /// The state of the calling thread.
    static var current: QueueThread {
        if let known = pthread_getspecific(key) { return Unmanaged<QueueThread>.fromOpaque(known).takeUnretainedValue() }
        let thread = QueueThread()
        pthread_setspecific(key, Unmanaged.passRetained(thread).toOpaque())
        return thread
    }

    /// Marks the calling thread as that of a worker.
    static func become(_ worker: QueueWorkers.Worker) { current.worker = worker }

    /// Enqueues work for the blocked thread. Call it under ``DeadlockResolution/lock``.
    func runWhileBlocked(_ work: @escaping () -> Void) {
        workWhileBlocked.append(work)
        wakeUp.signal()
    }

    /// Wakes the blocked thread to check its request. Call it under ``DeadlockResolution/lock``.
    func wake() { wakeUp.signal() }

    fileprivate func takeWork() -> (() -> Void)? { workWhileBlocked.isEmpty ? nil : workWhileBlocked.removeFirst() }
    fileprivate func sleep() { wakeUp.wait() }
}

/// A block that a caller waits for.
// The mutable state is guarded by `DeadlockResolution.lock`; `work` is run once, by the thread that received it.
final class QueueRequest: @unchecked Sendable {
    let activity: Activity
    let queue: ContextQueue
    /// Whether a context calls its parent during its own work; no other request may then run on the context's queue.
    let isForChild: Bool
    private var work: (() -> Void)?
    /// Whether the activity holds the queue, so that it may run the block.
    private(set) var isGranted = false
    /// Whether a blocked thread, or the main queue, has started the block.
    private(set) var isStarted = false
    private(set) var isFinished = false
    private var origin: QueueThread?

    init(_ activity: Activity, for queue: ContextQueue, isForChild: Bool, _ work: @escaping () -> Void) {
        self.activity = activity
        self.queue = queue
        self.isForChild = isForChild
        self.work = work
    }

    /// Runs the block, which the waiting caller owns: it is not retained afterwards.
    func run() {
        let block = work.take()
        block?()
    }

    func grant() {
        isGranted = true
        activity.request = nil
        activity.thread.wake()
    }

    /// Moves the activity to another thread.
    func start(on thread: QueueThread) {
        isStarted = true
        activity.request = nil
        origin = activity.thread
        activity.thread = thread
    }

    /// Moves the activity back to its own thread.
    func finish() {
        isFinished = true
        guard let origin else { return }
        activity.thread = origin
        origin.wake()
    }
}

/// Resolves deadlocks between activities that wait for each other's queues.
///
/// An activity waits for one queue at a time, and a queue is held by one activity at a time. In a cycle, all would wait forever: for
/// example, a parent waits for its child while the child's merge waits for its parent. One of the blocked activities then lends the queue
/// that it holds to the activity that waits for it, runs its request on its own thread, and blocks again. Requests from outside of the
/// cycle are not served: for them the queue is busy.
enum DeadlockResolution {
    /// Guards the waits-for relation. It is locked before a queue's own lock.
    // It is not a `LockedBox`: the relation lies in the activities, requests and threads, and waiting releases the lock in the middle.
    static let lock = Mutex()

    /// Breaks the cycle that an activity's request closes, if any. Call it under the lock.
    static func resolve(from activity: Activity) {
        var requests: [QueueRequest] = []
        var next = activity
        while let request = next.request {
            requests.append(request)
            guard let holder = request.queue.holder else { return }
            next = holder
            if next === activity { break }
        }
        guard next === activity, !requests.isEmpty, next.request != nil else { return }
        // Each request runs while the next one's is blocked, which must not be in the middle of a context's own work.
        let index = requests.indices.first { !requests[($0 + 1) % requests.count].isForChild } ?? 0
        let lender = requests[(index + 1) % requests.count].activity
        requests[index].queue.lend(to: requests[index], by: lender)
    }

    /// Waits until a request is granted or finished, and runs the thread's pending work meanwhile. Call it under the lock, which is released
    /// during them.
    static func wait(for request: QueueRequest, on thread: QueueThread) {
        while !request.isGranted, !request.isFinished {
            let work = thread.takeWork()
            lock.unlock()
            if let work { work() } else { thread.sleep() }
            lock.lock()
        }
    }
}
