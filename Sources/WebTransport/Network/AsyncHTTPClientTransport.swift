#if WebBackend
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOSSL

/// A transport that sends requests over the network, with AsyncHTTPClient.
///
/// It speaks HTTP/2 where the service does, and HTTP/1.1 elsewhere; keeps connections for the requests that follow; asks for compressed
/// answers and decompresses them; and lets a service that cannot prove its identity have nothing. It follows no redirects and keeps no
/// cookies: ``WebClient`` does. An answer that grows beyond ``TransportLimits/maximumBytes``, counted after decompression, ends the request
/// as soon as it does: of a body of ten gigabytes only the first bytes are read.
///
/// A request whose first bytes were not sent within ``TransportLimits/connectSeconds`` could not connect, also where it waited for one of the
/// connections of HTTP/1.1 that there may be to a host.
///
/// A transport may be used on any thread, and for any number of services at once.
public struct AsyncHTTPClientTransport: Transport {
    /// Who vouches for the identity of services.
    public enum TrustRoots: Hashable, Sendable {
        /// The authorities that the system trusts.
        case system
        /// Only the authorities whose certificates stand in these files of the form PEM.
        case files([String])
        /// The authorities that the system trusts, and those whose certificates stand in these files.
        case systemAndFiles([String])
    }

    /// The client of all transports that have none of their own. It lives as long as the program.
    private static let shared = HTTPClient(configuration: configuration())
    private static let sharedLoops = EventLoopChoice(shared)

    let client: HTTPClient
    /// Which of the client's event loops a request runs on.
    private let loops: EventLoopChoice
    /// Keeps the client going for as long as a copy of the transport is left.
    private let owner: ClientOwner?

    /// Creates a transport over connections that all such transports share.
    public init() {
        client = Self.shared
        loops = Self.sharedLoops
        owner = nil
    }

    /// Creates a transport over connections of its own.
    ///
    /// - Parameters:
    ///   - trustRoots: Who vouches for the identity of services.
    ///   - maximumConnectionsPerHost: How many connections of HTTP/1.1 are open to a host at a time; further requests wait for one.
    ///   - idleSeconds: How long a connection that nobody uses stays open.
    ///   - speaksHTTP2: Whether HTTP/2 is spoken with services that offer it.
    /// - Throws: A ``TransportError`` that names the file where a certificate cannot be read.
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

    /// Creates a transport over a client of the program's own, which shuts it down.
    ///
    /// The client should not follow redirects, for it would take credentials along; nor retry connections, for the limits apply to one try;
    /// and it should decompress answers. ``configuration()`` does all of this.
    public init(client: HTTPClient) {
        self.client = client
        loops = EventLoopChoice(client)
        owner = nil
    }

    /// Returns the configuration of the shared client, for programs that make a client of their own from it.
    public static func configuration() -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(120)), decompression: .enabled(limit: .none))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.retryConnectionEstablishment = false
        // A span of a request is that of the client, with its tries and without credentials.
        configuration.tracing.tracer = nil
        // A small piece of a compressed answer may stand for a thousand times as much. It is decompressed as it is read, before anybody
        // can count it: so no more than a few kilobytes are read at a time.
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

    /// Sends a request and returns its answer, whatever status it has.
    ///
    /// - Throws: ``TransportError`` where no whole answer came; `CancellationError` where the task is cancelled.
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

/// Shuts a client down when the last transport that uses it is gone.
private final class ClientOwner: Sendable {
    let client: HTTPClient

    init(_ client: HTTPClient) { self.client = client }

    deinit { client.shutdown { _ in } }
}

/// Returns an amount of time, at most some years.
func seconds(_ seconds: Double) -> TimeAmount { .nanoseconds(Int64(max(0, min(seconds.isNaN ? 0 : seconds, 1e8)) * 1e9)) }
#endif
