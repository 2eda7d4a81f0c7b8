internal import Foundation
internal import Synchronization

/// A lock that admits any number of readers while no thread writes.
///
/// A reading thread may read again, and a writing thread may read.
// `lock` is the lock; `writer` is an atomic.
final class ReadWriteLock: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>
    /// The thread that writes; 0 for none.
    private let writer = Atomic<UInt>(0)

    init() {
        lock = .allocate(capacity: 1)
        let code = pthread_rwlock_init(lock, nil)
        precondition(code == 0, "A lock cannot be made: \(String(cString: strerror(code)))")
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    private static var thread: UInt { UInt(bitPattern: Int(truncatingIfNeeded: pthread_self())) }

    @inline(__always) func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
        if writer.load(ordering: .relaxed) == Self.thread { return try body() }
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    func writing<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_rwlock_wrlock(lock)
        writer.store(Self.thread, ordering: .relaxed)
        defer {
            writer.store(0, ordering: .relaxed)
            pthread_rwlock_unlock(lock)
        }
        return try body()
    }
}
