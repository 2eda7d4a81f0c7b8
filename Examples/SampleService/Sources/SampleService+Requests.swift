internal import ExampleSupport

extension SampleService {
    /// The requests received so far, in order of arrival.
    ///
    /// A request is here from its arrival on, also while its answer is being delayed.
    public var requests: [RecordedRequest] {
        responder.state.withLock { $0.requests }
    }

    /// Counts the requests received so far.
    ///
    /// - Parameter prefix: What the path of a counted request begins with, such as `/api/album`; by default any path counts.
    /// - Returns: The number of requests since the start or the last ``resetRequests()``.
    public func requestCount(path prefix: String = "/") -> Int {
        responder.state.withLock { state in
            state.requests.count { $0.path.hasPrefix(prefix) }
        }
    }

    /// Forgets the requests received so far; the next one has order 1 again. Delay, planned failures and data stay as they are.
    public func resetRequests() {
        responder.state.withLock { $0.requests.removeAll() }
    }

    /// Called for each request as it arrives, before its answer is delayed or sent; a demo prints it here.
    ///
    /// It is called from whichever thread answers, and from several at once when requests arrive at once;
    /// ``RecordedRequest/order`` tells who came first. It may call any member of the service.
    public var onRequest: (@Sendable (RecordedRequest) -> Void)? {
        get { responder.state.withLock { $0.onRequest } }
        set { responder.state.withLock { $0.onRequest = newValue } }
    }
}
