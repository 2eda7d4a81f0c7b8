/// A request that the sample service received, and the status of its answer.
public struct RecordedRequest: Sendable, Hashable, CustomStringConvertible {
    /// The number of the request in the order of arrival, from 1 since the start or the last ``SampleService/resetRequests()``.
    public let order: Int

    /// The HTTP method, such as `GET`.
    public let method: String

    /// The path without the query, such as `/api/band/3/search`.
    public let path: String

    /// The decoded query parameters by name. For a repeated parameter, the first value.
    public let query: [String: String]

    /// The path and the query of the request line, percent-encoded.
    public let target: String

    /// The body, as text; empty where there is none.
    public let body: String

    /// The HTTP status of the answer.
    public let status: Int

    /// A description in one line, such as `3. GET /api/album/2/info?album_id=7 → 200`.
    public var description: String {
        "\(order). \(method) \(target) → \(status)"
    }
}
