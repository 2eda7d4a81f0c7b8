internal import Foundation

/// Carries a value that one side gives up and the other takes, across a queue.
// The two sides never use it at once: the queue's ordering stands between them.
struct Handover<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}

extension NSManagedObjectContext {
    /// When a block given to ``perform(schedule:_:)`` starts.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the context's queue already, else as `enqueued`.
        case immediate
        /// After what the queue has been given before.
        case enqueued
    }

    var isOnQueue: Bool {
        if concurrencyType == .mainQueueConcurrencyType { return Self.isOnMainQueue }
        guard let current = Self.current else { return false }
        return current === self || current.waiting.contains { $0 === self }
    }

    /// Whether the caller is on the main queue. Where `main` is asynchronous, as in many a server, the main queue has no thread of its own.
    private static var isOnMainQueue: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueKey) != nil }

    private static let mainQueueKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Runs `block` on the context's queue and returns at once. Afterwards pending changes are processed.
    public func perform(_ block: @escaping () -> Void) {
        let block = Handover(block)
        queue.async { self.runEvent { block.value() } }
    }

    /// Runs `block` on the context's queue, waits for it and returns what it returned. It may be called from the queue itself.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        if isOnQueue { return try block() }
        // A parent whose queue waits for its child's must not be waited for by the child: it stands still, and is the block's to use.
        let waiting = Self.current.map { $0.waiting + [$0] } ?? []
        return try queue.sync {
            self.waiting = waiting
            defer { self.waiting = [] }
            return try block()
        }
    }

    /// Runs `block` on the context's queue and suspends until it is done; no thread waits.
    ///
    /// - Parameters:
    ///   - schedule: whether a caller on the queue already runs it at once.
    ///   - block: what to run; pending changes are processed after it.
    /// - Returns: what `block` returns. Managed objects in it are for use on the context's queue only.
    public func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        let block = Handover(block)
        let result: Handover<Result<T, Failure>> = await withCheckedContinuation { continuation in
            let run = { @Sendable in
                let result = self.runEvent { Result { () throws(Failure) -> T in try block.value() } }
                continuation.resume(returning: Handover(result))
            }
            if schedule == .immediate, isOnQueue { run() } else { queue.async(execute: run) }
        }
        return try result.value.get()
    }

    private func runEvent<T>(_ block: () -> T) -> T {
        let outer = isInEvent
        isInEvent = true
        defer {
            isInEvent = outer
            processPendingChanges()
        }
        return block()
    }

    /// Sees to it that changes made outside `perform` are processed when the queue gets to it.
    func scheduleEvent() {
        guard !isInEvent, !isEventEnqueued else { return }
        isEventEnqueued = true
        queue.async { [weak self] in
            guard let self else { return }
            isEventEnqueued = false
            processPendingChanges()
        }
    }
}
