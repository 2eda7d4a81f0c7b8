internal import PropertyLists

/// What brings a request to a service and its answer back.
///
/// A transport sends a request once. Credentials, retries, redirects and limits of the rate are added by ``WebClient``, over any transport.
///
/// Its methods may be called on any thread, several at a time.
public protocol Transport: Sendable {
    /// Sends a request and returns its answer, whatever status it has.
    ///
    /// - Parameters:
    ///   - request: The request, with everything that is to be sent.
    ///   - limits: The time and the number of bytes that the answer may take.
    /// - Throws: ``TransportError`` where no whole answer came; `CancellationError` where the task is cancelled.
    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse
}

/// What one answer may take.
public struct TransportLimits: Hashable, Sendable, Codable {
    /// The time until a connection must be there, in seconds.
    public var connectSeconds: Double
    /// The time until the whole answer must be there, in seconds.
    public var requestSeconds: Double
    /// The number of bytes of an answer's body, decompressed.
    public var maximumBytes: Int

    /// Creates limits.
    public init(connectSeconds: Double = 10, requestSeconds: Double = 60, maximumBytes: Int = 64 << 20) {
        self.connectSeconds = connectSeconds
        self.requestSeconds = requestSeconds
        self.maximumBytes = maximumBytes
    }
}

/// The error of a request to which no whole answer came.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What has failed.
    public enum Kind: String, Hashable, Sendable {
        /// No connection could be made: nothing was sent.
        case cannotConnect = "No connection could be made."
        /// The service could not prove its identity: nothing was sent.
        case untrusted = "The service could not prove its identity."
        /// The time was over before the answer had come.
        case timedOut = "The answer did not come in time."
        /// The connection ended before the answer had come.
        case lost = "The connection ended before the answer had come."
        /// The answer is larger than the limit.
        case tooLarge = "The answer is larger than the limit."
        /// The answer is not what the protocol says.
        case malformed = "The answer is not what HTTP says."
        /// The redirects lead in a circle, or are too many, or lead where credentials may not go.
        case redirected = "The redirects could not be followed."
        /// There is no recorded answer to the request.
        case notRecorded = "There is no recorded answer to this request."
        /// The request cannot be sent as it is: nothing was sent.
        case invalid = "The request cannot be sent."
        /// The credentials for the request could not be had: the request was not sent.
        case unauthorized = "The credentials could not be had."
        /// The service allows no more requests before the time for this one is over: nothing was sent.
        case rateLimited = "The service allows no more requests for now."
    }

    /// What has failed.
    public var kind: Kind
    /// The request, without credentials: `GET https://api.example.com/albums`.
    public var request: String
    /// What else is known, without credentials.
    public var detail: String
    /// Whether the reason of ``Kind/unauthorized`` may pass by itself: the service that gives credentials could not be reached, or is busy. Otherwise
    /// somebody has to sign in.
    public var isTemporary = false

    /// Creates an error.
    public init(_ kind: Kind, request: String, detail: String = "", isTemporary: Bool = false) {
        self.kind = kind
        self.request = request.shortened
        self.detail = detail.shortened
        self.isTemporary = isTemporary
    }

    /// Whether the service may have got the request.
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

    /// Decodes what a file says of it; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let usual = TransportLimits()
        self.init(
            connectSeconds: try container.decodeIfPresent(Double.self, forKey: .connectSeconds) ?? usual.connectSeconds,
            requestSeconds: try container.decodeIfPresent(Double.self, forKey: .requestSeconds) ?? usual.requestSeconds,
            maximumBytes: try container.decodeIfPresent(Int.self, forKey: .maximumBytes) ?? usual.maximumBytes)
    }
}
