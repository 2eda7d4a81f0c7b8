import Foundation
import TestSupport
import Testing

@Suite("A program with one thread for all its tasks") struct OneThreadTests {
    /// The lines that the program prints; see Tests/StoreWriter.
    private func lines(_ arguments: String...) async throws -> [String] {
        let process = BuiltProgram.storeWriter(arguments)
        process.environment = ProcessInfo.processInfo.environment.merging(["LIBDISPATCH_COOPERATIVE_POOL_STRICT": "1"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile()) }
        }
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    // The stores answer when all of them have been asked and every context has run a block: were the thread, or a context's queue, held by a fetch,
    // that would never come.
    @Test("It fetches from fifty stores at once, by three questions each, and none of the fetches holds a thread", .timeLimit(.minutes(30)))
    func fifty() async throws {
        let lines = try await lines("fetch", "50", "50")
        for line in lines { print(line) }
        try #require(lines.count == 2)
        #expect(lines[0].hasPrefix("fetches 1, questions 3, free contexts 1, sum [999000],"))
        #expect(lines[1].hasPrefix("fetches 50, questions 150, free contexts 50, sum [999000],"))
        // Nor does one wait anywhere else: there are only the threads that fifty contexts share, and those of the system.
        let threads = try #require(lines[1].split(separator: ",").first { $0.hasPrefix(" threads ") }.flatMap { Int($0.dropFirst(9)) })
        #expect(threads > 0 && threads < max(4, ProcessInfo.processInfo.activeProcessorCount) + 24)
    }
}
