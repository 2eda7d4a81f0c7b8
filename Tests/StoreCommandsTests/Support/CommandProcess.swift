import Foundation
import TestSupport

/// Runs the command as a process of its own.
struct CommandProcess {
    let output: String
    let errors: String
    let code: Int32

    /// Runs the command, and waits for its end.
    init(_ arguments: [String], directory: URL? = nil, input: String? = nil) throws {
        let process = Process()
        process.executableURL = BuiltProgram.command
        process.arguments = arguments
        if let directory { process.currentDirectoryURL = directory }
        let scratch = try ScratchFolder("command")
        defer { scratch.remove() }
        func file(_ name: String, _ text: String = "") throws -> URL {
            try Data(text.utf8).write(to: scratch.file(name))
            return scratch.file(name)
        }
        let script = try file("input", input ?? "")
        process.standardInput = try FileHandle(forReadingFrom: script)
        let (out, err) = (try file("output"), try file("errors"))
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: err)
        try process.run()
        process.waitUntilExit()
        output = String(decoding: try Data(contentsOf: out), as: UTF8.self)
        errors = String(decoding: try Data(contentsOf: err), as: UTF8.self)
        code = process.terminationStatus
    }
}
