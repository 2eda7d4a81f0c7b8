#if Command
package import Explorer
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import Synchronization

/// Serves the explorer on the loopback interface.
package final class ExplorerServer: Sendable {
    private let session: ExplorerSession
    private let token = Token()
    private let port: Atomic<Int>
    private let slots = AnswerSlots(answersAtOnce)

    /// The maximum number of simultaneous answers. Further requests wait.
    private static let answersAtOnce = 4
    /// The maximum number of simultaneous connections. Further ones wait.
    private static let connectionsAtOnce = 256
    /// The timeout for a page to read a piece of an answer, and the timeout while other requests wait.
    private static let patience = (usual: TimeAmount.seconds(5), crowded: TimeAmount.seconds(1))
    /// The timeout for a connection without a request, or with an incomplete one.
    private static let idleTime = TimeAmount.seconds(60)

    /// - Parameter port: The port; 0 for any free one.
    package init(_ session: ExplorerSession, port: Int = 0) {
        self.session = session
        self.port = Atomic(port)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter started: Receives the address to open, with the token, when the server listens.
    /// - Throws: The error of listening, for example if the port is in use.
    package func run(started: @escaping @Sendable (String) -> Void) async throws {
        var logger = Logger(label: "coredata.explorer")
        // Otherwise each request would be logged.
        logger.logLevel = .error
        let application = Application(
            responder: CallbackResponder<ExplorerContext> { [self] request, context in await respond(request, context.channel) },
            server: .http1(configuration: .init(idleTimeout: Self.idleTime)),
            configuration: .init(
                address: .hostname("127.0.0.1", port: port.load(ordering: .relaxed)),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionsAtOnce)),
            onServerRunning: { [self] channel in
                let port = channel.localAddress?.port ?? self.port.load(ordering: .relaxed)
                self.port.store(port, ordering: .relaxed)
                started("http://127.0.0.1:\(port)/?token=\(token.text)")
            }, logger: logger)
        try await application.run()
    }

    private func respond(_ request: Request, _ channel: any Channel) async -> Response {
        let gate = Gate(token)
        let port = port.load(ordering: .relaxed)
        var response: Response
        switch gate.decide(request, port: port) {
        case .refused(let reason): response = Self.text("\(reason)\n", .forbidden)
        case .admitted:
            // The address without the token, so that no history or log keeps it.
            response = Response.redirect(to: "/")
            response.headers[.setCookie] = gate.cookie(port)
        case .allowed:
            // Events are sent as long as a page is open, so they take no place.
            let slot = request.uri.path == Events.path ? nil : await slots.take()
            response = await Routes(session).respond(request, channel)
            let patience: @Sendable () -> TimeAmount = { [slots] in slots.isCrowded ? Self.patience.crowded : Self.patience.usual }
            response.body = response.body.written(to: channel, patience: patience, holding: slot)
        }
        for (name, value) in Gate.headers where response.headers[name] == nil { response.headers[name] = value }
        return response
    }

    static func text(_ text: String, _ status: HTTPResponse.Status = .ok, type: String = "text/plain; charset=utf-8") -> Response {
        Response(
            status: status, headers: [.contentType: type, .contentLength: "\(text.utf8.count)"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
#endif
