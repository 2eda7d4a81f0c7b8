import Foundation

/// A lock and the value that it guards. The thread sanitizer sees its lock, which it does not see of `Synchronization.Mutex` where threads wait for it.
// `lock` guards `value`.
package final class GuardedState<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result { try lock.withLock { try body(&value) } }
}
