import Foundation
import Platform
import TestSupport
import Testing

@testable import WebTransport

@Suite("Clients show who they are")
struct AuthenticationTests {
    private let get = WebRequest(.get, base + "/a?x=1")
    private let post = WebRequest(.post, base + "/a", body: Array("{}".utf8))

    /// Sends a request with an authentication, and returns it as it arrived.
    private func sent(_ authentication: Authentication, _ request: WebRequest) async throws -> WebRequest {
        let transport = ScriptedTransport(.text("yes"))
        _ = try await makeClient(transport) { $0.authentication = authentication }.send(request)
        return try #require(transport.requests.last)
    }

    @Test("Tokens, passwords and keys stand where they should")
    func places() async throws {
        #expect(try await sent(.bearer(.value("abcd")), get).headers["authorization"] == "Bearer abcd")
        #expect(try await sent(.basic(user: "anna", password: .value("ä:b")), get).headers["authorization"] == "Basic YW5uYTrDpDpi")
        #expect(try await sent(.header(name: "X-Key", value: .value("abcd")), get).headers["x-key"] == "abcd")
        let token = try await sent(.header(name: "Authorization", value: .value("abcd"), prefix: "Token "), get)
        expect(token.headers["authorization"], equals: "Token abcd")
        #expect(try await sent(.query(name: "key", value: .value("a&b c")), get).url == base + "/a?x=1&key=a%26b%20c")
        let replaced = try await sent(.query(name: "key", value: .value("abcd")), WebRequest(.get, base + "/a?key=1&x=1#f"))
        expect(replaced.url, equals: base + "/a?x=1&key=abcd")
    }

    @Test("A signing closure sees the whole request, each time it is sent")
    func signing() async throws {
        let transport = ScriptedTransport(.text("", status: 503), .text("yes"))
        let count = LockedBox(0)
        _ = try await makeClient(transport) { options in
            options.authentication = .all([
                .signing { request in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    request.headers["X-Signature"] = "\(number) \(request.headers["Authorization"] ?? "")"
                }, .bearer(.value("abcd")),
            ])
        }.send(get)
        expect(transport.requests.map { $0.headers["X-Signature"] }, equals: ["1 Bearer abcd", "2 Bearer abcd"])
    }

    @Test("A credential that cannot be had is an error that names its place, and nothing is sent")
    func missing() async throws {
        struct Broken: Error {}
        for (credential, place) in [
            (Credential.environment("NO_SUCH_VARIABLE_FOR_TESTS"), "NO_SUCH_VARIABLE_FOR_TESTS"), (.file("/no/such/file"), "/no/such/file"),
            (.closure { throw Broken() }, "Broken"), (.value(""), "empty"), (.value("Zebra\r\nX: 1"), "control"),
        ] {
            let transport = ScriptedTransport(.text("yes"))
            let error = try await transportError { try await makeClient(transport) { $0.authentication = .bearer(credential) }.send(get) }
            expect(error?.kind, equals: .unauthorized)
            expect(error.map { "\($0)".contains(place) && !"\($0)".contains("Zebra") }, equals: true, "\(error.map { "\($0)" } ?? "none")")
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("A file with a new token is read again when the service no longer takes the old one")
    func rotated() async throws {
        let folder = try ScratchFolder("token")
        defer { folder.remove() }
        let path = folder.file("token").path
        try "first\n".write(toFile: path, atomically: true, encoding: .utf8)
        let transport = ScriptedTransport { request, _ in .text("", status: request.headers["Authorization"] == "Bearer second" ? 200 : 401)
        }
        let client = try makeClient(transport) { $0.authentication = .bearer(.file(path)) }
        #expect(try await client.send(get).status == 401)
        expect(transport.requests.count, equals: 1)
        try "second\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try await client.send(get).status == 200)
        expect(transport.requests.count, equals: 3)
    }

    @Test("No description of a credential has it, and none is encoded; the names of variables and files are")
    func credentials() throws {
        let secret = Credential.value("Zebra")
        var dumped = ""
        dump(Authentication.basic(user: "anna", password: secret), to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("Zebra"))
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Authentication.bearer(secret)) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Authentication.all([.signing { _ in }])) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Authentication.self, from: Data(#"{"bearer": "Zebra"}"#.utf8)) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Credential.self, from: Data(#"{"value": "Zebra"}"#.utf8)) }
    }

    @Test(
        "An authentication reads what it writes",
        arguments: [
            #""none""#, #"{"bearer":{"environment":"TOKEN"}}"#, #"{"basic":{"password":{"file":"p"},"user":"anna"}}"#,
            #"{"header":{"name":"X-Key","prefix":"Key ","value":{"environment":"KEY"}}}"#,
            #"{"query":{"name":"key","value":{"environment":"KEY"}}}"#,
            #"{"all":[{"session":{"cookie":"sid","encoding":"json","expiredStatuses":[401],"fields":{"user":"a"},"method":"POST","secretFields":{"password":{"environment":"P"}},"url":"https://a/login"}},{"csrf":{"fetchHeaders":{"X-CSRF":"Fetch"},"header":"X-CSRF","sendsReferer":false,"source":{"json":["a","b"]},"url":"https://a/token"}}]}"#,
            #"{"oauth2":{"clientID":"c","clientPlace":"body","clientSecret":{"environment":"S"},"grant":{"refreshToken":{"file":"r"}},"parameters":{"audience":"x"},"scopes":["a"],"tokenURL":"https://a/token"}}"#,
        ])
    func coding(text: String) throws {
        let authentication = try JSONDecoder().decode(Authentication.self, from: Data(text.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        expect(String(decoding: try encoder.encode(authentication), as: UTF8.self), equals: text)
    }

    @Test("A file may leave out of policies what is as by default")
    func policies() throws {
        let decoder = JSONDecoder()
        try expect(decoder.decode(RetryPolicy.self, from: Data(#"{"maximumTries":2}"#.utf8)), equals: RetryPolicy(maximumTries: 2))
        try expect(decoder.decode(RateLimit.self, from: Data(#"{"requests":5}"#.utf8)), equals: RateLimit(requests: 5))
        try expect(decoder.decode(RedirectPolicy.self, from: Data("{}".utf8)), equals: RedirectPolicy())
        try expect(decoder.decode(TransportLimits.self, from: Data(#"{"maximumBytes":5}"#.utf8)), equals: TransportLimits(maximumBytes: 5))
        try expect(decoder.decode(RetryPolicy.self, from: JSONEncoder().encode(RetryPolicy.never)), equals: .never)
    }
}
