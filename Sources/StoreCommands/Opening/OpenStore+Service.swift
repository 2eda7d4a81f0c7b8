@_spi(Stores) package import ObjectGraph
internal import RemoteStore
internal import WebBackend
internal import WebTransport

extension OpenStore {
    /// A request to a web service.
    package struct ServiceRequest: Sendable {
        /// The method and the address, without credentials; the call if nothing was sent.
        package let text: String
        /// The outcome: the status, and the reason for a failure.
        package let outcome: String
        /// The number of resources in the answer.
        package let rows: Int
        package let seconds: Double
    }

    /// Calls `body`, and returns its result with the web service's requests meanwhile, including those of other callers; no requests for files.
    package func notingRequests<Result>(_ body: () throws -> Result) rethrows -> (result: Result, requests: [ServiceRequest]) {
        guard let service else { return (try body(), []) }
        let (result, trace) = try service.tracing(body)
        return (
            result,
            trace.requests.map { request in
                ServiceRequest(
                    text: request.record.map { "\($0.method.rawValue) \($0.url)" } ?? request.call,
                    outcome: [request.record?.status.map { "status \($0)" }, request.failure].compactMap { $0 }.joined(separator: ", "),
                    rows: request.rows, seconds: request.record?.seconds ?? 0)
            }
        )
    }

    /// Returns the number of requests that a fetch is expected to send; nil if there is no service, or no plan for the fetch.
    ///
    /// Call it on the queue of the context.
    package func expectedRequests<Result>(_ request: NSFetchRequest<Result>, in context: NSManagedObjectContext) -> Int? {
        service == nil ? nil : (try? request.explain(in: context))?.estimatedRequests
    }

    /// Returns whether objects can be counted without reading them: a web service may have to send all of them.
    ///
    /// Call it on the queue of the context.
    package func counts(_ request: NSFetchRequest<NSManagedObject>, in context: NSManagedObjectContext) -> Bool {
        guard service != nil else { return true }
        let type = request.resultType
        request.resultType = .countResultType
        defer { request.resultType = type }
        // There is no plan for an entity without a resource.
        return (try? request.explain(in: context))?.isCountedByBackend ?? false
    }
}
