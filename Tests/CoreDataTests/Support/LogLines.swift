import Foundation
import Logging

/// Gathers what is logged.
final class LogLines: @unchecked Sendable {
    // Guarded by `lock`.
    private var lines: [String] = []
    private let lock = NSLock()
    func add(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
}

struct LogLinesHandler: LogHandler {
    let lines: LogLines
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { lines.add("\(event.level): \(event.message)") }
}
