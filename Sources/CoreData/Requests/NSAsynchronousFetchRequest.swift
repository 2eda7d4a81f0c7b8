public import Foundation

/// A fetch that runs in the background and calls back on the context's queue.
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: albums) { result in
///     print(result.finalResult?.count ?? 0, result.operationError ?? "no error")
/// }
/// let running = try context.execute(request)
/// ```
///
/// The stores are asked on a queue of the request's own, with a private context; what they find is then brought into the asking context,
/// where what is unsaved counts as in every fetch. A store that has something to tell the asking context later finds it as
/// ``NSManagedObjectContext/requestingContext``.
///
/// Source: [NSAsynchronousFetchRequest](https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest).
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// Called on the context's queue when the fetch is done, has failed or was cancelled.
    public typealias Completion = (NSAsynchronousFetchResult<ResultType>) -> Void

    /// The fetch.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called when the fetch is done.
    public let completionBlock: Completion?
    /// How many results are expected; the total of the progress.
    open var estimatedResultCount = 0

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - request: the fetch.
    ///   - blk: called when it is done, on the context's queue.
    public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock blk: Completion? = nil) {
        fetchRequest = request
        completionBlock = blk
        super.init()
    }

    /// Makes a request of an empty fetch.
    public required init() {
        fetchRequest = NSFetchRequest()
        completionBlock = nil
        super.init()
    }

    /// A request with the same fetch and block.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(
            fetchRequest: fetchRequest.copy() as! NSFetchRequest<ResultType>, completionBlock: completionBlock)
        copy.estimatedResultCount = estimatedResultCount
        copy.affectedStores = affectedStores
        return copy
    }
}

/// What a request gives that goes on after `execute` has returned.
// `lock` guards what changes.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    /// The context that asked.
    public let managedObjectContext: NSManagedObjectContext
    /// How far the work has come; cancelling it cancels the work.
    public let progress: Progress?
    fileprivate let lock = NSLock()
    private var error: (any Error)?

    init(context: NSManagedObjectContext, progress: Progress) {
        managedObjectContext = context
        self.progress = progress
        super.init()
    }

    /// Why the work failed; nil while it goes on and when it succeeded.
    open var operationError: (any Error)? { lock.withLock { error } }

    /// Stops the work. A store that is answering already is not interrupted, but its answer is dropped.
    open func cancel() { progress?.cancel() }

    fileprivate func fail(_ error: any Error) { lock.withLock { self.error = error } }
}

/// What an asynchronous fetch has found.
// `lock` guards what changes.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    private var found: [ResultType]?

    /// What was found; nil while the fetch goes on, and when it failed. Objects belong to the context's queue.
    open var finalResult: [ResultType]? { lock.withLock { found } }

    init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
        fetchRequest = request
        super.init(context: context, progress: Progress(totalUnitCount: Int64(max(1, request.estimatedResultCount))))
    }

    fileprivate func finish(_ result: Result<[ResultType], any Error>) {
        switch result {
        case .success(let found):
            lock.withLock { self.found = found }
            progress?.totalUnitCount = Int64(max(1, found.count))
            progress?.completedUnitCount = progress?.totalUnitCount ?? 0
        case .failure(let error): fail(error)
        }
        fetchRequest.completionBlock?(self)
    }
}

extension NSManagedObjectContext {
    /// Executes a request of any kind. Call it on the context's queue.
    ///
    /// An ``NSAsynchronousFetchRequest`` starts; the result returned fills later. An ``NSBatchInsertRequest``, ``NSBatchUpdateRequest`` or
    /// ``NSBatchDeleteRequest`` is done when the method returns; the context itself is not changed by it. An
    /// ``NSPersistentHistoryChangeRequest`` answers with an ``NSPersistentHistoryResult``.
    ///
    /// - Throws: code 134091 for requests that have a method of their own (fetch, save), and from a store that does not serve the request; the
    ///   store's error.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue("execute(_:) is called")
        if let request = request as? any StartableRequest { return try request.start(in: self) }
        if let request = request as? any ExecutableBatchRequest { return try executeBatch(request) }
        if let request = request as? NSPersistentHistoryChangeRequest, let coordinator = persistentStoreCoordinator {
            return try coordinator.executeHistory(request, in: self)
        }
        throw CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "\(Swift.type(of: request)) cannot be executed this way.",
            next: "Use fetch(_:), count(for:) or save().")
    }

    /// Fetches in the background: suspends until the stores have answered, and blocks no thread of the caller.
    ///
    /// - Returns: as the synchronous `fetch(_:)`. Managed objects are for use on this context's queue: in `perform`, or at once where the
    ///   caller is on it, as the main actor is for a main-queue context.
    /// - Throws: as the synchronous `fetch(_:)`, and `CancellationError` when the task is cancelled.
    public func fetch<ResultType>(
        _ request: NSFetchRequest<ResultType>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> [ResultType] {
        let handover = Handover(request)
        let work = Handover(Progress(totalUnitCount: 1))
        let result: Handover<Result<[ResultType], any Error>> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async {
                    let request = NSAsynchronousFetchRequest(fetchRequest: handover.value) { result in
                        continuation.resume(
                            returning: Handover(
                                Result { try result.finalResult ?? { throw result.operationError ?? CancellationError() }() }))
                    }
                    do {
                        let running = try request.start(in: self) as! NSAsynchronousFetchResult<ResultType>
                        let cancel = Handover(running)
                        work.value.cancellationHandler = { cancel.value.cancel() }
                        if work.value.isCancelled { running.cancel() }
                    } catch {
                        continuation.resume(returning: Handover(.failure(error)))
                    }
                }
            }
        } onCancel: {
            work.value.cancel()
        }
        return try result.value.get()
    }
}

/// A request that goes on after it has been started.
private protocol StartableRequest {
    func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: StartableRequest {
    /// Starts the fetch. On the queue of `context`.
    fileprivate func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        try context.throwPendingFaultError()
        let result = NSAsynchronousFetchResult(self, context: context)
        // What the stores cannot know is settled first, so that mistakes are thrown here.
        let prepared = try context.prepared(fetchRequest)
        guard fetchRequest.resultType == .managedObjectResultType, let coordinator = context.persistentStoreCoordinator,
            context.parent == nil
        else {
            let handover = Handover((self, result))
            context.queue.async {
                let (request, result) = handover.value
                result.finish(Result { try context.fetch(request.fetchRequest) })
            }
            return result
        }
        let background = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        background.persistentStoreCoordinator = coordinator
        background.requester = context
        let handover = Handover((self, result, prepared, background))
        background.queue.async {
            let (request, result, prepared, background) = handover.value
            let answered = Handover((request, prepared, Result { try background.answer(prepared, progress: result.progress) }))
            context.queue.async {
                let (request, prepared, answer) = answered.value
                result.finish(Result { try context.complete(request.fetchRequest, prepared, answer.get(), result.progress) })
            }
        }
        return result
    }
}

/// A store's answer on its way to another context.
private enum TransferredAnswer {
    case rows(RowList)
    case ids([NSManagedObjectID])
}

extension NSManagedObjectContext {
    /// The request as it is put to the stores, widened for what is pending here.
    fileprivate func prepared<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> PreparedFetch {
        processPendingChanges()
        let query = try query(for: request)
        let pending = try PendingChanges(in: self, for: query)
        return PreparedFetch(query: query, sent: pending?.widened(query) ?? query, pending: pending)
    }

    /// Asks the stores. On this (private) context's queue.
    fileprivate func answer(_ prepared: PreparedFetch, progress: Progress?) throws -> TransferredAnswer {
        if progress?.isCancelled ?? false { throw CancellationError() }
        switch try source.fetch(prepared.sent, for: self) {
        case .rows(let rows): return .rows(rows)
        case .ids(let ids): return .ids(ids)
        case .objects(let objects): return .ids(objects.elements.map(\.objectID))
        case .dictionaries, .count: return .ids([])
        }
    }

    /// Brings what the stores have found into this context. On its queue.
    fileprivate func complete<ResultType>(
        _ request: NSFetchRequest<ResultType>, _ prepared: PreparedFetch, _ answer: TransferredAnswer, _ progress: Progress?
    ) throws -> [ResultType] {
        if progress?.isCancelled ?? false { throw CancellationError() }
        var objects: [NSManagedObject]
        switch answer {
        case .rows(let rows): objects = try managedObjects(in: .rows(rows), for: prepared.query)
        case .ids(let ids): objects = self.objects(with: ids)
        }
        if let pending = prepared.pending { objects = try pending.apply(to: objects, of: prepared.query) }
        return try cast(objects, for: prepared.query.entity)
    }
}

/// A fetch that has been checked and is ready for the stores.
private struct PreparedFetch {
    let query: StoreQuery
    let sent: StoreQuery
    let pending: PendingChanges?
}
