import Foundation
import TestSupport
import Testing

@Suite("A walk with one thread for all tasks of the program") struct OneThreadWalkTests {
    // The backend answers when another task and a block of the context have run since it was asked: were the thread, or the context's queue, held by
    // who waits for the answer, that would never come.
    @Test(
        "Owners are walked to their children and to a target of each, and saved, and nobody who waits holds the thread",
        .timeLimit(.minutes(30)))
    func walk() async throws {
        let process = BuiltProgram.storeWriter("walk", "50", "20")
        process.environment = ProcessInfo.processInfo.environment.merging(["LIBDISPATCH_COOPERATIVE_POOL_STRICT": "1"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile()) }
        }
        process.waitUntilExit()
        // The owners, their children, and the targets: a request each.
        let sum = (0..<200).reduce(0) { $0 + $1 % 7 }
        expect(String(decoding: text, as: UTF8.self), equals: "owners 20, children 200, sum \(sum), requests 3, saves 20\n")
    }
}
