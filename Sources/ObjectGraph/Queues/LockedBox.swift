/// A lock and the value that it guards, which nobody reaches without it.
///
/// No code of the program's own may run in `body`, nor anything that waits: the lock is not recursive.
// `lock` guards `value`.
package final class LockedBox<Value>: @unchecked Sendable {
    private let lock = Mutex()
    // The lock excludes overlapping accesses.
    @exclusivity(unchecked) private var value: Value

    package init(_ value: Value) { self.value = value }

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
