/// The authenticators of a client's ``Authentication``, in order: credentials, cookies, and signatures at the end.
struct Authenticators: Sendable {
    private var parts: [any Authenticator] = []
    private var signers: [any Authenticator] = []
    /// The cookies of the session; nil if the client keeps none.
    private(set) var cookies: CookieJar?
    /// The names of the query items with credentials.
    private(set) var queryNames: Set<String> = []
    /// The user in the description; nil if it has none.
    private(set) var user: String?

    init(_ authentication: Authentication, keepsCookies: Bool = false) {
        if keepsCookies { cookies = CookieJar() }
        add(authentication)
    }

    /// The generations of the credentials that a request was sent with.
    typealias Generations = [Int]

    /// Adds the authenticators of one authentication.
    private mutating func add(_ authentication: Authentication) {
        switch authentication {
        case .none: break
        case .bearer(let token): parts.append(CredentialAuthenticator(token, .header(name: "Authorization", prefix: "Bearer ")))
        case .basic(let user, let password):
            self.user = self.user ?? user
            parts.append(CredentialAuthenticator(password, .basic(user: user)))
        case .header(let name, let value, let prefix): parts.append(CredentialAuthenticator(value, .header(name: name, prefix: prefix)))
        case .query(let name, let value):
            queryNames.insert(name)
            parts.append(CredentialAuthenticator(value, .query(name: name)))
        case .oauth2(let description): parts.append(OAuth2Authenticator(description))
        case .csrf(let description):
            cookies = cookies ?? CookieJar()
            parts.append(CSRFAuthenticator(description))
        case .session(let description):
            cookies = cookies ?? CookieJar()
            parts.append(SessionAuthenticator(description))
        case .signing(let sign): signers.append(SigningAuthenticator(sign: sign))
        case .all(let all): for one in all { add(one) }
        }
    }

    /// Adds the credentials to a request, and fetches missing ones.
    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Generations {
        var generations: Generations = []
        for index in parts.indices {
            var context = context
            context.earlier = parts[..<index]
            generations.append(try await parts[index].authorize(&request, in: context))
        }
        return generations
    }

    /// Adds the parts that depend on the time and on the rest of a request: cookies and signatures. It fetches nothing.
    func sign(_ request: inout WebRequest, in context: AuthenticationContext) async throws {
        cookies?.add(to: &request, secondsNow: context.seconds())
        for signer in signers { _ = try await signer.authorize(&request, in: context) }
    }

    /// Returns whether a request should be sent again, because its credentials are no longer valid and there are new ones.
    ///
    /// - Parameter renewed: The indices of the authenticators that have renewed credentials for this request: each does so once.
    func renew(
        after response: WebResponse, to request: WebRequest, generations: Generations, renewed: inout Set<Int>,
        in context: AuthenticationContext
    ) async throws -> Bool {
        guard response.status >= 300 || response.isPage else { return false }
        for index in parts.indices where index < generations.count && !renewed.contains(index) {
            var context = context
            context.earlier = parts[..<index]
            if try await parts[index].renew(after: response, to: request, generation: generations[index], in: context) {
                renewed.insert(index)
                return true
            }
        }
        return false
    }
}
