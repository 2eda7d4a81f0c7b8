internal import Foundation

/// The queue that a context works on, and who stands still until it is done.
// `waiting` is used on `queue` only; `registry` is set once, before the queue has anything to do.
final class ContextQueue: @unchecked Sendable {
    let queue: DispatchQueue
    private let isMain: Bool
    /// The queues that wait for the block that runs here by `performAndWait`: they stand still, and what belongs to them is the block's to use.
    private var waiting: [ContextQueue] = []
    /// The registry of the context whose private queue this is.
    var registry: ObjectRegistry?
    /// The context whose private queue this is.
    var context: NSManagedObjectContext? { registry?.livingContext }

    /// The main queue.
    static let main = ContextQueue(.main, isMain: true)

    /// A queue of a context's own.
    static func makePrivate() -> ContextQueue { ContextQueue(DispatchQueue(label: "NSManagedObjectContext"), isMain: false) }

    private init(_ queue: DispatchQueue, isMain: Bool) {
        self.queue = queue
        self.isMain = isMain
        queue.setSpecific(key: Self.key, value: Owner(self))
    }

    /// Whether the caller may use what belongs to the queue: it runs there, or in a block that the queue waits for.
    var isCurrent: Bool {
        guard let current = Self.current else { return false }
        return current === self || current.waiting.contains { $0 === self }
    }

    /// Runs `block` here and waits for it.
    func sync<T>(_ block: () throws -> T) rethrows -> T {
        if isCurrent { return try block() }
        let waiting = Self.current.map { $0.waiting + [$0] } ?? []
        return try queue.sync {
            self.waiting = waiting
            defer { self.waiting = [] }
            return try block()
        }
    }

    // MARK: Where the caller is

    /// The queue that the caller is on, if it is a context's. Where `main` is asynchronous, as in many a server, the main queue has no thread
    /// of its own; where it is not, the main thread is on it.
    static var current: ContextQueue? {
        _ = main
        return DispatchQueue.getSpecific(key: key)?.queue ?? (Thread.isMainThread ? main : nil)
    }

    private static let key = DispatchSpecificKey<Owner>()

    /// What a dispatch queue knows about who it belongs to, without keeping it alive.
    // Set once, weak.
    private final class Owner: @unchecked Sendable {
        private(set) weak var queue: ContextQueue?
        init(_ queue: ContextQueue) { self.queue = queue }
    }
}
