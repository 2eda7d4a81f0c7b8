import ExampleSupport
import Foundation
import SampleService
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Over Foundation's own `data(for:)` some of them block for ever, and with them all sessions of the process, or stop it.
@Suite("Requests that are given up") struct CancelledRequestTests {
    @Test("A request that is cancelled while its answer comes ends, and others are answered", .timeLimit(.minutes(30)))
    func cancelled() async throws {
        let service = try await SampleService.start()
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let request = URLRequest(url: service.baseURL.appendingPathComponent("api/palettes/top"))
        let seed = TestSeed.current(for: "CancelledRequestTests")
        let answered = await withTaskGroup(of: Int.self) { group in
            for asker in 0..<4 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ asker)
                    var answered = 0
                    for _ in 0..<100 {
                        let asking = Task { try await session.answer(to: request) }
                        for _ in 0..<Int.random(in: 0...60, using: &random) { await Task.yield() }
                        asking.cancel()
                        if case .success = await asking.result { answered += 1 }
                    }
                    return answered
                }
            }
            return await group.reduce(0, +)
        }
        print("CancelledRequestTests: \(answered) of 400 were answered before they were cancelled")
        let (_, response) = try await session.answer(to: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        await service.stop()
    }
}
