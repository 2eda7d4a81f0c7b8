public import RemoteStore
internal import WebTransport

extension WebBackend: ChangeSignallingBackend {
    /// Returns a stream with an element whenever something may have changed: one for each event of the service, and one for each new connection,
    /// because no event reports changes from before the connection. Pending signals are combined into one.
    ///
    /// The stream ends when the connection ends or stays silent for too long. Without a description of signals it ends at once, and the store polls for
    /// changes instead.
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
