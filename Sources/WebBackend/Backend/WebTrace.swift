public import ObjectGraph
internal import Platform
internal import Predicates
public import RemoteStore
public import WebTransport

/// The requests that a fetch, a walk or a save has sent to a web service, for people to read.
///
/// ```swift
/// let (albums, trace) = try backend.tracing(request, in: context)
/// print(trace)
/// ```
public struct WebTrace: Sendable, CustomStringConvertible {
    /// A request of the service.
    public struct Request: Sendable, CustomStringConvertible {
        /// The request of the store, such as `Album.list(year >= 1969)`; for a save the kind and number of changes.
        public let call: String
        /// Method, address, status, times and sizes; nil if it was not sent.
        public let record: RequestRecord?
        /// The number of resources in the answer, or of changes that were sent.
        public let rows: Int
        /// The error, as text; nil if there was none.
        public let failure: String?

        /// The request as one or two lines.
        public var description: String {
            let brought = failure.map { "failed: \($0)" } ?? "\(rows) \(rows == 1 ? "row" : "rows")"
            return "\(call): \(brought)" + (record.map { "\n    \($0)" } ?? "")
        }
    }

    /// The plan of the fetch; nil if there is no single one.
    public internal(set) var plan: FetchPlan?
    /// The number of results; nil if there is no single fetch.
    public internal(set) var results: Int?
    /// The requests, in the order in which they ended.
    public internal(set) var requests: [Request] = []
    /// The time from beginning to end, in seconds.
    public internal(set) var seconds = 0.0

    /// The plan, the requests and a sum, as lines.
    public var description: String {
        var lines: [String] = []
        if let plan {
            lines.append("plan")
            lines += "\(plan)".split(separator: "\n").map { "  \($0)" }
        }
        lines.append("requests")
        if requests.isEmpty { lines.append("  none") }
        for request in requests { lines += "\(request)".split(separator: "\n").map { "  \($0)" } }
        let bytes = requests.reduce(0) { $0 + ($1.record?.bytesReceived ?? 0) }
        let rows = requests.reduce(0) { $0 + $1.rows }
        let milliseconds = (seconds * 10_000).rounded() / 10
        lines.append(
            "\(results.map { "\($0) results, " } ?? "")\(requests.count) requests, \(rows) rows, \(bytes) bytes in \(milliseconds) ms")
        return lines.joined(separator: "\n")
    }
}

/// The traces that are being recorded.
// Everything is in a `LockedBox`.
final class WebTracer: Sendable {
    private let open = LockedBox<[Int: [WebTrace.Request]]>([:])
    private let counter = LockedBox(0)

    func begin() -> Int {
        let number = counter.withLock {
            $0 += 1
            return $0
        }
        open.withLock { $0[number] = [] }
        return number
    }

    func end(_ number: Int) -> [WebTrace.Request] { open.withLock { $0.removeValue(forKey: number) ?? [] } }

    /// Whether no trace is being recorded.
    var isIdle: Bool { open.withLock { $0.isEmpty } }

    func add(_ request: WebTrace.Request) { open.withLock { open in for number in open.keys { open[number]?.append(request) } } }
}

extension WebBackend {
    /// Calls a closure, and returns its result with a trace of all requests of this backend meanwhile, including those of other callers.
    ///
    /// - Throws: The errors of the closure.
    public func tracing<Result>(_ body: () throws -> Result) rethrows -> (result: Result, trace: WebTrace) {
        let start = ContinuousClock.now
        let number = tracer.begin()
        var trace = WebTrace()
        do {
            let result = try body()
            trace.requests = tracer.end(number)
            trace.seconds = (ContinuousClock.now - start) / .seconds(1)
            return (result, trace)
        } catch {
            _ = tracer.end(number)
            throw error
        }
    }

    /// Calls a closure, and returns its result with a trace of all requests of this backend meanwhile, including those of other callers.
    ///
    /// - Throws: The errors of the closure.
    public func tracing<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> (result: Result, trace: WebTrace) {
        let start = ContinuousClock.now
        let number = tracer.begin()
        var trace = WebTrace()
        do {
            let result = try await body()
            trace.requests = tracer.end(number)
            trace.seconds = (ContinuousClock.now - start) / .seconds(1)
            return (result, trace)
        } catch {
            _ = tracer.end(number)
            throw error
        }
    }

    /// Executes a fetch request, and returns its results with the plan and the requests that were sent.
    ///
    /// Call it on the context's queue.
    ///
    /// - Throws: The errors of the fetch.
    public func tracing<Result>(
        _ request: NSFetchRequest<Result>, in context: NSManagedObjectContext
    ) throws -> (results: [Result], trace: WebTrace) {
        let plan = try? request.explain(in: context)
        var (results, trace) = try tracing { try context.fetch(request) }
        trace.plan = plan
        trace.results = results.count
        return (results, trace)
    }

    /// Sends a request, and adds it to the traces that are being recorded.
    func send(_ request: WebRequest, isSave: Bool = false) async throws -> (response: WebResponse, record: RequestRecord?) {
        if tracer.isIdle, !isSave { return (try await client.send(request), nil) }
        let record = LockedBox<RequestRecord?>(nil)
        do {
            let response = try await client.send(request, observer: { found in record.withLock { $0 = found } })
            return (response, record.withLock { $0 })
        } catch {
            note(request.label, record.withLock { $0 }, rows: 0, failure: "\(error)")
            throw error
        }
    }

    func note(_ call: @autoclosure () -> String, _ record: RequestRecord?, rows: Int, failure: String? = nil) {
        guard !tracer.isIdle else { return }
        tracer.add(WebTrace.Request(call: call(), record: record, rows: rows, failure: failure))
    }
}
