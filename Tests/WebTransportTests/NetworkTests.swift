#if WebBackend
import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("Requests over the network")
struct NetworkTests {
    private let limits = TransportLimits(connectSeconds: 10, requestSeconds: 20, maximumBytes: 1 << 20)

    @Test("A request arrives as it is, and its answer comes back as it is")
    func exchange() async throws {
        let server = try LoopbackServer.answering { request, connection in
            let lines = [request.line, request.headers["X-Own"] ?? "", String(decoding: request.body, as: UTF8.self)]
            return connection.answer(201, headers: ["X-Two: 1", "X-Two: 2"], body: Array(lines.joined(separator: "|").utf8))
        }
        let request = WebRequest(.post, server.url + "/a%20b?c=%2F&d=[1]", headers: ["X-Own": "ä"], body: Array("body".utf8))
        let response = try await AsyncHTTPClientTransport().send(request, limits: limits)
        expect(response.status, equals: 201)
        expect(response.headers.all("x-two"), equals: ["1", "2"])
        #expect(response.text.hasPrefix("POST /a%20b?c=%2F&d=%5B1%5D HTTP"))
        #expect(response.text.hasSuffix("|ä|body"))
    }

    @Test("A connection serves the requests that follow each other")
    func keepAlive() async throws {
        let server = try LoopbackServer.answering { _, connection in connection.answer(body: [1]) }
        let transport = AsyncHTTPClientTransport()
        for _ in 0..<20 { #expect(try await transport.send(WebRequest(.get, server.url), limits: limits).body == [1]) }
        // A busy machine may take a second one before the first is given back.
        #expect(server.connections <= 3, "\(server.connections)")
    }

    @Test("A body in chunks is put together, and one that ends with the connection is whole")
    func chunks() async throws {
        let chunked = try LoopbackServer.answering { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
                && connection.write("7\r\n, world\r\n0\r\n\r\n")
        }
        #expect(try await AsyncHTTPClientTransport().send(WebRequest(.get, chunked.url), limits: limits).text == "hello, world")
        let closing = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall")
        }
        #expect(try await AsyncHTTPClientTransport().send(WebRequest(.get, closing.url), limits: limits).text == "all")
    }

    @Test("An endless body, and one of ten gigabytes, end the request after the first bytes")
    func endless() async throws {
        let isClosed = LockedBox(false)
        let written = LockedBox(0)
        let endless = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 97, count: 65_536) + Array("\r\n".utf8)
            while connection.write(chunk) { written.withLock { $0 += chunk.count } }
            isClosed.withLock { $0 = true }
        }
        let error = try await transportError { try await AsyncHTTPClientTransport().send(WebRequest(.get, endless.url), limits: limits) }
        expect(error?.kind, equals: .tooLarge)
        #expect(written.withLock { $0 } < 64 << 20)

        let announced = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
            while connection.write([UInt8](repeating: 97, count: 1024)), !connection.isClosed(within: 1) {}
        }
        let early = try await transportError { try await AsyncHTTPClientTransport().send(WebRequest(.get, announced.url), limits: limits) }
        expect(early?.kind, equals: .tooLarge)
    }

    @Test("A compressed body is decompressed, and one that grows beyond the limit ends the request")
    func compressed() async throws {
        let small = try output(of: "printf hello | gzip -c")
        let bomb = try output(of: "head -c 209715200 /dev/zero | gzip -c")
        #expect(bomb.count < 1 << 20)
        let server = try LoopbackServer.answering { request, connection in
            guard request.headers["Accept-Encoding"]?.contains("gzip") == true else { return connection.answer(400) }
            switch request.target {
            case "/bomb": return connection.answer(headers: ["Content-Encoding: gzip"], body: bomb)
            case "/garbage": return connection.answer(headers: ["Content-Encoding: gzip"], body: [1, 2, 3, 4])
            case "/other": return connection.answer(headers: ["Content-Encoding: br"], body: small)
            default: return connection.answer(headers: ["Content-Encoding: gzip"], body: small)
            }
        }
        let transport = AsyncHTTPClientTransport()
        #expect(try await transport.send(WebRequest(.get, server.url), limits: limits).text == "hello")
        for (path, kind) in [("/bomb", TransportError.Kind.tooLarge), ("/garbage", .malformed), ("/other", .malformed)] {
            let error = try await transportError { try await transport.send(WebRequest(.get, server.url + path), limits: limits) }
            expect(error?.kind, equals: kind, "\(path): \(error.map(String.init(describing:)) ?? "none")")
        }
    }

    @Test("A service that answers byte by byte, or not at all, is given up in time")
    func slow() async throws {
        var short = limits
        short.requestSeconds = 0.3
        for drips in [false, true] {
            let reached = LockedBox(false)
            let server = try LoopbackServer { connection in
                guard connection.read() != nil else { return }
                reached.withLock { $0 = true }
                if drips { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n") }
                while !drips || connection.write("a"), !connection.isClosed(within: 10) {}
            }
            var error: TransportError?
            // On a busy machine the time may be over before there is a connection.
            for _ in 0..<20 where !reached.withLock({ $0 }) {
                error = try await transportError {
                    try await AsyncHTTPClientTransport().send(WebRequest(.post, server.url, body: Array("a".utf8)), limits: short)
                }
                if error?.kind != .timedOut { expect(error?.kind, equals: .cannotConnect) }
            }
            // What the service has got may have been done.
            expect(error?.kind, equals: .timedOut, "drips: \(drips)")
            expect(error?.mayHaveArrived, equals: true)
        }
    }

    @Test("A connection that ends midway is lost, one that cannot be made has sent nothing, and garbage is malformed")
    func broken() async throws {
        let server = try LoopbackServer { connection in
            switch connection.read()?.target {
            case "/midway": connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            case "/chunk": connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
            case "/garbage": connection.write("This is not HTTP at all\r\n\r\n")
            default: break
            }
        }
        let transport = AsyncHTTPClientTransport()
        for (path, kind) in [
            ("/midway", TransportError.Kind.lost), ("/chunk", .lost), ("/nothing", .lost), ("/garbage", .malformed),
        ] {
            let error = try await transportError { try await transport.send(WebRequest(.get, server.url + path), limits: limits) }
            expect(error?.kind, equals: kind, "\(path): \(error.map(String.init(describing:)) ?? "none")")
            expect(error?.mayHaveArrived, equals: true)
        }
        // Nobody listens at this port: the one who did has just gone.
        let gone = try LoopbackServer { _ in }.url
        let error = try await transportError { try await transport.send(WebRequest(.get, gone), limits: limits) }
        #expect(error?.mayHaveArrived == false || error?.kind == .lost, "\(error.map(String.init(describing:)) ?? "none")")
        let unknown = try await transportError { try await transport.send(WebRequest(.get, "http://nobody.invalid/"), limits: limits) }
        expect(unknown?.kind, equals: .cannotConnect)
    }

    @Test("A request that cannot be sent says so, and repeats no header")
    func invalid() async throws {
        let transport = AsyncHTTPClientTransport()
        for request in [
            WebRequest(.get, "ftp://127.0.0.1/"), WebRequest(.get, "http://"), WebRequest(.get, "http+unix://%2Ftmp/a"),
            WebRequest(.get, "http://user:Zebra-1@127.0.0.1/"),
            WebRequest(.get, "http://127.0.0.1:9/", headers: ["X-Key": "Zebra-1\r\nX-Other: 1"]),
        ] {
            let error = try await transportError { try await transport.send(request, limits: limits) }
            expect(error?.kind, equals: .invalid, "\(request.url): \(error.map(String.init(describing:)) ?? "none")")
            expect(error.map { "\($0)".contains("Zebra") }, equals: false)
        }
    }

    @Test("A request whose task is cancelled ends with CancellationError, and closes its connection")
    func cancelled() async throws {
        let (events, arrived) = AsyncStream.makeStream(of: String.self)
        let server = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            arrived.yield("arrived")
            if connection.isClosed(within: 300_000) { arrived.yield("closed") }
            arrived.finish()
        }
        let task = Task { [limits] in try await AsyncHTTPClientTransport().send(WebRequest(.get, server.url), limits: limits) }
        var seen: [String] = []
        for await event in events {
            seen.append(event)
            if event == "arrived" { task.cancel() }
        }
        expect(seen, equals: ["arrived", "closed"])
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("The transport follows no redirects by itself")
    func redirects() async throws {
        let server = try LoopbackServer.answering { _, connection in connection.answer(302, headers: ["Location: /b"]) }
        #expect(try await AsyncHTTPClientTransport().send(WebRequest(.get, server.url), limits: limits).status == 302)
        let error = try await transportError {
            try await WebClient(baseURL: server.url, transport: AsyncHTTPClientTransport()).send(WebRequest(.get, server.url))
        }
        expect(error?.kind, equals: .redirected)
    }

    @Test("A redirect to another server takes no credentials along, and its answer comes back")
    func otherOrigin() async throws {
        let other = try LoopbackServer.answering { request, connection in
            connection.answer(body: Array(request.headers.fields.map { $0.name.lowercased() }.sorted().joined(separator: " ").utf8))
        }
        let otherURL = other.url
        let server = try LoopbackServer.answering { request, connection in
            guard request.headers["Authorization"] == "Bearer Zebra" else { return connection.answer(401) }
            return connection.answer(307, headers: ["Location: \(otherURL)/?token=Zebra", "Set-Cookie: sid=Zebra-2; Path=/"])
        }
        var options = WebClient.Options()
        options.authentication = .bearer(.value("Zebra"))
        options.headers = ["X-Own": "1", "Accept": "text/plain"]
        options.keepsCookies = true
        let client = try WebClient(baseURL: server.url, options: options)
        // The address itself has the token: that is an error.
        let error = try await transportError { try await client.send(WebRequest(.get, server.url)) }
        expect(error?.kind, equals: .redirected)
        expect(other.connections, equals: 0)
        // A link to it is followed, without anything.
        let response = try await client.send(WebRequest(.get, otherURL + "/", headers: ["X-Private": "1"]))
        expect(response.text, equals: "accept accept-encoding host")
    }

    @Test("A record of a request over the network has the time until its first byte")
    func firstByte() async throws {
        let server = try LoopbackServer.answering { _, connection in connection.answer(body: [1, 2]) }
        let kept = LockedBox<RequestRecord?>(nil)
        _ = try await WebClient(baseURL: server.url).send(WebRequest(.get, server.url)) { record in kept.withLock { $0 = record } }
        let record = try #require(kept.withLock { $0 })
        #expect((record.secondsToFirstByte ?? -1) >= 0)
        expect(record.bytesReceived, equals: 2)
    }

    /// Returns what a command of the shell writes.
    private func output(of command: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(data)
    }
}
#endif
