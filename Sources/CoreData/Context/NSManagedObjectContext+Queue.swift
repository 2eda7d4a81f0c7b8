internal import Foundation

extension NSManagedObjectContext {
    /// When a block given to ``perform(schedule:_:)`` starts.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the context's queue already, else as `enqueued`.
        case immediate
        /// After what the queue has been given before.
        case enqueued
    }

    var queue: ContextQueue { contextQueue }

    /// See ``perform(_:)-(()->Void)``.
    func enqueue(_ block: @escaping () -> Void) {
        let block = Handover(block, on: queue)
        queue.async { self.runEvent { block.value() } }
    }

    /// Runs `block` on the context's queue, waits for it and returns what it returned.
    ///
    /// It may be called from the queue itself, and from a block for which the queue waits, over however many contexts.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try contextQueue.sync(block) }

    /// Runs `block` on the queue of a parent while its child waits in the middle of its own work.
    func performForChild<T>(_ block: () throws -> T) rethrows -> T { try contextQueue.sync(isForChild: true, block) }

    /// Runs `block` on the context's queue and suspends until it is done; no thread waits.
    ///
    /// - Parameters:
    ///   - schedule: whether a caller on the queue already runs it at once.
    ///   - block: what to run; pending changes are processed after it.
    /// - Returns: what `block` returns. Managed objects in it are for use on the context's queue only.
    public func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        let block = Handover(block, on: queue)
        let result: Transfer<Result<T, Failure>> = await withCheckedContinuation { continuation in
            let run = { @Sendable in
                let result = self.runEvent { Result { () throws(Failure) -> T in try block.value() } }
                continuation.resume(returning: Transfer(result))
            }
            if schedule == .immediate, contextQueue.isCurrent { run() } else { queue.async(execute: run) }
        }
        return try result.value.get()
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

    /// Sees to it that changes made outside `perform` are processed when the queue gets to it.
    func scheduleEvent() {
        guard !isInEvent, !isEventEnqueued else { return }
        isEventEnqueued = true
        queue.async { [registry] in
            guard let context = registry?.livingContext else { return }
            context.isEventEnqueued = false
            context.processPendingChanges()
            context.undoer?.closeEventGroup()
        }
    }
}
