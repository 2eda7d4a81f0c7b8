internal import CoreDataRuntime
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import Synchronization

/// A recursive lock for writing to a store, which knows its owner thread.
// The mutex guards `depth`, and between `lock()` and `unlock()` the writing connection and the state that `SQLiteStore` names. It is not a
// `LockedBox`: it is recursive, and it is held across calls that take it again. The rest is atomic.
final class SQLWriteLock: @unchecked Sendable {
    private let mutex = Mutex()
    private let owner = Atomic<UInt>(0)
    private var depth = 0
    /// Whether a thread has ever waited for it.
    private let contended = Atomic<Bool>(false)

    var wasContended: Bool { contended.load(ordering: .relaxed) }

    /// Whether the calling thread has the lock.
    @inline(__always) var isOwn: Bool { owner.load(ordering: .relaxed) == coredata_thread() }

    func lock() {
        if !isOwn {
            if !mutex.tryLock() {
                contended.store(true, ordering: .relaxed)
                mutex.lock()
            }
            owner.store(coredata_thread(), ordering: .relaxed)
        }
        depth += 1
    }

    /// Takes the lock if it is free.
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
