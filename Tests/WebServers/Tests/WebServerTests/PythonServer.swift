import Foundation

/// A server that a Python program is, on a free port of the loopback interface. It ends with the tests, however they end.
// Unchecked: the process is started before the server is shared, and nobody changes it.
final class PythonServer: @unchecked Sendable {
    /// Kinto, with everything in memory.
    static let kinto = Result { try PythonServer("kinto_server.py") }
    /// Django REST framework, with files of SQLite.
    static let django = Result { try PythonServer("django_server.py") }

    /// Why there are no servers; nil where there are. The first question makes the environment, which takes a minute the first time.
    static let absence: String? = {
        do {
            _ = try python.get()
            return nil
        } catch {
            // Where the servers must be there, their tests run, and fail.
            if ProcessInfo.processInfo.environment["WEB_SERVERS_REQUIRED"] != nil { return nil }
            print("The tests over real servers are skipped: \(error)")
            return "\(error)"
        }
    }()

    /// What has failed, and what to do.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: Int
    private let process = Process()
    private let output = Pipe()

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Servers")

    /// The path of the Python that has the servers.
    private static let python = Result {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = folder.appendingPathComponent("environment")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let problem = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "Python's environment cannot be made. \(problem.suffix(500))")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private init(_ program: String) throws {
        process.executableURL = URL(fileURLWithPath: try Self.python.get())
        process.arguments = ["-W", "ignore", Self.folder.appendingPathComponent(program).path]
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("\(program)-\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        // Nothing of the tests' own output: `swift test` waits until nobody has it any more.
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        // The program says its port when it accepts connections.
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard let last = text.split(whereSeparator: \.isNewline).last, let port = Int(last) else {
            let problem = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            throw Failure(description: "\(program) does not start. \(problem.suffix(1000))")
        }
        self.port = port
        if ProcessInfo.processInfo.environment["WEB_SERVERS_LOG"] == nil { try? FileManager.default.removeItem(at: log) }
    }

    /// The address of the server.
    var address: String { "http://127.0.0.1:\(port)" }
}
