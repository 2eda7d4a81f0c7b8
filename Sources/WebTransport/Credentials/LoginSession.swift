internal import Foundation
internal import Platform

/// A session that begins with a login, and that cookies continue.
///
/// The client logs in once for all requests that wait for it. If the session has expired (the status 401, unless ``expiredStatuses`` names others, or a
/// login page), it logs in again, and the request is sent again.
public struct LoginSession: Sendable, Codable {
    /// The form of the body of a login.
    public enum Encoding: String, Sendable, Codable {
        /// An HTML form: `name=value&name=value`.
        case form
        /// A JSON object.
        case json
    }

    /// The address for logins.
    public var url: String
    /// The method of a login.
    public var method: WebRequest.Method
    /// The fields that are not secret: `["username": "anna"]`.
    public var fields: [String: String]
    /// The secret fields: `["password": .environment("SERVICE_PASSWORD")]`.
    public var secretFields: [String: Credential]
    /// The form of the body.
    public var encoding: Encoding
    /// The cookie that proves a login, whatever the status; nil if the status alone does.
    public var cookie: String?
    /// The CSRF token that the service requires for logins.
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

    /// Decodes a description. Only the address is required.
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

/// Logs in before the first request, and again when the session has expired. The client keeps the cookies.
final class SessionAuthenticator: Authenticator {
    private let description: LoginSession
    private let csrf: CSRFAuthenticator?
    /// The number of logins.
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
        // A redirect means that the client is logged in: its cookies were set with it.
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
