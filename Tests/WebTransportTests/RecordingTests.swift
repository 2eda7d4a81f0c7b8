import Foundation
import TestSupport
import Testing

@testable import WebTransport

@Suite("Cassettes give back what was recorded, without secrets")
struct RecordingTests {
    private let limits = TransportLimits()

    /// Sends requests through a recorder, and returns what it has recorded.
    private func record(_ exchanges: [(WebRequest, WebResponse)], removing removal: SecretRemoval = SecretRemoval()) async throws
        -> Cassette
    {
        let recorder = RecordingTransport(ScriptedTransport { _, index in exchanges[index].1 }, removing: removal)
        for (request, _) in exchanges { _ = try await recorder.send(request, limits: limits) }
        return recorder.cassette
    }

    @Test("Bodies come back to the byte, and a file of text has a line for each part of JSON")
    func bodies() async throws {
        let bodies: [[UInt8]] = [
            [], Array("line 1\r\nline 2\n".utf8), [0, 255, 128], Array("\u{FEFF}ä😀\u{0}".utf8), Array("{\"a\": \"\\\"".utf8),
            Array(
                ("[" + (0..<50).map { "{\"id\": \($0), \"title\": \"A, \\\"title\\\", of \($0) \\u00e4 😀\"}" }.joined(separator: ",") + "]")
                    .utf8),
        ]
        let cassette = try await record(
            bodies.enumerated().map {
                (WebRequest(.put, base + "/\($0)", body: $1), WebResponse(status: 200, headers: ["A": "b:c"], body: $1))
            })
        let bytes = try cassette.bytes()
        try expect(Cassette(bytes: bytes), equals: cassette)
        expect(cassette.interactions.map(\.response.body), equals: bodies)
        expect(cassette.interactions.map(\.request.body), equals: bodies)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for number in 1..<50 { #expect(lines.contains { $0.hasPrefix("\"{\\\"id\\\": \(number), ") }) }
    }

    @Test("A file that is no cassette is an error that says where")
    func broken() throws {
        for (text, word) in [
            ("", "file"), ("[]", "file"), (#"{"format": 2, "interactions": []}"#, "format 1"),
            (#"{"format": 1, "interactions": [{"request": {"method": "GET", "url": "a"}}]}"#, "interactions[0] has no response"),
            (
                #"{"format": 1, "interactions": [{"request": {"method": "GET", "url": 1}, "response": {"status": 1}}]}"#,
                "interactions[0].request.url"
            ),
            (
                #"{"format": 1, "interactions": [{"request": {"method": "GET", "url": "a"}, "response": {"status": 1, "bodyBase64": "!"}}]}"#,
                "base 64"
            ),
        ] {
            let error = #expect(throws: TransportError.self) { try Cassette(bytes: Array(text.utf8)) }
            expect(error?.description.contains(word), equals: true, "\(error.map { "\($0)" } ?? "none")")
        }
        let error = #expect(throws: TransportError.self) { try Cassette(contentsOfFile: "/no/such/cassette") }
        expect(error?.description.contains("/no/such/cassette"), equals: true)
    }

    @Test("Requests are answered by method, address and body; repeated ones in their order, then by the last answer")
    func replay() async throws {
        let cassette = try await record([
            (WebRequest(.get, base + "/a?api_key=Zebra&page[number]=1"), .text("1")),
            (WebRequest(.get, base + "/a?api_key=Zebra&page[number]=1"), .text("2")),
            (WebRequest(.post, base + "/a", body: Array(#"{"a": 1, "b": 2}"#.utf8)), .text("3")),
            (WebRequest(.post, base + "/a", body: Array(#"{"a": 2}"#.utf8)), .text("4")),
        ])
        let player = ReplayingTransport(try Cassette(bytes: cassette.bytes()))
        func play(_ request: WebRequest) async throws -> String { try await player.send(request, limits: limits).text }
        for expected in ["1", "2", "2", "2"] {
            #expect(try await play(WebRequest(.get, base + "/a?api_key=other&page%5Bnumber%5D=1")) == expected)
        }
        #expect(try await play(WebRequest(.post, base + "/a", body: Array(#"{"b":2,"a":1}"#.utf8))) == "3")
        #expect(try await play(WebRequest(.post, base + "/a", body: Array(#"{"a": 2}"#.utf8))) == "4")
        for (request, nearest) in [
            (WebRequest(.post, base + "/a", body: Array(#"{"a":7}"#.utf8)), "POST \(base)/a, whose body"),
            (WebRequest(.delete, base + "/a"), "POST \(base)/a."),
            (WebRequest(.get, base + "/a?api_key=Zebra&page[number]=2"), "GET \(base)/a?api_key=REMOVED"),
        ] {
            let error = try await transportError { try await player.send(request, limits: limits) }
            expect(error?.kind, equals: .notRecorded)
            expect(error?.detail.contains(nearest), equals: true, "\(error.map { "\($0)" } ?? "none")")
            expect(error.map { "\($0)".contains("Zebra") }, equals: false)
        }
        let empty = try await transportError { try await ReplayingTransport(Cassette()).send(WebRequest(.get, base), limits: limits) }
        expect(empty?.detail, equals: "The cassette is empty.")
    }

    @Test("Secrets of headers, queries, forms and JSON are left out, and the rest of a body stays as it is")
    func removal() async throws {
        let json =
            #"{"access_token" : "Zebra\"1", "n": 1.50, "list": ["access_token", "kept"], "own": "Zebra2", "password": null, "a":{"token":"Zebra3"}}"#
        let cassette = try await record(
            [
                (
                    WebRequest(
                        .post, base + "/a?x=1&token=Zebra4&own=Zebra5",
                        headers: ["Authorization": "Bearer Zebra6", "X-Own": "Zebra7", "Accept": "*/*"],
                        body: Array("grant_type=refresh_token&refresh_token=Zebra8&client_secret=Zebra9".utf8)),
                    .text(json, headers: ["Set-Cookie": "sid=Zebra0; Path=/", "Content-Type": "application/json"])
                )
            ], removing: SecretRemoval(headers: ["x-own"], queryItems: ["own"], fields: ["own"]))
        let interaction = try #require(cassette.interactions.first)
        expect(interaction.request.url, equals: base + "/a?x=1&token=REMOVED&own=REMOVED")
        expect(interaction.request.headers, equals: ["Authorization": "REMOVED", "X-Own": "REMOVED", "Accept": "*/*"])
        expect(
            interaction.request.body.map { String(decoding: $0, as: UTF8.self) },
            equals: "grant_type=refresh_token&refresh_token=REMOVED&client_secret=REMOVED")
        expect(
            interaction.response.text,
            equals:
                #"{"access_token" : "REMOVED", "n": 1.50, "list": ["access_token", "kept"], "own": "REMOVED", "password": null, "a":{"token":"REMOVED"}}"#
        )
        expect(interaction.response.headers, equals: ["Set-Cookie": "sid=REMOVED; Path=/", "Content-Type": "application/json"])
    }

    @Test("A cassette recorded with tokens and a session plays for a client with others")
    func client() async throws {
        let service = ScriptedTransport { request, _ in
            if request.url.hasSuffix("/token") { return .text(#"{"access_token": "Zebra-token"}"#) }
            guard request.headers["Authorization"] == "Bearer Zebra-token" else { return .text("", status: 401) }
            return .text(#"{"next": "\#(base)/a?key=Zebra-key&page=2", "note": "Zebra-token"}"#)
        }
        func options(_ secret: String) -> Authentication {
            .all([
                .oauth2(OAuth2(tokenURL: base + "/token", clientID: "me", clientSecret: .value(secret), clientPlace: .body)),
                .query(name: "key", value: .value(secret + "-key")),
            ])
        }
        let recorder = RecordingTransport(service)
        let request = WebRequest(.get, base + "/a")
        _ = try await makeClient(recorder) { $0.authentication = options("Zebra") }.send(request)
        let bytes = try recorder.cassette.bytes()
        #expect(!String(decoding: bytes, as: UTF8.self).contains("Zebra"))
        let response = try await makeClient(ReplayingTransport(Cassette(bytes: bytes))) { $0.authentication = options("Other") }.send(
            request)
        expect(response.text, equals: #"{"next": "\#(base)/a?key=REMOVED&page=2", "note": "REMOVED"}"#)
    }
}
