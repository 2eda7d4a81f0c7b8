import TestSupport
import Testing

@testable import WebTransport

@Suite("Redirects are followed as the standard says, and credentials stay where they belong")
struct RedirectTests {
    @Test("A redirect keeps or changes the method and the body as its status says")
    func methods() async throws {
        let cases: [(Int, WebRequest.Method, WebRequest.Method)] = [
            (301, .get, .get), (301, .post, .get), (302, .post, .get), (302, .put, .put), (303, .put, .get), (303, .head, .head),
            (307, .post, .post), (308, .patch, .patch),
        ]
        for (status, before, after) in cases {
            let transport = ScriptedTransport(.redirect(status, "/b"), .text("there"))
            let body: [UInt8]? = before == .get || before == .head ? nil : [1]
            let request = WebRequest(before, base + "/a", headers: ["Content-Type": "text/plain", "X-Own": "1"], body: body)
            let response = try await makeClient(transport).send(request)
            expect(response.text, equals: "there")
            expect(transport.requests.last?.method, equals: after, "\(status) \(before)")
            expect(transport.requests.last?.url, equals: base + "/b")
            expect(transport.requests.last?.body, equals: (after == before ? body : nil), "\(status) \(before)")
            expect(transport.requests.last?.headers["X-Own"], equals: "1")
        }
    }

    @Test("Relative addresses are those that RFC 3986 says")
    func relative() throws {
        func resolve(_ location: String) throws -> String { try RedirectPolicy.resolve(location, at: "http://a/b/c/d?q").text }
        try expect(resolve("g"), equals: "http://a/b/c/g")
        try expect(resolve("./g"), equals: "http://a/b/c/g")
        try expect(resolve("/g"), equals: "http://a/g")
        try expect(resolve("//g"), equals: "http://g/")
        try expect(resolve("?y"), equals: "http://a/b/c/d?y")
        try expect(resolve("g?y/./x"), equals: "http://a/b/c/g?y/./x")
        try expect(resolve("#s"), equals: "http://a/b/c/d?q")
        try expect(resolve(".."), equals: "http://a/b/")
        try expect(resolve("../../../g"), equals: "http://a/g")
        try expect(resolve("../g"), equals: "http://a/b/g")
        try expect(resolve("HTTPS://G:443/h"), equals: "https://g/h")
        try expect(resolve("/ä b"), equals: "http://a/%C3%A4%20b")
        try expect(resolve("?page[number]=2&d=5%&e=%2F"), equals: "http://a/b/c/d?page%5Bnumber%5D=2&d=5%25&e=%2F")
        #expect(throws: WebAddress.Problem.self) { try resolve("ftp://g") }
        #expect(throws: WebAddress.Problem.self) { try resolve("http+unix://g") }
        #expect(throws: WebAddress.Problem.self) { try resolve("https://user:word@g/") }
        #expect(throws: WebAddress.Problem.self) { try resolve("https://g\\@h/") }
        #expect(throws: WebAddress.Problem.self) { try resolve("https://g:99999/") }
        #expect(throws: WebAddress.Problem.self) { try resolve(String(repeating: "a", count: 20_000)) }
    }

    @Test("Redirects in a circle, and too many, are errors")
    func circles() async throws {
        let circle = ScriptedTransport { request, _ in .redirect(302, request.url.hasSuffix("a") ? "/b" : "/a") }
        let error = try await transportError { try await makeClient(circle).send(WebRequest(.get, base + "/a")) }
        expect(error?.kind, equals: .redirected)
        expect(circle.requests.count, equals: 2)

        let endless = ScriptedTransport { _, index in .redirect(302, "/\(index)") }
        let many = try await transportError { try await makeClient(endless).send(WebRequest(.get, base + "/a")) }
        expect(many?.kind, equals: .redirected)
        expect(endless.requests.count, equals: 11)
    }

    @Test("A redirect from https to http is an error, unless it is allowed")
    func insecure() async throws {
        let transport = ScriptedTransport(.redirect(302, "http://api.example.com/a"), .text("there"))
        let error = try await transportError { try await makeClient(transport).send(WebRequest(.get, base + "/a")) }
        expect(error?.kind, equals: .redirected)
        expect(transport.requests.count, equals: 1)
        let allowed = ScriptedTransport(.redirect(302, "http://api.example.com/a"), .text("there"))
        #expect(try await makeClient(allowed) { $0.redirects.allowsInsecure = true }.send(WebRequest(.get, base + "/a")).text == "there")
    }

    @Test(
        "Credentials, cookies and headers of the program do not go along to another origin",
        arguments: ["https://evil.example/", "https://api.example.com:444/", "https://api.example.com.evil.example/"])
    func otherOrigin(target: String) async throws {
        let transport = ScriptedTransport { request, _ in
            request.url.hasPrefix(base + "/")
                ? WebResponse(status: 302, headers: ["Location": target + "?api_key=Zebra-1&x=1", "Set-Cookie": "sid=Zebra-2"])
                : .text("there")
        }
        let request = WebRequest(.get, base + "/a", headers: ["X-Private": "Zebra-3", "Accept": "application/json"])
        let options: (inout WebClient.Options) -> Void = {
            $0.authentication = .all([.bearer(.value("Zebra-4")), .query(name: "api_key", value: .value("Zebra-1"))])
            $0.headers = ["X-Api-Version": "Zebra-5"]
            $0.keepsCookies = true
        }
        #expect(try await makeClient(transport, options).send(request).text == "there")
        expect(transport.requests.first?.headers["Authorization"], equals: "Bearer Zebra-4")
        let last = try #require(transport.requests.last)
        expect(last.url, equals: target + "?x=1")
        expect(last.headers.fields.map(\.name), equals: ["Accept"])

        // A link of the service is no better than a redirect.
        _ = try await makeClient(transport, options).send(WebRequest(.get, target, headers: ["X-Private": "Zebra-3"]))
        expect(transport.requests.last?.headers, equals: [:])
        expect(transport.requests.last?.url, equals: target)
    }

    @Test("A redirect to another origin whose address repeats a credential, or that takes a body along, is an error")
    func leaks() async throws {
        let repeating = ScriptedTransport(.redirect(302, "https://evil.example/Zebra-1"), .text("there"))
        let error = try await transportError {
            try await makeClient(repeating) { $0.authentication = .bearer(.value("Zebra-1")) }.send(WebRequest(.get, base + "/a"))
        }
        expect(error?.kind, equals: .redirected)
        expect(repeating.requests.count, equals: 1)

        let body = ScriptedTransport(.redirect(307, "https://evil.example/"), .text("there"))
        let bodyError = try await transportError { try await makeClient(body).send(WebRequest(.post, base + "/a", body: [1])) }
        expect(bodyError?.kind, equals: .redirected)
        expect(body.requests.count, equals: 1)
    }
}
