internal import Foundation
internal import Platform

/// Adds one credential to each request. It reads the credential once, and again if the service no longer accepts it, because a file may have a new one.
final class CredentialAuthenticator: Authenticator {
    /// The place of the credential in a request.
    enum Place: Sendable {
        case header(name: String, prefix: String)
        case basic(user: String)
        case query(name: String)
    }

    private struct State {
        var secret: String?
        var generation = 0
    }

    private let credential: Credential
    private let place: Place
    private let state = LockedBox(State())

    init(_ credential: Credential, _ place: Place) {
        self.credential = credential
        self.place = place
    }

    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int {
        var (secret, generation) = state.withLock { ($0.secret, $0.generation) }
        if secret == nil {
            let new = try await credential.read(for: request)
            context.secrets.add(new)
            (secret, generation) = state.withLock { state in
                if state.secret == nil { state.secret = new }
                return (state.secret, state.generation)
            }
        }
        let value = secret ?? ""
        switch place {
        case .header(let name, let prefix): request.headers[name] = prefix + value
        case .basic(let user):
            guard !user.contains(":") else { throw context.failure(request, "The name of a user may have no colon.") }
            let pair = Data("\(user):\(value)".utf8).base64EncodedString()
            context.secrets.add(pair)
            request.headers["Authorization"] = "Basic " + pair
        case .query(let name): request.url = Self.setting(name, to: value, in: request.url)
        }
        return generation
    }

    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async throws -> Bool
    {
        guard response.refusesToken else { return false }
        let old = state.withLock { $0.generation == generation ? $0.secret : nil }
        guard let old else { return true }
        let new = try await credential.read(for: request)
        guard new != old else { return false }
        context.secrets.add(new)
        state.withLock { state in
            guard state.generation == generation else { return }
            state = State(secret: new, generation: generation + 1)
        }
        return true
    }

    /// Returns an address with a query item set to a value, which occurs once.
    static func setting(_ name: String, to value: String, in url: String) -> String {
        let rest = removing([name], from: url)
        return rest + (rest.contains("?") ? (rest.hasSuffix("?") ? "" : "&") : "?") + FormEncoding.encode(name) + "="
            + FormEncoding.encode(value)
    }

    /// Returns an address without its fragment, and without the query items of these names.
    static func removing(_ names: Set<String>, from url: String) -> String {
        let whole = url.prefix { $0 != "#" }
        guard let question = whole.firstIndex(of: "?") else { return String(whole) }
        let items = whole[whole.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false).filter { item in
            !names.contains(WebRequest.decoded(item.prefix { $0 != "=" }))
        }
        guard items.contains(where: { !$0.isEmpty }) else { return String(whole[..<question]) }
        return whole[...question] + items.joined(separator: "&")
    }
}

/// Applies a closure of the program to each request before it is sent.
struct SigningAuthenticator: Authenticator {
    let sign: @Sendable (inout WebRequest) async throws -> Void

    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int {
        let unsigned = request
        do {
            try await sign(&request)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw context.failure(unsigned, "The signing closure threw \(error)")
        }
        return 0
    }

    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async -> Bool {
        false
    }
}
