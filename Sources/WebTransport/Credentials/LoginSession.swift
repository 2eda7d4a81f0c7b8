internal import Foundation
internal import Platform

/// A session that begins when the client logs in, and that cookies carry on.
///
/// The client logs in once for all requests that wait for it, and again when the session is over (the status 401, unless
/// ``expiredStatuses`` names others, or a page for signing in), after which the request is sent once more.
public struct LoginSession: Sendable, Codable {
    /// The form of the body with which the client logs in.
    public enum Encoding: String, Sendable, Codable {
        /// That of forms of the web: `name=value&name=value`.
        case form
        /// An object of JSON.
        case json
    }

    /// The address at which the client logs in.
    public var url: String
    /// The method with which it does.
    public var method: WebRequest.Method
    /// The fields that are no secrets: `["username": "anna"]`.
    public var fields: [String: String]
    /// The secret fields: `["password": .environment("SERVICE_PASSWORD")]`.
    public var secretFields: [String: Credential]
    /// The form of the body.
    public var encoding: Encoding
    /// The cookie without which the client is not logged in, whatever the status; nil where the status says it.
    public var cookie: String?
    /// The token against forged requests that the service wants for logging in.
    public var csrf: CSRFToken?
    /// The statuses after which the client logs in again.
    public var expiredStatuses: Set<Int>

    private enum CodingKeys: String, CodingKey {
        case url
        case method
        case fields
        case secretFields
        case encoding
        case cookie
        case csrf
        case expiredStatuses
    }

    /// Creates a description of a session.
    public init(
        url: String, method: WebRequest.Method = .post, fields: [String: String] = [:], secretFields: [String: Credential],
        encoding: Encoding = .form, cookie: String? = nil, csrf: CSRFToken? = nil, expiredStatuses: Set<Int> = [401]
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.secretFields = secretFields
        self.encoding = encoding
        self.cookie = cookie
        self.csrf = csrf
        self.expiredStatuses = expiredStatuses
    }

    /// Decodes a description; only the address must be there.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            url: try container.decode(String.self, forKey: .url),
            method: try container.decodeIfPresent(WebRequest.Method.self, forKey: .method) ?? .post,
            fields: try container.decodeIfPresent([String: String].self, forKey: .fields) ?? [:],
            secretFields: try container.decodeIfPresent([String: Credential].self, forKey: .secretFields) ?? [:],
            encoding: try container.decodeIfPresent(Encoding.self, forKey: .encoding) ?? .form,
            cookie: try container.decodeIfPresent(String.self, forKey: .cookie),
            csrf: try container.decodeIfPresent(CSRFToken.self, forKey: .csrf),
            expiredStatuses: try container.decodeIfPresent(Set<Int>.self, forKey: .expiredStatuses) ?? [401])
    }
}

/// Logs in before the first request, and again when the session is over. The cookies are those of the client.
final class SessionAuthenticator: Authenticator {
    private let description: LoginSession
    private let csrf: CSRFAuthenticator?
    /// How often the client has logged in.
    private let generation = LockedBox(0)
    private let flight = SingleFlight<Int>()

    init(_ description: LoginSession) {
        self.description = description
        csrf = description.csrf.map(CSRFAuthenticator.init)
    }

    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int {
        try await current(newerThan: 0, in: context)
    }

    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async throws -> Bool
    {
        guard description.expiredStatuses.contains(response.status) || response.leadsToSignIn || response.isSignInPage else { return false }
        _ = try await current(newerThan: generation, in: context)
        return true
    }

    private func current(newerThan old: Int, in context: AuthenticationContext) async throws -> Int {
        @Sendable func known() -> Int? { generation.withLock { $0 > old ? $0 : nil } }
        if let known = known() { return known }
        return try await flight.value { [self] in
            if let known = known() { return known }
            try await logIn(in: context)
            return generation.withLock { generation in
                generation += 1
                return generation
            }
        }
    }

    private func logIn(in context: AuthenticationContext) async throws {
        var request = WebRequest(description.method, description.url, isIdempotent: true, label: "Session.login")
        var items = description.fields.map { (name: $0.key, value: $0.value) }
        for (name, credential) in description.secretFields {
            let secret = try await credential.read(for: request)
            context.secrets.add(secret)
            items.append((name, secret))
        }
        items.sort { $0.name < $1.name }
        switch description.encoding {
        case .form:
            request.headers["Content-Type"] = "application/x-www-form-urlencoded"
            request.body = FormEncoding.body(items)
        case .json:
            request.headers["Content-Type"] = "application/json"
            let object = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
            request.body = Array(try JSONSerialization.data(withJSONObject: object, options: .sortedKeys))
        }
        let before = description.cookie.flatMap { context.cookies?.value($0, at: description.url) }
        let response = try await sendLogin(request, in: context)
        // An answer that leads elsewhere says that the client is logged in: its cookies are there already.
        guard response.status < 400 else {
            throw context.failure(request, "Logging in ended with the status \(response.status).", status: response.status)
        }
        if let name = description.cookie {
            let cookie = context.cookies?.value(name, at: description.url)
            let isSet = response.headers.all("Set-Cookie").contains { $0.hasPrefix(name + "=") }
            guard cookie != nil, isSet || cookie != before else {
                throw context.failure(request, "Logging in did not give the cookie \(name).")
            }
        }
    }

    private func sendLogin(_ request: WebRequest, in context: AuthenticationContext) async throws -> WebResponse {
        var outgoing = request
        let generation = try await csrf?.authorize(&outgoing, in: context) ?? 0
        let response = try await context.send(outgoing, false)
        guard let csrf, try await csrf.renew(after: response, to: request, generation: generation, in: context) else { return response }
        outgoing = request
        _ = try await csrf.authorize(&outgoing, in: context)
        return try await context.send(outgoing, false)
    }
}
