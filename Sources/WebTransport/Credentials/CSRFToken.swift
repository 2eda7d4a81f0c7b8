internal import Foundation
internal import Platform

/// A CSRF token: an address issues it together with a cookie, and requests that change something send both.
///
/// The token is fetched once for all requests that wait for it. If the service no longer accepts it (the statuses 403 and 419), it is fetched again,
/// and the request is sent again.
public struct CSRFToken: Sendable, Codable {
    /// The place of the token in the answer.
    public enum Source: Hashable, Sendable, Codable {
        /// In a cookie of this name.
        case cookie(String)
        /// In a header of this name.
        case header(String)
        /// In a JSON body, at these keys.
        case json([String])
    }

    /// The address that issues the token.
    public var url: String
    /// The place of the token in the answer.
    public var source: Source
    /// The header with the token in requests.
    public var header: String
    /// Headers of the request that fetches the token: `["X-CSRF-Token": "Fetch"]`.
    public var fetchHeaders: [String: String]
    /// Whether requests name the service in the header `Referer`, as Django requires over `https`.
    public var sendsReferer: Bool

    private enum CodingKeys: String, CodingKey {
        case url
        case source
        case header
        case fetchHeaders
        case sendsReferer
    }

    /// Decodes a description. Only the address and the source are required.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            url: try container.decode(String.self, forKey: .url), source: try container.decode(Source.self, forKey: .source),
            header: try container.decodeIfPresent(String.self, forKey: .header) ?? "X-CSRFToken",
            fetchHeaders: try container.decodeIfPresent([String: String].self, forKey: .fetchHeaders) ?? [:],
            sendsReferer: try container.decodeIfPresent(Bool.self, forKey: .sendsReferer) ?? true)
    }

    /// Creates a description of a token.
    public init(
        url: String, source: Source, header: String = "X-CSRFToken", fetchHeaders: [String: String] = [:], sendsReferer: Bool = true
    ) {
        self.url = url
        self.source = source
        self.header = header
        self.fetchHeaders = fetchHeaders
        self.sendsReferer = sendsReferer
    }
}

extension CSRFToken.Source {
    private enum CodingKeys: String, CodingKey {
        case cookie
        case header
        case json
    }

    /// Decodes `{"cookie": "csrftoken"}`, `{"header": "X-CSRF"}` or `{"json": ["data", "token"]}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let name = try container.decodeIfPresent(String.self, forKey: .cookie) {
            self = .cookie(name)
        } else if let name = try container.decodeIfPresent(String.self, forKey: .header) {
            self = .header(name)
        } else {
            self = .json(try container.decode([String].self, forKey: .json))
        }
    }

    /// Encodes `{"cookie": "csrftoken"}`, `{"header": "X-CSRF"}` or `{"json": ["data", "token"]}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .cookie(let name): try container.encode(name, forKey: .cookie)
        case .header(let name): try container.encode(name, forKey: .header)
        case .json(let keys): try container.encode(keys, forKey: .json)
        }
    }
}

/// Adds a CSRF token.
final class CSRFAuthenticator: Authenticator {
    private struct State {
        var token: String?
        var generation = 0
    }

    private let description: CSRFToken
    private let state = LockedBox(State())
    private let flight = SingleFlight<(token: String, generation: Int)>()

    init(_ description: CSRFToken) { self.description = description }

    private static func changesSomething(_ request: WebRequest) -> Bool {
        !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method.rawValue)
    }

    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int {
        guard Self.changesSomething(request) else { return 0 }
        let (token, generation) = try await current(newerThan: nil, in: context)
        request.headers[description.header] = token
        if description.sendsReferer, request.headers["Referer"] == nil, let address = try? WebAddress(request.url) {
            request.headers["Referer"] = WebAddress(address, path: "/", query: nil).text
        }
        return generation
    }

    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async throws -> Bool
    {
        guard response.status == 403 || response.status == 419, Self.changesSomething(request) else { return false }
        let old = state.withLock { $0.generation == generation ? $0.token : nil }
        let new = try await current(newerThan: generation, in: context)
        // If the token is the same, the service refuses the request for another reason.
        return new.token != old
    }

    private func current(newerThan old: Int?, in context: AuthenticationContext) async throws -> (token: String, generation: Int) {
        @Sendable func known() -> (String, Int)? {
            let (token, generation) = state.withLock { ($0.token, $0.generation) }
            guard let token, generation > old ?? -1 else { return nil }
            // After a login, a service may set a new cookie with any answer.
            guard case .cookie(let name) = description.source else { return (token, generation) }
            return (context.cookies?.value(name, at: description.url) ?? token, generation)
        }
        if let known = known() { return known }
        return try await flight.value { [self] in
            if let known = known() { return known }
            return try await fetch(in: context)
        }
    }

    private func fetch(in context: AuthenticationContext) async throws -> (token: String, generation: Int) {
        var request = WebRequest(.get, description.url, label: "CSRF.token")
        for (name, value) in description.fetchHeaders.sorted(by: { $0.key < $1.key }) { request.headers[name] = value }
        if context.isOwn(description.url) {
            for authenticator in context.earlier { _ = try await authenticator.authorize(&request, in: context) }
        }
        let response = try await context.send(request, true)
        guard (200..<300).contains(response.status) else {
            throw context.failure(request, "The address of the CSRF token answered \(response.status).", status: response.status)
        }
        let token: String?
        let place: String
        switch description.source {
        case .cookie(let name):
            token = context.cookies?.value(name, at: description.url)
            place = "cookie \(name)"
        case .header(let name):
            token = response.headers[name]
            place = "header \(name)"
        case .json(let keys):
            var value: Any? = try? JSONSerialization.jsonObject(with: Data(response.body), options: .fragmentsAllowed)
            for key in keys { value = (value as? [String: Any])?[key] }
            token = value as? String
            place = "value \(keys.joined(separator: "."))"
        }
        guard let token, !token.isEmpty else { throw context.failure(request, "Its answer has no \(place) with a CSRF token.") }
        context.secrets.add(token)
        guard token.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) else {
            throw context.failure(request, "The CSRF token has characters that no header may have.")
        }
        return state.withLock { state in
            state.token = token
            state.generation += 1
            return (token, state.generation)
        }
    }
}
