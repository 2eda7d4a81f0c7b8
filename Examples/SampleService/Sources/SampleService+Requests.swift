internal import ExampleSupport

extension SampleService {
    /// The requests received so far, in the order of arrival.
    ///
    /// A request is included from its arrival, also while its answer is delayed.
    public var requests: [RecordedRequest] {
        responder.state.withLock { $0.requests }
    }

    /// Counts the requests received so far.
    ///
    /// - Parameter prefix: The prefix of the paths of counted requests, such as `/api/album`; the default is any path.
    /// - Returns: The number of requests since the start or the last ``resetRequests()``.
    public func requestCount(path prefix: String = "/") -> Int {
        responder.state.withLock { state in
            state.requests.count { $0.path.hasPrefix(prefix) }
        }
    }

    /// Removes the recorded requests; the next one has order 1 again. Delay, planned failures and data are unchanged.
    public func resetRequests() {
        responder.state.withLock { $0.requests.removeAll() }
    }

    /// The handler called for each request on arrival, before its answer is delayed or sent, for example to print it.
    ///
    /// It is called on the thread that answers, and concurrently for concurrent requests; ``RecordedRequest/order`` gives the order of
    /// arrival. It may call any member of the service.
    public var onRequest: (@Sendable (RecordedRequest) -> Void)? {
        get { responder.state.withLock { $0.onRequest } }
        set { responder.state.withLock { $0.onRequest = newValue } }
    }
}
