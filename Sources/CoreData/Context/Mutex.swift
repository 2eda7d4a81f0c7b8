internal import Foundation

/// A lock for steps of a few nanoseconds, where the method calls of `NSLock` would cost as much as the step.
// The system's mutex, at an address of its own.
final class Mutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always) func lock() { pthread_mutex_lock(mutex) }
    /// Whether it was free, and is taken now.
    @inline(__always) func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    @inline(__always) func unlock() { pthread_mutex_unlock(mutex) }
}
