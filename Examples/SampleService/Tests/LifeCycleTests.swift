import Foundation
import SampleService
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Starting and stopping") struct LifeCycleTests {
    private let target = "/api/palettes/top?format=json&numResults=1"

    @Test("Two services listen on ports of their own and share nothing") func separateServices() async throws {
        let first = try await SampleService.start()
        let second = try await SampleService.start()
        try first.updatePalette(id: first.palettes[0].id, title: "Only here")
        #expect(first.baseURL.absoluteString == "http://127.0.0.1:\(first.port)")
        #expect(first.port != second.port)
        #expect(try await second.ask(target).objects().first?["title"] as? String == second.palettes[0].title)
        #expect(first.requests.isEmpty)
        await first.stop()
        await second.stop()
    }

    @Test("A port that is taken is an error that names it") func takenPort() async throws {
        let service = try await SampleService.start()
        let error = await #expect(throws: SampleServiceError.self) { _ = try await SampleService.start(port: service.port) }
        guard case .cannotListen(let port, _)? = error else {
            Issue.record("Another error was thrown: \(String(describing: error))")
            return
        }
        #expect(port == service.port)
        await service.stop()
    }

    @Test("A stopped service refuses requests and may be stopped again") func stoppedService() async throws {
        let service = try await SampleService.start()
        await service.stop()
        await service.stop()
        await #expect(throws: (any Error).self) { try await service.ask(target) }
    }

    @Test("A service that was down comes back at the same address with its data and records") func restartedService() async throws {
        let service = try await SampleService.start()
        try service.updatePalette(id: service.palettes[0].id, title: "Survivor")
        _ = try await service.ask(target)
        await service.stop()
        try await service.restart()
        #expect(try await service.ask(target).objects().first?["title"] as? String == "Survivor")
        #expect(service.requestCount() == 2)
        await service.stop()
    }

    @Test("Stopping ends a request that is being delayed") func stoppingDuringDelay() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: RecordedRequest.self)
        let service = try await SampleService.start { arrival.yield($0) }
        service.setDelay(.seconds(3000))
        let asking = Task { try await service.ask(target) }
        for await _ in arrivals { break }
        #expect(service.requestCount() == 1)

        await service.stop()
        await #expect(throws: (any Error).self) { try await asking.value }
    }

    @Test("A service that stops takes no connection of another one that starts meanwhile") func stoppingBesideOthers() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        let service = try await SampleService.start()
                        #expect(try await service.ask(target).objects().count == 1)
                        await service.stop()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A service nobody holds any more closes its port", .timeLimit(.minutes(30))) func abandonedService() async throws {
        let arrivals = Arrivals()
        let address = try await SampleService.start { _ in arrivals.count.withLock { $0 += 1 } }.baseURL
        // The port closes a moment after the last reference went. Another service may take it then: only requests that arrive at the
        // abandoned one count.
        var answered = true
        while answered {
            let before = arrivals.count.withLock { $0 }
            _ = try? await URLSession.shared.data(from: address.appendingPathComponent("api"))
            answered = arrivals.count.withLock { $0 } > before
        }
        #expect(!answered)
    }
}

/// Counts the requests that arrive at a service.
private final class Arrivals: Sendable {
    let count = Mutex(0)
}
