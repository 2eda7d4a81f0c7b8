internal import Foundation

/// How many requests a client sends to each origin.
///
/// The client waits before a request that would be one too many. It also obeys what services say of their own limits, in the headers
/// `X-RateLimit-Remaining` and `X-RateLimit-Reset`, `RateLimit-Remaining` and `RateLimit-Reset`, and `RateLimit`: after an answer that says that
/// none is left, the next request waits until there are some again.
public struct RateLimit: Hashable, Sendable, Codable {
    /// The number of requests in each interval; nil for any number.
    public var requests: Int?
    /// The interval, in seconds.
    public var seconds: Double
    /// Whether the client obeys the limits that services name.
    public var obeysHeaders: Bool

    /// Creates a limit.
    public init(requests: Int? = nil, seconds: Double = 1, obeysHeaders: Bool = true) {
        self.requests = requests
        self.seconds = seconds
        self.obeysHeaders = obeysHeaders
    }

    /// Returns after how many seconds the service allows requests again; nil where it says nothing, or allows some now.
    static func secondsUntilReset(_ headers: WebHeaders, now: Double) -> Double? {
        for prefix in ["X-RateLimit-", "RateLimit-", "X-Rate-Limit-"] {
            if let remaining = headers[prefix + "Remaining"].flatMap(number), let reset = headers[prefix + "Reset"].flatMap(number) {
                return remaining >= 1 ? nil : seconds(reset: reset, now: now)
            }
        }
        // `limit=100, remaining=0, reset=30` and `"default";r=0;t=30`, of the drafts of the standard.
        guard let text = headers["RateLimit"] else { return nil }
        var values: [String: Double] = [:]
        for part in text.split(whereSeparator: { ",;".contains($0) }) {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if pair.count == 2, let value = number(pair[1]) { values[pair[0].lowercased()] = value }
        }
        guard let remaining = values["remaining"] ?? values["r"], remaining < 1, let reset = values["reset"] ?? values["t"] else {
            return nil
        }
        return max(0, reset)
    }

    private static func number(_ text: String) -> Double? {
        Double(text.trimmingCharacters(in: .whitespaces)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns a wait: services name a moment, in seconds or milliseconds since the beginning of 1970, or a number of seconds.
    private static func seconds(reset: Double, now: Double) -> Double {
        if reset > 1e11 { return max(0, reset / 1000 - now) }
        if reset > 1e9 { return max(0, reset - now) }
        return max(0, reset)
    }
}

extension RateLimit {
    private enum CodingKeys: String, CodingKey {
        case requests
        case seconds
        case obeysHeaders
    }

    /// Decodes what a file says of it; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let usual = RateLimit()
        self.init(
            requests: try container.decodeIfPresent(Int.self, forKey: .requests),
            seconds: try container.decodeIfPresent(Double.self, forKey: .seconds) ?? usual.seconds,
            obeysHeaders: try container.decodeIfPresent(Bool.self, forKey: .obeysHeaders) ?? usual.obeysHeaders)
    }
}
