/// A transport that delivers the body of an answer in pieces, for endless answers such as streams of events.
///
/// Its methods may be called on any thread, and concurrently.
public protocol StreamingTransport: Transport {
    /// Sends a request, and returns its answer when its head has arrived.
    ///
    /// - Parameters:
    ///   - request: The complete request.
    ///   - limits: The time limit for the head. The time and the size of the body are not limited.
    /// - Throws: ``TransportError`` if no head has arrived; `CancellationError` if the task is cancelled.
    func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream
}

extension Transport {
    /// Sends a request for an answer in pieces, if the transport supports that.
    func stream(ifAble request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        guard let transport = self as? any StreamingTransport else {
            throw TransportError(.invalid, request: request.summary, detail: "The transport does not hand over answers piece by piece.")
        }
        return try await transport.stream(request, limits: limits)
    }
}

/// The answer to a ``WebRequest``, with a body that is still arriving.
public struct WebStream: Sendable {
    /// The status code.
    public var status: Int
    /// The headers.
    public var headers: WebHeaders
    /// The body in pieces, decompressed, for one reader. The connection is closed when the reader stops.
    public var pieces: AsyncThrowingStream<[UInt8], any Error>

    /// Creates an answer.
    public init(status: Int, headers: WebHeaders = [:], pieces: AsyncThrowingStream<[UInt8], any Error>) {
        self.status = status
        self.headers = headers
        self.pieces = pieces
    }

    /// Creates an answer from a complete one.
    public init(_ response: WebResponse) {
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self, throwing: (any Error).self)
        if !response.body.isEmpty { continuation.yield(response.body) }
        continuation.finish()
        self.init(status: response.status, headers: response.headers, pieces: pieces)
    }

    /// Returns the complete answer.
    ///
    /// - Parameters:
    ///   - maximumBytes: The maximum size of the body, in bytes.
    ///   - tooLarge: The error for a larger body.
    func whole(maximumBytes: Int, orThrow tooLarge: @autoclosure () -> any Error) async throws -> WebResponse {
        var response = WebResponse(status: status, headers: headers)
        for try await piece in pieces {
            guard response.body.count + piece.count <= maximumBytes else { throw tooLarge() }
            response.body += piece
        }
        return response
    }
}

/// Reads a sequence one element after another, from any task.
// Unchecked: the one reader makes one call at a time.
final class SharedIterator<Iterator: AsyncIteratorProtocol>: @unchecked Sendable {
    private var iterator: Iterator

    init(_ iterator: Iterator) { self.iterator = iterator }

    /// Returns the next element; nil at the end.
    func next() async throws -> Iterator.Element? {
        var own = iterator
        defer { iterator = own }
        return try await own.next()
    }
}
