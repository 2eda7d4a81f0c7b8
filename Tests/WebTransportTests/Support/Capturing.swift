import Logging
import Platform

@testable import WebTransport

/// Keeps the lines that are logged.
final class CapturedLog: Sendable {
    private let kept = LockedBox<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "captured") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: CapturedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.kept.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:]) \(metadata)") }
        }
    }
}

#if WebBackend
import Metrics
import Tracing

/// Keeps all that is measured and traced in this process, from the first time that it is asked for.
final class CapturedTelemetry: Sendable {
    static let shared = CapturedTelemetry()

    private let kept = LockedBox<[String]>([])

    /// One line for each value that was measured, and for each span that has ended.
    var lines: [String] { kept.withLock { $0 } }

    fileprivate func add(_ line: String) { kept.withLock { $0.append(line) } }

    private init() {
        MetricsSystem.bootstrap(Factory(telemetry: self))
        InstrumentationSystem.bootstrap(CapturingTracer(telemetry: self))
    }

    private struct Factory: MetricsFactory {
        let telemetry: CapturedTelemetry

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            Meter(telemetry: telemetry, name: "\(label) \(dimensions)")
        }
        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            Meter(telemetry: telemetry, name: "\(label) \(dimensions)")
        }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            Meter(telemetry: telemetry, name: "\(label) \(dimensions)")
        }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
    }

    private final class Meter: CounterHandler, RecorderHandler, TimerHandler {
        let telemetry: CapturedTelemetry
        let name: String

        init(telemetry: CapturedTelemetry, name: String) {
            self.telemetry = telemetry
            self.name = name
        }

        func increment(by amount: Int64) { telemetry.add("\(name) += \(amount)") }
        func reset() {}
        func record(_ value: Int64) { telemetry.add("\(name) = \(value)") }
        func record(_ value: Double) { telemetry.add("\(name) = \(value)") }
        func recordNanoseconds(_ duration: Int64) { telemetry.add("\(name) = \(duration)") }
    }

    private struct CapturingTracer: Tracer {
        let telemetry: CapturedTelemetry

        func startSpan<Moment: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
            at instant: @autoclosure () -> Moment,
            function: String, file fileID: String, line: UInt
        ) -> CapturedSpan {
            CapturedSpan(telemetry: telemetry, name: operationName, kind: kind, context: context())
        }

        func activeSpan(identifiedBy context: ServiceContext) -> CapturedSpan? { nil }
        func forceFlush() {}
        func extract<Carrier, Extract: Extractor>(_ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract)
        where Extract.Carrier == Carrier {}
        func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
        where Inject.Carrier == Carrier { injector.inject("00-trace-01", forKey: "traceparent", into: &carrier) }
    }

    fileprivate final class CapturedSpan: Span {
        private let telemetry: CapturedTelemetry
        private let state: LockedBox<(name: String, attributes: SpanAttributes, notes: [String])>
        let context: ServiceContext
        let kind: SpanKind

        init(telemetry: CapturedTelemetry, name: String, kind: SpanKind, context: ServiceContext) {
            self.telemetry = telemetry
            self.context = context
            self.kind = kind
            state = LockedBox((name, [:], []))
        }

        var isRecording: Bool { true }
        var operationName: String {
            get { state.withLock { $0.name } }
            set { state.withLock { $0.name = newValue } }
        }
        var attributes: SpanAttributes {
            get { state.withLock { $0.attributes } }
            set { state.withLock { $0.attributes = newValue } }
        }
        func setStatus(_ status: SpanStatus) { state.withLock { $0.notes.append("\(status)") } }
        func addEvent(_ event: SpanEvent) { state.withLock { $0.notes.append("\(event)") } }
        func recordError<Moment: TracerInstant>(_ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Moment) {
            state.withLock { $0.notes.append("\(error)") }
        }
        func addLink(_ link: SpanLink) {}
        func end<Moment: TracerInstant>(at instant: @autoclosure () -> Moment) {
            state.withLock { state in
                var text = "span \(state.name) \(kind)"
                state.attributes.forEach { text += " \($0)=\($1)" }
                telemetry.add("\(text) \(state.notes)")
            }
        }
    }
}
#endif
