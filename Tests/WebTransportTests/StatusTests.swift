#if WebBackend
import Foundation
import TestSupport
import Testing

@testable import WebTransport

@Suite("Statuses that HTTP does not have") struct StatusTests {
    private let limits = TransportLimits(connectSeconds: 10, requestSeconds: 20, maximumBytes: 1 << 20)

    @Test(
        "An answer whose status is not one ends in an error, also where a body follows",
        arguments: ["000", "001", "042", "099"],
        ["Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "\r\n{}"])
    func unknown(status: String, rest: String) async throws {
        let server = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n\(rest)")
        }
        let error = try await transportError { try await AsyncHTTPClientTransport().send(WebRequest(.get, server.url), limits: limits) }
        expect(error?.kind, equals: .malformed, "\(String(describing: error))")
        let streaming = try await transportError {
            try await AsyncHTTPClientTransport().stream(WebRequest(.get, server.url), limits: limits)
        }
        expect(streaming?.kind, equals: .malformed, "\(String(describing: streaming))")
    }

    @Test(
        "Whatever number a status is, and whatever comes before it, the request ends", .timeLimit(.minutes(30)),
        arguments: ["99", "100", "101", "103", "199", "204", "304", "600", "999", "1000", "-1", "65536", "4294967496", "2 0", ""])
    func ends(status: String) async throws {
        let server = try LoopbackServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\n{}")
        }
        do {
            _ = try await AsyncHTTPClientTransport().send(WebRequest(.get, server.url), limits: limits)
        } catch is TransportError {
            // It says what is wrong.
        }
    }

    @Test(
        "The same over HTTP/2", .enabled(if: SecureServer.Certificate.canBeMade, "openssl is missing"),
        arguments: [0, 1, 42, 99, 100, 600, 1000, 70_000])
    func secure(status: Int) async throws {
        let certificate = try SecureServer.Certificate(host: "localhost")
        let server = try await SecureServer(certificate)
        let transport = try AsyncHTTPClientTransport(trustRoots: .files([certificate.path]))
        let error = try await transportError {
            try await transport.send(WebRequest(.get, server.url + "/status/\(status)"), limits: limits)
        }
        if (200...999).contains(status) {
            expect(error, equals: nil)
        } else if status != 100 {
            expect(error?.kind, equals: .malformed, "\(String(describing: error))")
        }
        let next = try await transport.send(WebRequest(.get, server.url + "/next"), limits: limits)
        expect(next.text, equals: "2 /next")
    }
}
#endif
