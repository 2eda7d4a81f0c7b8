import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("Requests are sent again where that is safe")
struct RetryTests {
    @Test("An idempotent request is sent again after a 503, after waits that double")
    func doubles() async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport(.text("", status: 503), .text("", status: 503), .text("", status: 500), .text("yes"))
        let response = try await makeClient(transport, time: time).send(WebRequest(.get, base + "/a"))
        expect(response.text, equals: "yes")
        expect(transport.requests.count, equals: 4)
        expect(time.waits, equals: [0.375, 0.75, 1.5])
    }

    @Test("A request that is not idempotent is sent once, whatever the answer", arguments: [500, 502, 503, 504])
    func notIdempotent(status: Int) async throws {
        let transport = ScriptedTransport(.text("", status: status))
        let response = try await makeClient(transport).send(WebRequest(.post, base + "/a"))
        expect(response.status, equals: status)
        expect(transport.requests.count, equals: 1)
    }

    @Test("Any request is sent again after a 429, when the service says", arguments: ["7", "Fri, 15 Jan 2027 08:00:07 GMT"])
    func tooMany(after: String) async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport(.text("", status: 429, headers: ["Retry-After": after]), .text("yes"))
        let response = try await makeClient(transport, time: time).send(WebRequest(.post, base + "/a", body: [1]))
        expect(response.text, equals: "yes")
        expect(transport.requests.map(\.body), equals: [[1], [1]])
        expect(time.waits.first.map { (7..<7.1).contains($0) }, equals: true, "\(time.waits)")
    }

    @Test("Where the service asks for a longer wait than there is time, its answer is returned")
    func longWait() async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport(.text("", status: 503, headers: ["Retry-After": "100000000"]))
        let response = try await makeClient(transport, time: time).send(WebRequest(.get, base + "/a"))
        expect(response.status, equals: 503)
        #expect(time.waits.isEmpty)
    }

    @Test(
        "A wait that a service asks for is a year at most, and never negative",
        arguments: ["1e300", "99999999999999999999", "-5", "nan", "1e999"])
    func bounded(after: String) {
        let wait = RetryPolicy.delay(retryAfter: after, now: 0)
        #expect(wait.map { (0...31_536_000).contains($0) } ?? true)
        #expect(wait.map { Duration.seconds($0) >= .zero } ?? true)
    }

    @Test("A request of which nothing was sent is sent again; one that may have arrived, only where it is idempotent")
    func errors() async throws {
        func count(_ kind: TransportError.Kind, _ request: WebRequest) async throws -> Int {
            let transport = ScriptedTransport { request, _ in throw TransportError(kind, request: request.summary) }
            let error = try await transportError { try await makeClient(transport).send(request) }
            expect(error?.kind, equals: kind)
            return transport.requests.count
        }
        let put = WebRequest(.put, base + "/a")
        let post = WebRequest(.post, base + "/a")
        #expect(try await count(.cannotConnect, post) == 4)
        #expect(try await count(.lost, put) == 4)
        #expect(try await count(.timedOut, put) == 4)
        #expect(try await count(.malformed, put) == 4)
        #expect(try await count(.lost, post) == 1)
        #expect(try await count(.timedOut, post) == 1)
        #expect(try await count(.untrusted, put) == 1)
        #expect(try await count(.tooLarge, put) == 1)
        #expect(try await count(.lost, WebRequest(.post, base + "/a", isIdempotent: true)) == 4)
    }

    @Test("A request of which one try may have arrived may have arrived, although the last one did not")
    func earlierTry() async throws {
        let records = LockedBox<[RequestRecord]>([])
        for first in [WebResponse.text("", status: 502), nil] {
            let transport = ScriptedTransport { request, index in
                if index == 0, let first { return first }
                throw TransportError(index == 0 ? .lost : .cannotConnect, request: request.summary)
            }
            let error = try await transportError {
                try await makeClient(transport) { options in
                    options.observer = { record in records.withLock { $0.append(record) } }
                }.send(WebRequest(.put, base + "/a"))
            }
            expect(error?.mayHaveArrived, equals: true)
        }
        let conflict = ScriptedTransport { request, index in
            if index == 0 { throw TransportError(.timedOut, request: request.summary) }
            return .text("", status: 412)
        }
        let client = try makeClient(conflict)
        #expect(try await client.send(WebRequest(.put, base)) { record in records.withLock { $0.append(record) } }.status == 412)
        expect(records.withLock { $0 }.map(\.mayHaveArrivedBefore), equals: [true, true, true])

        let never = ScriptedTransport { request, index in
            if index == 0 { return .text("", status: 429) }
            throw TransportError(.cannotConnect, request: request.summary)
        }
        let error = try await transportError { try await makeClient(never).send(WebRequest(.put, base + "/a")) }
        expect(error?.mayHaveArrived, equals: false)
    }

    @Test("All tries together keep to the time of the policy")
    func totalTime() async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport { _, _ in
            time.advance(50)
            return .text("", status: 503)
        }
        let response = try await makeClient(transport, time: time) {
            $0.retries = RetryPolicy(maximumTries: 100, totalSeconds: 120)
        }.send(WebRequest(.get, base + "/a"))
        expect(response.status, equals: 503)
        expect(transport.requests.count, equals: 3)
    }

    @Test("A client that is cancelled while it waits throws CancellationError")
    func cancelled() async throws {
        let transport = ScriptedTransport(.text("", status: 503))
        let task = Task {
            try await makeClient(transport) { options in
                options.time.sleep = { _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    try Task.checkCancellation()
                }
            }.send(WebRequest(.get, base + "/a"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        expect(transport.requests.count, equals: 1)
    }

    @Test("The three forms of dates in Retry-After are read, and others are not")
    func dates() {
        func delay(_ text: String) -> Double? { RetryPolicy.delay(retryAfter: text, now: 784_111_700) }
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", " 77 "] {
            expect(delay(text), equals: 77)
        }
        for text in [
            "", "Sun, 06 Nov", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT or later", "Mon, 06 Nov 1994 08:49:37 GMT", "2026-03-01",
        ] {
            #expect(delay(text) == nil, "\(text)")
        }
    }
}
