/// A request of the Hypertext Transfer Protocol.
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
        /// Creates a resource, or does what the service says.
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
    /// Whether the service may get the request twice without doing anything twice. By default so for all methods but `POST` and `PATCH`.
    public var isIdempotent: Bool
    /// What the request is for, in logs and traces: `Album.list`.
    public var label: String
    /// The user whose request it is: it is sent while this user is signed in (``WebClient/principal``), or not at all. Nil for whoever is.
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
    /// The address that has answered, without credentials, where a client has followed redirects; nil where there were none.
    public var redirectedTo: String?
    /// The status of the redirect that has made a `GET` of a request with another method; nil where none has. Such an answer says nothing of what the request was
    /// to change.
    package var turnedToGet: Int?

    /// Creates a response.
    public init(status: Int, headers: WebHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
