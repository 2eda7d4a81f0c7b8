internal import Foundation
internal import Synchronization

/// The queue that a context works on: one block at a time, in the order in which they come.
///
/// Any number of queues shares the few threads of ``QueueWorkers``. A caller that finds the queue free runs its block itself, where it stands;
/// one that has to wait may meanwhile be asked to serve those it waits for, see ``Standstill``.
// `lock` guards what waits, and how; `holder` is written under it, and read by anyone. `registry` is set once, before the queue
// has anything to do. It is no box: `holder` is read without it, and every block passes here.
final class ContextQueue: @unchecked Sendable {
    /// What waits for its turn.
    private enum Entry {
        case job(@Sendable () -> Void, canBeDeferred: Bool)
        case request(QueueRequest)
    }

    /// A name for logs.
    let label: String
    let isMain: Bool
    /// The registry of the context whose private queue this is.
    var registry: ObjectRegistry?
    /// The context whose private queue this is.
    var context: NSManagedObjectContext? { registry?.livingContext }

    private let lock = Mutex()
    private var waiting = Fifo<Entry>()
    /// How many of those who wait stand on a thread of ``QueueWorkers``.
    private var waitingWorkers = 0
    /// How many wait that cannot be deferred.
    private var pressing = 0
    /// Whether nobody holds the queue although a job is waiting: a worker is on its way.
    private var isReady = false
    /// Whether the worker comes when it has nothing else to do, for what waits can be deferred.
    private var isDeferred = false
    // The activity that holds the queue, which lives at least as long as it does so.
    private let holderAddress = Atomic<UInt>(0)

    /// The main queue.
    static let main = ContextQueue("com.apple.main-thread", isMain: true)

    /// A queue of a context's own.
    static func makePrivate(_ label: String = "NSManagedObjectContext") -> ContextQueue { ContextQueue(label, isMain: false) }

    private init(_ label: String, isMain: Bool) {
        self.label = label
        self.isMain = isMain
        if isMain { DispatchQueue.main.setSpecific(key: Self.mainKey, value: true) }
    }

    // MARK: Where the caller is

    /// Whether the caller may use what belongs to the queue: it runs there, or in a block that the queue waits for.
    var isCurrent: Bool {
        if let activity = QueueThread.current.activity, isHeld(by: activity) { return true }
        return isMain && Self.isOnMainQueue
    }

    /// The queue that the caller is on, if it is a context's or a coordinator's. Where `main` is asynchronous, as in many a server, the main queue
    /// has no thread of its own; where it is not, the main thread is on it.
    static var current: ContextQueue? { QueueThread.current.activity?.innermost ?? (isOnMainQueue ? main : nil) }

    private static var isOnMainQueue: Bool {
        _ = main
        return Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) != nil
    }
    private static let mainKey = DispatchSpecificKey<Bool>()

    // MARK: Who holds it

    private func isHeld(by activity: Activity) -> Bool { holderAddress.load(ordering: .relaxed) == Self.address(activity) }
    private static func address(_ activity: Activity?) -> UInt { activity.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0 }

    /// The activity that holds the queue; nil while it is free. Read it under ``Standstill/lock``, where no activity that stands still goes.
    private(set) var holder: Activity? {
        get {
            UnsafeRawPointer(bitPattern: holderAddress.load(ordering: .acquiring)).map {
                Unmanaged<Activity>.fromOpaque($0).takeUnretainedValue()
            }
        }
        set { holderAddress.store(Self.address(newValue), ordering: .releasing) }
    }

    // MARK: Jobs

    /// Runs `job` when those before it are done, and returns at once.
    ///
    /// - Parameter canBeDeferred: whether other queues go first, as long as nothing waits behind the job.
    func async(canBeDeferred: Bool = false, execute job: @escaping @Sendable () -> Void) {
        if isMain { return DispatchQueue.main.async(execute: job) }
        lock.lock()
        waiting.append(.job(job, canBeDeferred: canBeDeferred))
        if !canBeDeferred { pressing += 1 }
        callWorker()
        lock.unlock()
    }

    /// Sees to it that a worker comes if nobody holds the queue. Under the lock.
    private func callWorker() {
        guard holderAddress.load(ordering: .relaxed) == 0, !isReady || (isDeferred && pressing > 0) else { return }
        isReady = true
        isDeferred = pressing == 0
        QueueWorkers.shared.add(self, isDeferred: isDeferred)
    }

    /// Runs the jobs that are waiting, unless someone else has come first. A queue with many gives others a turn.
    func drain() {
        let thread = QueueThread.current
        let activity = thread.activity == nil ? thread.own : Activity(on: thread)
        lock.lock()
        guard isReady else { return lock.unlock() }
        isReady = false
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
        guard case .job(let job, let canBeDeferred)? = waiting.first, turn == 0 || !canBeDeferred || pressing > 0 else { return nil }
        waiting.removeFirst()
        if !canBeDeferred { pressing -= 1 }
        return job
    }

    /// Works for an activity on this queue.
    private func run<T>(_ activity: Activity, on thread: QueueThread, _ block: () throws -> T) rethrows -> T {
        let (outer, innermost) = (thread.activity, activity.innermost)
        thread.activity = activity
        activity.innermost = self
        defer {
            activity.innermost = innermost
            thread.activity = outer
        }
        return try block()
    }

    /// The activity is done with the queue: the next one has it.
    private func release() {
        lock.lock()
        if waiting.isEmpty {
            holder = nil
            return lock.unlock()
        }
        lock.unlock()
        Standstill.lock.lock()
        lock.lock()
        handOver()
        lock.unlock()
        Standstill.lock.unlock()
    }

    /// Under both locks.
    private func handOver() {
        switch waiting.first {
        case nil: holder = nil
        case .request(let request):
            waiting.removeFirst()
            pressing -= 1
            if request.activity.thread.isWorker { waitingWorkers -= 1 }
            holder = request.activity
            request.grant()
        case .job:
            holder = nil
            // A worker that waits for this queue can as well do what comes before its own request: else all of them might wait for one that is missing.
            if waitingWorkers > 0, let worker = waiting.lazy.compactMap(Self.worker).first {
                (isReady, isDeferred) = (true, false)
                worker.give { self.drain() }
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

    /// Runs `block` here and waits for it.
    ///
    /// - Parameter isForChild: whether a context asks its parent in the middle of its own work, where no one can be let in.
    func sync<T>(isForChild: Bool = false, _ block: () throws -> T) rethrows -> T {
        let thread = QueueThread.current
        if let activity = thread.activity {
            if isHeld(by: activity) { return try block() }
        } else if Self.isOnMainQueue {
            return try isMain ? block() : Self.main.standing(thread) { try wait(isForChild, thread, block) { throw $0 } }
        }
        if isMain, Self.isOnMainQueue { return try block() }
        return try wait(isForChild, thread, block) { throw $0 }
    }

    /// Calls `body`, which goes on to other queues, while this one stands still.
    private func standing<T>(_ thread: QueueThread, _ body: () throws -> T) rethrows -> T {
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
            stand(request, on: thread)
        }
        switch result.known("whoever stands until the request is done has its result") {
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

    /// Stands still until the request is done, here or on a thread that serves it.
    private func stand(_ request: QueueRequest, on thread: QueueThread) {
        Standstill.lock.lock()
        var drains = false
        if isMain {
            DispatchQueue.main.async { self.runOnMain(request) }
        } else {
            lock.lock()
            waiting.append(.request(request))
            pressing += 1
            if thread.isWorker { waitingWorkers += 1 }
            if !isReady, holder == nil { handOver() }
            drains = isReady && thread.isWorker
            if !drains, !request.isGranted { callWorker() }
            lock.unlock()
        }
        if !request.isGranted {
            request.activity.request = request
            Standstill.resolve(from: request.activity)
        }
        if drains { thread.give { self.drain() } }
        Standstill.wait(for: request, on: thread)
        Standstill.lock.unlock()
        guard request.isGranted else { return }
        run(request.activity, on: thread, request.run)
        release()
    }

    /// Lets a request in although the activity that holds the queue has not done: it stands still until the request is done. Under ``Standstill/lock``.
    func lend(to request: QueueRequest, by lender: Activity) {
        if !isMain {
            lock.lock()
            waiting.removeFirst { if case .request(let other) = $0 { other === request } else { false } }
            pressing -= 1
            if request.activity.thread.isWorker { waitingWorkers -= 1 }
            lock.unlock()
        }
        let thread = lender.thread
        start(request, on: thread)
        thread.give {
            self.run(request.activity, on: thread, request.run)
            self.finish(request, backTo: lender)
        }
    }

    /// Serves a request that has waited for the main queue, unless it was served where the main thread stood still.
    private func runOnMain(_ request: QueueRequest) {
        let thread = QueueThread.current
        Standstill.lock.lock()
        if request.isStarted { return Standstill.lock.unlock() }
        let before = holder
        start(request, on: thread)
        Standstill.lock.unlock()
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
        Standstill.lock.lock()
        lock.lock()
        holder = before
        lock.unlock()
        request.finish()
        Standstill.lock.unlock()
    }
}
