internal import PropertyLists

/// A transport for requests to a service, and for its answers.
///
/// A transport sends a request once. ``WebClient`` adds credentials, retries, redirects and rate limits, over any transport.
///
/// Its methods may be called on any thread, and concurrently.
public protocol Transport: Sendable {
    /// Sends a request and returns its answer, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The complete request.
    ///   - limits: The limits of the answer's time and size.
    /// - Throws: ``TransportError`` if there was no complete answer; `CancellationError` if the task is cancelled.
    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse
}

/// The limits of one answer.
public struct TransportLimits: Hashable, Sendable, Codable {
    /// The timeout for a connection, in seconds.
    public var connectSeconds: Double
    /// The timeout for the complete answer, in seconds.
    public var requestSeconds: Double
    /// The maximum size of an answer's body, decompressed, in bytes.
    public var maximumBytes: Int

    /// Creates limits.
    public init(connectSeconds: Double = 10, requestSeconds: Double = 60, maximumBytes: Int = 64 << 20) {
        self.connectSeconds = connectSeconds
        self.requestSeconds = requestSeconds
        self.maximumBytes = maximumBytes
    }
}

/// The error of a request without a complete answer.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Kind: String, Hashable, Sendable {
        /// No connection could be made. Nothing was sent.
        case cannotConnect = "No connection could be made."
        /// The service could not prove its identity. Nothing was sent.
        case untrusted = "The service could not prove its identity."
        /// The answer did not arrive in time.
        case timedOut = "The answer did not come in time."
        /// The connection ended before the answer was complete.
        case lost = "The connection ended before the answer had come."
        /// The answer is larger than the limit.
        case tooLarge = "The answer is larger than the limit."
        /// The answer violates the protocol.
        case malformed = "The answer is not what HTTP says."
        /// The redirects form a circle, are too many, or lead to a place where credentials must not go.
        case redirected = "The redirects could not be followed."
        /// There is no recorded answer to the request.
        case notRecorded = "There is no recorded answer to this request."
        /// The request is invalid. Nothing was sent.
        case invalid = "The request cannot be sent."
        /// The credentials for the request could not be obtained. The request was not sent.
        case unauthorized = "The credentials could not be had."
        /// The service allows no more requests within the time limit of this one. Nothing was sent.
        case rateLimited = "The service allows no more requests for now."
    }

    /// The kind of failure.
    public var kind: Kind
    /// The request, without credentials: `GET https://api.example.com/albums`.
    public var request: String
    /// Further information, without credentials.
    public var detail: String
    /// Whether the reason of ``Kind/unauthorized`` may be temporary: the service that issues credentials could not be reached, or is busy. Otherwise a
    /// user has to sign in.
    public var isTemporary = false

    /// Creates an error.
    public init(_ kind: Kind, request: String, detail: String = "", isTemporary: Bool = false) {
        self.kind = kind
        self.request = request.shortened
        self.detail = detail.shortened
        self.isTemporary = isTemporary
    }

    /// Whether the service may have received the request.
    public var mayHaveArrived: Bool {
        switch kind {
        case .cannotConnect, .untrusted, .notRecorded, .invalid, .unauthorized, .rateLimited: false
        case .timedOut, .lost, .tooLarge, .malformed, .redirected: true
        }
    }

    /// The request and the reason, on one line.
    public var description: String { "\(request) failed. \(kind.rawValue)\(detail.isEmpty ? "" : " " + detail)" }
}

extension TransportLimits {
    private enum CodingKeys: String, CodingKey {
        case connectSeconds
        case requestSeconds
        case maximumBytes
    }

    /// Decodes the values in a file; missing ones have their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let usual = TransportLimits()
        self.init(
            connectSeconds: try container.decodeIfPresent(Double.self, forKey: .connectSeconds) ?? usual.connectSeconds,
            requestSeconds: try container.decodeIfPresent(Double.self, forKey: .requestSeconds) ?? usual.requestSeconds,
            maximumBytes: try container.decodeIfPresent(Int.self, forKey: .maximumBytes) ?? usual.maximumBytes)
    }
}
