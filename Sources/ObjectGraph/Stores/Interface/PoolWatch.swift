#if DEBUG
internal import Platform
internal import Predicates

/// Tells tests of calls that block a thread of the task pool while their work waits for a turn of that pool, see ``BlockingCall``.
///
/// Programs may do so; a test that does holds up all others, and may stand still. Nothing of this is in release builds.
package struct PoolWatch: Sendable {
    private static let installed = LockedBox<PoolWatch?>(nil)

    /// Whether the calling thread is one of the task pool.
    let isPoolThread: @Sendable () -> Bool
    /// Told, on the thread that has waited, of each such call after its end.
    let report: @Sendable (String) -> Void

    package init(isPoolThread: @escaping @Sendable () -> Bool, report: @escaping @Sendable (String) -> Void) {
        self.isPoolThread = isPoolThread
        self.report = report
    }

    /// Watches the calls that begin from now on, in the whole process. Call it on any thread.
    package func install() { Self.installed.withLock { $0 = self } }

    /// What watches calls on the calling thread; nil where that is none of the pool, or nobody watches.
    static var onThisThread: PoolWatch? {
        guard let watch = installed.withLock({ $0 }), watch.isPoolThread() else { return nil }
        return watch
    }
}
#endif
