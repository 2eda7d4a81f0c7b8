/// The way in which a client authenticates itself to a service.
///
/// Credentials go only to the origins of the client (``WebClient/Options/origins``).
public enum Authentication: Sendable {
    /// No authentication.
    case none
    /// A token: `Authorization: Bearer …`.
    case bearer(Credential)
    /// A name and a password: `Authorization: Basic …`.
    case basic(user: String, password: Credential)
    /// A header, whose value may begin with a prefix: `X-Api-Key: …`, `Authorization: Token …`.
    case header(name: String, value: Credential, prefix: String = "")
    /// A query item: `?api_key=…`.
    case query(name: String, value: Credential)
    /// A token that another service issues.
    case oauth2(OAuth2)
    /// A CSRF token, which a service issues together with a cookie.
    case csrf(CSRFToken)
    /// The cookies of a session.
    case session(LoginSession)
    /// A closure that changes the request each time it is sent, after everything else, for example to add a signature.
    ///
    /// Secrets that the closure adds are removed from logs and cassettes if they are in a header or query item that ``WebClient/Options/secretHeaders``
    /// or ``WebClient/Options/secretQueryItems`` names.
    case signing(@Sendable (inout WebRequest) async throws -> Void)
    /// Several of these for one request. The request for a CSRF token carries the credentials of those before it.
    indirect case all([Authentication])
}

/// A type that adds credentials of one kind to requests. Several requests may use it at the same time.
protocol Authenticator: Sendable {
    /// Adds the credentials.
    ///
    /// - Returns: The generation of the credentials, which changes when they do.
    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int

    /// Renews the credentials if an answer says that those of a generation are no longer valid.
    ///
    /// - Returns: Whether the request should be sent again.
    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async throws -> Bool
}

/// The services that a client provides to its authenticators.
struct AuthenticationContext: Sendable {
    /// Sends a request of the authenticator itself, without the client's credentials.
    let send: @Sendable (_ request: WebRequest, _ followsRedirects: Bool) async throws -> WebResponse
    /// The client's secrets, to which authenticators add theirs.
    let secrets: Secrets
    /// The client's cookies; nil if it keeps none.
    let cookies: CookieJar?
    /// The seconds since an arbitrary moment.
    let seconds: @Sendable () -> Double
    /// Returns whether credentials may go to an address.
    let isOwn: @Sendable (String) -> Bool
    /// The authenticators before the current one, whose credentials its own requests carry.
    var earlier: ArraySlice<any Authenticator> = []

    /// Returns an error about credentials, without secrets.
    ///
    /// - Parameter status: The status in the answer to the request for credentials; nil for another reason.
    func failure(_ request: WebRequest, _ detail: String, status: Int? = nil) -> TransportError {
        TransportError(
            .unauthorized, request: secrets.summary(request), detail: secrets.remove(from: detail),
            isTemporary: status.map { $0 >= 500 || $0 == 429 || $0 == 408 } ?? false)
    }
}
