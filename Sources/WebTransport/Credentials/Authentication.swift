/// How a client shows a service who it is.
///
/// Credentials go only to the origins of the client (``WebClient/Options/origins``).
public enum Authentication: Sendable {
    /// Not at all.
    case none
    /// With a token: `Authorization: Bearer …`.
    case bearer(Credential)
    /// With a name and a password: `Authorization: Basic …`.
    case basic(user: String, password: Credential)
    /// With a header, whose value may begin with a prefix: `X-Api-Key: …`, `Authorization: Token …`.
    case header(name: String, value: Credential, prefix: String = "")
    /// With an item of the query: `?api_key=…`.
    case query(name: String, value: Credential)
    /// With a token that another service gives.
    case oauth2(OAuth2)
    /// With a token against forged requests, which a service gives together with a cookie.
    case csrf(CSRFToken)
    /// With the cookies of a session.
    case session(LoginSession)
    /// With whatever a closure adds to the request, each time it is sent, after everything else: a signature.
    ///
    /// A secret that it adds, too, is left out of logs and cassettes where it is in a header or in a query item that
    /// ``WebClient/Options/secretHeaders`` or ``WebClient/Options/secretQueryItems`` name.
    case signing(@Sendable (inout WebRequest) async throws -> Void)
    /// With several of these, for one request. What fetches a CSRF token carries the credentials of those that stand before it.
    indirect case all([Authentication])
}

/// What adds credentials of one kind to requests. Several requests use it at a time.
protocol Authenticator: Sendable {
    /// Adds the credentials.
    ///
    /// - Returns: A number that changes when they do.
    func authorize(_ request: inout WebRequest, in context: AuthenticationContext) async throws -> Int

    /// Looks for other credentials if an answer says that those with this number are no longer taken.
    ///
    /// - Returns: Whether the request should be sent once more.
    func renew(after response: WebResponse, to request: WebRequest, generation: Int, in context: AuthenticationContext) async throws -> Bool
}

/// What authenticators need of their client.
struct AuthenticationContext: Sendable {
    /// Sends a request of the authenticator itself, without credentials of the client.
    let send: @Sendable (_ request: WebRequest, _ followsRedirects: Bool) async throws -> WebResponse
    /// The client's secrets, to which authenticators add theirs.
    let secrets: Secrets
    /// The client's cookies; nil where it keeps none.
    let cookies: CookieJar?
    /// The seconds since some moment.
    let seconds: @Sendable () -> Double
    /// Whether credentials may go to an address.
    let isOwn: @Sendable (String) -> Bool
    /// The authenticators that stand before the one that asks: what it sends itself carries their credentials.
    var earlier: ArraySlice<any Authenticator> = []

    /// Returns an error about credentials, without secrets.
    ///
    /// - Parameter status: The status that the service for credentials has answered; nil for another reason.
    func failure(_ request: WebRequest, _ detail: String, status: Int? = nil) -> TransportError {
        TransportError(
            .unauthorized, request: secrets.summary(request), detail: secrets.remove(from: detail),
            isTemporary: status.map { $0 >= 500 || $0 == 429 || $0 == 408 } ?? false)
    }
}
