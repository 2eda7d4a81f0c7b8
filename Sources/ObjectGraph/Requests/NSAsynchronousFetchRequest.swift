public import Foundation
internal import Platform
internal import Predicates

/// A fetch request that runs in the background and calls its completion block on the context's queue.
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: albums) { result in
///     print(result.finalResult?.count ?? 0, result.operationError ?? "no error")
/// }
/// let running = try context.execute(request)
/// ```
///
/// The fetch works like ``NSManagedObjectContext/fetchAsynchronously(_:isolation:)``. Stores that load asynchronously are awaited; other stores
/// are queried on a private queue of the request, with a private context. The results are then brought into the requesting context and combined
/// with its unsaved changes. A store that delivers later changes finds the requesting context in ``NSManagedObjectContext/requestingContext``.
///
/// Source: [NSAsynchronousFetchRequest](https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest).
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The type of the completion block, which is called on the context's queue when the fetch is done, has failed or was cancelled.
    public typealias Completion = (NSAsynchronousFetchResult<ResultType>) -> Void

    /// The fetch request to execute.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// The block called when the fetch is done.
    public let completionBlock: Completion?
    /// The expected number of results; the total of the progress.
    open var estimatedResultCount = 0

    /// The type of the request.
    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - request: The fetch request to execute.
    ///   - blk: The block called on the context's queue when the fetch is done.
    public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock blk: Completion? = nil) {
        fetchRequest = request
        completionBlock = blk
        super.init()
    }

    /// Creates a request with an empty fetch request.
    public required init() {
        fetchRequest = NSFetchRequest()
        completionBlock = nil
        super.init()
    }

    /// Returns a copy with the same fetch request and block.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(
            fetchRequest: fetchRequest.copy() as! NSFetchRequest<ResultType>, completionBlock: completionBlock)
        copy.estimatedResultCount = estimatedResultCount
        copy.affectedStores = affectedStores
        return copy
    }
}

/// The result of a request that continues after `execute` has returned.
// All mutable state is in `LockedBox`es; the context is used on its queue.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    /// The requesting context.
    public let managedObjectContext: NSManagedObjectContext
    /// The progress of the request; cancelling it cancels the request.
    public let progress: Progress?
    private let error = LockedBox<(any Error)?>(nil)

    init(context: NSManagedObjectContext, progress: Progress) {
        managedObjectContext = context
        self.progress = progress
        super.init()
    }

    /// The error of a failed request; nil while it runs and when it succeeded.
    open var operationError: (any Error)? { error.withLock { $0 } }

    /// Cancels the request. A store that is already answering is not interrupted, but its answer is discarded.
    open func cancel() { progress?.cancel() }

    fileprivate func fail(_ error: any Error) { self.error.withLock { $0 = error } }
}

/// The result of an asynchronous fetch.
// All mutable state is in `LockedBox`es; the results belong to the queue of the context.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    private let found = LockedBox<[ResultType]?>(nil)

    /// The results; nil while the fetch runs and when it failed. Objects belong to the context's queue.
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
    /// Executes a request. Call it on the context's queue.
    ///
    /// An ``NSAsynchronousFetchRequest`` is started, and its result is completed later. An ``NSBatchInsertRequest``,
    /// ``NSBatchUpdateRequest`` or ``NSBatchDeleteRequest`` is done when the method returns; it does not change the context. An
    /// ``NSPersistentHistoryChangeRequest`` returns an ``NSPersistentHistoryResult``.
    ///
    /// - Throws: Code 134091 for request types with a separate method (fetch, save), and from a store that does not support the request;
    ///   the store's error.
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

/// A request that continues after it was started.
private protocol StartableRequest {
    func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: StartableRequest {
    /// Starts the fetch. Call it on the queue of `context`.
    fileprivate func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, context: context)
        // Values that stores cannot know are resolved first, so that their errors are thrown here.
        let query = try context.query(for: fetchRequest)
        _ = try PendingChanges(in: context, for: query)
        let carried = QueueBound((self, result), on: context)
        // Off the shared threads of tasks: a caller that waits for the result may block one of them.
        let task = Task(executorPreference: BlockingCall.executor) {
            let found: Result<Transfer<[ResultType]>, any Error>
            do {
                found = .success(try await context.results(of: query))
            } catch {
                found = .failure(error)
            }
            let answer = Transfer(found)
            await context.perform {
                let result = carried.value.1
                let isCancelled = result.progress?.isCancelled ?? false
                result.finish(isCancelled ? .failure(CancellationError()) : answer.value.map(\.value))
            }
        }
        result.progress?.cancellationHandler = { task.cancel() }
        if result.progress?.isCancelled ?? false { task.cancel() }
        return result
    }
}
