#if WebBackend
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

extension AsyncHTTPClientTransport: StreamingTransport {
    /// Sends a request, and returns its answer when its head has arrived. The body is read from the service as fast as the reader takes its pieces.
    ///
    /// - Throws: ``TransportError`` if no head has arrived; `CancellationError` if the task is cancelled.
    public func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        let problem = TransportProblem(request: request, limits: limits)
        var message: HTTPClientRequest
        do { message = HTTPClientRequest(url: try WebAddress(request.url).text) } catch { throw problem.error(.invalid, error.rawValue) }
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers.fields { message.headers.add(name: field.name, value: field.value) }
        message.body = request.body.map { .bytes($0) }
        do {
            let response = try await client.execute(message, deadline: .now() + seconds(limits.requestSeconds))
            let pieces = SharedIterator(response.body.makeAsyncIterator())
            return WebStream(
                status: Int(response.status.code), headers: WebHeaders(response.headers.map { WebHeaders.Field($0.name, $0.value) }),
                pieces: AsyncThrowingStream {
                    do { return try await pieces.next().map { Array($0.readableBytesView) } } catch { throw Self.failure(error, problem) }
                })
        } catch { throw Self.failure(error, problem) }
    }

    /// Returns the error of a request that may have arrived, because it is not known whether its head was sent.
    private static func failure(_ error: any Error, _ problem: TransportProblem) -> any Error {
        Task.isCancelled ? CancellationError() : problem.error(for: error, hasSentHead: true)
    }
}
#endif
