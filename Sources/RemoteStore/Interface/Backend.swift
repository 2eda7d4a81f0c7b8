public import Foundation
internal import ObjectGraph

/// A source of resources, such as a service, a database or a file, described by its capabilities.
///
/// A backend answers requests and saves changes. It knows nothing of contexts and decides nothing. The store on top of it decides which endpoint is used, which
/// work (filtering, sorting, counting) is done in memory, and which requests run together. Add a backend to a coordinator with `addRemoteStore(_:)`.
///
/// ```swift
/// struct Shelf: Backend {
///     let location = URL(string: "shelf:albums")!
///     let resources = [Resource("Album", endpoints: [Endpoint("all")])]
///
///     func answer(_ request: BackendRequest) async throws -> BackendAnswer {
///         var answer = request.answer()
///         for (id, title) in titles { try answer.add(id, ["title": .value(.string(title))]) }
///         return answer
///     }
/// }
/// ```
///
/// Its methods may be called on any thread, several at a time. The errors that they throw are passed on to the caller of the store.
public protocol Backend: Sendable {
    /// The location of the resources. Two backends with the same location have the same objects: URIs of object IDs stay valid in later runs.
    var location: URL { get }
    /// The resources of each entity, with the operations that they support. The store reads this property once, when it is added.
    var resources: [Resource] { get }
    /// An identifier of the user whose credentials are currently sent with requests; nil if the user is not known or does not matter.
    ///
    /// Pending changes belong to the user who made them: each has a ``BackendChange/principal``, and waits while another user is signed in. The property may be
    /// read on any thread at any time, and must not block.
    var principal: String? { get }

    /// Answers a request of one of the ``resources``' endpoints.
    ///
    /// The task is cancelled if its answer is no longer needed. On Linux, do not cancel a `URLSession` task while it receives its answer, as `data(for:)` does:
    /// that may block all sessions forever or crash the program. Let the request run to its end there, or use another client.
    ///
    /// - Parameter request: Contains all required parameters, and only parameters that the endpoint has declared.
    /// - Returns: An answer made by ``BackendRequest/answer()``.
    /// - Throws: Any error; `CancellationError` if the task is cancelled.
    func answer(_ request: BackendRequest) async throws -> BackendAnswer

    /// Saves changes: at most as many as the resource's ``Resource/Saving/maximumChanges``, all of one kind and entity.
    ///
    /// The call is not cancelled. A change keeps its ``BackendChange/idempotencyKey`` when it is sent again.
    ///
    /// - Returns: The outcome of each change, by its ``BackendChange/key``. A missing outcome is unknown, never success.
    /// - Throws: An error if nothing was saved; ``UnknownOutcome`` if it is not known whether anything was saved.
    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome]

    /// Changes or removes all resources that a call matches, for a batch request. The call is neither cancelled nor repeated.
    ///
    /// - Parameter request: A call that ``Resource/Saving/bulk`` has declared.
    /// - Returns: The results that ``Resource/Saving/Bulk/results`` has declared.
    /// - Throws: An error if nothing was changed; ``UnknownOutcome`` if it is not known whether anything was changed.
    func execute(_ request: BulkRequest) async throws -> BulkAnswer

    /// Whether ``changes(_:)`` is implemented.
    var hasChangeFeed: Bool { get }

    /// Returns the changes since a token, or the first part of them.
    ///
    /// - Parameter request: Its token is nil at first: the answer then needs to contain only the current token. Reads after that are taken to include
    ///   everything up to this token.
    /// - Returns: An answer made by ``ChangesRequest/answer(_:)``.
    /// - Throws: ``ExpiredChangeToken`` if the backend no longer has the changes since the token; any other error.
    func changes(_ request: ChangesRequest) async throws -> BackendChanges
}

extension Backend {
    /// Nil: all changes are sent with the credentials of the current user.
    public var principal: String? { nil }

    /// Throws an error: a backend without this method is read-only.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        throw RemoteStoreError.readOnly(changes.first?.entity ?? "?", at: location)
    }

    /// Throws an error: a backend without this method has no bulk calls.
    public func execute(_ request: BulkRequest) async throws -> BulkAnswer {
        throw RemoteStoreError.readOnly(request.entity, at: location)
    }

    /// False: a backend without ``changes(_:)`` has no change feed.
    public var hasChangeFeed: Bool { false }

    /// Throws an error: a backend without this method has no change feed.
    public func changes(_ request: ChangesRequest) async throws -> BackendChanges { throw RemoteStoreError.noChangeFeed(at: location) }
}

/// A backend that can determine the next page before it has read the resources of the current one.
package protocol EarlyPagingBackend: Backend {
    /// Answers a request like ``Backend/answer(_:)``, and reports the token of the next page as soon as it is known.
    ///
    /// - Parameter teller: Receives the token of the next page, at most once. It should be the token that the answer will have; a wrong one costs a request.
    func answer(_ request: BackendRequest, tellingNext teller: PageTeller?) async throws -> BackendAnswer
}

/// Receives the token of the next page while a page is read, and requests that page.
package struct PageTeller: Sendable {
    private let ask: @Sendable (PageToken) -> Void
    private let executor: StartingExecutor?

    /// - Parameters:
    ///   - executor: The executor that runs the request that the page belongs to; nil for no particular one.
    ///   - ask: A closure that requests a page.
    init(on executor: StartingExecutor?, asking ask: @escaping @Sendable (PageToken) -> Void) {
        self.executor = executor
        self.ask = ask
    }

    /// Reports the token of the next page.
    package func tell(_ next: PageToken) { ask(next) }

    /// Releases the thread that has sent the request, which may be reading the previous page. Call it when the answer has arrived, before it is read.
    package func leaveSender() async { await executor?.leave() }
}
