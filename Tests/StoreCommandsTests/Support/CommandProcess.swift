import Foundation

/// Runs the command as a process of its own.
struct CommandProcess {
    let output: String
    let errors: String
    let code: Int32

    /// The file of the command, which is built beside the tests.
    static var file: URL {
        let here = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".")
        // It has the name of its product, or of its target where that is built alone.
        let names = ["coredata", "CoreDataCommand"].map { here.appendingPathComponent($0) }
        return names.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? names[0]
    }

    /// Runs the command, and waits for its end.
    init(_ arguments: [String], directory: URL? = nil, input: String? = nil) throws {
        let process = Process()
        process.executableURL = Self.file
        process.arguments = arguments
        if let directory { process.currentDirectoryURL = directory }
        let script = try Self.scratch()
        try Data((input ?? "").utf8).write(to: script)
        process.standardInput = try FileHandle(forReadingFrom: script)
        let (out, err) = (try Self.scratch(), try Self.scratch())
        defer { for url in [out, err, script] { try? FileManager.default.removeItem(at: url) } }
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: err)
        try process.run()
        process.waitUntilExit()
        output = String(decoding: try Data(contentsOf: out), as: UTF8.self)
        errors = String(decoding: try Data(contentsOf: err), as: UTF8.self)
        code = process.terminationStatus
    }

    private static func scratch() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID().uuidString)")
        try Data().write(to: url)
        return url
    }
}
