internal import Foundation

/// The maximum rate of a client's requests to each origin.
///
/// The client delays a request that would exceed the limit. It also obeys the limits that services announce, in the headers `X-RateLimit-Remaining` and
/// `X-RateLimit-Reset`, `RateLimit-Remaining` and `RateLimit-Reset`, and `RateLimit`: after an answer without remaining requests, the next request
/// waits for the reset.
public struct RateLimit: Hashable, Sendable, Codable {
    /// The maximum number of requests in each interval; nil for no limit.
    public var requests: Int?
    /// The interval, in seconds.
    public var seconds: Double
    /// Whether the client obeys the limits that services announce.
    public var obeysHeaders: Bool

    /// Creates a limit.
    public init(requests: Int? = nil, seconds: Double = 1, obeysHeaders: Bool = true) {
        self.requests = requests
        self.seconds = seconds
        self.obeysHeaders = obeysHeaders
    }

    /// Returns the number of seconds until the service allows requests again; nil if it announces no limit, or allows requests now.
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

    /// Returns the wait until a reset: a service gives a time, in seconds or milliseconds since the beginning of 1970, or a number of seconds.
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

    /// Decodes the values in a file; missing ones have their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let usual = RateLimit()
        self.init(
            requests: try container.decodeIfPresent(Int.self, forKey: .requests),
            seconds: try container.decodeIfPresent(Double.self, forKey: .seconds) ?? usual.seconds,
            obeysHeaders: try container.decodeIfPresent(Bool.self, forKey: .obeysHeaders) ?? usual.obeysHeaders)
    }
}
