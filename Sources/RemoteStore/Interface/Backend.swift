public import Foundation
internal import ObjectGraph

/// A service, a database, a file: whatever has resources, described by what it can do.
///
/// A backend answers requests and saves changes. It knows nothing of contexts, and decides nothing: which endpoint is asked, what is
/// filtered, sorted and counted in memory, which requests are made together, is up to the store over it. Add it to a coordinator by
/// `addRemoteStore(_:)`.
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
/// Its methods may be called on any thread, several at a time. An error that they throw reaches whoever has asked.
public protocol Backend: Sendable {
    /// Where the resources are. Two backends with the same location have the same objects: URIs of object IDs stay valid in later runs.
    var location: URL { get }
    /// What can be done with the resources of each entity. It is read once, when the store is added.
    var resources: [Resource] { get }
    /// The user whose credentials go with requests now, by whatever name tells users apart; nil where that is not known, or does not matter.
    ///
    /// Pending changes belong to the user who has made them: each has the ``BackendChange/principal``, and waits while somebody else is signed in. It may be
    /// read on any thread, at any time, and must not wait for anything.
    var principal: String? { get }

    /// Answers a request of one of the ``resources``' endpoints.
    ///
    /// An answer that nobody wants any more is cancelled. On Linux, cancelling a task of `URLSession` while its answer comes, as `data(for:)` does, may
    /// block all sessions for ever or stop the program: let the request run to its end there, or use another client.
    ///
    /// - Parameter request: Contains all required parameters, and no more than the endpoint has declared.
    /// - Returns: An answer made by ``BackendRequest/answer()``.
    /// - Throws: Any error; `CancellationError` where the task is cancelled.
    func answer(_ request: BackendRequest) async throws -> BackendAnswer

    /// Saves changes: at most as many as the resource's ``Resource/Saving/maximumChanges``, all of one kind and entity.
    ///
    /// It is not cancelled. A change that was sent once keeps its ``BackendChange/idempotencyKey`` when it is sent again.
    ///
    /// - Returns: The outcome of each change, by its ``BackendChange/key``. A missing outcome is unknown, never success.
    /// - Throws: An error where nothing was saved; ``UnknownOutcome`` where that is not known.
    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome]

    /// Changes or removes everything that a call finds, for a batch request. It is not cancelled, and not repeated.
    ///
    /// - Parameter request: A call that ``Resource/Saving/bulk`` has declared.
    /// - Returns: What ``Resource/Saving/Bulk/results`` has declared.
    /// - Throws: An error where nothing was changed; ``UnknownOutcome`` where that is not known.
    func execute(_ request: BulkRequest) async throws -> BulkAnswer

    /// Whether ``changes(_:)`` is implemented.
    var hasChangeFeed: Bool { get }

    /// Returns what has changed since a token, as far as one answer brings it.
    ///
    /// - Parameter request: Its token is nil at first: the answer then needs to contain nothing but the token of the present. What is read after that is
    ///   taken to have everything that the token has passed.
    /// - Returns: An answer made by ``ChangesRequest/answer(_:)``.
    /// - Throws: ``ExpiredChangeToken`` where the backend does not know any more what has changed since; any other error.
    func changes(_ request: ChangesRequest) async throws -> BackendChanges
}

extension Backend {
    /// Nil: whoever is signed in sends all changes.
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

/// A backend that can tell which page comes next before it has read the resources of a page.
package protocol EarlyPagingBackend: Backend {
    /// Answers a request like ``Backend/answer(_:)``, and tells the token of the next page as soon as it is known.
    ///
    /// - Parameter teller: What is told once at most, with the token that the answer will have; a wrong one costs a request.
    func answer(_ request: BackendRequest, tellingNext teller: PageTeller?) async throws -> BackendAnswer
}

/// Is told the next page while a page is read, and asks for it.
package struct PageTeller: Sendable {
    private let ask: @Sendable (PageToken) -> Void
    private let executor: StartingExecutor?

    /// - Parameters:
    ///   - executor: What runs the request that the page belongs to; nil for no particular one.
    ///   - ask: Asks for a page.
    init(on executor: StartingExecutor?, asking ask: @escaping @Sendable (PageToken) -> Void) {
        self.executor = executor
        self.ask = ask
    }

    /// Tells the token of the next page.
    package func tell(_ next: PageToken) { ask(next) }

    /// Lets the thread go that has sent the request, and that may be reading the page before. Call it when the answer has come, before it is read.
    package func leaveSender() async { await executor?.leave() }
}
