internal import Platform
internal import Predicates

/// A listener that is notified of saves; contexts make them.
protocol SaveListener: AnyObject, Sendable {
    /// The position in its list, whose lock guards it.
    var position: Int { get set }
}

/// The contexts that are notified of saves in a coordinator or a parent context.
// The listeners are in a `LockedBox`, which guards the position of each, too.
final class MergeListeners: Sendable {
    // A weak reference would slow down reference counting of the registry; each context removes itself when it is deallocated.
    private let listeners = LockedBox<[any SaveListener]>([])

    func add(_ listener: any SaveListener) {
        listeners.withLock { listeners in
            listener.position = listeners.count
            listeners.append(listener)
        }
    }

    func remove(_ listener: any SaveListener) {
        listeners.withLock { listeners in
            let position = listener.position
            listeners.swapAt(position, listeners.count - 1)
            listeners[position].position = position
            _ = listeners.removeLast()
        }
    }

    /// Calls `body` with the listeners, under the lock.
    func withListeners<Result>(_ body: ([any SaveListener]) -> Result) -> Result { listeners.withLock { body($0) } }
}
