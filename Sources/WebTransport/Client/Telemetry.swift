#if WebBackend
internal import Metrics
internal import Tracing

/// Reports requests to swift-metrics and swift-distributed-tracing.
enum Telemetry {
    /// The span of a request.
    struct TraceSpan {
        fileprivate let span: any Span

        /// Whether the span is recorded.
        var isRead: Bool { span.isRecording }

        /// Adds the attributes of a finished request.
        func note(_ record: RequestRecord, host: String, port: Int) {
            span.updateAttributes { attributes in
                attributes["http.request.method"] = record.method.rawValue
                attributes["url.full"] = record.url
                attributes["server.address"] = host
                attributes["server.port"] = port
                if let status = record.status { attributes["http.response.status_code"] = status }
                if record.tries > 1 { attributes["http.request.resend_count"] = record.tries - 1 }
                attributes["http.request.body.size"] = record.bytesSent
                attributes["http.response.body.size"] = record.bytesReceived
                if !record.label.isEmpty { attributes["web_client.label"] = record.label }
            }
            if let failure = record.failure {
                span.setStatus(SpanStatus(code: .error, message: failure))
            } else if let status = record.status, status >= 400 {
                span.setStatus(SpanStatus(code: .error))
            }
        }
    }

    /// Runs a request within a span, which becomes the parent of the service's spans if the service traces.
    static func traced<Result>(_ name: String, _ body: (TraceSpan) async throws -> Result) async rethrows -> Result {
        try await withSpan(name, ofKind: .client) { try await body(TraceSpan(span: $0)) }
    }

    /// Adds the headers that make the span of the request the parent of the service's spans.
    static func propagate(to request: inout WebRequest) {
        guard let context = ServiceContext.current else { return }
        InstrumentationSystem.instrument.inject(context, into: &request.headers, using: HeaderInjector())
    }

    private struct HeaderInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout WebHeaders) { carrier[key] = value }
    }

    /// Counts a request.
    static func count(_ record: RequestRecord, host: String) {
        if MetricsSystem.factory is NOOPMetricsHandler { return }
        let place = [("host", host), ("label", record.label)]
        Counter(label: "web_client_requests", dimensions: place + [("status", record.status.map(String.init) ?? "none")]).increment()
        if record.tries > 1 { Counter(label: "web_client_retries", dimensions: place).increment(by: record.tries - 1) }
        Metrics.Timer(label: "web_client_duration", dimensions: place).recordSeconds(record.seconds)
        Counter(label: "web_client_bytes_received", dimensions: place).increment(by: record.bytesReceived)
        Counter(label: "web_client_bytes_sent", dimensions: place).increment(by: record.bytesSent)
    }
}
#else
/// Reports nothing: swift-metrics and swift-distributed-tracing are only available with the trait `WebBackend`.
enum Telemetry {
    struct TraceSpan {
        var isRead: Bool { false }

        func note(_ record: RequestRecord, host: String, port: Int) {}
    }

    static func traced<Result>(_ name: String, _ body: (TraceSpan) async throws -> Result) async rethrows -> Result {
        try await body(TraceSpan())
    }

    static func propagate(to request: inout WebRequest) {}

    static func count(_ record: RequestRecord, host: String) {}
}
#endif
