public import Logging
internal import Platform

/// A client of one web service. It adds credentials, retries requests if that is safe, follows redirects, obeys limits, and reports to logs, metrics
/// and traces, without any secret.
///
/// ```swift
/// var options = WebClient.Options()
/// options.authentication = .bearer(.environment("SERVICE_TOKEN"))
/// let client = try WebClient(baseURL: "https://api.example.com", transport: AsyncHTTPClientTransport(), options: options)
/// let response = try await client.send(WebRequest(.get, "https://api.example.com/albums", label: "Album.list"))
/// ```
///
/// Credentials, cookies and headers go to the origin (scheme, host and port) of the base address, and to the origins in the options. Requests to other
/// origins, which the service's links or redirects may lead to, are sent without them.
///
/// A client may be used on any thread, by any number of tasks. The tasks that use a service should share one client, because its limits, its session
/// and its tokens apply to all its requests.
public final class WebClient: Sendable {
    /// The options of a client.
    public struct Options: Sendable {
        /// The authentication of the client.
        public var authentication: Authentication = .none
        /// Returns a name that identifies the user who is signed in; nil if the user is unknown, or does not matter. Without this closure, it is the
        /// name in ``Authentication/basic(user:password:)``.
        ///
        /// The client calls it before and after it reads a credential, on any thread. If the user has changed, the client forgets the credentials and
        /// cookies of the previous user, and does not send requests of that user (``WebRequest/principal``). The result of this closure and the secrets
        /// that closures return should change in one step, so that no credential is taken for that of another user.
        public var principal: (@Sendable () -> String?)?
        /// Further origins that receive credentials and headers besides that of the base address: `https://uploads.example.com`.
        public var origins: [String] = []
        /// Headers that are added to each request without a header of the same name.
        public var headers: WebHeaders = [:]
        /// The limits of one try.
        public var limits = TransportLimits()
        /// The policy for retries.
        public var retries = RetryPolicy()
        /// The policy for redirects.
        public var redirects = RedirectPolicy()
        /// The maximum rate of requests.
        public var rateLimit = RateLimit()
        /// The maximum number of simultaneous requests to a host; nil for no limit.
        public var maximumConcurrentRequestsPerHost: Int? = 8
        /// Whether cookies that the service sets are sent back to it. If the authentication needs them, they always are.
        public var keepsCookies = false
        /// Further headers with secret values, besides those that always are (`Authorization`, `Cookie` and similar ones).
        public var secretHeaders: Set<String> = []
        /// Further query items with secret values, besides those that always are (`token`, `api_key` and similar ones).
        public var secretQueryItems: Set<String> = []
        /// The logger of the client: it logs each request at the level debug, and each retry at the level notice.
        public var logger = Logger(label: "WebTransport.WebClient")
        /// Receives a record of each finished request, on the thread where it has finished.
        public var observer: (@Sendable (RequestRecord) -> Void)?
        /// The source of the client's time and randomness.
        public var time = ClientTime.system

        /// Creates options.
        public init() {}
    }

    /// The options.
    public let options: Options
    /// The transport that sends the requests.
    public let transport: any Transport
    /// The base address of the service.
    public let baseURL: String

    /// The origins to which credentials go.
    private let origins: Set<String>
    /// The authenticators for the user of the latest request.
    private let signedIn: LockedBox<(principal: String?, authenticators: Authenticators)>
    /// The names of the query items with credentials.
    let queryNames: Set<String>
    /// The user in the authentication.
    private let namedUser: String?
    let secrets: Secrets
    /// The names of the options' secret headers, in lower case.
    let secretHeaders: Set<String>
    let gate: RequestGate
    let limiter: RateLimiter

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The address of the service, whose origin receives credentials. Requests have complete addresses of their own.
    ///   - transport: The transport that sends the requests.
    ///   - options: The options of the client.
    /// - Throws: ``TransportError`` if an address cannot be parsed, or has a password before the host.
    public init(baseURL: String, transport: any Transport, options: Options = Options()) throws(TransportError) {
        self.baseURL = baseURL
        self.transport = transport
        self.options = options
        var origins: Set<String> = []
        for text in [baseURL] + options.origins {
            do {
                origins.insert(try WebAddress(text).origin)
            } catch {
                throw TransportError(.invalid, request: "A client of \(WebRequest.withoutSecrets(text))", detail: error.rawValue)
            }
        }
        self.origins = origins
        let authenticators = Authenticators(options.authentication, keepsCookies: options.keepsCookies)
        (queryNames, namedUser) = (authenticators.queryNames, authenticators.user)
        signedIn = LockedBox((options.principal.map { $0() } ?? authenticators.user, authenticators))
        secrets = Secrets(queryNames: options.secretQueryItems.union(authenticators.queryNames))
        secretHeaders = Set(options.secretHeaders.map { $0.lowercased() })
        gate = RequestGate(limit: options.maximumConcurrentRequestsPerHost)
        limiter = RateLimiter(options.rateLimit)
    }

    /// Sends a request, with retries if they are safe, and returns its answer, whatever its status.
    ///
    /// An answer that asks for a retry (429, 503) is returned if the request was sent as often as the options allow, or if the service asks for a
    /// longer wait than they allow.
    ///
    /// - Parameters:
    ///   - request: The request, without credentials.
    ///   - observer: Receives a record of the finished request, besides the observer of the options.
    /// - Throws: ``TransportError`` without any secret, if there was no complete answer; `CancellationError` if the task is cancelled.
    public func send(_ request: WebRequest, observer: (@Sendable (RequestRecord) -> Void)? = nil) async throws -> WebResponse {
        try await send(request, authenticates: true, followsRedirects: true, observer: observer)
    }

    /// The user who is signed in: see ``Options/principal``.
    public var principal: String? { options.principal.map { $0() } ?? namedUser }

    /// Returns the authenticators of a user, and forgets the credentials of another one.
    func authenticators(of principal: String?) -> Authenticators {
        signedIn.withLock { signedIn in
            if signedIn.principal != principal {
                signedIn = (principal, Authenticators(options.authentication, keepsCookies: options.keepsCookies))
            }
            return signedIn.authenticators
        }
    }

    /// Forgets the credentials of a user, because some may belong to another one.
    func forgetCredentials(of principal: String?) {
        signedIn.withLock { signedIn in
            guard signedIn.principal == principal else { return }
            signedIn.authenticators = Authenticators(options.authentication, keepsCookies: options.keepsCookies)
        }
    }

    /// Returns a text without the secrets that the client has used, for the program's own messages.
    public func removingSecrets(from text: String) -> String { secrets.remove(from: text) }

    /// Returns whether credentials may go to an address.
    func isOwn(_ url: String) -> Bool { (try? WebAddress(url)).map(isOwn) ?? false }

    /// Returns whether credentials may go to an address.
    func isOwn(_ address: WebAddress) -> Bool { isOwn(origin: address.origin) }

    /// Returns whether credentials may go to an origin.
    func isOwn(origin: String) -> Bool { origins.contains(origin) }

    /// A function that sends one try of a request, and returns its answer.
    typealias Exchange = @Sendable (WebRequest, TransportLimits) async throws -> WebResponse

    /// Sends a request, and reports it to observers, logs, metrics and traces.
    ///
    /// - Parameters:
    ///   - exchange: The function that sends each try; nil for the transport.
    ///   - authenticators: The authenticators with the cookies for a request that fetches credentials; nil for those of the user who is signed in.
    func send(
        _ request: WebRequest, authenticates: Bool, followsRedirects: Bool, observer: (@Sendable (RequestRecord) -> Void)? = nil,
        through exchange: Exchange? = nil, with authenticators: Authenticators? = nil
    ) async throws -> WebResponse {
        let start = options.time.seconds()
        let address: WebAddress
        do {
            address = try WebAddress(request.url)
        } catch {
            throw TransportError(.invalid, request: secrets.summary(request), detail: error.rawValue)
        }
        let record = RequestRecord(label: request.label, method: request.method, url: "")
        var delivery = Delivery(
            client: self, request: request, at: address, authenticates: authenticates, followsRedirects: followsRedirects, record: record,
            through: exchange, with: authenticators)
        return try await Telemetry.traced(request.label.isEmpty ? request.method.rawValue : request.label) { span in
            let outcome: Result<WebResponse, any Error>
            do {
                outcome = .success(try await delivery.send())
            } catch {
                outcome = .failure(withoutSecrets(error, of: request))
            }
            var record = delivery.record
            record.seconds = options.time.seconds() - start
            switch outcome {
            case .success(let response): record.status = response.status
            case .failure(let error): record.failure = (error as? TransportError).map(Self.reason) ?? "\(type(of: error))"
            }
            // The service's links may lead to any host, so metrics name only the client's own.
            Telemetry.count(record, host: isOwn(address) ? address.host : "other")
            // Removing secrets from an address takes time, and usually nothing reads the result.
            guard record.failure != nil || span.isRead || options.observer != nil || observer != nil || options.logger.logLevel <= .debug
            else { return try outcome.get() }
            record.url = secrets.remove(fromURL: request.url)
            span.note(record, host: address.host, port: address.port)
            log(record)
            options.observer?(record)
            observer?(record)
            return try outcome.get()
        }
    }

    private static func reason(_ error: TransportError) -> String {
        error.kind.rawValue + (error.detail.isEmpty ? "" : " " + error.detail)
    }

    private func log(_ record: RequestRecord) {
        if record.failure == nil {
            options.logger.debug("\(record.description)")
        } else {
            options.logger.warning("\(record.description)")
        }
    }

    /// Returns an error without the client's secrets.
    func withoutSecrets(_ error: any Error, of request: WebRequest) -> any Error {
        switch error {
        case is CancellationError: error
        case let error as TransportError:
            TransportError(
                error.kind, request: secrets.remove(from: error.request), detail: secrets.remove(from: error.detail),
                isTemporary: error.isTemporary)
        default:
            // An error of a custom transport.
            TransportError(.lost, request: secrets.summary(request), detail: secrets.remove(from: "The transport threw \(error)."))
        }
    }
}
