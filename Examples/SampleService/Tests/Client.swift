import Foundation
import SampleService
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An answer of the service.
struct Reply: Sendable {
    let status: Int
    let body: Data
    let entityTag: String?
    let contentType: String?

    /// Returns the body as a JSON object.
    func object() throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: body) as? [String: Any])
    }

    /// Returns the body as a JSON array of objects.
    func objects() throws -> [[String: Any]] {
        try #require(JSONSerialization.jsonObject(with: body) as? [[String: Any]])
    }

    /// Returns the array of objects under a key of the body.
    func objects(_ key: String) throws -> [[String: Any]] {
        try #require(try object()[key] as? [[String: Any]])
    }
}

extension SampleService {
    /// Sends a request to the service without caching.
    ///
    /// - Parameter target: The path and the query, percent-encoded.
    func ask(_ target: String, method: String = "GET", headers: [String: String] = [:], body: String? = nil) async throws -> Reply {
        var request = URLRequest(url: try #require(URL(string: baseURL.absoluteString + target)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        request.cachePolicy = .reloadIgnoringLocalCacheData
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (body, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Reply(
            status: http.statusCode, body: body, entityTag: http.value(forHTTPHeaderField: "ETag"),
            contentType: http.value(forHTTPHeaderField: "Content-Type"))
    }
}

extension [[String: Any]] {
    /// Returns the values under a key of every object, in order.
    func values<Value>(_ key: String, as type: Value.Type = Value.self) -> [Value] {
        compactMap { $0[key] as? Value }
    }
}

extension [String: Any] {
    /// The names of the members.
    var names: Set<String> { Set(keys) }

    /// Returns whether a member is null, as opposed to missing.
    func isNull(_ key: String) -> Bool { self[key] is NSNull }
}
