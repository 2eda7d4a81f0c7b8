import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("Requests of users") struct PrincipalTests {
    private struct Session: Sendable {
        var user: String?
        var token: String
    }

    private func userClient(_ transport: some Transport, _ session: LockedBox<Session>, reads: LockedBox<Int> = LockedBox(0)) throws
        -> WebClient
    {
        try makeClient(transport) { options in
            options.retries = .never
            options.keepsCookies = true
            options.principal = { session.withLock { $0.user } }
            options.authentication = .bearer(
                .closure {
                    reads.withLock { $0 += 1 }
                    return session.withLock { $0.token }
                })
        }
    }

    private func request(_ principal: String?) -> WebRequest {
        var request = WebRequest(.patch, base + "/a", body: Array("{}".utf8))
        request.principal = principal
        return request
    }

    @Test("A request of a user is sent with that user's credentials, or not at all") func others() async throws {
        let transport = ScriptedTransport(.text("yes"))
        let session = LockedBox(Session(user: "anna", token: "for-anna"))
        let client = try userClient(transport, session)
        _ = try await client.send(request("anna"))
        session.withLock { $0 = Session(user: "bob", token: "for-bob") }
        let error = try await transportError { try await client.send(request("anna")) }
        expect(error?.kind, equals: .unauthorized)
        expect(error?.isTemporary, equals: false)
        expect(transport.requests.map { $0.headers["Authorization"] }, equals: ["Bearer for-anna"])
    }

    @Test("When another user signs in, credentials and cookies of the one before are forgotten, for every request") func forgets()
        async throws
    {
        let transport = ScriptedTransport(.text("yes", headers: ["Set-Cookie": "session=annas; Path=/"]), .text("yes"))
        let session = LockedBox(Session(user: "anna", token: "for-anna"))
        let reads = LockedBox(0)
        let client = try userClient(transport, session, reads: reads)
        for _ in 0..<2 { _ = try await client.send(request(nil)) }
        expect(reads.withLock { $0 }, equals: 1)
        session.withLock { $0 = Session(user: "bob", token: "for-bob") }
        for principal in [nil, "bob"] as [String?] { _ = try await client.send(request(principal)) }
        expect(
            transport.requests.map { $0.headers["Authorization"] },
            equals: ["Bearer for-anna", "Bearer for-anna", "Bearer for-bob", "Bearer for-bob"])
        expect(transport.requests.map { $0.headers["Cookie"] }, equals: [nil, "session=annas", nil, nil])
    }

    @Test("Who signs in while a credential is read, or after one was refused, sends nothing of the user before", arguments: [false, true])
    func meanwhile(isRefused: Bool) async throws {
        let session = LockedBox(Session(user: "anna", token: "for-anna"))
        let isFirst = LockedBox(true)
        let transport = ScriptedTransport { _, _ in
            if isRefused { session.withLock { $0 = Session(user: "bob", token: "for-bob") } }
            return .text("", status: 401)
        }
        let client = try makeClient(transport) { options in
            options.retries = .never
            options.principal = { session.withLock { $0.user } }
            options.authentication = .bearer(
                .closure {
                    let switches = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst && !isRefused
                    }
                    if switches { session.withLock { $0 = Session(user: "bob", token: "for-bob") } }
                    return session.withLock { $0.token }
                })
        }
        if isRefused {
            #expect(try await client.send(request("anna")).status == 401)
        } else {
            let error = try await transportError { try await client.send(request("anna")) }
            expect(error?.kind, equals: .unauthorized)
        }
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer for-anna" }, "\(transport.requests)")
        _ = try await client.send(request("bob"))
        expect(transport.requests.last?.headers["Authorization"], equals: "Bearer for-bob")
    }

    @Test("The name of a password's user is the user, unless the options tell another") func named() throws {
        let transport = ScriptedTransport(.text("yes"))
        let basic = Authentication.basic(user: "anna", password: .value("word"))
        expect(try makeClient(transport) { $0.authentication = basic }.principal, equals: "anna")
        let other = try makeClient(transport) { options in
            options.authentication = basic
            options.principal = { "anna@work" }
        }
        expect(other.principal, equals: "anna@work")
        #expect(try makeClient(transport) { $0.authentication = .bearer(.value("abcd")) }.principal == nil)
    }

    @Test("A redirect to a page for signing in is an answer, and not followed with credentials; others are followed")
    func signInPages() async throws {
        let pages = [
            "/login", "/users/sign_in?next=/a", "https://login.example.com/", "https://auth.example.com/x", "/wp-login.php",
            "/oauth2/authorize?x=1",
            "/session/new", "/Account/Login.aspx",
        ]
        for page in pages {
            let transport = ScriptedTransport(.redirect(302, page), .text("page"))
            let client = try makeClient(transport) { $0.authentication = .bearer(.value("abcd")) }
            #expect(try await client.send(WebRequest(.get, base + "/a")).status == 302, "\(page)")
            let plain = ScriptedTransport(.redirect(302, page), .text("page"))
            #expect(try await makeClient(plain).send(WebRequest(.get, base + "/a")).redirectedTo != nil, "\(page)")
        }
        for page in ["/albums/7", "https://other.example.com/a", "/loginsOfToday", "/blog/in", "/session"] {
            let transport = ScriptedTransport(.redirect(302, page), .text("{}"))
            let client = try makeClient(transport) { $0.authentication = .bearer(.value("abcd")) }
            #expect(try await client.send(WebRequest(.get, base + "/a")).status == 200, "\(page)")
        }
    }

    @Test("Answers that say that credentials have run out, and others that look like them")
    func signs() {
        func text(_ text: String, _ status: Int, _ headers: WebHeaders = [:]) -> WebResponse {
            .text(text, status: status, headers: headers)
        }
        let expired = [
            text("", 401), text("", 419), text("", 440), text("", 498), text(#"{"error": "invalid_grant"}"#, 400),
            text(#"{"error": {"code": "TOKEN_EXPIRED"}}"#, 403), text(#"{"error": {"status": "UNAUTHENTICATED"}}"#, 403),
            text(#"{"detail": "Authentication credentials were not provided."}"#, 403),
            text(#"{"message": "Your session has expired"}"#, 403),
            text("", 403, ["WWW-Authenticate": #"Bearer error="invalid_token""#]),
            text("\u{FEFF} <html><title>Please log in</title>", 200), text("<form><input type='password'></form>", 200),
        ]
        for response in expired { #expect(response.refusesCredentials(), "\(response.status) \(response.text)") }
        let others = [
            text("{}", 200), text("", 403), text(#"{"message": "You may not do this."}"#, 403), text(#"{"error": "invalid_request"}"#, 400),
            text(#"{"error": "invalid_token_count"}"#, 422), text("<html><title>Not found</title>", 404), text("<html>ok", 200),
            text("", 500),
            text(#"{"message": "Unexpected token: invalid token"}"#, 500), text(#"{"title": "login"}"#, 200), text("", 429),
        ]
        for response in others { #expect(!response.refusesCredentials(), "\(response.status) \(response.text)") }
    }

    @Test("That a service of tokens cannot be reached, or is busy, passes by itself; that it refuses does not")
    func temporary() async throws {
        let tokens = OAuth2(tokenURL: "https://tokens.example.com/token", clientID: "me", clientSecret: .value("Zebra-secret"))
        func isTemporary(_ answer: @escaping @Sendable () throws -> WebResponse) async throws -> Bool? {
            let client = try makeClient(ScriptedTransport { _, _ in try answer() }) { options in
                options.authentication = .oauth2(tokens)
                options.retries = .never
            }
            return try await transportError { try await client.send(request(nil)) }?.isTemporary
        }
        #expect(try await isTemporary { throw TransportError(.cannotConnect, request: "") } == true)
        #expect(try await isTemporary { .text("", status: 503) } == true)
        #expect(try await isTemporary { .text(#"{"error": "invalid_grant"}"#, status: 400) } == false)
        let closures: [(any Error, Bool)] = [
            (URLError(.notConnectedToInternet), true), (URLError(.userAuthenticationRequired), false), (CocoaError(.fileNoSuchFile), false),
        ]
        for (thrown, passes) in closures {
            let client = try makeClient(ScriptedTransport(.text("yes"))) { $0.authentication = .bearer(.closure { throw thrown }) }
            #expect(try await transportError { try await client.send(request(nil)) }?.isTemporary == passes, "\(thrown)")
        }
    }
}
