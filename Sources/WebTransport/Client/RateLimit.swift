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

/// Decides when the requests of a client may go, by its own limit and by those of services.
final class RateLimiter: Sendable {
    private struct Origin {
        /// The moments of the last requests, and of those that wait, as many as an interval may have.
        var moments: [Double] = []
        var next = 0
        /// Until when the service allows nothing.
        var blockedUntil = -Double.infinity
    }

    /// The number of origins that are remembered: links lead to any number.
    private static let maximumOrigins = 1000

    let limit: RateLimit
    private let origins = LockedBox<[String: Origin]>([:])

    init(_ limit: RateLimit) { self.limit = limit }

    /// Returns until when the service allows no requests.
    func blockedUntil(_ origin: String) -> Double { origins.withLock { $0[origin]?.blockedUntil } ?? -.infinity }

    /// Takes the next moment at which a request may go by the client's own limit, and returns it.
    func reserve(_ origin: String, now: Double) -> Double {
        guard let requests = limit.requests, requests > 0, limit.seconds > 0 else { return now }
        return origins.withLock { origins in
            var entry = origins[origin] ?? Origin()
            defer { set(entry, for: origin, in: &origins) }
            guard entry.moments.count == requests else {
                let moment = max(now, entry.moments.last ?? now)
                entry.moments.append(moment)
                return moment
            }
            // A request may go an interval after the one that is as many before it.
            let moment = max(now, entry.moments[entry.next] + limit.seconds)
            entry.moments[entry.next] = moment
            entry.next = (entry.next + 1) % requests
            return moment
        }
    }

    /// Notes what an answer says of the service's limit.
    func note(_ response: WebResponse, from origin: String, now: Double, dateNow: Double) {
        guard limit.obeysHeaders else { return }
        var wait = RateLimit.secondsUntilReset(response.headers, now: dateNow)
        if response.status == 429, let after = response.headers["Retry-After"].flatMap({ RetryPolicy.delay(retryAfter: $0, now: dateNow) })
        {
            wait = max(wait ?? 0, after)
        }
        guard let wait, wait > 0 else { return }
        origins.withLock { origins in
            var entry = origins[origin] ?? Origin()
            entry.blockedUntil = max(entry.blockedUntil, now + min(wait, 86_400))
            set(entry, for: origin, in: &origins)
        }
    }

    private func set(_ entry: Origin, for origin: String, in origins: inout [String: Origin]) {
        if origins.count >= Self.maximumOrigins, origins[origin] == nil { origins.removeAll() }
        origins[origin] = entry
    }
}
