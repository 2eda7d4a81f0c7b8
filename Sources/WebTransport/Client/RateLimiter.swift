internal import Platform

/// Schedules the requests of a client, by its own rate limit and those of services.
final class RateLimiter: Sendable {
    private struct Origin {
        /// The times of the last requests and of waiting ones, at most as many as an interval may have.
        var moments: [Double] = []
        var next = 0
        /// The time until which the service allows no requests.
        var blockedUntil = -Double.infinity
    }

    /// The maximum number of remembered origins, because links may lead to any number of them.
    private static let maximumOrigins = 1000

    let limit: RateLimit
    private let origins = LockedBox<[String: Origin]>([:])

    init(_ limit: RateLimit) { self.limit = limit }

    /// Returns the time until which the service allows no requests.
    func blockedUntil(_ origin: String) -> Double { origins.withLock { $0[origin]?.blockedUntil } ?? -.infinity }

    /// Reserves the next time at which the client's own limit permits a request, and returns it.
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
            // A request may be sent one interval after the request that precedes it by the limit.
            let moment = max(now, entry.moments[entry.next] + limit.seconds)
            entry.moments[entry.next] = moment
            entry.next = (entry.next + 1) % requests
            return moment
        }
    }

    /// Notes the limit that an answer announces.
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
