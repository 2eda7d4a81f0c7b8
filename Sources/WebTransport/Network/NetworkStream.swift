#if WebBackend
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

extension AsyncHTTPClientTransport: StreamingTransport {
    /// Sends a request and returns its answer as soon as the head is there. The service is read from as fast as the pieces are taken.
    ///
    /// - Throws: ``TransportError`` where no head came; `CancellationError` where the task is cancelled.
    public func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        let problem = TransportProblem(request: request, limits: limits)
        var message: HTTPClientRequest
        do { message = HTTPClientRequest(url: try WebAddress(request.url).text) } catch { throw problem.error(.invalid, error.rawValue) }
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers.fields { message.headers.add(name: field.name, value: field.value) }
        message.body = request.body.map { .bytes($0) }
        do {
            let response = try await client.execute(message, deadline: .now() + seconds(limits.requestSeconds))
            let pieces = NetworkPieces(response.body, problem)
            return WebStream(
                status: Int(response.status.code), headers: WebHeaders(response.headers.map { WebHeaders.Field($0.name, $0.value) }),
                pieces: AsyncThrowingStream { try await pieces.next() })
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw problem.error(for: error, hasSentHead: true)
        }
    }
}

/// The pieces of a body that were not read.
// Unchecked: the one reader of the stream makes one call at a time.
private final class NetworkPieces: @unchecked Sendable {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private let problem: TransportProblem

    init(_ body: HTTPClientResponse.Body, _ problem: TransportProblem) {
        iterator = body.makeAsyncIterator()
        self.problem = problem
    }

    func next() async throws -> [UInt8]? {
        var own = iterator
        defer { iterator = own }
        do {
            return try await own.next().map { Array($0.readableBytesView) }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw problem.error(for: error, hasSentHead: true)
        }
    }
}
#endif
