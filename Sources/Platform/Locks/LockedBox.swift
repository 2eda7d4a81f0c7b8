/// A lock and the value that it guards, which is accessible only under the lock.
///
/// The program's own code must not run in `body`, nor anything that waits: the lock is not recursive.
// `lock` guards `value`.
@usableFromInline package final class LockedBox<Value>: @unchecked Sendable {
    // No other code uses these: they are visible for inlining, which calls in other modules need to cost nothing.
    @usableFromInline let lock = Mutex()
    // The lock excludes overlapping accesses.
    @exclusivity(unchecked) @usableFromInline var value: Value

    package init(_ value: Value) { self.value = value }

    /// Replaces the value. The old one is released without the lock, for that may run deinitializers of the program.
    package func set(_ newValue: Value) {
        var old = newValue
        withLock { swap(&$0, &old) }
        withExtendedLifetime(old) {}
    }

    /// Calls `body` with the value, under the lock.
    @inlinable @inline(__always) package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result)
        throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
