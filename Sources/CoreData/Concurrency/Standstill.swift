internal import Foundation

/// What runs because of one block of a queue, or of one call from outside: it holds the queue that it has begun on, and each to which it has gone on by waiting.
// `thread` and `request` are guarded by `Standstill.lock`; `innermost` is used by the activity alone.
final class Activity: @unchecked Sendable {
    /// Where it works, or stands still.
    unowned var thread: QueueThread
    /// What it waits for; nil while it works.
    var request: QueueRequest?
    /// The queue that it has reached last.
    var innermost: ContextQueue?

    init(on thread: QueueThread) { self.thread = thread }
}

/// A thread as the queues see it.
// `errands` are guarded by `Standstill.lock`; the rest is used on the thread alone, or never changes.
final class QueueThread: @unchecked Sendable {
    /// Whether it is one of those that the queues share.
    private(set) var isWorker = false
    /// What it works for.
    var activity: Activity?
    /// What it works for if nothing else has brought it here.
    private(set) lazy var own = Activity(on: self)
    /// What it is to do while it stands still.
    private var errands = Fifo<() -> Void>()
    private let wakeUp = DispatchSemaphore(value: 0)

    // The thread's specific value owns the instance, and gives it up when the thread ends.
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

    /// The thread of the caller.
    static var current: QueueThread {
        if let known = pthread_getspecific(key) { return Unmanaged<QueueThread>.fromOpaque(known).takeUnretainedValue() }
        let thread = QueueThread()
        pthread_setspecific(key, Unmanaged.passRetained(thread).toOpaque())
        return thread
    }

    /// The thread of the caller becomes one of those that the queues share.
    static func becomeWorker() { current.isWorker = true }

    /// Has the thread do something while it stands still. Under ``Standstill/lock``.
    func give(_ errand: @escaping () -> Void) {
        errands.append(errand)
        wakeUp.signal()
    }

    /// Has the thread look whether what it waits for has come. Under ``Standstill/lock``.
    func wake() { wakeUp.signal() }

    fileprivate func takeErrand() -> (() -> Void)? { errands.isEmpty ? nil : errands.removeFirst() }
    fileprivate func sleep() { wakeUp.wait() }
}

/// A block that someone waits for.
// Everything that changes is guarded by `Standstill.lock`; `work` is run once, by the thread that was given it.
final class QueueRequest: @unchecked Sendable {
    let activity: Activity
    let queue: ContextQueue
    /// Whether a context asks its parent, in the middle of its own work: no one can be let into its own queue then.
    let isForChild: Bool
    private var work: (() -> Void)?
    /// Whether the queue is the activity's, so that it may run the block.
    private(set) var isGranted = false
    /// Whether a thread that stands still, or the main queue, has taken it.
    private(set) var isStarted = false
    private(set) var isFinished = false
    private var origin: QueueThread?

    init(_ activity: Activity, for queue: ContextQueue, isForChild: Bool, _ work: @escaping () -> Void) {
        self.activity = activity
        self.queue = queue
        self.isForChild = isForChild
        self.work = work
    }

    /// Runs the block. It is the waiting caller's: nothing keeps it afterwards.
    func run() {
        let block = work.take()
        block?()
    }

    func grant() {
        isGranted = true
        activity.request = nil
        activity.thread.wake()
    }

    /// The activity goes to another thread.
    func start(on thread: QueueThread) {
        isStarted = true
        activity.request = nil
        origin = activity.thread
        activity.thread = thread
    }

    /// The activity is back on its own thread.
    func finish() {
        isFinished = true
        guard let origin else { return }
        activity.thread = origin
        origin.wake()
    }
}

/// Who waits for whom, so that waiting comes to an end.
///
/// An activity waits for one queue at a time, and a queue is held by one activity at a time. Where that leads in a circle, everyone in it would wait
/// for ever: a parent that waits for its child, say, while the child's merge waits for its parent. Then one of those who stand still lends the queue
/// that it holds to the one who waits for it, runs that request on its own thread, and stands still again. Requests from elsewhere are not let in:
/// to them the queue is busy.
enum Standstill {
    /// Guards who waits for whom. Whoever takes a queue's own lock as well takes it after this one.
    static let lock = Mutex()

    /// Breaks the circle that an activity closes by its request, if it does. Under the lock.
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
        // Each is served in the midst of what the next one has asked for, which is no place inside a context's own work.
        let index = requests.indices.first { !requests[($0 + 1) % requests.count].isForChild } ?? 0
        let lender = requests[(index + 1) % requests.count].activity
        requests[index].queue.lend(to: requests[index], by: lender)
    }

    /// Waits until a request is granted or finished, and does meanwhile what the thread is given. Under the lock, which is open in between.
    static func wait(for request: QueueRequest, on thread: QueueThread) {
        while !request.isGranted, !request.isFinished {
            let errand = thread.takeErrand()
            lock.unlock()
            if let errand { errand() } else { thread.sleep() }
            lock.lock()
        }
    }
}
