import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

/// A service with tokens, cookies and a CSRF token, in memory.
private final class Service: Sendable {
    struct State {
        /// The requests for tokens that came.
        var tokenRequests: [WebRequest] = []
        var currentToken = 0
        var saves = 0
        var logins = 0
    }

    let state = LockedBox(State())
    /// What the service for tokens answers: gets the number of the token.
    let tokenAnswer: @Sendable (Int) -> WebResponse

    init(tokenAnswer: @escaping @Sendable (Int) -> WebResponse = { .text(#"{"access_token": "Token-\#($0)", "token_type": "bearer"}"#) }) {
        self.tokenAnswer = tokenAnswer
    }

    var tokenRequests: [WebRequest] { state.withLock { $0.tokenRequests } }

    /// Makes the tokens given until now useless.
    func revoke() { state.withLock { $0.currentToken += 1 } }

    func answer(_ request: WebRequest) -> WebResponse {
        state.withLock { state in
            if request.url.hasSuffix("/token") {
                state.tokenRequests.append(request)
                state.currentToken += 1
                return tokenAnswer(state.currentToken)
            }
            guard request.headers["Authorization"] == "Bearer Token-\(state.currentToken)" else { return .text("", status: 401) }
            state.saves += 1
            return .text("saved")
        }
    }

    var transport: ScriptedTransport {
        ScriptedTransport { request, _ in
            // Others get their turn while this one is on its way.
            await Task.yield()
            return self.answer(request)
        }
    }
}

@Suite("Tokens, sessions and CSRF tokens are fetched once, and renewed when they are no longer taken")
struct TokenTests {
    private let save = WebRequest(.post, base + "/a", body: Array("{}".utf8))
    private let tokens = OAuth2(tokenURL: "https://login.example.com/token", clientID: "me", clientSecret: .value("Zebra-secret"))

    @Test("Fifty saves side by side fetch one token, and one more when it is revoked")
    func fifty() async throws {
        let service = Service()
        let client = try makeClient(service.transport) {
            $0.authentication = .oauth2(tokens)
            $0.maximumConcurrentRequestsPerHost = 4
        }
        func fiftySaves() async throws {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await client.send(save).status } }
                for try await status in group { expect(status, equals: 200) }
            }
        }
        try await fiftySaves()
        expect(service.tokenRequests.count, equals: 1)
        expect(service.state.withLock { $0.saves }, equals: 50)
        service.revoke()
        try await fiftySaves()
        expect(service.tokenRequests.count, equals: 2)
        expect(service.state.withLock { $0.saves }, equals: 100)
    }

    @Test("The tokens may be given by the host of the service itself, with one request to it at a time")
    func sameHost() async throws {
        let service = Service()
        var description = tokens
        description.tokenURL = base + "/token"
        let client = try makeClient(service.transport) { [description] in
            $0.authentication = .oauth2(description)
            $0.maximumConcurrentRequestsPerHost = 1
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await client.send(save).status } }
            for try await status in group { expect(status, equals: 200) }
        }
        expect(service.tokenRequests.count, equals: 1)
    }

    @Test("A token is renewed before it is over")
    func expiry() async throws {
        let time = VirtualTime()
        let service = Service { .text(#"{"access_token": "Token-\#($0)", "expires_in": 3600}"#) }
        let client = try makeClient(service.transport, time: time) { $0.authentication = .oauth2(tokens) }
        #expect(try await client.send(save).status == 200)
        time.advance(3500)
        #expect(try await client.send(save).status == 200)
        expect(service.tokenRequests.count, equals: 1)
        time.advance(80)
        #expect(try await client.send(save).status == 200)
        expect(service.tokenRequests.count, equals: 2)
    }

    @Test("The client's name and secret stand in the header or in the body, and the grants have their fields")
    func grants() async throws {
        let service = Service { .text(#"{"access_token": "Token-\#($0)", "refresh_token": "Refresh-\#($0)"}"#) }
        let kept = LockedBox<[String]>([])
        var description = tokens
        description.scopes = ["read", "write"]
        let credentials = try makeClient(service.transport) { [description] in $0.authentication = .oauth2(description) }
        _ = try await credentials.send(save)
        let first = try #require(service.tokenRequests.last)
        expect(first.headers["Authorization"], equals: "Basic " + Data("me:Zebra-secret".utf8).base64EncodedString())
        expect(first.body.map { String(decoding: $0, as: UTF8.self) }, equals: "grant_type=client_credentials&scope=read%20write")

        description.grant = .refreshToken(.value("Refresh-0"))
        description.clientPlace = .body
        description.scopes = []
        description.keepsRefreshToken = { token in kept.withLock { $0.append(token) } }
        let refreshing = try makeClient(service.transport) { [description] in $0.authentication = .oauth2(description) }
        _ = try await refreshing.send(save)
        service.revoke()
        _ = try await refreshing.send(save)
        expect(
            service.tokenRequests.dropFirst().map { String(decoding: $0.body ?? [], as: UTF8.self) },
            equals: [
                "grant_type=refresh_token&refresh_token=Refresh-0&client_id=me&client_secret=Zebra-secret",
                "grant_type=refresh_token&refresh_token=Refresh-2&client_id=me&client_secret=Zebra-secret",
            ])
        expect(kept.withLock { $0 }, equals: ["Refresh-2", "Refresh-4"])
    }

    @Test(
        "What a service for tokens says instead of one is an error without secrets",
        arguments: [
            (#"{"error": "invalid_grant", "error_description": "Zebra-secret is wrong"}"#, 400, "invalid_grant"),
            ("<html>Zebra-secret</html>", 500, "500"), ("{}", 200, "access_token"), ("[", 200, "access_token"),
            (#"{"access_token": "a\r\nX: Zebra"}"#, 200, "characters"), (#"{"access_token": "abcd", "token_type": "mac"}"#, 200, "Bearer"),
            ("", 302, "302"),
        ])
    func errors(body: String, status: Int, word: String) async throws {
        let service = Service { _ in .text(body, status: status, headers: ["Location": "https://evil.example/token"]) }
        let transport = service.transport
        let client = try makeClient(transport) {
            $0.authentication = .oauth2(tokens)
            $0.retries = .never
        }
        let error = try await transportError { try await client.send(save) }
        expect(error?.kind, equals: .unauthorized)
        expect(error.map { "\($0)".contains(word) && !"\($0)".contains("Zebra") }, equals: true, "\(error.map { "\($0)" } ?? "none")")
        // A request with the client's secret follows no redirect, and the save was not sent.
        expect(transport.requests.count, equals: 1)
    }

    @Test("A request whose token is lost on its way has not arrived")
    func lostToken() async throws {
        let transport = ScriptedTransport { request, _ in throw TransportError(.lost, request: request.summary) }
        let client = try makeClient(transport) { $0.authentication = .oauth2(tokens) }
        let error = try await transportError { try await client.send(save) }
        expect(error?.kind, equals: .unauthorized)
        expect(error?.mayHaveArrived, equals: false)
        #expect(transport.requests.allSatisfy { $0.url == tokens.tokenURL })
    }

    @Test("Who is cancelled while a token comes does not wait, and the others get it")
    func cancelled() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport { request, _ in
            guard request.url.hasSuffix("/token") else { return .text("saved") }
            arrived.yield()
            for await _ in gate { break }
            return .text(#"{"access_token": "abcd"}"#)
        }
        let client = try makeClient(transport) { $0.authentication = .oauth2(tokens) }
        let first = Task { try await client.send(save) }
        for await _ in arrivals { break }
        let second = Task { try await client.send(save) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        opened.yield()
        #expect(try await second.value.status == 200)
    }

    @Test("A CSRF token comes with its cookie, goes with requests that change something, and is fetched once more after a 403")
    func csrf() async throws {
        let number = LockedBox(0)
        let transport = ScriptedTransport { request, _ in
            let current = number.withLock { $0 }
            if request.url.hasSuffix("/token") {
                let next = number.withLock { number in
                    number += 1
                    return number
                }
                return WebResponse(status: 200, headers: ["Set-Cookie": "csrftoken=Zebra-\(next); Path=/; SameSite=Lax"])
            }
            guard request.method != .get else { return .text("read") }
            let isRight =
                request.headers["X-CSRFToken"] == "Zebra-\(current)" && request.headers["Cookie"] == "csrftoken=Zebra-\(current)"
                && request.headers["Referer"] == base + "/"
            return .text("", status: isRight ? 200 : 403)
        }
        let client = try makeClient(transport) {
            $0.authentication = .csrf(CSRFToken(url: base + "/token", source: .cookie("csrftoken")))
        }
        #expect(try await client.send(WebRequest(.get, base + "/a")).text == "read")
        expect(transport.requests.count, equals: 1)
        #expect(try await client.send(save).status == 200)
        #expect(try await client.send(save).status == 200)
        expect(number.withLock { $0 }, equals: 1)
        number.withLock { $0 = 7 }
        #expect(try await client.send(save).status == 200)
        expect(number.withLock { $0 }, equals: 8)
    }

    @Test("A request that is forbidden for another reason fetches one CSRF token and ends")
    func forbidden() async throws {
        let transport = ScriptedTransport { request, index in
            request.url.hasSuffix("/token") ? .text(#"{"data": {"token": "Zebra-\#(index)"}}"#) : .text("", status: 403)
        }
        let client = try makeClient(transport) {
            $0.authentication = .csrf(CSRFToken(url: base + "/token", source: .json(["data", "token"])))
        }
        #expect(try await client.send(save).status == 403)
        expect(transport.requests.map { $0.url.hasSuffix("/token") }, equals: [true, false, true, false])
    }

    @Test("A CSRF token is fetched with the credentials that stand before it, and each kind of credentials is renewed once for a request")
    func several() async throws {
        let state = LockedBox((token: "Zebra-1", password: "first"))
        let transport = ScriptedTransport { request, _ in
            let (token, password) = state.withLock { $0 }
            guard request.headers["X-Key"] == password else { return .text("", status: 401) }
            if request.url.hasSuffix("/token") {
                return request.headers["X-CSRF"] == "Fetch" ? .text("", headers: ["X-CSRF": token]) : .text("", status: 400)
            }
            return .text("", status: request.headers["X-CSRF"] == token ? 200 : 403)
        }
        let client = try makeClient(transport) {
            $0.authentication = .all([
                .header(name: "X-Key", value: .closure { state.withLock { $0.password } }),
                .csrf(CSRFToken(url: base + "/token", source: .header("X-CSRF"), header: "X-CSRF", fetchHeaders: ["X-CSRF": "Fetch"])),
            ])
        }
        #expect(try await client.send(save).status == 200)
        state.withLock { $0 = ("Zebra-2", "second") }
        #expect(try await client.send(save).status == 200)
        expect(transport.requests.map { $0.url.hasSuffix("/token") }, equals: [true, false, false, false, true, false])
    }

    @Test("A session begins with a login, carries on by cookies, and begins again when it is over")
    func session() async throws {
        let current = LockedBox(0)
        let transport = ScriptedTransport { request, _ in
            if request.url.hasSuffix("/login/token") { return WebResponse(status: 200, headers: ["Set-Cookie": "csrf=Zebra-csrf; Path=/"]) }
            if request.url.hasSuffix("/login") {
                let body = String(decoding: request.body ?? [], as: UTF8.self)
                guard body == "password=Zebra%20word&user=anna", request.headers["X-CSRF"] == "Zebra-csrf" else { return .text("again") }
                let next = current.withLock { current in
                    current += 1
                    return current
                }
                return WebResponse(
                    status: 302, headers: ["Location": "/home", "Set-Cookie": "sid=Zebra-\(next); Path=/; HttpOnly; Secure"])
            }
            let isIn = request.headers["Cookie"]?.contains("sid=Zebra-\(current.withLock { $0 })") == true
            return .text("", status: isIn ? 200 : 401)
        }
        let session = LoginSession(
            url: base + "/login", fields: ["user": "anna"], secretFields: ["password": .value("Zebra word")], cookie: "sid",
            csrf: CSRFToken(url: base + "/login/token", source: .cookie("csrf"), header: "X-CSRF"))
        let client = try makeClient(transport) { $0.authentication = .session(session) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await client.send(save).status } }
            for try await status in group { expect(status, equals: 200) }
        }
        expect(current.withLock { $0 }, equals: 1)
        current.withLock { $0 = 5 }
        #expect(try await client.send(save).status == 200)
        expect(current.withLock { $0 }, equals: 6)

        var wrong = session
        wrong.secretFields = ["password": .value("Zebra wrong")]
        let failing = try makeClient(transport) { [wrong] in $0.authentication = .session(wrong) }
        let error = try await transportError { try await failing.send(save) }
        expect(error?.kind, equals: .unauthorized)
        expect(error.map { "\($0)".contains("sid") && !"\($0)".contains("Zebra") }, equals: true)
    }

    @Test("Cookies go back to their origin and path, until they are over")
    func cookies() {
        let jar = CookieJar()
        let secrets = Secrets()
        func set(_ line: String, _ url: String) {
            jar.store(
                from: WebResponse(status: 200, headers: ["Set-Cookie": line]), to: url, secrets: secrets, secondsNow: 0,
                dateNow: 784_111_777)
        }
        func cookie(_ url: String, at seconds: Double = 1) -> String? {
            var request = WebRequest(.get, url)
            jar.add(to: &request, secondsNow: seconds)
            return request.headers["Cookie"]
        }
        set("a=1; Path=/; Domain=example.com", "https://api.example.com/x")
        set("b=2; Path=/deep; Max-Age=10", "https://api.example.com/x")
        set("c=3; Path=/; Expires=Sun, 06 Nov 1994 08:49:57 GMT", "https://api.example.com/x")
        set("d=4; Secure", "http://api.example.com/")
        expect(cookie("https://api.example.com/"), equals: "a=1; c=3")
        expect(cookie("https://api.example.com/deep/x"), equals: "b=2; a=1; c=3")
        expect(cookie("https://api.example.com/deeper", at: 30), equals: "a=1")
        expect(cookie("https://api.example.com/deep", at: 11), equals: "a=1; c=3")
        for other in ["https://www.example.com/", "http://api.example.com/", "https://api.example.com:444/"] {
            #expect(cookie(other) == nil)
        }
        set("a=; Max-Age=0; Path=/", "https://api.example.com/x")
        #expect(cookie("https://api.example.com/", at: 30) == nil)
        for number in 0..<1000 { set("n\(number)=1", "https://api.example.com/") }
        #expect((cookie("https://api.example.com/")?.split(separator: ";").count ?? 0) <= 100)
    }
}
