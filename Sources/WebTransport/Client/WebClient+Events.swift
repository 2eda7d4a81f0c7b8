internal import Foundation
internal import Platform

extension WebClient {
    /// Sends a request for a stream of events, and returns the stream when the answer begins.
    ///
    /// The request has credentials, redirects and retries like any other. A stream that has begun is not restarted automatically. The request counts
    /// towards ``Options/maximumConcurrentRequestsPerHost`` only until the answer begins.
    ///
    /// - Parameters:
    ///   - request: The request, without credentials.
    ///   - idleSeconds: The time without a byte after which the stream ends, because a broken connection may stay silent for ever; nil for no limit.
    ///   - maximumEventBytes: The maximum size of an event, in bytes.
    /// - Returns: The events, for one reader. The stream ends with the connection, and throws a ``TransportError`` if the connection breaks.
    /// - Throws: ``TransportError`` if there was no answer, or one that is not a stream of events; `CancellationError` if the task is cancelled.
    public func events(
        _ request: WebRequest, idleSeconds: Double? = nil, maximumEventBytes: Int = 1 << 20
    ) async throws -> AsyncThrowingStream<ServerSentEvent, any Error> {
        let request = request.with(missing: [("Accept", "text/event-stream"), ("Cache-Control", "no-cache")])
        let (response, stream) = try await stream(request)
        let type = response.headers["Content-Type"]?.prefix { $0 != ";" }.lowercased().trimmingCharacters(in: .whitespaces) ?? ""
        guard response.status == 200, let stream, type == "text/event-stream" else {
            let found = response.status == 200 ? "It has the type “\(type)”" : "Its status is \(response.status)"
            throw TransportError(
                .malformed, request: secrets.summary(request), detail: secrets.remove(from: "It is no stream of events: \(found)."))
        }
        let reader = EventReader(
            stream, idleSeconds, options.time, maximumEventBytes, tooLarge: tooLarge(request, maximumEventBytes)
        ) { [self] in withoutSecrets($0, of: request) }
        return AsyncThrowingStream { try await reader.next() }
    }

    /// Sends a request, and returns its answer, with a stream of the body if the status is a success. Other answers are complete.
    private func stream(_ request: WebRequest) async throws -> (WebResponse, WebStream?) {
        let begun = LockedBox<WebStream?>(nil)
        let response = try await send(request, authenticates: true, followsRedirects: true, observer: nil) {
            [options, transport] outgoing, limits in
            let stream = try await transport.stream(ifAble: outgoing, limits: limits)
            if 200..<300 ~= stream.status {
                begun.withLock { $0 = stream }
                return WebResponse(status: stream.status, headers: stream.headers)
            }
            return try await withThrowingTaskGroup(of: WebResponse.self) { group in
                group.addTask {
                    try await stream.whole(
                        maximumBytes: limits.maximumBytes,
                        orThrow: TransportError(
                            .tooLarge, request: outgoing.summary, detail: "It may have \(limits.maximumBytes) bytes."))
                }
                group.addTask {
                    try await options.time.sleep(limits.requestSeconds)
                    throw TransportError(.timedOut, request: outgoing.summary, detail: "It may take \(limits.requestSeconds) s.")
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        }
        return (response, begun.withLock { $0 })
    }

    private func tooLarge(_ request: WebRequest, _ bytes: Int) -> TransportError {
        TransportError(.tooLarge, request: secrets.summary(request), detail: "An event may have \(bytes) bytes.")
    }
}

extension WebRequest {
    /// Returns the request with headers added, except those that it has already.
    fileprivate func with(missing headers: [(name: String, value: String)]) -> WebRequest {
        var request = self
        for (name, value) in headers where request.headers[name] == nil { request.headers[name] = value }
        return request
    }
}

/// Reads the events of a stream one after another.
// Unchecked: the one reader of the stream makes one call at a time.
private final class EventReader: @unchecked Sendable {
    private let pieces: SharedIterator<AsyncThrowingStream<[UInt8], any Error>.AsyncIterator>
    private let idleSeconds: Double?
    private let time: ClientTime
    private let tooLarge: TransportError
    private let clean: @Sendable (any Error) -> any Error
    private var parser: EventStreamParser
    private var events: ArraySlice<ServerSentEvent> = []

    init(
        _ stream: WebStream, _ idleSeconds: Double?, _ time: ClientTime, _ maximumBytes: Int, tooLarge: TransportError,
        clean: @escaping @Sendable (any Error) -> any Error
    ) {
        pieces = SharedIterator(stream.pieces.makeAsyncIterator())
        (self.idleSeconds, self.time, self.tooLarge, self.clean) = (idleSeconds, time, tooLarge, clean)
        parser = EventStreamParser(maximumBytes: maximumBytes)
    }

    func next() async throws -> ServerSentEvent? {
        do {
            while true {
                if let event = events.popFirst() { return event }
                guard let piece = try await nextPiece() else { return nil }
                do { events = try parser.read(piece)[...] } catch { throw tooLarge }
            }
        } catch {
            throw clean(error)
        }
    }

    /// Returns the next piece; nil if the stream has ended, or was silent for too long.
    private func nextPiece() async throws -> [UInt8]? {
        guard let idleSeconds else { return try await pieces.next() }
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { [pieces, time] group in
            group.addTask { try await pieces.next() }
            group.addTask {
                try await time.sleep(idleSeconds)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
