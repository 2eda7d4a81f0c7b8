#if Command
internal import HTTPTypes
internal import Hummingbird

/// Decides which requests are answered: those of this session's pages, and of no other page in the browser.
struct Gate: Sendable {
    /// The decision about a request.
    enum Decision: Equatable {
        case allowed
        /// The token in the address is right: it is moved to a cookie.
        case admitted
        case refused(String)
    }

    private let token: Token

    init(_ token: Token) { self.token = token }

    /// Returns the name of a session's cookie, which includes the port because all ports of a host share cookies.
    private static func cookieName(_ port: Int) -> String { "coredata-\(port)" }

    /// Returns the value of the header that gives the token to the browser, but to no script in a page.
    func cookie(_ port: Int) -> String { "\(Self.cookieName(port))=\(token.text); HttpOnly; SameSite=Strict; Path=/" }

    func decide(_ request: Request, port: Int) -> Decision {
        // A foreign name that resolves to this address (DNS rebinding) is a different host.
        let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
        guard let host = request.head.authority, hosts.contains(host.lowercased()) else {
            return .refused("The request is for another host.")
        }
        let origin = request.headers[.origin]
        if let origin, origin != "http://\(host.lowercased())" { return .refused("The request comes from a page of another origin.") }
        if let site = request.headers[HTTPField.Name("Sec-Fetch-Site")!], !["same-origin", "none"].contains(site) {
            return .refused("The request comes from a page of another site.")
        }
        if request.method != .get, request.method != .head {
            // Browsers send an origin with each of these requests, and forms cannot send JSON.
            let type = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() }
            guard request.method == .post, origin != nil, type == "application/json" else {
                return .refused("Changes are requests of this page, with JSON.")
            }
        }
        if request.method == .get, request.uri.path == "/", let given = request.uri.queryParameters["token"] {
            return token.matches(given) ? .admitted : .refused("The token in the address is of another session.")
        }
        for cookie in (request.headers[values: .cookie].flatMap { $0.split(separator: ";") }) {
            let parts = cookie.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            if parts.count == 2, parts[0] == Self.cookieName(port), token.matches(parts[1]) { return .allowed }
        }
        return .refused("Open the address that “coredata serve” printed: it holds a token.")
    }

    /// The headers of every answer. Pages of this server run only the server's own scripts, and cannot be framed.
    static let headers: [(HTTPField.Name, String)] = [
        (
            HTTPField.Name("Content-Security-Policy")!,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        (HTTPField.Name("X-Content-Type-Options")!, "nosniff"), (HTTPField.Name("X-Frame-Options")!, "DENY"),
        (HTTPField.Name("Referrer-Policy")!, "no-referrer"), (HTTPField.Name("Cross-Origin-Opener-Policy")!, "same-origin"),
        (HTTPField.Name("Cross-Origin-Resource-Policy")!, "same-origin"), (.cacheControl, "no-store"),
    ]
}
#endif
