import CoreData
import FileStores
import TestSupport
import Testing

@Suite("A save that the system kills loses nothing") struct SystemKillTests {
    private static let strace = ["/usr/bin/strace", "/usr/local/bin/strace"].first { FileManager.default.isExecutableFile(atPath: $0) }
    /// The calls that a process is killed on entering; where `COREDATA_TEST_ALL` is set, all that a save may make.
    private static let calls =
        ["rename", "fsync", "unlink"]
        + (TestTime.triesAll
            ? ["fchmod", "flock", "write", "fstat", "stat", "newfstatat", "pread64", "close", "openat", "mmap", "munmap"] : [])

    /// Starts the writer; returns whether it was killed.
    private static func isKilled(on call: String, _ number: Int, _ kind: String, _ scratch: Scratch) throws -> Bool {
        let process = Process()
        process.executableURL = strace.map { URL(fileURLWithPath: $0) }
        // The signal comes when the call is entered, before the system does anything.
        process.arguments = [
            "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)", KillTests.writer.path, kind,
            scratch.folder.path, "0",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationReason == .exit, process.terminationStatus == 0 { return false }
        try #require(process.terminationReason == .uncaughtSignal && process.terminationStatus == 9, "The writer failed.")
        return true
    }

    private static var canTrace: Bool {
        guard strace != nil, let scratch = try? Scratch(), let isKilled = try? isKilled(on: "exit_group", 1000, "csv", scratch) else {
            return false
        }
        return !isKilled
    }

    @Test("Whichever call it is on, the old state or the new one is there as a whole", .enabled(if: canTrace), arguments: ["csv", "json"])
    func everyCall(_ kind: String) throws {
        var outcomes: [String: Int] = [:]
        for call in Self.calls {
            var number = 0
            var isKilled = true
            while isKilled {
                number += 1
                let scratch = try Scratch()
                try KillTests.writeFiles(kind, scratch)
                isKilled = try Self.isKilled(on: call, number, kind, scratch)
                let state = try KillTests.state(kind, scratch, after: "\(call) \(number)")
                outcomes[isKilled ? state : "whole", default: 0] += 1
            }
        }
        print(
            "Killed in \(kind): \(outcomes.sorted { $0.key < $1.key }.map { "\($0.value) times the \($0.key) state" }.joined(separator: ", "))."
        )
        #expect(outcomes["old"] ?? 0 > 0 && outcomes["new"] ?? 0 > 0)
    }
}
