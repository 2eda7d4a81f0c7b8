import Foundation
import WebBackend
import WebTransport

extension Scenario {
    /// Returns what a client does that a file describes: its requests with their limits, its waits, and what it takes for secret.
    func clientTrace(_ file: WebServiceFile) async throws -> String {
        let lines = Mutexed<[String]>([])
        func note(_ line: String) { lines.withValue { $0.append(line) } }
        var options = file.options
        // A clock that goes forward by waits only, which take no time.
        let now = Mutexed(1000.0)
        options.time = ClientTime(
            seconds: { now.withValue { $0 } }, secondsSince1970: { 1_800_000_000 + now.withValue { $0 } },
            sleep: { seconds in
                now.withValue { $0 += seconds }
                lines.withValue { $0.append("waits \(seconds)") }
            }, random: { 0.5 })
        options.observer = { record in lines.withValue { $0.append("record \(record.url)") } }
        let client = try WebClient(
            baseURL: file.service.address,
            transport: ScriptedClientService { request, limits in
                lines.withValue { $0.append("\(request.url) \(Self.text(request)) \(limits)") }
            }, options: options)
        note("\(client.options.maximumConcurrentRequestsPerHost ?? -1) at a time")
        for path in ["/albums?k=hidden", "/albums", "/busy", "/loop", "/insecure", "/expired", "/rest", "/albums"] {
            await send(WebRequest(.get, base + path, headers: ["X-A": "concealed"], isIdempotent: true), client, note)
        }
        for path in ["/albums", "/away"] {
            await send(WebRequest(.post, base + path, body: Array("{}".utf8), isIdempotent: false), client, note)
        }
        await send(WebRequest(.get, "https://b.example/there", isIdempotent: true), client, note)
        let request = WebRequest(.get, base + "/albums?k=hidden", headers: ["X-A": "concealed"])
        note(client.removingSecrets(from: "hidden and concealed", of: request))
        return lines.withValue { $0.joined(separator: "\n") }
    }

    private func send(_ request: WebRequest, _ client: WebClient, _ note: (String) -> Void) async {
        do { note("\(try await client.send(request).status)") } catch { note("\(error)") }
    }
}

/// A service with a token, a login, redirects and errors.
private struct ScriptedClientService: Transport {
    let note: @Sendable (WebRequest, TransportLimits) -> Void

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        note(request, limits)
        let path = request.url.dropFirst(base.count).prefix { $0 != "?" }
        switch path {
        case "/token", "/token/two":
            let cookies = request.method == .get ? ["c=cookie1; Path=/", "d=cookie2; Path=/"] : ["s=session1; Path=/"]
            return .json(
                #"{"access_token": "token1", "token_type": "Bearer", "expires_in": 3600, "key": "token2"}"#,
                headers: WebHeaders(cookies.map { .init("Set-Cookie", $0) } + [.init("h", "token3")]))
        case "/busy": return .json("{}", status: 502)
        case "/expired": return .json("{}", status: 419)
        case "/rest": return .json("{}", headers: ["RateLimit-Remaining": "0", "RateLimit-Reset": "7"])
        case "/loop": return .json("", status: 302, headers: ["Location": "\(base)/loop/1"])
        case "/loop/1": return .json("", status: 302, headers: ["Location": "\(base)/loop/2"])
        case "/insecure": return .json("", status: 302, headers: ["Location": "http://api.example.com/v1/plain"])
        case "/away": return .json("", status: 307, headers: ["Location": "https://b.example/there"])
        default: return .json("{}", headers: ["Set-Cookie": "seen=1; Path=/"])
        }
    }
}
