#if WebBackend
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOSSL

/// A transport that sends requests over the network, by AsyncHTTPClient.
///
/// It uses HTTP/2 if the service supports it, and otherwise HTTP/1.1. It keeps connections open for later requests, and requests compressed answers,
/// which it decompresses. It sends nothing to a service that cannot prove its identity. It follows no redirects and keeps no cookies: ``WebClient``
/// does. An answer that exceeds ``TransportLimits/maximumBytes``, counted after decompression, ends the request at once: of a body of ten gigabytes,
/// only the first bytes are read.
///
/// A request whose first bytes were not sent within ``TransportLimits/connectSeconds`` fails as unable to connect, even if it was waiting for one of
/// the limited number of HTTP/1.1 connections to a host.
///
/// A transport may be used on any thread, and for any number of services at the same time.
public struct AsyncHTTPClientTransport: Transport {
    /// The certificate authorities that vouch for the identity of services.
    public enum TrustRoots: Hashable, Sendable {
        /// The authorities that the system trusts.
        case system
        /// Only the authorities with certificates in these PEM files.
        case files([String])
        /// The authorities that the system trusts, and those with certificates in these PEM files.
        case systemAndFiles([String])
    }

    /// The client of all transports without one of their own. It lives as long as the program.
    private static let shared = HTTPClient(configuration: configuration())
    private static let sharedLoops = EventLoopChoice(shared)

    let client: HTTPClient
    /// The choice of an event loop for each request.
    private let loops: EventLoopChoice
    /// Keeps the client running while a copy of the transport exists.
    private let owner: ClientOwner?

    /// Creates a transport with connections that all such transports share.
    public init() {
        client = Self.shared
        loops = Self.sharedLoops
        owner = nil
    }

    /// Creates a transport with its own connections.
    ///
    /// - Parameters:
    ///   - trustRoots: The certificate authorities that vouch for the identity of services.
    ///   - maximumConnectionsPerHost: The maximum number of open HTTP/1.1 connections to a host; further requests wait for one.
    ///   - idleSeconds: The time for which an unused connection stays open.
    ///   - speaksHTTP2: Whether HTTP/2 is used with services that offer it.
    /// - Throws: A ``TransportError`` that names the file if a certificate cannot be read.
    public init(
        trustRoots: TrustRoots, maximumConnectionsPerHost: Int = 64, idleSeconds: Double = 60, speaksHTTP2: Bool = true
    ) throws {
        var configuration = Self.configuration()
        var security = TLSConfiguration.makeClientConfiguration()
        switch trustRoots {
        case .system: break
        case .files(let files): security.trustRoots = .certificates(try files.flatMap(Self.certificates))
        case .systemAndFiles(let files): security.additionalTrustRoots = [.certificates(try files.flatMap(Self.certificates))]
        }
        configuration.tlsConfiguration = security
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, maximumConnectionsPerHost)
        configuration.connectionPool.idleTimeout = seconds(idleSeconds)
        if !speaksHTTP2 { configuration.httpVersion = .http1Only }
        let owner = ClientOwner(HTTPClient(configuration: configuration))
        self.owner = owner
        client = owner.client
        loops = EventLoopChoice(client)
    }

    /// Creates a transport with a client of the program, which is responsible for shutting it down.
    ///
    /// The client should not follow redirects, because it would send credentials along. It should not retry connections, because the limits apply to
    /// one try. It should decompress answers. ``configuration()`` does all of this.
    public init(client: HTTPClient) {
        self.client = client
        loops = EventLoopChoice(client)
        owner = nil
    }

    /// Returns the configuration of the shared client, for programs that make their own client from it.
    public static func configuration() -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(120)), decompression: .enabled(limit: .none))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.retryConnectionEstablishment = false
        // ``WebClient`` makes the span of a request, which covers its tries and has no credentials.
        configuration.tracing.tracer = nil
        // A small compressed piece may expand a thousandfold. It is decompressed as it is read, before its size can be checked, so only a few kilobytes
        // are read at a time.
        let smallReads: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 32 << 10))
                .flatMap { channel.setOption(.maxMessagesPerRead, value: 1) }
        }
        configuration.http1_1ConnectionDebugInitializer = { channel in smallReads(channel).flatMap { StatusCheck.add(to: channel) } }
        configuration.http2ConnectionDebugInitializer = smallReads
        configuration.http2StreamChannelDebugInitializer = { StreamStatusCheck.add(to: $0) }
        return configuration
    }

    private static func certificates(_ file: String) throws -> [NIOSSLCertificate] {
        do {
            return try NIOSSLCertificate.fromPEMFile(file)
        } catch {
            throw TransportError(
                .untrusted, request: "The reading of certificates", detail: "\(file) has none of the form PEM: \(type(of: error)).")
        }
    }

    /// Sends a request and returns its answer, whatever its status.
    ///
    /// - Throws: ``TransportError`` if there was no complete answer; `CancellationError` if the task is cancelled.
    public func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let problem = TransportProblem(request: request, limits: limits)
        let address: WebAddress
        do { address = try WebAddress(request.url) } catch { throw problem.error(.invalid, error.rawValue) }
        var message: HTTPClient.Request
        do {
            message = try HTTPClient.Request(url: address.text, method: HTTPMethod(rawValue: request.method.rawValue))
        } catch {
            throw problem.error(.invalid, "The address cannot be read.")
        }
        for field in request.headers.fields { message.headers.add(name: field.name, value: field.value) }
        if !message.headers.contains(name: "Accept-Encoding") { message.headers.add(name: "Accept-Encoding", value: "gzip, deflate") }
        message.body = request.body.map { .bytes($0) }

        let (place, loop) = loops.take()
        defer { loops.giveBack(place) }
        let exchange = NetworkExchange(
            client: client, loop: loop, isHead: request.method == .head, problem: problem, notes: RequestNotes.current)
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    loop.execute { [message] in exchange.start(message, continuation) }
                }
            } onCancel: {
                loop.execute { exchange.cancel() }
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw error
        }
    }
}

/// Shuts a client down when the last transport that uses it is released.
private final class ClientOwner: Sendable {
    let client: HTTPClient

    init(_ client: HTTPClient) { self.client = client }

    deinit { client.shutdown { _ in } }
}

/// Returns a time interval, limited to a few years.
func seconds(_ seconds: Double) -> TimeAmount { .nanoseconds(Int64(max(0, min(seconds.isNaN ? 0 : seconds, 1e8)) * 1e9)) }
#endif
