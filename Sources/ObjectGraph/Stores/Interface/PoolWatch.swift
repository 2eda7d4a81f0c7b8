#if DEBUG
internal import Platform
internal import Predicates

/// Reports calls to tests that block a thread of the task pool while their work waits for a turn of that pool, see ``BlockingCall``.
///
/// Programs may make such calls; a test that does delays all others, and may hang. Release builds contain none of this.
package struct PoolWatch: Sendable {
    private static let installed = LockedBox<PoolWatch?>(nil)

    /// Whether the calling thread is one of the task pool.
    let isPoolThread: @Sendable () -> Bool
    /// Called after the end of each such call, on the thread that has waited.
    let report: @Sendable (String) -> Void

    package init(isPoolThread: @escaping @Sendable () -> Bool, report: @escaping @Sendable (String) -> Void) {
        self.isPoolThread = isPoolThread
        self.report = report
    }

    /// Watches the calls that begin from now on, in the whole process. Call it on any thread.
    package func install() { Self.installed.withLock { $0 = self } }

    /// The watch for calls on the calling thread; nil if the thread is not one of the pool, or if there is no watch.
    static var onThisThread: PoolWatch? {
        guard let watch = installed.withLock({ $0 }), watch.isPoolThread() else { return nil }
        return watch
    }
}
#endif
