public import Logging
internal import Platform

/// A client of one web service: it adds credentials, sends requests again where that is safe, follows redirects, keeps to limits, and tells
/// logs, metrics and traces what it did, without any secret.
///
/// ```swift
/// var options = WebClient.Options()
/// options.authentication = .bearer(.environment("SERVICE_TOKEN"))
/// let client = try WebClient(baseURL: "https://api.example.com", transport: AsyncHTTPClientTransport(), options: options)
/// let response = try await client.send(WebRequest(.get, "https://api.example.com/albums", label: "Album.list"))
/// ```
///
/// Credentials, cookies and headers go to the origin (scheme, host and port) of the base address, and to those that the options name. Requests
/// to other origins, to which links or redirects of the service may lead, go without them.
///
/// A client may be used on any thread, by any number of tasks. Those of a service should share one: its limits, its session and its tokens are
/// common to all its requests.
public final class WebClient: Sendable {
    /// What a client does besides sending requests.
    public struct Options: Sendable {
        /// How the client shows who it is.
        public var authentication: Authentication = .none
        /// Returns the user who is signed in, by whatever name tells users apart; nil where that is not known, or does not matter. Without it, it is the
        /// name that ``Authentication/basic(user:password:)`` has.
        ///
        /// It is called before and after each reading of a credential, on any thread: where the user is another one, credentials and cookies of the one before
        /// are forgotten, and a request of that user (``WebRequest/principal``) is not sent. So that no credential is taken for that of another user, what this
        /// returns and what closures return as secrets should change in one step.
        public var principal: (@Sendable () -> String?)?
        /// Origins to which credentials and headers go besides that of the base address: `https://uploads.example.com`.
        public var origins: [String] = []
        /// Headers of each request that has none of the name.
        public var headers: WebHeaders = [:]
        /// What one try may take.
        public var limits = TransportLimits()
        /// Which requests are sent again.
        public var retries = RetryPolicy()
        /// Which redirects are followed.
        public var redirects = RedirectPolicy()
        /// How many requests are sent in which time.
        public var rateLimit = RateLimit()
        /// How many requests to a host are on their way at a time; nil for any number.
        public var maximumConcurrentRequestsPerHost: Int? = 8
        /// Whether cookies that the service sets go back to it. They do so, whatever this says, where the authentication needs it.
        public var keepsCookies = false
        /// Headers whose values are secret, besides those that always are (`Authorization`, `Cookie` and their like).
        public var secretHeaders: Set<String> = []
        /// Items of queries whose values are secret, besides those that always are (`token`, `api_key` and their like).
        public var secretQueryItems: Set<String> = []
        /// Where the client writes what it does: each request at the level debug, each further try at the level notice.
        public var logger = Logger(label: "WebTransport.WebClient")
        /// Gets a record of each request that has ended, on the thread on which it did.
        public var observer: (@Sendable (RequestRecord) -> Void)?
        /// Where the client has its time and its chance from.
        public var time = ClientTime.system

        /// Creates options.
        public init() {}
    }

    /// The options.
    public let options: Options
    /// What sends the requests.
    public let transport: any Transport
    /// The address that the client is for.
    public let baseURL: String

    /// The origins to which credentials go.
    private let origins: Set<String>
    /// What adds credentials to the requests of a user, the one whose request was sent last.
    private let signedIn: LockedBox<(principal: String?, authenticators: Authenticators)>
    /// The names of the query items in which credentials are sent.
    let queryNames: Set<String>
    /// The user whom the authentication names.
    private let namedUser: String?
    let secrets: Secrets
    /// The names of headers that the options call secret, in lower case.
    let secretHeaders: Set<String>
    let gate: RequestGate
    let limiter: RateLimiter

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The address of the service. Requests have whole addresses of their own: it says to which origin credentials may go.
    ///   - transport: What sends the requests.
    ///   - options: What the client does besides.
    /// - Throws: ``TransportError`` where an address cannot be read, or has a password before the host.
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

    /// Sends a request, as often as it takes and is safe, and returns its answer, whatever status it has.
    ///
    /// An answer that says that the request should be sent again (429, 503) is returned where it was sent as often as the options allow, or
    /// where the service asks for a longer wait than they do.
    ///
    /// - Parameters:
    ///   - request: The request, without credentials.
    ///   - observer: Gets a record of the request when it has ended, besides the observer of the options.
    /// - Throws: ``TransportError`` where no whole answer came, without any secret; `CancellationError` where the task is cancelled.
    public func send(_ request: WebRequest, observer: (@Sendable (RequestRecord) -> Void)? = nil) async throws -> WebResponse {
        try await send(request, authenticates: true, followsRedirects: true, observer: observer)
    }

    /// The user who is signed in: see ``Options/principal``.
    public var principal: String? { options.principal.map { $0() } ?? namedUser }

    /// Returns what adds the credentials of a user; those of another one are forgotten.
    func authenticators(of principal: String?) -> Authenticators {
        signedIn.withLock { signedIn in
            if signedIn.principal != principal {
                signedIn = (principal, Authenticators(options.authentication, keepsCookies: options.keepsCookies))
            }
            return signedIn.authenticators
        }
    }

    /// Forgets the credentials of a user, among which may be those of another one.
    func forgetCredentials(of principal: String?) {
        signedIn.withLock { signedIn in
            guard signedIn.principal == principal else { return }
            signedIn.authenticators = Authenticators(options.authentication, keepsCookies: options.keepsCookies)
        }
    }

    /// Returns a text without the secrets that the client has used, for messages of the program's own.
    public func removingSecrets(from text: String) -> String { secrets.remove(from: text) }

    /// Whether credentials may go to an address.
    func isOwn(_ url: String) -> Bool { (try? WebAddress(url)).map(isOwn) ?? false }

    /// Whether credentials may go to an address.
    func isOwn(_ address: WebAddress) -> Bool { isOwn(origin: address.origin) }

    /// Whether credentials may go to an origin.
    func isOwn(origin: String) -> Bool { origins.contains(origin) }

    /// Sends one try of a request, and returns its answer.
    typealias Exchange = @Sendable (WebRequest, TransportLimits) async throws -> WebResponse

    /// Sends a request, and tells everybody of it who wants to know.
    ///
    /// - Parameters:
    ///   - exchange: What sends each try; nil for the transport.
    ///   - authenticators: What has the cookies of a request that fetches credentials; nil for those of the user who is signed in.
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
            // A link of the service may lead to any host: metrics are kept of the client's own only.
            Telemetry.count(record, host: isOwn(address) ? address.host : "other")
            // To take the secrets out of an address takes time: mostly nobody reads it.
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
            // A transport of the program's own.
            TransportError(.lost, request: secrets.summary(request), detail: secrets.remove(from: "The transport threw \(error)."))
        }
    }
}
