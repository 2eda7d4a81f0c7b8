#if WebBackend
import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("Streams of events over the network") struct EventStreamTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func chunk(_ text: String) -> String { String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n" }

    private func client(_ server: LoopbackServer, _ change: (inout WebClient.Options) -> Void = { _ in }) throws -> WebClient {
        var options = WebClient.Options()
        change(&options)
        return try WebClient(baseURL: server.url, transport: AsyncHTTPClientTransport(), options: options)
    }

    @Test("Events come as they are sent, with credentials, while others wait for nothing; who reads no more closes the connection")
    func events() async throws {
        let (received, isClosed) = (AsyncStream.makeStream(of: ServerSentEvent.self), AsyncStream.makeStream(of: Bool.self))
        let headers = LockedBox<[String?]>([])
        let go = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            guard let request = connection.read() else { return }
            guard request.target == "/events" else {
                connection.answer(body: Array("other".utf8))
                return
            }
            headers.withLock { $0 = [request.headers["Authorization"], request.headers["Accept"]] }
            connection.write(Self.head + Self.chunk(": hello\n\ndata: 1\n\nda"))
            go.wait()
            connection.write(Self.chunk("ta: 2\nevent: named\nid: x\n\n"))
            isClosed.continuation.yield(connection.isClosed(within: 300_000))
        }
        let client = try client(server) {
            $0.authentication = .bearer(.value("secret-token"))
            $0.maximumConcurrentRequestsPerHost = 1
        }
        let reader = Task {
            for try await event in try await client.events(WebRequest(.get, server.url + "/events")) { received.continuation.yield(event) }
        }
        var events = received.stream.makeAsyncIterator()
        #expect(await events.next() == ServerSentEvent(data: "1"))
        expect(headers.withLock { $0 }, equals: ["Bearer secret-token", "text/event-stream"])
        // The stream takes no place of the one request at a time.
        #expect(try await client.send(WebRequest(.get, server.url + "/other")).text == "other")
        go.signal()
        #expect(await events.next() == ServerSentEvent(name: "named", data: "2", lastID: "x"))
        reader.cancel()
        var closed = isClosed.stream.makeAsyncIterator()
        #expect(await closed.next() == true)
    }

    @Test("A stream ends where the connection does, and one that breaks is an error without secrets")
    func ends() async throws {
        let server = try LoopbackServer.answering { request, connection in
            connection.write(Self.head + Self.chunk("data: 1\n\n"))
            if request.target == "/whole" { connection.write("0\r\n\r\n") }
            return request.target == "/whole"
        }
        let client = try client(server)
        var data: [String] = []
        for try await event in try await client.events(WebRequest(.get, server.url + "/whole")) { data.append(event.data) }
        expect(data, equals: ["1"])
        let error = try await transportError {
            for try await event in try await client.events(WebRequest(.get, server.url + "/broken?token=hidden")) {
                data.append(event.data)
            }
        }
        #expect(error?.kind == .lost || error?.kind == .malformed, "\(String(describing: error))")
        #expect(data == ["1", "1"] && error?.description.contains("hidden") == false)
    }

    @Test("A stream that is silent for too long ends")
    func silent() async throws {
        let done = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            connection.write(Self.head + Self.chunk("data: 1\n\n"))
            _ = connection.isClosed(within: 300_000)
            done.signal()
        }
        let events = try await client(server).events(WebRequest(.get, server.url), idleSeconds: 0.2)
        var count = 0
        for try await _ in events { count += 1 }
        expect(count, equals: 1)
        #expect(await Self.wait(done), "the connection stays open")
    }

    private static func wait(_ semaphore: DispatchSemaphore) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: semaphore.wait(timeout: .now() + 300) == .success) }
        }
    }

    @Test("An answer that is no stream of events is an error that says so, however long it goes on")
    func others() async throws {
        let server = try LoopbackServer.answering { request, connection in
            switch request.target {
            case "/json": return connection.answer(headers: ["Content-Type: application/json"], body: Array("{}".utf8))
            case "/missing": return connection.answer(404, body: Array("no".utf8))
            default:
                connection.write("HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n")
                while connection.write(Self.chunk(String(repeating: "x", count: 10_000))) {}
                return false
            }
        }
        let client = try client(server) {
            $0.limits.maximumBytes = 1 << 20
            $0.retries = .never
        }
        for (path, part) in [("/json", "application/json"), ("/missing", "404")] {
            let error = try await transportError { try await client.events(WebRequest(.get, server.url + path)) }
            #expect(error?.kind == .malformed && error?.detail.contains(part) == true, "\(String(describing: error))")
        }
        #expect(try await transportError { try await client.events(WebRequest(.get, server.url + "/endless")) }?.kind == .tooLarge)
        let plain = try makeClient(ScriptedTransport(.text("")))
        #expect(try await transportError { try await plain.events(WebRequest(.get, base)) }?.kind == .invalid)
    }

    @Test("An event larger than the limit ends the stream")
    func large() async throws {
        let server = try LoopbackServer.answering { _, connection in
            connection.write(Self.head)
            while connection.write(Self.chunk("data: " + String(repeating: "x", count: 10_000) + "\n")) {}
            return false
        }
        let events = try await client(server).events(WebRequest(.get, server.url), maximumEventBytes: 100_000)
        let error = try await transportError { for try await _ in events {} }
        expect(error?.kind, equals: .tooLarge)
    }

    @Test("Credentials that a stream's request is refused with are renewed once, as for any request")
    func renewal() async throws {
        let server = try LoopbackServer.answering { request, connection in
            switch (request.target, request.headers["Authorization"]) {
            case ("/token", _):
                return connection.answer(
                    headers: ["Content-Type: application/json"], body: Array(#"{"access_token": "new", "token_type": "bearer"}"#.utf8))
            case (_, "Bearer new"): return connection.write(Self.head + Self.chunk("data: in\n\n") + "0\r\n\r\n")
            default: return connection.answer(401)
            }
        }
        let client = try client(server) {
            $0.authentication = .oauth2(OAuth2(tokenURL: server.url + "/token", clientID: "id", clientSecret: .value("s")))
        }
        var data: [String] = []
        for try await event in try await client.events(WebRequest(.get, server.url + "/events")) { data.append(event.data) }
        expect(data, equals: ["in"])
    }

    @Test("Faults reach streams of events, and a recording passes them through", arguments: 0..<8)
    func faults(number: Int) async throws {
        let server = try LoopbackServer.answering { _, connection in
            connection.write(Self.head + Self.chunk("data: 1\n\n") + Self.chunk("data: 2\n\n") + "0\r\n\r\n")
        }
        var rates = FaultInjectingTransport.Rates()
        switch number {
        case 0: rates.dropBefore = 1
        case 1: rates.dropAfter = 1
        case 2: rates.halfAnswer = 1
        case 3: rates.garbage = 1
        case 4: rates.tooManyRequests = 1
        case 5: rates.serverError = 1
        case 6: rates.unavailable = 1
        default: break
        }
        let transport = FaultInjectingTransport(RecordingTransport(AsyncHTTPClientTransport()), seed: 1, rates: rates)
        var options = WebClient.Options()
        options.retries = .never
        let client = try WebClient(baseURL: server.url, transport: transport, options: options)
        var count = 0
        let error = try await transportError {
            for try await _ in try await client.events(WebRequest(.get, server.url)) { count += 1 }
        }
        expect((error == nil), equals: (number == 7))
        expect(transport.counts.faults, equals: (number == 7 ? 0 : 1))
        if number == 7 { expect(count, equals: 2) }
        if number == 0 || number > 3 && number < 7 { expect(count, equals: 0) }
    }
}
#endif
