/// What a client's ``Authentication`` adds to requests, in its order: credentials, cookies, and signatures at the end.
struct Authenticators: Sendable {
    private var parts: [any Authenticator] = []
    private var signers: [any Authenticator] = []
    /// The cookies of the session; nil where the client keeps none.
    private(set) var cookies: CookieJar?
    /// The names of the query items in which credentials are sent.
    private(set) var queryNames: Set<String> = []
    /// The user whom the description names; nil where it names none.
    private(set) var user: String?

    init(_ authentication: Authentication, keepsCookies: Bool = false) {
        if keepsCookies { cookies = CookieJar() }
        add(authentication)
    }

    /// The numbers of the credentials that a request was sent with.
    typealias Generations = [Int]

    /// Adds what adds the credentials of one kind.
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

    /// Adds the credentials to a request, and fetches them where it must.
    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Generations {
        var generations: Generations = []
        for index in parts.indices {
            var context = context
            context.earlier = parts[..<index]
            generations.append(try await parts[index].authorize(&request, in: context))
        }
        return generations
    }

    /// Adds what depends on the moment and on the rest of a request: cookies and signatures. It fetches nothing.
    func sign(_ request: inout WebRequest, in context: AuthenticationContext) async throws {
        cookies?.add(to: &request, secondsNow: context.seconds())
        for signer in signers { _ = try await signer.authorize(&request, in: context) }
    }

    /// Whether a request should be sent once more, because an answer says that its credentials are no longer taken and there are others.
    ///
    /// - Parameter renewed: The places of the authenticators that have had other credentials for this request already: each does so once.
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
