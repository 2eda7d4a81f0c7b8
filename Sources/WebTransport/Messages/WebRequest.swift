/// An HTTP request.
public struct WebRequest: Hashable, Sendable {
    /// The method of a request.
    public struct Method: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        /// The method's name, in capital letters.
        public let rawValue: String
        /// Creates a method from its name.
        public init(rawValue: String) { self.rawValue = rawValue.uppercased() }
        /// Creates a method from its name.
        public init(stringLiteral value: String) { self.init(rawValue: value) }

        /// Reads a resource.
        public static let get: Method = "GET"
        /// Reads the headers of a resource.
        public static let head: Method = "HEAD"
        /// Creates a resource, or performs another action of the service.
        public static let post: Method = "POST"
        /// Replaces a resource.
        public static let put: Method = "PUT"
        /// Changes a resource.
        public static let patch: Method = "PATCH"
        /// Removes a resource.
        public static let delete: Method = "DELETE"
    }

    /// The method.
    public var method: Method
    /// The absolute address, percent-encoded.
    public var url: String
    /// The headers.
    public var headers: WebHeaders
    /// The body; nil for none.
    public var body: [UInt8]?
    /// Whether the service may receive the request twice without a further effect. The default is true for all methods except `POST` and `PATCH`.
    public var isIdempotent: Bool
    /// The purpose of the request, for logs and traces: `Album.list`.
    public var label: String
    /// The user of the request: it is only sent while this user is signed in (``WebClient/principal``). Nil for any user.
    public var principal: String?

    /// Creates a request.
    public init(
        _ method: Method = .get, _ url: String, headers: WebHeaders = [:], body: [UInt8]? = nil, isIdempotent: Bool? = nil,
        label: String = ""
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.isIdempotent = isIdempotent ?? (method != .post && method != .patch)
        self.label = label
    }
}

/// The answer to a ``WebRequest``.
public struct WebResponse: Hashable, Sendable {
    /// The status code.
    public var status: Int
    /// The headers.
    public var headers: WebHeaders
    /// The whole body, decompressed.
    public var body: [UInt8]
    /// The address that has answered, without credentials, if a client has followed redirects; otherwise nil.
    public var redirectedTo: String?
    /// The status of the redirect that has changed the method of the request to `GET`; nil if none has. Such an answer says nothing about the change
    /// that the request was for.
    package var turnedToGet: Int?

    /// Creates a response.
    public init(status: Int, headers: WebHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
