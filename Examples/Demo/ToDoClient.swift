import ExampleSupport
import Foundation
import RemoteStore
import ToDoModel
import WebTransport

/// The to-do client as a process of its own, which gets commands and answers with lines.
///
/// `coredata-demo todo-client SERVER USER CACHE` is such a process: it reads commands from its input, and ends each answer with a blank line.
final class ToDoClient: Sendable {
    static let password = "secret"
    private let process: Locked<Process>
    private let input: FileHandle
    private let output: FileHandle
    /// Waits for answers, so that no thread of the pool does.
    private let queue = DispatchQueue(label: "ToDoClient")

    /// Starts a client.
    init(server: URL, user: String, cache: URL) throws {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        let main = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        // Tests are another program, beside which the demo lies.
        process.executableURL = main.deletingLastPathComponent().appendingPathComponent("coredata-demo")
        process.arguments = ["todo-client", server.absoluteString, user, cache.path]
        process.standardInput = input
        process.standardOutput = output
        // The log of what fails, which the answers say too.
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = Locked(process)
        (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
    }

    /// The number of the process.
    var identifier: Int32 { process.withLock { $0.processIdentifier } }

    /// Gives a command, and returns the lines of the answer.
    func ask(_ command: String) async throws -> [String] {
        try input.write(contentsOf: Data((command + "\n").utf8))
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.answer() }) }
        }
    }

    private func answer() throws -> [String] {
        var text = ""
        while !text.hasSuffix("\n\n"), text != "\n" {
            let more = output.availableData
            if more.isEmpty { throw CocoaError(.fileReadUnknown) }
            text += String(decoding: more, as: UTF8.self)
        }
        return text.split(separator: "\n").map(String.init)
    }

    /// Kills the process as `kill -9` does, and returns the signal that has ended it.
    func kill() async -> Int32 {
        _ = identifier.kill()
        return await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: self.process.withLock { process in
                        process.waitUntilExit()
                        return process.terminationStatus
                    })
            }
        }
    }

    // MARK: The process

    /// Does what the input says, until it ends.
    static func serve(_ arguments: [String]) async throws {
        guard arguments.count == 3 else { throw CocoaError(.fileReadUnknown) }
        let store = try ToDoStore(
            server: arguments[0] + "/v1", user: arguments[1], password: .value(password), cache: URL(fileURLWithPath: arguments[2]),
            transport: networkTransport())
        while let line = readLine() {
            var lines: [String]
            do { lines = try await answer(line, store) } catch { lines = ["✗ \((error as NSError).localizedDescription)"] }
            if line == "sync" {
                let count = try store.store.pendingCount()
                lines.append(count == 0 ? "Nothing waits." : "\(count) changes wait for the server.")
            }
            FileHandle.standardOutput.write(Data((lines + ["", ""]).joined(separator: "\n").utf8))
        }
    }

    private static func answer(_ line: String, _ store: ToDoStore) async throws -> [String] {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let values = parts.count > 1 ? parts[1].components(separatedBy: " @ ") : []
        switch (parts.first, values.count) {
        case ("add", 2): try await store.add(values[0], to: values[1])
        case ("done", 1): _ = try await store.finish(values[0])
        case ("rename", 2): _ = try await store.rename(values[0], to: values[1])
        case ("sync", 0): try await store.sync()
        case ("list", 0): return try await store.open()
        case ("waiting", 0): return try await store.waiting()
        default: return ["✗ There is no command “\(line)”."]
        }
        return []
    }
}

extension Int32 {
    /// Sends SIGKILL to the process of this number.
    fileprivate func kill() -> Int32 { Foundation.kill(self, SIGKILL) }
}
