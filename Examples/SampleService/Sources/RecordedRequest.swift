/// A request the sample service received, and the status it decided to answer with.
public struct RecordedRequest: Sendable, Hashable, CustomStringConvertible {
    /// The place of this request in the order of arrival, counted from 1 since the start or the last
    /// ``SampleService/resetRequests()``.
    public let order: Int

    /// The HTTP method, such as `GET`.
    public let method: String

    /// The path without the query, such as `/api/band/3/search`.
    public let path: String

    /// The query parameters by name, percent decoding done. Of a parameter given twice, the first counts.
    public let query: [String: String]

    /// The path and the query as they stood in the request line, percent encoding included.
    public let target: String

    /// The HTTP status of the answer.
    public let status: Int

    /// One line for a person, such as `3. GET /api/album/2/info?album_id=7 → 200`.
    public var description: String {
        "\(order). \(method) \(target) → \(status)"
    }
}
