internal import Platform
internal import Predicates

/// Passes the result of a block on a queue to the task that waits for it.
///
/// The result goes through a lock. A continuation synchronizes, too, but the thread sanitizer does not see that if it is resumed before it is awaited
/// ([swift#57803](https://github.com/swiftlang/swift/issues/57803)): it would report the first read of the block's result.
struct Handover<Value>: Sendable {
    private let box = LockedBox<Value?>(nil)

    /// Sets the result. Call it once, before the task continues.
    func give(_ value: Value) { box.set(value) }

    /// Returns the result, once.
    func take() -> Value { box.withLock { $0.take() }.known("the block has run") }
}
