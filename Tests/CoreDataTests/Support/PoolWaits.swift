import Foundation
import ObjectGraph
import Testing

/// Makes each call that blocks a thread of the task pool, and whose work waits for a turn of that pool, an issue of the test that makes it.
///
/// With `COREDATA_ONE_POOL_THREAD=1` all tasks share one thread: a test that blocks it for another task stands still, however it does so.
struct PoolWaits: SuiteTrait {
    /// Is told instead, on this thread.
    @TaskLocal static var told: (@Sendable (String) -> Void)?

    static let watched: PoolWaits = {
        #if DEBUG
        PoolWatch(isPoolThread: { isPool }) { what in
            if let told { told(what) } else { Issue.record("\(what) Let it wait on a thread of its own: onOwnThread { }.") }
        }.install()
        #endif
        if ProcessInfo.processInfo.environment["COREDATA_ONE_POOL_THREAD"] != nil {
            for _ in 1..<max(2, ProcessInfo.processInfo.activeProcessorCount) { Task.detached { holdThread() } }
        }
        return PoolWaits()
    }()

    private static func holdThread() { DispatchSemaphore(value: 0).wait() }

    /// The label of the queue that the runtime takes its threads from.
    static let queueName = "Swift global concurrent queue"

    /// Whether this thread is one of the pool: Dispatch knows the queue that it works for.
    static var isPool: Bool {
        guard let label = labelOfQueue?(nil) else { return false }
        return strcmp(label, queueName) == 0 || String(cString: label).hasSuffix(".cooperative")
    }

    private typealias Label = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
    // Swift's interface of Dispatch leaves the function out for the current queue.
    private static let labelOfQueue: Label? = {
        #if canImport(Darwin)
        let everywhere = UnsafeMutableRawPointer(bitPattern: -2)
        #else
        let everywhere = UnsafeMutableRawPointer(bitPattern: 0)
        #endif
        return unsafeBitCast(dlsym(everywhere, "dispatch_queue_get_label"), to: Label?.self)
    }()
}

extension Trait where Self == PoolWaits {
    static var watchesThePool: Self { .watched }
}
