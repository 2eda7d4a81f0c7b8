internal import Foundation

extension NSManagedObjectContext {
    /// The time at which a block given to ``perform(schedule:_:)`` starts.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the context's queue already, otherwise like `enqueued`.
        case immediate
        /// After the blocks that were enqueued before.
        case enqueued
    }

    var queue: ContextQueue { contextQueue }

    /// Enqueues a block and processes pending changes after it; implements the public ``perform(_:)-(()->Void)``.
    func enqueue(_ block: @escaping () -> Void) {
        let block = QueueBound(block, on: queue)
        queue.async { self.runEvent { block.value() } }
    }

    /// Runs `block` on the queue of a parent while the child waits during its own work.
    func performForChild<T>(_ block: () throws -> T) rethrows -> T { try contextQueue.sync(isForChild: true, block) }

    // A single body for all types: compared to the change of queues, a specialization would save nothing, and Swift 6.3's optimizer crashes in one.
    /// Runs `block` on the context's queue and suspends until it is done; no thread waits.
    ///
    /// - Parameters:
    ///   - schedule: Whether a caller on the queue runs the block at once.
    ///   - block: The block to run; pending changes are processed after it.
    /// - Returns: The result of `block`. Use managed objects in it on the context's queue only.
    @_semantics("optimize.sil.specialize.generic.never")
    public func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        let result = Handover<Result<T, Failure>>()
        await runOnQueue(schedule) { result.give(Result { () throws(Failure) -> T in try block() }) }
        return try result.take().get()
    }

    /// Runs `block` on the context's queue, processes pending changes after it, and suspends until it is done.
    private func runOnQueue(_ schedule: ScheduledTaskType, _ block: @escaping () -> Void) async {
        let block = QueueBound(block, on: queue)
        await withCheckedContinuation { continuation in
            let run = { @Sendable in
                self.runEvent { block.value() }
                continuation.resume()
            }
            if schedule == .immediate, contextQueue.isCurrent { run() } else { queue.async(execute: run) }
        }
    }

    /// Runs `block` on the context's queue like ``perform(schedule:_:)``, but on this thread if the queue is free. Call it on a thread that may wait.
    func performInPlace<T>(_ block: @escaping @Sendable () throws -> T) async throws -> T {
        let result = Handover<Result<T, any Error>>()
        await withCheckedContinuation { continuation in
            queue.inPlace {
                result.give(self.runEvent { Result { try block() } })
                continuation.resume()
            }
        }
        return try result.take().get()
    }

    func runEvent<T>(_ block: () -> T) -> T {
        let outer = isInEvent
        isInEvent = true
        defer {
            isInEvent = outer
            processPendingChanges()
            if !outer { undoer?.closeEventGroup() }
        }
        return block()
    }

    /// Enqueues the processing of changes made outside `perform`.
    func scheduleEvent() {
        guard !isInEvent, !isEventEnqueued else { return }
        // A thread that works on a confined context cannot be distinguished from the queue.
        if isConfined, contextQueue !== ContextQueue.main { return }
        isEventEnqueued = true
        queue.async { [registry] in
            guard let context = registry.livingContext else { return }
            context.isEventEnqueued = false
            context.processPendingChanges()
            context.undoer?.closeEventGroup()
        }
    }
}

extension NSManagedObjectContext: QueueOwner {}

extension QueueOwner where Self: NSManagedObjectContext {
    /// Runs `block` on the context's queue, waits for it and returns its result.
    ///
    /// May be called from the queue itself and from a block that the queue waits for, across any number of contexts. A function of this name
    /// that a library adds to the class is preferred to it.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try contextQueue.sync(block) }
}
