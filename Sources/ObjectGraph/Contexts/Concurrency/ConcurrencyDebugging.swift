internal import Foundation
internal import Logging
internal import Platform
internal import Predicates

/// Checks that objects and contexts are used on their queue. Enabled by Apple's launch argument
/// `-com.apple.CoreData.ConcurrencyDebug 1` or the environment variable `COREDATA_CONCURRENCY_DEBUG=1`.
///
/// Use on another queue then stops the program with a message that names the object, the context and the queues. Disabled checks cost
/// property accesses nothing. Builds for debugging without either setting log calls of contexts, once for each method.
enum ConcurrencyDebugging {
    /// Whether use on another queue stops the program.
    static var isOn: Bool { setting ?? false }

    /// The setting with which the program was started; nil for none.
    private static let setting: Bool? = {
        let arguments = CommandLine.arguments
        var setting = ProcessInfo.processInfo.environment["COREDATA_CONCURRENCY_DEBUG"]
        if let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), index + 1 < arguments.count {
            setting = arguments[index + 1]
        }
        guard let setting, !setting.isEmpty else { return nil }
        guard !["0", "no", "false"].contains(setting.lowercased()) else { return false }
        Log.context.notice("Core Data multi-threading assertions enabled.")
        return true
    }()

    #if DEBUG
    /// The reported methods; nil if violations are not reported.
    private static let reported = LockedBox<Set<String>?>(setting == nil ? [] : nil)

    /// Logs the call of a context's method on a wrong queue, the first time in the process.
    static func report(_ method: StaticString, _ message: () -> String) {
        guard reported.withLock({ $0?.insert(method.description).inserted ?? false }) else { return }
        Log.context.warning(
            """
            \(message()) Other calls of this method are not reported. COREDATA_CONCURRENCY_DEBUG=1 stops the program at the first one, \
            0 says nothing.
            """)
    }
    #endif
}

extension NSManagedObjectContext {
    /// Stops the program if concurrency debugging is enabled and the caller is not on the context's queue; logs it in other builds for debugging.
    @inline(__always) final func checkQueue(_ what: @autoclosure () -> String, in method: StaticString = #function) {
        stopOffQueue(what())
        #if DEBUG
        if !isConfined, !contextQueue.isCurrent { ConcurrencyDebugging.report(method) { misuseMessage(what()) } }
        #endif
    }

    /// Stops the program if concurrency debugging is enabled and the caller is not on the context's queue. It is meant for calls that would be
    /// reported too often, or that are part of a call that is reported itself.
    @inline(__always) final func stopOffQueue(_ what: @autoclosure () -> String) {
        if AccessHooks.isActive { stopOffQueueSlowly(what) }
    }

    @inline(never) private final func stopOffQueueSlowly(_ what: () -> String) {
        if ConcurrencyDebugging.isOn, !isConfined, !contextQueue.isCurrent { stopProgram(misuseMessage(what())) }
    }

    /// Returns the message for the use of a context on a wrong queue.
    final func misuseMessage(_ what: String) -> String {
        let own = concurrencyType == .mainQueueConcurrencyType ? "the main queue" : "the private queue “\(queue.label)”"
        let here: String
        if let current = ContextQueue.current {
            let owner = current.context.map { " of the context \($0.shownName)" } ?? ""
            here = "the queue “\(current.label)”\(owner)"
        } else {
            here = Thread.isMainThread ? "the main thread" : "a thread of no context"
        }
        return "\(what) on \(here). The context \(shownName) belongs to \(own): use it and its objects inside perform or performAndWait."
    }

    private var shownName: String {
        let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
        return "“\(name ?? "unnamed")” (0x\(address))"
    }
}
