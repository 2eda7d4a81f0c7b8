import TestSupport
import Testing

@testable import WebTransport

@Suite("Faults are injected as often as they should, and counted")
struct FaultTests {
    private func faulty(_ transport: any Transport, seed: UInt64, _ change: (inout FaultInjectingTransport.Rates) -> Void)
        -> FaultInjectingTransport
    {
        var rates = FaultInjectingTransport.Rates()
        change(&rates)
        return FaultInjectingTransport(transport, seed: seed, rates: rates, time: VirtualTime().clientTime())
    }

    @Test("Each fault does what it says")
    func each() async throws {
        let seed = TestSeed.current(for: "FaultTests.each")
        let limits = TransportLimits()
        let request = WebRequest(.post, base)
        let answer = WebResponse.text("0123456789")

        let before = ScriptedTransport(answer)
        let dropping = faulty(before, seed: seed) { $0.dropBefore = 1 }
        for _ in 0..<20 {
            let error = try await transportError { try await dropping.send(request, limits: limits) }
            #expect(error?.kind == .lost || error?.kind == .cannotConnect, "seed \(seed)")
        }
        #expect(before.requests.isEmpty)
        expect(dropping.counts.droppedBefore, equals: 20)

        let after = ScriptedTransport(answer)
        let losing = faulty(after, seed: seed) { $0.dropAfter = 1 }
        let error = try await transportError { try await losing.send(request, limits: limits) }
        expect(error?.kind, equals: .lost)
        expect(after.requests.count, equals: 1)

        let half = faulty(ScriptedTransport(answer), seed: seed) { $0.halfAnswer = 1 }
        #expect(try await half.send(request, limits: limits).text == "01234")
        let garbage = faulty(ScriptedTransport(answer), seed: seed) { $0.garbage = 1 }
        #expect(try await garbage.send(request, limits: limits).body != answer.body)
        for (status, change) in [
            (429, { $0.tooManyRequests = 1 }), (500, { $0.serverError = 1 }), (503, { $0.unavailable = 1 }),
        ] as [(Int, (inout FaultInjectingTransport.Rates) -> Void)] {
            let transport = ScriptedTransport(answer)
            let answering = faulty(transport, seed: seed, change)
            #expect(try await answering.send(request, limits: limits).status == status)
            #expect(status == 500 || transport.requests.isEmpty)
            expect(answering.counts.faults, equals: 1)
        }
    }

    @Test("The same seed gives the same faults, and a client gets through all of them")
    func seeds() async throws {
        let seed = TestSeed.current(for: "FaultTests.seeds")
        func run() async throws -> FaultInjectingTransport.Counts {
            let transport = FaultInjectingTransport(
                ScriptedTransport(.text("yes")), seed: seed, rates: .all(0.5), time: VirtualTime().clientTime())
            transport.rates.halfAnswer = 0
            transport.rates.garbage = 0
            let client = try makeClient(transport) { $0.retries = RetryPolicy(maximumTries: 100, totalSeconds: 1e6) }
            for _ in 0..<200 { #expect(try await client.send(WebRequest(.get, base)).text == "yes", "seed \(seed)") }
            return transport.counts
        }
        let counts = try await run()
        #expect(try await run() == counts, "seed \(seed)")
        #expect(counts.faults > 0 && counts.delays > 0, "seed \(seed): \(counts)")
    }

    @Test("Requests side by side overtake each other, and all of them are answered")
    func reordering() async throws {
        let seed = TestSeed.current(for: "FaultTests.reordering")
        let slow = ScriptedTransport { request, _ in
            for _ in 0..<5 { await Task.yield() }
            return .text(request.url)
        }
        let transport = faulty(slow, seed: seed) { $0.reorder = 0.5 }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                let url = base + "/\(number)"
                group.addTask { try await transport.send(WebRequest(.get, url), limits: TransportLimits()).text == url }
            }
            for try await isRight in group { #expect(isRight, "seed \(seed)") }
        }
        expect(transport.counts.requests, equals: 200)
        #expect(transport.counts.reordered > 0, "seed \(seed)")
    }
}
