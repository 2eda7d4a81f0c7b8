internal import Foundation

/// A request in the form for the endpoints.
struct Question: Sendable {
    let method: String
    let target: String
    let path: String
    let parameters: [String: String]
    let knownEntityTags: [String]
    let body: Data
    var ifMatch: String?
    var authorization: String?
    var host = ""

    init(method: String, target: String, path: String, encodedQuery: String, ifNoneMatch: String?, body: Data = Data()) {
        self.body = body
        self.method = method
        self.target = target
        self.path = path
        self.parameters = Self.decode(encodedQuery)
        self.knownEntityTags = Self.entityTags(in: ifNoneMatch)
    }

    /// Returns the values of a comma-separated parameter; nil when it is missing.
    func list(_ name: String) -> [String]? {
        parameters[name].map { value in
            value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }

    /// Decoded here because a plus sign means a space in a form's query, which URLComponents does not convert.
    private static func decode(_ encodedQuery: String) -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in encodedQuery.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = part.replacing("+", with: " ")
                return spaced.removingPercentEncoding ?? String(spaced)
            }
            guard let name = parts.first, parameters[name] == nil else { continue }
            parameters[name] = parts.count > 1 ? parts[1] : ""
        }
        return parameters
    }

    private static func entityTags(in ifNoneMatch: String?) -> [String] {
        (ifNoneMatch ?? "").split(separator: ",").map { tag in
            let trimmed = tag.trimmingCharacters(in: .whitespaces)
            // If-None-Match compares weakly, so a weak tag of the same value matches as well.
            return trimmed.hasPrefix("W/") ? String(trimmed.dropFirst(2)) : trimmed
        }
    }
}
