import Foundation
import TestSupport
import Testing

@Suite("Processes with a cached store that are killed") struct KilledCacheTests {
    private func start(_ folder: URL, isLast: Bool) throws -> (Process, Pipe) {
        let process = BuiltProgram.storeWriter("cached", folder.path, isLast ? "1" : "0")
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    private func lines(_ output: Pipe) -> [Substring] {
        String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
    }

    @Test("What was saved before a process was killed reaches the server, once and with its last values", .timeLimit(.minutes(30)))
    func killed() throws {
        let scratch = try ScratchFolder("killed")
        defer { scratch.remove() }
        let folder = scratch.url
        let seed = TestSeed.current(for: "KilledCacheTests")
        var random = SeededGenerator(seed: seed)
        var (kills, acknowledged) = (0, 0)
        for _ in TestRounds(seconds: 1.3, atLeast: 3) {
            kills += 1
            let (process, output) = try start(folder, isLast: false)
            // At any moment: while it opens the file, saves, sends, or reads.
            usleep(UInt32.random(in: 20_000..<1_000_000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            let said = lines(output)
            process.waitUntilExit()
            #expect(said.allSatisfy { $0.hasPrefix("saved ") }, "\(said.filter { !$0.hasPrefix("saved ") })")
            acknowledged = max(acknowledged, said.compactMap { Int($0.dropFirst(6)) }.max() ?? 0)
        }
        let (process, output) = try start(folder, isLast: true)
        let shown = lines(output)
        process.waitUntilExit()
        let notes = shown.filter { $0.hasPrefix("note ") }.map { $0.dropFirst(5).split(separator: " ", maxSplits: 1).map(String.init) }
        expect(notes.count, equals: shown.count, "\(shown.filter { !$0.hasPrefix("note ") })")

        let last = notes.compactMap { Int($0[0]) }.max() ?? 0
        #expect(last >= acknowledged, "\(acknowledged) was acknowledged, and \(last) is the last.")
        print("KilledCacheTests: \(kills) kills, \(last) saves")
        var expected: [String: String] = [:]
        if last > 0 {
            for step in 1...last {
                expected["\(step)"] = "new"
                if step % 3 == 0, expected["\(step - 1)"] != nil { expected["\(step - 1)"] = "changed \(step)" }
                if step % 5 == 0 { expected["\(step - 2)"] = nil }
            }
        }
        expect(Dictionary(notes.map { ($0[0], $0[1]) }, uniquingKeysWith: { _, _ in "twice" }), equals: expected)

        var server: [String: (mark: String, text: String)] = [:]
        let log = (try? String(contentsOf: folder.appendingPathComponent("server.log"), encoding: .utf8)) ?? ""
        for line in log.split(separator: "\n") {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if parts[1] == "delete" {
                server[parts[2]] = nil
            } else {
                let known = server[parts[2]]
                server[parts[2]] = (parts[3] == "-" ? known?.mark ?? "?" : parts[3], parts[4] == "-" ? known?.text ?? "?" : parts[4])
            }
        }
        expect(Dictionary(server.values.map { ($0.mark, $0.text) }, uniquingKeysWith: { _, _ in "twice" }), equals: expected)
    }
}
