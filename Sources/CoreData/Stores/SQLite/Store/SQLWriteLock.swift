internal import CoreDataRuntime
internal import Foundation
internal import Synchronization

/// Lets one thread at a time write to a store; it may come again, and can tell that it is the one.
// The mutex guards `depth`; `owner` is atomic.
final class SQLWriteLock: @unchecked Sendable {
    private let mutex = Mutex()
    private let owner = Atomic<UInt>(0)
    private var depth = 0

    /// Whether this thread has the lock.
    @inline(__always) var isOwn: Bool { owner.load(ordering: .relaxed) == coredata_thread() }

    func lock() {
        if !isOwn {
            mutex.lock()
            owner.store(coredata_thread(), ordering: .relaxed)
        }
        depth += 1
    }

    /// Takes the lock if nobody else has it.
    func tryLock() -> Bool {
        if !isOwn {
            guard mutex.tryLock() else { return false }
            owner.store(coredata_thread(), ordering: .relaxed)
        }
        depth += 1
        return true
    }

    func unlock() {
        depth -= 1
        if depth > 0 { return }
        owner.store(0, ordering: .relaxed)
        mutex.unlock()
    }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}
