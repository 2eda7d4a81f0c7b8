internal import Foundation
internal import Platform

/// Adds an OAuth 2 token to each request, and fetches it once for all requests that wait for it.
final class OAuth2Authenticator: Authenticator {
    private struct State {
        var token: String?
        /// The time at which the token should be replaced, in the client's seconds.
        var end = Double.infinity
        var generation = 0
        /// The latest refresh token from the service.
        var refreshToken: String?
    }

    private let description: OAuth2
    private let state = LockedBox(State())
    private let flight = SingleFlight<(token: String, generation: Int)>()

    init(_ description: OAuth2) { self.description = description }

    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int {
        let (token, generation) = try await current(newerThan: nil, in: context)
        request.headers["Authorization"] = "Bearer " + token
        return generation
    }

    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async throws -> Bool
    {
        guard response.refusesToken else { return false }
        _ = try await current(newerThan: generation, in: context)
        return true
    }

    /// Returns a token that has not expired, and that is newer than one that the service no longer accepts.
    private func current(newerThan old: Int?, in context: AuthenticationContext) async throws -> (token: String, generation: Int) {
        @Sendable func known() -> (String, Int)? {
            let now = context.seconds()
            return state.withLock { state in
                guard let token = state.token, state.end > now, state.generation > old ?? -1 else { return nil }
                return (token, state.generation)
            }
        }
        if let known = known() { return known }
        // Another request may have fetched a token meanwhile.
        return try await flight.value { [self] in
            if let known = known() { return known }
            return try await fetch(in: context)
        }
    }

    private func fetch(in context: AuthenticationContext) async throws -> (token: String, generation: Int) {
        let request = try await tokenRequest(in: context)
        let response = try await context.send(request, false)
        guard response.status == 200 else {
            throw context.failure(
                request, "The service for tokens answered \(response.status)." + Self.reason(response.body), status: response.status)
        }
        let answer = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        guard let answer, let token = answer["access_token"] as? String, !token.isEmpty else {
            throw context.failure(request, "The answer of the service for tokens has no access_token.")
        }
        context.secrets.add(token)
        guard token.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) }) else {
            throw context.failure(request, "The token has characters that no header may have.")
        }
        if let type = answer["token_type"] as? String, type.lowercased() != "bearer" {
            throw context.failure(request, "The token is not of the type Bearer.")
        }
        let seconds = (answer["expires_in"] as? NSNumber)?.doubleValue ?? (answer["expires_in"] as? String).flatMap(Double.init)
        let refreshToken = (answer["refresh_token"] as? String).flatMap { $0.isEmpty ? nil : $0 }
        if let refreshToken { context.secrets.add(refreshToken) }
        let now = context.seconds()
        let (generation, isNew) = state.withLock { state in
            state.token = token
            // The token is renewed before it expires, because requests take time.
            state.end = seconds.map { now + max(0, $0 - min(30, $0 / 4)) } ?? .infinity
            state.generation += 1
            let isNew = refreshToken != nil && refreshToken != state.refreshToken
            if let refreshToken { state.refreshToken = refreshToken }
            return (state.generation, isNew)
        }
        if isNew, let refreshToken { await description.keepsRefreshToken?(refreshToken) }
        return (token, generation)
    }

    private func tokenRequest(in context: AuthenticationContext) async throws -> WebRequest {
        var request = WebRequest(
            .post, description.tokenURL, headers: ["Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"],
            label: "OAuth2.token")
        var items: [(name: String, value: String)] = []
        switch description.grant {
        case .clientCredentials:
            items.append(("grant_type", "client_credentials"))
            request.isIdempotent = true
        case .refreshToken(let credential):
            // A service may accept a refresh token only once, so a request with it is not retried if it may have arrived.
            var token = state.withLock { $0.refreshToken }
            if token == nil {
                let first = try await credential.read(for: request)
                context.secrets.add(first)
                state.withLock { $0.refreshToken = $0.refreshToken ?? first }
                token = first
            }
            items += [("grant_type", "refresh_token"), ("refresh_token", token ?? "")]
        }
        let secret = try await description.clientSecret?.read(for: request)
        if let secret { context.secrets.add(secret) }
        if description.clientPlace == .header, let secret {
            let pair = Data("\(FormEncoding.encode(description.clientID)):\(FormEncoding.encode(secret))".utf8).base64EncodedString()
            context.secrets.add(pair)
            request.headers["Authorization"] = "Basic " + pair
        } else {
            items.append(("client_id", description.clientID))
            if let secret { items.append(("client_secret", secret)) }
        }
        if !description.scopes.isEmpty { items.append(("scope", description.scopes.joined(separator: " "))) }
        for (name, value) in description.parameters.sorted(by: { $0.key < $1.key }) { items.append((name, value)) }
        request.body = FormEncoding.body(items)
        return request
    }

    /// Returns the parts of an error's body that RFC 6749 defines. Other parts are not shown, because they may repeat secrets.
    private static func reason(_ body: [UInt8]) -> String {
        guard body.count < 65_536, let answer = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else { return "" }
        let known = [
            "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
            "access_denied", "server_error", "temporarily_unavailable", "slow_down",
        ]
        guard let code = answer["error"] as? String, known.contains(code) else { return "" }
        return " The reason: \(code)."
    }
}
