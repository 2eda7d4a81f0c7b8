internal import Platform

/// Records the requests and answers of another transport in a cassette, without secrets.
///
/// ```swift
/// let recorder = RecordingTransport(AsyncHTTPClientTransport())
/// let client = try WebClient(baseURL: "https://api.example.com", transport: recorder, options: options)
/// // …
/// try recorder.cassette.write(toFile: "albums.json")
/// ```
///
/// The cassette is not written automatically. The transport may be used on any thread. Answers are recorded in the order in which they arrive.
public final class RecordingTransport: StreamingTransport {
    private struct State {
        var interactions: [Cassette.Interaction] = []
        /// A closure for each client of the transport, which removes its secrets: a client may learn some of them only from an answer.
        var clients: [ObjectIdentifier: @Sendable (String) -> String] = [:]
    }

    private let transport: any Transport
    private let removal: SecretRemoval
    private let state = LockedBox(State())

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - removal: The rules for secrets, besides those that the client uses.
    public init(_ transport: any Transport, removing removal: SecretRemoval = SecretRemoval()) {
        self.transport = transport
        self.removal = removal
    }

    /// The cassette so far, without secrets.
    public var cassette: Cassette {
        let (interactions, clients) = state.withLock { ($0.interactions, Array($0.clients.values)) }
        let literally: (String) -> String = { text in clients.reduce(text) { $1($0) } }
        return Cassette(
            interactions.map { interaction in
                Cassette.Interaction(
                    request: removal.request(interaction.request, literally: literally),
                    response: removal.response(interaction.response, literally: literally))
            })
    }

    /// Sends a request, and records it with its answer. A request without a complete answer is not recorded.
    public func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        if let notes = RequestNotes.current { state.withLock { $0.clients[notes.client] = notes.removingSecrets } }
        let response = try await transport.send(request, limits: limits)
        state.withLock { $0.interactions.append(Cassette.Interaction(request: request, response: response)) }
        return response
    }

    /// Sends a request for an answer in pieces. It is not recorded, because it may never end.
    ///
    /// - Throws: ``TransportError`` of the kind ``TransportError/Kind/invalid`` if the underlying transport does not support pieces.
    public func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        if let notes = RequestNotes.current { state.withLock { $0.clients[notes.client] = notes.removingSecrets } }
        return try await transport.stream(ifAble: request, limits: limits)
    }
}
