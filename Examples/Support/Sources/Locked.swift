internal import Foundation

/// A value that only one thread at a time can reach.
///
/// `Synchronization.Mutex` would do the same, but the thread sanitizer does not see its lock on Linux and reports races where there
/// are none; it does see this one.
// Sendable because `value` is reached only while `lock` is held.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// Runs a body that may read and change the value. The body must not come back to the same lock.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
