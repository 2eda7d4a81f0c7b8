import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc

/// Runs the command in a terminal of its own.
final class TerminalProcess {
    private let process = Process()
    private let terminal: Int32
    /// What was shown, and not read yet.
    private var shown = ""
    /// Whether nothing came for five minutes.
    private var isLate = false

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // What unlockpt and ptsname do, which Swift's Glibc does not have.
        var (lock, number) = (Int32(0), UInt32(0))
        try #require(terminal >= 0 && ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let end = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(end >= 0)
        var size = winsize(ws_row: 40, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(end, UInt(TIOCSWINSZ), &size)
        let handle = FileHandle(fileDescriptor: end, closeOnDealloc: false)
        process.executableURL = BuiltProgram.command
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TERM": "vt100", "LC_ALL": "C.UTF-8"]) { $1 }
            .merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
        try process.run()
        close(end)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        close(terminal)
    }

    func send(_ text: String) { _ = text.withCString { write(terminal, $0, strlen($0)) } }

    /// Waits for a text, and returns what was shown up to its end.
    func read(until text: String) throws -> String {
        while true {
            if let range = shown.range(of: text) {
                let result = String(shown[..<range.upperBound])
                shown = String(shown[range.upperBound...])
                return result
            }
            guard try readMore() else {
                Issue.record("“\(text)” was not shown: \(shown.debugDescription)")
                return shown
            }
        }
    }

    /// Waits for a prompt, and until the command reads single keys: before, the terminal itself would take an end of the input or an interrupt.
    func readPrompt(_ prompt: String = "coredata> ") throws {
        _ = try read(until: prompt)
        let patience = ContinuousClock.now + .seconds(300)
        var settings = termios()
        while tcgetattr(terminal, &settings) == 0, settings.c_lflag & tcflag_t(ICANON) != 0 {
            guard ContinuousClock.now < patience else {
                Issue.record("The command does not read keys.")
                return
            }
            sched_yield()
        }
    }

    /// Waits for the end, and returns what was shown, and the exit code.
    func readToEnd() throws -> (text: String, code: Int32) {
        while try readMore() {}
        if isLate {
            Issue.record("The command did not end: \(shown.debugDescription)")
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        return (shown, process.terminationStatus)
    }

    /// Reads what is shown next; false at the end, or where nothing comes for five minutes.
    private func readMore() throws -> Bool {
        var event = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 300_000) > 0 else {
            isLate = true
            return false
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(terminal, &bytes, bytes.count)
        guard count > 0 else { return false }
        shown += String(decoding: bytes[..<count], as: UTF8.self)
        return true
    }
}
#endif
