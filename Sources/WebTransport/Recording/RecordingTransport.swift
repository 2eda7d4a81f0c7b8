internal import Platform

/// Records what goes through another transport in a cassette, without secrets.
///
/// ```swift
/// let recorder = RecordingTransport(AsyncHTTPClientTransport())
/// let client = try WebClient(baseURL: "https://api.example.com", transport: recorder, options: options)
/// // …
/// try recorder.cassette.write(toFile: "albums.json")
/// ```
///
/// Nothing is written by itself. It may be used on any thread; answers are recorded in the order in which they come.
public final class RecordingTransport: StreamingTransport {
    private struct State {
        var interactions: [Cassette.Interaction] = []
        /// What removes the secrets of each client that has used the transport: a client may know some of them only from an answer.
        var clients: [ObjectIdentifier: @Sendable (String) -> String] = [:]
    }

    private let transport: any Transport
    private let removal: SecretRemoval
    private let state = LockedBox(State())

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - transport: What sends the requests.
    ///   - removal: What is left out, besides all secrets that the client uses.
    public init(_ transport: any Transport, removing removal: SecretRemoval = SecretRemoval()) {
        self.transport = transport
        self.removal = removal
    }

    /// What was recorded until now, without secrets.
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

    /// Sends a request, and records it with its answer. A request to which no whole answer comes is not recorded.
    public func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        if let notes = RequestNotes.current { state.withLock { $0.clients[notes.client] = notes.removingSecrets } }
        let response = try await transport.send(request, limits: limits)
        state.withLock { $0.interactions.append(Cassette.Interaction(request: request, response: response)) }
        return response
    }

    /// Sends a request for an answer that comes piece by piece. It is not recorded, for it need not end.
    ///
    /// - Throws: ``TransportError`` of the kind ``TransportError/Kind/invalid`` where the transport below does not hand over pieces.
    public func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        if let notes = RequestNotes.current { state.withLock { $0.clients[notes.client] = notes.removingSecrets } }
        return try await transport.stream(ifAble: request, limits: limits)
    }
}
