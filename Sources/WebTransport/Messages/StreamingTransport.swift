/// A transport that hands over the body of an answer piece by piece, for answers that do not end, such as streams of events.
///
/// Its methods may be called on any thread, several at a time.
public protocol StreamingTransport: Transport {
    /// Sends a request and returns its answer as soon as the head is there.
    ///
    /// - Parameters:
    ///   - request: The request, with everything that is to be sent.
    ///   - limits: The time until the head must be there. Neither the time nor the bytes of the body are limited.
    /// - Throws: ``TransportError`` where no head came; `CancellationError` where the task is cancelled.
    func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream
}

extension Transport {
    /// Sends a request for an answer that comes piece by piece, where the transport can.
    func stream(ifAble request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        guard let transport = self as? any StreamingTransport else {
            throw TransportError(.invalid, request: request.summary, detail: "The transport does not hand over answers piece by piece.")
        }
        return try await transport.stream(request, limits: limits)
    }
}

/// The answer to a ``WebRequest`` whose body is still coming.
public struct WebStream: Sendable {
    /// The status code.
    public var status: Int
    /// The headers.
    public var headers: WebHeaders
    /// The body in pieces, decompressed, for one reader. The connection is closed when nobody reads on.
    public var pieces: AsyncThrowingStream<[UInt8], any Error>

    /// Creates an answer.
    public init(status: Int, headers: WebHeaders = [:], pieces: AsyncThrowingStream<[UInt8], any Error>) {
        self.status = status
        self.headers = headers
        self.pieces = pieces
    }

    /// Creates an answer whose body has come.
    public init(_ response: WebResponse) {
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self, throwing: (any Error).self)
        if !response.body.isEmpty { continuation.yield(response.body) }
        continuation.finish()
        self.init(status: response.status, headers: response.headers, pieces: pieces)
    }

    /// Returns the whole answer.
    ///
    /// - Parameters:
    ///   - maximumBytes: The number of bytes that the body may have.
    ///   - tooLarge: The error for one that has more.
    func whole(maximumBytes: Int, orThrow tooLarge: @autoclosure () -> any Error) async throws -> WebResponse {
        var response = WebResponse(status: status, headers: headers)
        for try await piece in pieces {
            guard response.body.count + piece.count <= maximumBytes else { throw tooLarge() }
            response.body += piece
        }
        return response
    }
}

/// Reads a sequence one element after the other, in whichever task.
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
