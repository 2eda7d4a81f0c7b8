internal import Foundation

/// A lock and the value that it guards, which can only be accessed under the lock.
///
/// `body` must not run code of the program, or wait for anything: the lock is not recursive.
// `lock` guards `value`.
final class LockedBox<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Calls `body` with the value, under the lock.
    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
