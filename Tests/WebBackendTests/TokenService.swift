import Foundation
import JSONReading
import Synchronization
import WebTransport

/// A service of albums that takes only current tokens, and notes who has stored what. How it says that a token has run out is up to the test.
final class TokenService: Transport {
    /// How services say that they do not take a token any more.
    enum Refusal: String, CaseIterable, Sendable {
        case unauthorized
        case forbiddenByHeader
        case forbiddenByBody
        case pageExpired
        case invalidGrant
        case redirect
        case redirectElsewhere
        case redirectToOtherPath
        case page
    }

    /// A change that the service has taken.
    struct Taken: Sendable {
        var user: String
        var kind: String
        var album: String
        var title: String?
    }

    private struct State {
        var tokens: [String: String] = [:]
        var albums: [String: JSONObject] = [:]
        var answers: [String: WebResponse] = [:]
        var taken: [Taken] = []
        var requests: [WebRequest] = []
        var refused = 0
        var next = 0
    }

    private let state = Mutex(State())
    private let refusal: @Sendable () -> Refusal
    /// Called with each request before it is answered; false: the connection is lost before it has arrived, nil: when it has been answered.
    private let passes: @Sendable (WebRequest) -> Bool?

    init(_ refusal: @escaping @Sendable () -> Refusal, passes: @escaping @Sendable (WebRequest) -> Bool? = { _ in true }) {
        (self.refusal, self.passes) = (refusal, passes)
    }

    /// Gives a user a token, in place of those that the user had.
    func signIn(_ user: String, _ token: String) {
        state.withLock { state in
            state.tokens = state.tokens.filter { $0.value != user }
            state.tokens[token] = user
        }
    }

    /// Ends a user's tokens.
    func expire(_ user: String) { state.withLock { state in state.tokens = state.tokens.filter { $0.value != user } } }

    /// Does what another client does: nil for a deletion.
    func change(_ album: String, title: String?) {
        state.withLock { state in
            guard let title else { return state.albums[album] = nil }
            state.next += 1
            state.albums[album] = ["id": .string(album), "title": .string(title), "version": .integer(Int64(state.next))]
        }
    }

    /// The titles by the identifiers of the albums.
    var titles: [String: String] { state.withLock { $0.albums.compactMapValues { $0["title"]?.string } } }
    /// The changes that were taken, in order.
    var taken: [Taken] { state.withLock { $0.taken } }
    /// The requests that have arrived.
    var requests: [WebRequest] { state.withLock { $0.requests } }
    /// The number of those that were refused because of their token.
    var refused: Int { state.withLock { $0.refused } }
    func forgetRequests() { state.withLock { ($0.requests, $0.refused) = ([], 0) } }

    private static let form = """
        <!DOCTYPE html>\n<html><head><title>Sign in</title></head>
        <body><form action="/login" method="post"><input name="user"><input type="password" name="word"></form></body></html>
        """

    private static func page(_ text: String = form, status: Int = 200) -> WebResponse {
        WebResponse(status: status, headers: ["Content-Type": "text/html; charset=utf-8"], body: Array(text.utf8))
    }

    private func refuse(_ request: WebRequest) -> WebResponse {
        switch refusal() {
        case .unauthorized: .json(#"{"message": "token expired"}"#, status: 401)
        case .forbiddenByHeader:
            .json("{}", status: 403, headers: ["WWW-Authenticate": #"Bearer realm="albums", error="invalid_token""#])
        case .forbiddenByBody: .json(#"{"error": "invalid_token", "error_description": "The access token expired"}"#, status: 403)
        case .pageExpired: .json(#"{"message": "Page Expired"}"#, status: 419)
        case .invalidGrant: .json(#"{"error": "invalid_grant"}"#, status: 400)
        case .redirect: WebResponse(status: 302, headers: ["Location": "/users/sign_in?next=albums"])
        case .redirectElsewhere: WebResponse(status: 302, headers: ["Location": "https://login.example.com/"])
        case .redirectToOtherPath: WebResponse(status: 303, headers: ["Location": "/welcome"])
        case .page: Self.page()
        }
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let passes = passes(request)
        if passes == false { throw TransportError(.cannotConnect, request: request.label) }
        let refused = refuse(request)
        let response = state.withLock { state -> WebResponse in
            state.requests.append(request)
            guard request.url.hasPrefix(base) else {
                // A page, whatever it is asked for; nothing can be removed from it.
                return request.method == .delete ? Self.page("<html>Not found</html>", status: 404) : Self.page()
            }
            let token = request.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
            guard let user = state.tokens[String(token)] else {
                state.refused += 1
                return refused
            }
            return Self.answer(request, user, &state)
        }
        if passes == nil { throw TransportError(.lost, request: request.label) }
        return response
    }

    private static func answer(_ request: WebRequest, _ user: String, _ state: inout State) -> WebResponse {
        if let known = request.headers["Idempotency-Key"].flatMap({ state.answers[$0] }) { return known }
        let id = request.path.split(separator: "/").dropFirst().first.map(String.init)
        let title = request.json?["title"]?.string
        func version(_ id: String) -> String { "\"\(state.albums[id]?["version"]?.integer ?? 0)\"" }
        if let id, state.albums[id] == nil { return .json("{}", status: 404) }
        if let id, let tag = request.headers["If-Match"], tag != version(id) {
            return .json(JSONValue.object(["current": .object(state.albums[id] ?? [:])]).description, status: 412)
        }
        let made: WebResponse
        switch (request.method, id) {
        case (.get, nil):
            return .json(JSONValue.array(state.albums.sorted { $0.key < $1.key }.map { .object($0.value) }).description)
        case (.get, let id?): return .json(JSONValue.object(state.albums[id] ?? [:]).description)
        case (.delete, let id?):
            state.albums[id] = nil
            made = WebResponse(status: 204)
            state.taken.append(Taken(user: user, kind: "delete", album: id))
        default:
            state.next += 1
            let id = id ?? "a\(state.next)"
            state.albums[id] = ["id": .string(id), "title": title.map { .string($0) } ?? .null, "version": .integer(Int64(state.next))]
            state.taken.append(Taken(user: user, kind: request.method == .post ? "insert" : "update", album: id, title: title))
            made = .json(JSONValue.object(state.albums[id] ?? [:]).description, status: request.method == .post ? 201 : 200)
        }
        if let key = request.headers["Idempotency-Key"] { state.answers[key] = made }
        return made
    }
}
