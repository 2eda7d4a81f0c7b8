internal import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// The results of a request at one time, as IDs, which may be passed to other queues: an element of ``RemoteResults``.
public struct RemoteResultIDs<Object: NSManagedObject>: Sendable, RandomAccessCollection {
    /// The IDs of the objects, in order.
    public let results: LiveResultIDs<Object>
    /// Whether the backend has answered since the sequence began: false for results from the cache.
    public let isFresh: Bool
    /// The reason why the backend has not answered; nil if it has, and while the answer is awaited. The results are the previous ones.
    public let error: (any Error)?

    /// The index of the first object.
    public var startIndex: Int { 0 }
    /// The index after the last object.
    public var endIndex: Int { results.count }
    /// The IDs of the objects, in order.
    public var ids: [NSManagedObjectID] { results.ids }
    /// Returns the ID of an object.
    public subscript(position: Int) -> TypedObjectID<Object> { results[position] }

    /// Returns the objects. Call it on the context's queue.
    public func objects(in context: NSManagedObjectContext) -> [Object] { results.objects(in: context) }
}

extension NSManagedObjectContext {
    /// Returns the results of a request as an asynchronous sequence: first those of the cache, then the backend's answer, then each change.
    ///
    /// ```swift
    /// for try await albums in context.results(for: request) {
    ///     show(await context.perform { albums.objects(in: context).map(\.title) }, isOffline: albums.error != nil)
    /// }
    /// ```
    ///
    /// The second element is produced only if the backend's answer differs, so that nothing is displayed twice. If the backend does not answer, the sequence
    /// continues: the element with the ``RemoteResultIDs/error`` has the previous results, and changes follow as usual. They are changes of this context, and
    /// changes of others that it merges; with `automaticallyMergesChangesFromParent`, these include the results of other requests.
    ///
    /// The policy of the request, or of the store, determines the first element: with ``CachePolicy/networkOnly`` it is the backend's answer, and with
    /// ``CachePolicy/cacheOnly`` the backend is not asked. For other stores, the results are those of the store, and fresh.
    ///
    /// Call it on any thread, and iterate on any. The elements are IDs; use the objects on the context's queue. A slow consumer receives the latest results
    /// only. The sequence ends when the task is cancelled, or its iterator is released.
    ///
    /// - Parameters:
    ///   - request: The fetch request, which is copied. Without sort descriptors, the order is undefined.
    ///   - endsOnError: Whether the sequence ends by throwing an error if the backend does not answer.
    public nonisolated func results<Object: NSManagedObject>(
        for request: NSFetchRequest<Object>, endsOnError: Bool = false
    ) -> RemoteResults<Object> {
        RemoteResults(context: self, request: CarriedRequest(request), endsOnError: endsOnError)
    }
}

/// The results of a request, from the cache, from the backend, and after each change: see ``ObjectGraph/NSManagedObjectContext/results(for:endsOnError:)``.
public struct RemoteResults<Object: NSManagedObject>: AsyncSequence, Sendable {
    /// The results at one time.
    public typealias Element = RemoteResultIDs<Object>

    fileprivate let context: NSManagedObjectContext
    fileprivate let request: CarriedRequest<Object>
    fileprivate let endsOnError: Bool

    /// Starts the fetch, and returns an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let producer = ResultsProducer(context, request, endsOnError: endsOnError, continuation)
        let task = Task(executorPreference: BlockingCall.executor) { await producer.run() }
        // The first results end the task; what follows changes goes on without it.
        continuation.onTermination = { _ in
            task.cancel()
            producer.end()
        }
        return AsyncIterator(base: stream.makeAsyncIterator())
    }

    /// An iterator over the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Element, any Error>.AsyncIterator

        /// Returns the latest results when they differ from the last element; nil when the task is cancelled.
        ///
        /// - Throws: The error of a fetch that the cache cannot answer either, and the backend's error if the sequence ends on errors.
        public mutating func next() async throws -> RemoteResultIDs<Object>? { try await base.next() }
    }
}

/// Fetches for one iterator, and follows changes.
// The mutable state is in a `LockedBox`; the request is used on the context's queue.
private final class ResultsProducer<Object: NSManagedObject>: Sendable {
    private typealias IDs = LiveResultIDs<Object>

    private struct State {
        var last: IDs?
        var isFresh = false
        var error: (any Error)?
        /// The number of elements so far.
        var count = 0
        /// The number of the current follower: results of earlier ones are ignored.
        var follower = 0
        var following: Task<Void, Never>?
        /// Whether nobody receives results any more.
        var isEnded = false
    }

    /// The state of the results in the cache: the IDs, and the versions of their rows.
    private typealias Mark = [NSManagedObjectID: Int64]

    private let context: NSManagedObjectContext
    private let request: CarriedRequest<Object>
    private let endsOnError: Bool
    private let continuation: AsyncThrowingStream<RemoteResultIDs<Object>, any Error>.Continuation
    private let state = LockedBox(State())

    init(
        _ context: NSManagedObjectContext, _ request: CarriedRequest<Object>, endsOnError: Bool,
        _ continuation: AsyncThrowingStream<RemoteResultIDs<Object>, any Error>.Continuation
    ) {
        (self.context, self.request, self.endsOnError, self.continuation) = (context, request, endsOnError, continuation)
    }

    func run() async { do { try await begin() } catch { continuation.finish(throwing: error) } }

    /// Stops following changes, because the iterator was released or the sequence has ended.
    func end() {
        state.withLock { state in
            state.isEnded = true
            return state.following
        }?.cancel()
    }

    private func begin() async throws {
        let (store, policy) = try await context.perform { [context, request] in
            let query = try context.storeQuery(for: request.copy())
            let store = context.persistentStoreCoordinator?.stores(answering: query).lazy.compactMap { $0 as? CachedStore }.first
            return (store, request.cachePolicy ?? store?.policy(of: query.entity))
        }
        guard let store, let policy else {
            state.withLock { $0.isFresh = true }
            return try await follow(isRefreshing: false)
        }
        if policy == .cacheOnly { return try await follow(isRefreshing: false) }
        var known: Mark?
        if policy != .networkOnly {
            known = try await mark(in: store)
            try await follow(isRefreshing: false)
        }
        try await refresh(policy, known, store)
    }

    /// Asks the backend, and produces its answer.
    private func refresh(_ policy: CachePolicy, _ known: Mark?, _ store: CachedStore) async throws {
        let before = state.withLock { $0.count }
        do {
            let fresh = try await context.perform { [context, request] in
                try context.storeQuery(for: request.copy(policy == .cachedThenFresh ? .networkOnly : policy))
            }
            _ = try await store.fetch(fresh, for: StoreCaller(stalenessInterval: 0))
        } catch {
            if error is CancellationError { return continuation.finish() }
            if endsOnError || known == nil { throw error }
            return fail(error)
        }
        state.withLock { $0.isFresh = true }
        let found = try await mark(in: store)
        // If the context has merged the answer automatically, it was already produced.
        let isTold =
            context.automaticallyMergesChangesFromParent
            && state.withLock { $0.count > before && Set($0.last?.ids ?? []) == Set(found.keys) }
        if found == known || isTold { return }
        try await follow(isRefreshing: true)
    }

    private func mark(in store: CachedStore) async throws -> Mark {
        let query = try await context.perform { [context, request] in
            try context.storeQuery(for: request.copy(.cacheOnly))
        }
        guard case .rows(let rows) = try store.answerFromFile(query) else { return [:] }
        return Dictionary(rows.map { ($0.knownObjectID, $0.version) }, uniquingKeysWith: { first, _ in first })
    }

    /// Fetches from the cache, and produces the results and those that follow. Returns when the first results were produced.
    private func follow(isRefreshing: Bool) async throws {
        let number = state.withLock { state in
            state.follower += 1
            state.following?.cancel()
            return state.follower
        }
        let local = CarriedRequest(request.copy(.cacheOnly, isRefreshing: isRefreshing))
        let (begun, signal) = AsyncThrowingStream.makeStream(of: Void.self)
        let task = Task(executorPreference: BlockingCall.executor) { [self] in
            do {
                for try await results in context.liveResults(for: local.copy()) {
                    tell(results, number)
                    signal.finish()
                }
            } catch {
                signal.finish(throwing: error)
                continuation.finish(throwing: error)
            }
            signal.finish()
        }
        let isEnded = state.withLock { state in
            state.following = task
            return state.isEnded
        }
        if isEnded { task.cancel() }
        for try await _ in begun {}
    }

    private func tell(_ results: IDs, _ number: Int) {
        state.withLock { state in
            guard state.follower == number else { return }
            state.last = results
            state.count += 1
            continuation.yield(RemoteResultIDs(results: results, isFresh: state.isFresh, error: state.error))
        }
    }

    private func fail(_ error: any Error) {
        state.withLock { state in
            state.error = error
            guard let last = state.last else { return }
            continuation.yield(RemoteResultIDs(results: last, isFresh: false, error: error))
        }
    }
}

/// A request that is passed to the queue of its context.
// It is never changed: each use takes a copy.
private struct CarriedRequest<Object: NSManagedObject>: @unchecked Sendable {
    private let request: NSFetchRequest<Object>

    init(_ request: NSFetchRequest<Object>) { self.request = request.copy() as! NSFetchRequest<Object> }

    var cachePolicy: CachePolicy? { request.cachePolicy }

    func copy(_ policy: CachePolicy? = nil, isRefreshing: Bool = false) -> NSFetchRequest<Object> {
        let copy = request.copy() as! NSFetchRequest<Object>
        copy.resultType = .managedObjectResultType
        if let policy { copy.cachePolicy = policy }
        if isRefreshing { copy.shouldRefreshRefetchedObjects = true }
        return copy
    }
}
