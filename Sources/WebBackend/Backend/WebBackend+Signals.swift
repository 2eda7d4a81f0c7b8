public import RemoteStore
internal import WebTransport

extension WebBackend: ChangeSignallingBackend {
    /// Returns a stream with an element whenever something may have changed: with each event of the service, and once with each connection, for what
    /// has changed before it was there is told by none. Signals that nobody has taken yet are one.
    ///
    /// The stream ends where the connection does, or was silent for too long. Without a description of signals it ends at once: what follows
    /// the changes asks for them from time to time.
    public func changeSignals() -> AsyncThrowingStream<Void, any Error> {
        let (signals, continuation) = AsyncThrowingStream.makeStream(
            of: Void.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
        guard case .serverSentEvents(let path, let names, let idleSeconds)? = service.service.style.changeSignals else {
            continuation.finish()
            return signals
        }
        let address = service.address(path)
        let url = address + RequestBuilder.encoded(RequestBuilder(service).commonQuery, after: address)
        var headers = WebHeaders()
        for (name, value) in service.service.headers where name.lowercased() != "accept" { headers[name] = value }
        let wanted = Set(names)
        let asked = WebRequest(.get, url, headers: headers, label: "changes.signals")
        let task = Task { [client] in
            do {
                let events = try await client.events(asked, idleSeconds: idleSeconds)
                continuation.yield()
                for try await event in events where wanted.isEmpty || wanted.contains(event.name) { continuation.yield() }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return signals
    }
}
