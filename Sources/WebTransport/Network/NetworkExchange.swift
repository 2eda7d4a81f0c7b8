#if WebBackend
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Platform

/// One request in progress. It collects the answer, and ends the request if the answer is too large or late, or if the task is cancelled.
// Its variables are used on its event loop only.
final class NetworkExchange: HTTPClientResponseDelegate, @unchecked Sendable {
    private let client: HTTPClient
    private let loop: any EventLoop
    private let problem: TransportProblem
    private let notes: RequestNotes?
    /// Whether the request is for headers only: their Content-Length counts bytes that are not sent.
    private let isHead: Bool
    private let start = NIODeadline.now()
    private var response = WebResponse(status: 0)
    /// Whether the first bytes of the request were written. Otherwise the service does not know of it.
    private var hasSentHead = false
    private var task: HTTPClient.Task<WebResponse>?
    private var isCancelled = false

    init(client: HTTPClient, loop: any EventLoop, isHead: Bool, problem: TransportProblem, notes: RequestNotes?) {
        self.client = client
        self.loop = loop
        self.isHead = isHead
        self.problem = problem
        self.notes = notes
    }

    /// Sends the request. Everything happens on the event loop, which need not be woken for each step. Call it there, once.
    ///
    /// - Parameter continuation: Receives the answer, or a ``TransportError``.
    func start(_ message: HTTPClient.Request, _ continuation: CheckedContinuation<WebResponse, any Error>) {
        loop.preconditionInEventLoop()
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        let task = client.execute(
            request: message, delegate: self, eventLoop: .delegate(on: loop), deadline: start + seconds(problem.limits.requestSeconds))
        self.task = task
        let connecting = loop.scheduleTask(deadline: start + seconds(problem.limits.connectSeconds)) { [self] in
            if !hasSentHead { task.fail(reason: problem.notConnected()) }
        }
        task.futureResult.whenComplete { [self] result in
            connecting.cancel()
            self.task = nil
            switch result {
            case .success(let response): continuation.resume(returning: response)
            case .failure(let error): continuation.resume(throwing: problem.error(for: error, hasSentHead: hasSentHead))
            }
        }
    }

    /// Ends the request, or prevents its start. Call it on the event loop.
    func cancel() {
        loop.preconditionInEventLoop()
        isCancelled = true
        task?.fail(reason: CancellationError())
    }

    func didSendRequestHead(task: HTTPClient.Task<WebResponse>, _ head: HTTPRequestHead) { hasSentHead = true }

    func didReceiveHead(task: HTTPClient.Task<WebResponse>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        if let notes {
            let time = Double((NIODeadline.now() - start).nanoseconds) / 1e9
            notes.secondsToFirstByte.withLock { $0 = time }
        }
        response.status = Int(head.status.code)
        response.headers.fields = head.headers.map { WebHeaders.Field($0.name, $0.value) }
        let coding = head.headers.first(name: "Content-Encoding")?.lowercased() ?? "identity"
        switch coding {
        case "identity", "":
            if let length = head.headers.first(name: "Content-Length").flatMap(Int.init), head.status != .notModified {
                if length > problem.limits.maximumBytes, !isHead { return task.eventLoop.makeFailedFuture(problem.tooLarge()) }
                response.body.reserveCapacity(min(length, 1 << 20))
            }
        case "gzip", "x-gzip", "deflate": break
        default:
            return task.eventLoop.makeFailedFuture(
                problem.error(.malformed, "Its body has a content encoding that was not asked for."))
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<WebResponse>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        guard response.body.count + buffer.readableBytes <= problem.limits.maximumBytes else {
            return task.eventLoop.makeFailedFuture(problem.tooLarge())
        }
        buffer.withUnsafeReadableBytes { response.body.append(contentsOf: $0) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<WebResponse>) throws -> WebResponse { response }
}
#endif
