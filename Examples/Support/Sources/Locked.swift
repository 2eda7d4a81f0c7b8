internal import Foundation

/// A value guarded by a lock.
///
/// `Synchronization.Mutex` is equivalent, but the thread sanitizer does not recognize its lock on Linux and reports false races; it does
/// recognize this one.
// Sendable because `value` is used under `lock` only.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// Calls a closure that may read and change the value. The closure must not take the same lock.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
