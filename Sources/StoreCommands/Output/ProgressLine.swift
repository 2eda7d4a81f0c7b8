internal import Dispatch
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Shows the progress of long tasks, as a temporary line on a terminal's standard error; elsewhere it shows nothing.
package enum ProgressLine {
    /// The delay before the line appears, in seconds.
    private static let patience = 1.0

    /// Calls `body`. Tasks that report to the current `Progress` are shown as a percentage, other tasks by their time.
    ///
    /// - Parameter title: The name of the task: “Copying”.
    /// - Throws: The errors of `body`.
    package static func showing<Result>(_ title: String, _ body: () throws -> Result) rethrows -> Result {
        guard isatty(2) == 1 else { return try body() }
        let progress = Progress(totalUnitCount: 100)
        let start = Date()
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "coredata.progress"))
        timer.schedule(deadline: .now() + patience, repeating: 0.2)
        let isShown = Shown()
        timer.setEventHandler {
            let seconds = Int(Date().timeIntervalSince(start))
            isShown.show(text(title, progress.fractionCompleted, seconds: seconds))
        }
        timer.resume()
        progress.becomeCurrent(withPendingUnitCount: 100)
        defer {
            progress.resignCurrent()
            timer.cancel()
            isShown.end()
        }
        return try body()
    }

    /// Returns the line.
    package static func text(_ title: String, _ fraction: Double, seconds: Int) -> String {
        // Without reports, only the time is known.
        fraction > 0 && fraction < 1 ? "\(title): \(Int(fraction * 100)) %, \(seconds) s" : "\(title): \(seconds) s"
    }

    /// The state of the line.
    // The lock guards both.
    private final class Shown: @unchecked Sendable {
        private let lock = NSLock()
        private var isEnded = false
        private var isThere = false

        func show(_ text: String) {
            lock.withLock {
                if isEnded { return }
                isThere = true
                FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
            }
        }

        func end() {
            lock.withLock {
                isEnded = true
                if isThere { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
            }
        }
    }
}
