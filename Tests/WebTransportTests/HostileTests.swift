import TestSupport
import Testing

@testable import WebTransport

@Suite("Whatever a service says, a client ends in an answer or an error")
struct HostileTests {
    @Test("Random headers, statuses and bodies stop nothing")
    func random() async throws {
        let seed = TestSeed.current(for: "HostileTests.random")
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "0", "1", "-1", "1e309", "nan", "99999999999999999999", ",", ";", "=", " ", ":", "/", "//", "..", "?", "#", "%", "%zz", "[",
            "]", "@", "\\",
            "\"", "https:", "http://", "https://api.example.com", "evil.example", "Sun, 06 Nov 1994 08:49:37 GMT", "Max-Age", "Expires",
            "Path", "a",
            "remaining", "reset", "r", "t", "ä", "\u{0}", "😀", "{", "}", "token", "error",
        ]
        func text() -> String {
            (0..<Int.random(in: 0...8, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        }
        let names = [
            "Location", "Retry-After", "Set-Cookie", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "Content-Type",
            "RateLimit-Remaining",
            "RateLimit-Reset",
        ]
        for _ in TestRounds(seconds: 0.4, atLeast: 10) {
            var responses: [WebResponse] = []
            for _ in 0..<8 {
                var headers = WebHeaders()
                for name in names where Bool.random(using: &generator) { headers.add(name, text()) }
                let status = [200, 201, 204, 301, 302, 303, 307, 308, 401, 403, 404, 429, 500, 503].randomElement(using: &generator) ?? 200
                responses.append(.text(text(), status: status, headers: headers))
            }
            let answers = responses
            let recorder = RecordingTransport(ScriptedTransport { _, index in answers[index % answers.count] })
            let client = try makeClient(recorder) {
                $0.authentication = .all([
                    .oauth2(OAuth2(tokenURL: base + "/token", clientID: "me")),
                    .session(LoginSession(url: base + "/login", secretFields: ["word": .value("Zebra")])),
                    .csrf(CSRFToken(url: base + "/csrf", source: .json(["token"]))),
                ])
            }
            for authentication in [client, try makeClient(recorder) { $0.keepsCookies = true }] {
                for _ in 0..<3 {
                    do {
                        _ = try await authentication.send(WebRequest(.post, base + "/a?x=1", body: [1]))
                    } catch is TransportError {
                        // It says what is wrong.
                    }
                }
            }
            let cassette = recorder.cassette
            try expect(Cassette(bytes: cassette.bytes()), equals: cassette, "seed \(seed)")
        }
    }
}
