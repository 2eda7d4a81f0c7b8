public import Foundation

/// A lock for critical sections of a few nanoseconds, in which the method calls of `NSLock` would dominate.
// Wraps a `pthread_mutex_t` at a stable address.
@usableFromInline package final class Mutex: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable @inline(__always) package func lock() { pthread_mutex_lock(mutex) }
    /// Acquires the lock if it is free, and returns whether it did.
    @inlinable @inline(__always) package func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    @inlinable @inline(__always) package func unlock() { pthread_mutex_unlock(mutex) }
}
