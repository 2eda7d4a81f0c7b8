internal import Foundation
internal import Logging
internal import Predicates

/// Checks that objects and contexts are used on their queue. Enabled by Apple's launch argument
/// `-com.apple.CoreData.ConcurrencyDebug 1` or the environment variable `COREDATA_CONCURRENCY_DEBUG=1`.
///
/// Use on another queue then stops the program with a message that names the object, the context and the queues. Disabled checks cost
/// property accesses nothing.
enum ConcurrencyDebugging {
    static let isOn: Bool = {
        let arguments = CommandLine.arguments
        var setting = ProcessInfo.processInfo.environment["COREDATA_CONCURRENCY_DEBUG"]
        if let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), index + 1 < arguments.count {
            setting = arguments[index + 1]
        }
        guard let setting, !["", "0", "no", "false"].contains(setting.lowercased()) else { return false }
        Log.context.notice("Core Data multi-threading assertions enabled.")
        return true
    }()
}

extension NSManagedObjectContext {
    /// Stops the program if concurrency debugging is enabled and the caller is not on the context's queue.
    @inline(__always) final func checkQueue(_ what: @autoclosure () -> String) {
        if AccessHooks.isActive { checkQueueSlowly(what) }
    }

    @inline(never) private final func checkQueueSlowly(_ what: () -> String) {
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
