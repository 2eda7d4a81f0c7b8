#if WebBackend
import Foundation
import TestSupport
import Testing

@testable import WebTransport

@Suite(
    "Connections are encrypted, and services prove who they are",
    .enabled(if: SecureServer.Certificate.canBeMade, "There is no openssl to make a certificate with."))
struct SecurityTests {
    private let limits = TransportLimits(connectSeconds: 20, requestSeconds: 30)

    @Test("Requests side by side to a service that speaks HTTP/2 share one connection")
    func http2() async throws {
        let certificate = try SecureServer.Certificate(host: "localhost")
        let server = try await SecureServer(certificate)
        let transport = try AsyncHTTPClientTransport(trustRoots: .files([certificate.path]))
        #expect(try await transport.send(WebRequest(.get, server.url + "/first"), limits: limits).text == "2 /first")
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { [limits] in try await transport.send(WebRequest(.post, server.url + "/a", body: [1]), limits: limits).text }
            }
            for try await text in group { expect(text, equals: "2 /a") }
        }
        expect(server.connections, equals: 1)
        expect(server.requests, equals: 51)
    }

    @Test("HTTP/1.1 is spoken where the program wants it, and the system's authorities may be trusted besides")
    func http1() async throws {
        let certificate = try SecureServer.Certificate(host: "localhost")
        let server = try await SecureServer(certificate)
        let transport = try AsyncHTTPClientTransport(trustRoots: .systemAndFiles([certificate.path]), speaksHTTP2: false)
        #expect(try await transport.send(WebRequest(.get, server.url), limits: limits).text == "1 /")
    }

    @Test("A service that cannot prove who it is gets no request")
    func untrusted() async throws {
        let certificate = try SecureServer.Certificate(host: "localhost")
        let server = try await SecureServer(certificate)
        let unknown = try await transportError { try await AsyncHTTPClientTransport().send(WebRequest(.get, server.url), limits: limits) }
        expect(unknown?.kind, equals: .untrusted, "\(unknown.map { "\($0)" } ?? "none")")

        let other = try SecureServer.Certificate(host: "other.example")
        let otherServer = try await SecureServer(other)
        let transport = try AsyncHTTPClientTransport(trustRoots: .files([other.path]))
        let wrong = try await transportError { try await transport.send(WebRequest(.get, otherServer.url), limits: limits) }
        expect(wrong?.kind, equals: .untrusted, "\(wrong.map { "\($0)" } ?? "none")")
        expect(server.requests + otherServer.requests, equals: 0)
    }

    @Test("A file of certificates that cannot be read is an error that names it")
    func missing() {
        let error = #expect(throws: TransportError.self) { try AsyncHTTPClientTransport(trustRoots: .files(["/no/such/file.pem"])) }
        expect(error?.description.contains("/no/such/file.pem"), equals: true)
    }
}
#endif
