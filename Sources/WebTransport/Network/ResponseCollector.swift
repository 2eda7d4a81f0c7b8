#if WebBackend
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Collects the answer to one request, and ends the request where the answer is too large.
// Its variables are used on the event loop of the request's task only.
final class ResponseCollector: HTTPClientResponseDelegate, @unchecked Sendable {
    private let problem: TransportProblem
    private let notes: RequestNotes?
    /// Whether only the headers of a resource are read: their Content-Length counts bytes that do not come.
    private let isHead: Bool
    private let start = NIODeadline.now()
    private var response = WebResponse(status: 0)
    /// Whether the request's first bytes were written: without them the service knows nothing of it.
    private(set) var hasSentHead = false

    init(isHead: Bool, problem: TransportProblem, notes: RequestNotes?) {
        self.isHead = isHead
        self.problem = problem
        self.notes = notes
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
