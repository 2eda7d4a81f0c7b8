internal import Foundation

/// The results of a fetch at one time, as IDs. They may cross to other queues.
public struct LiveResultIDs<Object: NSManagedObject>: Sendable, RandomAccessCollection, Equatable {
    /// The IDs of the objects, in order.
    public let ids: [NSManagedObjectID]

    /// The index of the first object.
    public var startIndex: Int { 0 }
    /// The index after the last object.
    public var endIndex: Int { ids.count }
    /// Returns the ID of an object.
    public subscript(position: Int) -> TypedObjectID<Object> { TypedObjectID(unchecked: ids[position]) }

    /// Returns the objects. Call it on the context's queue.
    public func objects(in context: NSManagedObjectContext) -> [Object] { context.objects(with: ids).map { $0 as! Object } }
}

/// The results of a fetch as an asynchronous sequence: see ``NSManagedObjectContext/liveResults(for:)``.
public struct LiveResults<Object: NSManagedObject>: AsyncSequence, Sendable {
    /// The results at one time.
    public typealias Element = LiveResultIDs<Object>

    fileprivate let context: NSManagedObjectContext
    fileprivate let request: QueueBound<NSFetchRequest<Object>>

    /// Creates an iterator; it fetches when its first element is requested.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(context: context, request: request) }

    /// Fetches, and waits for changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let context: NSManagedObjectContext
        fileprivate let request: QueueBound<NSFetchRequest<Object>>
        private var follower: LiveResultsFollower<Object>?
        private var signals: AsyncStream<Void>.AsyncIterator?

        fileprivate init(context: NSManagedObjectContext, request: QueueBound<NSFetchRequest<Object>>) {
            self.context = context
            self.request = request
        }

        /// Returns the latest results: at once the first time, then when they differ from the last element. Returns nil when the task is
        /// cancelled.
        ///
        /// - Throws: The error of the fetch, or of the store when a change could not be followed.
        public mutating func next() async throws -> LiveResultIDs<Object>? {
            if Task.isCancelled { return nil }
            guard let follower, signals != nil else {
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let new = LiveResultsFollower(context, request, continuation)
                follower = new
                signals = stream.makeAsyncIterator()
                return try await new.start()
            }
            guard await signals?.next() != nil else { return nil }
            return try await follower.results()
        }
    }
}

/// Follows the results of one fetch for one iterator.
// `tracker` is used on the context's queue only.
private final class LiveResultsFollower<Object: NSManagedObject>: @unchecked Sendable {
    private let context: NSManagedObjectContext
    private let request: QueueBound<NSFetchRequest<Object>>
    private let tracker: FetchedResultsTracker
    private let continuation: AsyncStream<Void>.Continuation

    init(
        _ context: NSManagedObjectContext, _ request: QueueBound<NSFetchRequest<Object>>, _ continuation: AsyncStream<Void>.Continuation
    ) {
        self.context = context
        self.request = request
        self.continuation = continuation
        tracker = FetchedResultsTracker(context)
    }

    deinit { continuation.finish() }

    func start() async throws -> LiveResultIDs<Object> {
        try await context.perform { [self] in
            try fetch()
            tracker.didChange = { [continuation] _ in continuation.yield() }
            tracker.didFail = { [continuation] in continuation.yield() }
            return current()
        }
    }

    /// Returns the results when the queue runs the request; all changes until then are included.
    func results() async throws -> LiveResultIDs<Object> {
        try await context.perform { [self] in
            context.processPendingChanges()
            // After a reset or a failure, the objects must be fetched again.
            if tracker.isBehind || tracker.error != nil { try fetch() }
            return current()
        }
    }

    private func fetch() throws {
        let request = self.request.value.copy() as! NSFetchRequest<Object>
        request.resultType = .managedObjectResultType
        try context.resolve(request)
        let wanted = Object.self as NSManagedObject.Type
        if let entity = request.entity, !entity.allKinds.allSatisfy({ $0.managedObjectClass.isSubclass(of: wanted) }) {
            throw CoreDataError.make(
                NSCoreDataError, "There are no live results of “\(entity)” as \(Object.self).",
                reason: "Not all of its objects are of that class.", next: "Check the entity's managedObjectClassName.")
        }
        try tracker.fetch(request.erased(), sectionKeyPath: nil)
    }

    private func current() -> LiveResultIDs<Object> { LiveResultIDs(ids: tracker.objects.map(\.objectID)) }
}

extension NSManagedObjectContext {
    /// Returns the results of a fetch as an asynchronous sequence: its first results, and new ones after each change of the context that affects
    /// them.
    ///
    /// ```swift
    /// for try await albums in context.liveResults(for: request) {
    ///     print(await context.perform { albums.objects(in: context).map(\.title) })
    /// }
    /// ```
    ///
    /// The elements are IDs, for use on any queue. A slow consumer receives the latest results, not all intermediate ones; the cost of a change is
    /// that of an ``NSFetchedResultsController``. The sequence ends when the task is cancelled and retains the context until then. Not in Apple's
    /// API.
    ///
    /// - Parameter request: The fetch request, which is copied. Without sort descriptors, the order is undefined.
    public nonisolated func liveResults<Object: NSManagedObject>(for request: NSFetchRequest<Object>) -> LiveResults<Object> {
        LiveResults(context: self, request: QueueBound(request.copy() as! NSFetchRequest<Object>, on: self))
    }
}
