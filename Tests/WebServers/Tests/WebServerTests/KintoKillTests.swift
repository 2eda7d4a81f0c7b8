import Foundation
import Testing
import WebTransport

@Suite("Programs that write to Kinto and are killed", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoKillTests {
    /// The number of kills that `Scripts/soak` asks for; otherwise as many as fit into some seconds.
    private static let kills = ProcessInfo.processInfo.environment["COREDATA_TEST_ROUNDS"].flatMap { Int($0) }

    @Test("What was saved before a kill reaches Kinto, once and with its last values", .timeLimit(.minutes(60)))
    func killed() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-killed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let address = try Kinto.bucket("killed-\(UUID().uuidString.lowercased())", ["notes"])
        let cache = folder.appendingPathComponent("cache.sqlite").path

        let end = Date().addingTimeInterval(CaseRandom.seconds(5))
        var random = CaseRandom(seed: CaseRandom.seed(for: "KintoKillTests"))
        var (kills, acknowledged) = (0, 0)
        while Self.kills.map({ kills < $0 }) ?? (Date() < end || kills < 3) {
            let writer = try Writer(address, cache, "write")
            // At any moment: while it opens the file, saves, sends, or reads.
            usleep(UInt32.random(in: 20_000..<800_000, using: &random))
            let said = writer.killed()
            #expect(said.allSatisfy { $0.hasPrefix("saved ") }, "\(said.filter { !$0.hasPrefix("saved ") })")
            acknowledged = max(acknowledged, said.compactMap { Int($0.dropFirst(6)) }.max() ?? 0)
            kills += 1
        }
        let shown = try Writer(address, cache, "finish").ended()
        let notes = shown.filter { $0.hasPrefix("note ") }.map { $0.dropFirst(5).split(separator: " ", maxSplits: 1).map(String.init) }
        #expect(notes.count == shown.count, "\(shown.filter { !$0.hasPrefix("note ") })")

        let last = notes.compactMap { Int($0[0]) }.max() ?? 0
        #expect(last >= acknowledged && acknowledged > 0, "\(acknowledged) was acknowledged, and \(last) is the last.")
        let expected = Self.expected(last)
        #expect(Dictionary(notes.map { ($0[0], $0[1]) }, uniquingKeysWith: { _, _ in "twice" }) == expected)
        let (records, tombstones) = try Self.records(address)
        #expect(Dictionary(records, uniquingKeysWith: { _, _ in "twice" }) == expected)
        print("KintoKillTests: \(kills) kills, \(last) saves, \(records.count) records and \(tombstones) deleted ones in Kinto")
    }

    /// What the steps leave, as text by mark.
    private static func expected(_ last: Int) -> [String: String] {
        var expected: [String: String] = [:]
        for step in 1...max(last, 1) {
            expected["\(step)"] = "new"
            if step % 3 == 0, expected["\(step - 1)"] != nil { expected["\(step - 1)"] = "changed \(step)" }
            if step % 5 == 0 { expected["\(step - 2)"] = nil }
        }
        return expected
    }

    /// Returns what Kinto has, as another program reads it.
    private static func records(_ address: String) throws -> (records: [(String, String)], tombstones: Int) {
        let all = try Kinto.records("\(address)/notes/records?_since=0")
        let records = all.filter { $0["deleted"] == nil }
        return (records.map { ("\($0["mark"] ?? "none")", "\($0["text"] ?? "none")") }, all.count - records.count)
    }

    /// A run of the program.
    private struct Writer {
        private let process = Process()
        private let output = Pipe()

        init(_ address: String, _ cache: String, _ command: String) throws {
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
                .appendingPathComponent("kinto-writer")
            process.arguments = [address, cache, "tests", command]
            process.environment = ProcessInfo.processInfo.environment.merging(["KINTO_PASSWORD": "secret"]) { $1 }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            try process.run()
        }

        /// Kills it, and returns what it has said.
        func killed() -> [Substring] {
            kill(process.processIdentifier, SIGKILL)
            return ended()
        }

        /// Waits for its end, and returns what it has said.
        func ended() -> [Substring] {
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
            process.waitUntilExit()
            return said
        }
    }
}
