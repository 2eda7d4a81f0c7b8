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
/// It does what `await context.fetch(_:)` does, and so what the synchronous fetch does. Stores that load asynchronously are awaited; the others are
/// asked on a queue of the request's own, with a private context. What they find is then brought into the asking context, where what is unsaved
/// counts as in every fetch. A store that has something to tell the asking context later finds it as ``NSManagedObjectContext/requestingContext``.
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
// What changes lies in boxes with their locks; the context is used on its queue.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    /// The context that asked.
    public let managedObjectContext: NSManagedObjectContext
    /// How far the work has come; cancelling it cancels the work.
    public let progress: Progress?
    private let error = LockedBox<(any Error)?>(nil)

    init(context: NSManagedObjectContext, progress: Progress) {
        managedObjectContext = context
        self.progress = progress
        super.init()
    }

    /// Why the work failed; nil while it goes on and when it succeeded.
    open var operationError: (any Error)? { error.withLock { $0 } }

    /// Stops the work. A store that is answering already is not interrupted, but its answer is dropped.
    open func cancel() { progress?.cancel() }

    fileprivate func fail(_ error: any Error) { self.error.withLock { $0 = error } }
}

/// What an asynchronous fetch has found.
// What changes lies in boxes with their locks; what was found belongs to the queue of the context.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    private let found = LockedBox<[ResultType]?>(nil)

    /// What was found; nil while the fetch goes on, and when it failed. Objects belong to the context's queue.
    open var finalResult: [ResultType]? { found.withLock { $0 } }

    init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
        fetchRequest = request
        super.init(context: context, progress: Progress(totalUnitCount: Int64(max(1, request.estimatedResultCount))))
    }

    fileprivate func finish(_ result: Result<[ResultType], any Error>) {
        switch result {
        case .success(let found):
            self.found.withLock { $0 = found }
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
}

/// A request that goes on after it has been started.
private protocol StartableRequest {
    func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: StartableRequest {
    /// Starts the fetch. On the queue of `context`.
    fileprivate func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, context: context)
        // What the stores cannot know is settled first, so that mistakes are thrown here.
        let query = try context.checkedQuery(for: fetchRequest)
        _ = try PendingChanges(in: context, for: query)
        let handover = Handover((self, result), on: context)
        // Apart from the threads that all tasks share: whoever waits for the result may stand on one of them.
        let task = Task(executorPreference: Waiting.executor) {
            let found: Result<Transfer<[ResultType]>, any Error>
            do {
                found = .success(try await context.results(of: query))
            } catch {
                found = .failure(error)
            }
            let answer = Transfer(found)
            await context.perform {
                let result = handover.value.1
                let isCancelled = result.progress?.isCancelled ?? false
                result.finish(isCancelled ? .failure(CancellationError()) : answer.value.map(\.value))
            }
        }
        result.progress?.cancellationHandler = { task.cancel() }
        if result.progress?.isCancelled ?? false { task.cancel() }
        return result
    }
}
