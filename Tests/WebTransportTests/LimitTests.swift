import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("Clients keep to limits, their own and those of services")
struct LimitTests {
    @Test("So many requests go in each interval, and the next one waits")
    func rate() async throws {
        let time = VirtualTime()
        let moments = LockedBox<[Double]>([])
        let transport = ScriptedTransport { _, _ in
            moments.withLock { $0.append(time.clientTime().seconds() - 1000) }
            return .text("yes")
        }
        let client = try makeClient(transport, time: time) { $0.rateLimit = RateLimit(requests: 3, seconds: 10) }
        for _ in 0..<7 { _ = try await client.send(WebRequest(.get, base)) }
        expect(moments.withLock { $0 }, equals: [0, 0, 0, 10, 10, 10, 20])
    }

    @Test("A client's own limit does not end requests that must wait for long")
    func patience() async throws {
        let client = try makeClient(ScriptedTransport(.text("yes"))) { $0.rateLimit = RateLimit(requests: 1, seconds: 1000) }
        for _ in 0..<3 { #expect(try await client.send(WebRequest(.get, base)).status == 200) }
    }

    @Test(
        "After an answer that says that no request is left, the next one waits until there is",
        arguments: [
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"], 30.0),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000030"], 30),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000030000"], 30),
            (["RateLimit-Remaining": "0", "RateLimit-Reset": "5"], 5), (["RateLimit": "limit=10, remaining=0, reset=7"], 7),
            (["RateLimit": "\"default\";r=0;t=8"], 8), (["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "30"], nil),
            (["X-RateLimit-Remaining": "0"], nil), (["RateLimit": "nonsense"], nil),
        ] as [(WebHeaders, Double?)])
    func headers(headers: WebHeaders, wait: Double?) async throws {
        let time = VirtualTime()
        let client = try makeClient(ScriptedTransport(.text("yes", headers: headers), .text("yes")), time: time)
        _ = try await client.send(WebRequest(.get, base))
        #expect(time.waits.isEmpty)
        _ = try await client.send(WebRequest(.get, base))
        expect(time.waits, equals: (wait.map { [$0] } ?? []))
    }

    @Test("Where the service allows nothing for longer than a request may take, it is not sent")
    func longBlock() async throws {
        let headers: WebHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"]
        let transport = ScriptedTransport(.text("yes", headers: headers))
        let client = try makeClient(transport)
        _ = try await client.send(WebRequest(.get, base))
        let error = try await transportError { try await client.send(WebRequest(.get, base)) }
        expect(error?.kind, equals: .rateLimited)
        expect(transport.requests.count, equals: 1)
    }

    @Test("So many requests to a host are on their way at a time, and each one has its turn, also after one that was cancelled")
    func concurrency() async throws {
        let counts = LockedBox((running: 0, most: 0))
        let transport = ScriptedTransport { _, _ in
            counts.withLock { counts in
                counts.running += 1
                counts.most = max(counts.most, counts.running)
            }
            for _ in 0..<10 { await Task.yield() }
            counts.withLock { $0.running -= 1 }
            return .text("yes")
        }
        let client = try makeClient(transport) { $0.maximumConcurrentRequestsPerHost = 3 }
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let task = Task { try await client.send(WebRequest(.get, base + "/\(number)")).status }
                    if number % 7 == 3 { task.cancel() }
                    do { return try await task.value } catch is CancellationError { return nil }
                }
            }
            var answered = 0
            for try await status in group where status == 200 { answered += 1 }
            #expect(answered >= 60 - 9)
        }
        expect(counts.withLock { $0.most }, equals: 3)
    }
}
