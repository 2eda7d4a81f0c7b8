internal import FlyingFox
internal import FlyingSocks
internal import Foundation

/// An HTTP server that listens on the loopback interface and passes every request to a responder.
struct Listener: Sendable {
    let port: UInt16
    private let running: Task<Void, Never>

    /// Opens a port and returns when it is listening; port 0 selects a free one.
    static func open(port: UInt16, responder: Responder) async throws -> Listener {
        let configuration = HTTPServer.Configuration(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
            // The maximum delay; after this number of seconds, the server itself would answer 500.
            timeout: 3600,
            logger: .disabled)
        let server = HTTPServer(config: configuration, handler: ClosureHTTPHandler { await responder.respond(to: $0) })

        // `run()` returns only when the server ends, and waiting for it to listen never ends when it cannot, so the first of the two
        // decides. The wait has no limit of its own that matters: a process whose threads are all busy listens late, and that is no error.
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        let running = Task {
            do {
                try await server.run()
            } catch {
                outcome.yield(.failure(error))
            }
        }
        let waiting = Task {
            do {
                try await server.waitUntilListening(timeout: 3600)
                outcome.yield(.success(()))
            } catch {
                outcome.yield(.failure(error))
            }
        }
        var opened = false
        defer {
            waiting.cancel()
            if !opened { running.cancel() }
        }

        for await result in outcomes {
            switch result {
            case .failure(let error):
                throw SampleServiceError.cannotListen(port: port, reason: error.localizedDescription)
            case .success:
                guard case .ip4(_, let boundPort)? = await server.listeningAddress else {
                    throw SampleServiceError.cannotListen(port: port, reason: "The listening socket has no address.")
                }
                opened = true
                return Listener(port: boundPort, running: running)
            }
        }
        throw CancellationError()
    }

    /// Closes the port and the connections, and waits for that.
    ///
    /// The server's own `stop()` closes the socket first and ends the loop that accepts connections afterwards. In between, another listener
    /// may get the socket's number, and the loop takes a connection of that one. A cancelled server ends the loop first.
    func close() async {
        running.cancel()
        await running.value
    }

    /// Starts closing the port and the connections, without waiting.
    func cancel() {
        running.cancel()
    }
}
