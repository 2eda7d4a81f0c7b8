internal import Platform
internal import Predicates

/// Carries a value that belongs to a queue through code that runs elsewhere, back to that queue: it is taken only there.
///
/// Debug builds verify this, as do those with the internal checks: taking the value on another queue stops the program with a message.
// Used on its queue only; the value is not touched on the way.
struct QueueBound<Value>: @unchecked Sendable {
    private let carried: Value
    #if DEBUG || COREDATA_INTERNAL_CHECKS
    private let queue: ContextQueue
    #endif

    init(_ value: Value, on queue: ContextQueue) {
        carried = value
        #if DEBUG || COREDATA_INTERNAL_CHECKS
        self.queue = queue
        #endif
    }

    /// The value. On its queue.
    var value: Value {
        #if DEBUG || COREDATA_INTERNAL_CHECKS
        stopProgram(unless: queue.isCurrent, "A \(Value.self) that belongs to the queue “\(queue.label)” is taken on another one.")
        #endif
        return carried
    }

    /// Returns the value for the caller of a context, whose documentation requires its use on the context's queue. Until then it is only passed on,
    /// and read for immutable facts: the number of objects, and their classes.
    func givenToCaller() -> Value { carried }
}

/// Carries a value from one side, which no longer uses it, to another, which takes it once. No queue is involved.
// The giver does not use it any more, and there is one taker; the code that brings it there orders the two.
package struct Transfer<Value>: @unchecked Sendable {
    private let carried: Value
    #if COREDATA_INTERNAL_CHECKS
    private let isTaken = LockedBox(false)
    #endif

    package init(_ value: Value) { carried = value }

    /// The value. It is taken once, which the internal checks verify.
    package var value: Value {
        #if COREDATA_INTERNAL_CHECKS
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        InternalChecks.require(isFirst, "a \(Value.self) that was given to one taker is taken twice")
        #endif
        return carried
    }
}
