internal import ExampleSupport
internal import FlyingFox
internal import FlyingSocks
public import Foundation

/// A local web service that answers like Bandcamp (version 3), COLOURlovers and Kinto, with a small invented data set.
///
/// It lets examples, tests and demos use a real HTTP server that behaves as it is told: slow, failing, interrupting answers, or
/// unreachable. It listens on the loopback interface only.
///
/// ```swift
/// let service = try await SampleService.start()
/// service.failNext(2, path: "/api/band", status: 503)
/// // … use `service.baseURL` …
/// await service.stop()
/// ```
///
/// Use every member on any thread at any time. The controls are synchronous, so that they can also be called inside `performAndWait`; a
/// request that has already arrived keeps the behavior of its arrival.
public final class SampleService: Sendable {
    /// The address of the service, `http://127.0.0.1:<port>`, without a trailing slash. It stays the same after ``stop()`` and
    /// ``restart()``.
    public let baseURL: URL

    /// The port the service listens on.
    public let port: UInt16

    /// The responder, with all state that controls can change. The listener references it, and never this object, so that an unreferenced
    /// service closes its port.
    let responder: Responder

    private let listener: Locked<Listener?>

    private init(responder: Responder, listener: Listener) throws(SampleServiceError) {
        guard let baseURL = URL(string: "http://127.0.0.1:\(listener.port)") else {
            throw .cannotListen(port: listener.port, reason: "The port makes no address.")
        }
        self.baseURL = baseURL
        self.port = listener.port
        self.responder = responder
        self.listener = Locked<Listener?>(listener)
    }

    deinit {
        listener.withLock { $0?.cancel() }
    }

    /// Starts a service with a fresh copy of the data set.
    ///
    /// - Parameters:
    ///   - port: The port to listen on at 127.0.0.1; 0 takes one that is free.
    ///   - onRequest: Called for each request as it arrives, from whichever thread answers it; see ``onRequest``.
    ///   - upstream: Another server, which answers what begins with `/v1`: the service is then the network in between, which can be cut.
    /// - Returns: The service, already listening.
    /// - Throws: ``SampleServiceError/cannotListen(port:reason:)``, for instance when another program has the port;
    ///   `CancellationError` when the calling task is cancelled meanwhile.
    public static func start(
        port: UInt16 = 0, upstream: URL? = nil, onRequest: (@Sendable (RecordedRequest) -> Void)? = nil
    ) async throws -> SampleService {
        let responder = Responder()
        responder.state.withLock { ($0.onRequest, $0.upstream) = (onRequest, upstream) }
        let listener = try await Listener.open(port: port, responder: responder)
        return try SampleService(responder: responder, listener: listener)
    }

    /// Closes the port and every connection, and returns when both are closed. Requests that are being delayed end without an answer.
    ///
    /// The data, the recorded requests and the planned behavior stay. Stopping twice does nothing.
    public func stop() async {
        await take()?.close()
    }

    /// Listens again on the same port after ``stop()``, with the data, the recorded requests and the planned behavior it had: the
    /// service that comes back after an outage. A service that still runs is stopped first.
    ///
    /// - Throws: ``SampleServiceError/cannotListen(port:reason:)`` when another program took the port meanwhile;
    ///   `CancellationError` when the calling task is cancelled.
    public func restart() async throws {
        await stop()
        let opened = try await Listener.open(port: port, responder: responder)
        let superseded = listener.withLock { current in
            defer { current = opened }
            return current
        }
        await superseded?.close()
    }

    private func take() -> Listener? {
        listener.withLock { current in
            defer { current = nil }
            return current
        }
    }
}
