#if Command
package import Explorer
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

/// Serves the explorer on the loopback interface.
package final class ExplorerServer: Sendable {
    private let session: ExplorerSession
    private let token = Token()
    private let port: Atomic<Int>

    /// - Parameter port: The port; 0 for one that is free.
    package init(_ session: ExplorerSession, port: Int = 0) {
        self.session = session
        self.port = Atomic(port)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter started: Called with the address to open, which holds the token, once the server listens.
    /// - Throws: The error of listening, such as a port that is in use.
    package func run(started: @escaping @Sendable (String) -> Void) async throws {
        var logger = Logger(label: "coredata.explorer")
        // Each request would be a line.
        logger.logLevel = .error
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { [self] request, _ in await respond(request) },
            configuration: .init(address: .hostname("127.0.0.1", port: port.load(ordering: .relaxed))),
            onServerRunning: { [self] channel in
                let port = channel.localAddress?.port ?? self.port.load(ordering: .relaxed)
                self.port.store(port, ordering: .relaxed)
                started("http://127.0.0.1:\(port)/?token=\(token.text)")
            }, logger: logger)
        try await application.run()
    }

    private func respond(_ request: Request) async -> Response {
        let gate = Gate(token)
        let port = port.load(ordering: .relaxed)
        var response: Response
        switch gate.decide(request, port: port) {
        case .refused(let reason): response = Self.text("\(reason)\n", .forbidden)
        case .admitted:
            // The address without the token: it stays in no history and no log.
            response = Response.redirect(to: "/")
            response.headers[.setCookie] = gate.cookie(port)
        case .allowed: response = await Routes(session).respond(request)
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
