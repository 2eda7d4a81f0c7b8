internal import Foundation
internal import PropertyLists

/// The policy for retries.
///
/// A request that may have arrived is sent again only if it is idempotent (``WebRequest/isIdempotent``). Any request is sent again if nothing of it was
/// sent, or if the service has declared that it did nothing (the status 429). If a service states when it will be available again (`Retry-After`), the
/// client waits for that time. Otherwise it uses exponential backoff: the wait doubles with each try, less a random part.
public struct RetryPolicy: Hashable, Sendable, Codable {
    /// The maximum number of times that a request is sent.
    public var maximumTries: Int
    /// The wait before the second try, in seconds.
    public var firstDelay: Double
    /// The maximum backoff, in seconds. A service may ask for a longer wait.
    public var maximumDelay: Double
    /// The maximum time for all tries and waits of a request together, in seconds.
    public var totalSeconds: Double
    /// The statuses after which an idempotent request is sent again, besides 429.
    public var statuses: Set<Int>

    /// Creates a policy.
    public init(
        maximumTries: Int = 4, firstDelay: Double = 0.5, maximumDelay: Double = 30, totalSeconds: Double = 180,
        statuses: Set<Int> = [408, 500, 502, 503, 504]
    ) {
        self.maximumTries = maximumTries
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
        self.totalSeconds = totalSeconds
        self.statuses = statuses
    }

    /// No retries: every request is sent once.
    public static let never = RetryPolicy(maximumTries: 1)

    /// Returns whether a request is sent again after a status.
    func repeats(_ request: WebRequest, after status: Int) -> Bool {
        status == 429 || (request.isIdempotent && statuses.contains(status))
    }

    /// Returns whether a request is sent again after an error.
    func repeats(_ request: WebRequest, after error: TransportError) -> Bool {
        switch error.kind {
        case .cannotConnect: true
        case .timedOut, .lost, .malformed: request.isIdempotent
        case .untrusted, .tooLarge, .redirected, .notRecorded, .invalid, .unauthorized, .rateLimited: false
        }
    }

    /// Returns the backoff after a try, in seconds, if the service names no wait.
    func delay(afterTry number: Int, random: Double) -> Double {
        let whole = min(maximumDelay, firstDelay * pow(2, Double(min(number, 40) - 1)))
        return max(0, whole * (0.5 + random / 2))
    }

    /// Returns the wait that a service asks for, in seconds: `120`, or `Fri, 31 Dec 2027 23:59:59 GMT`. It is at most a year, whatever the service asks
    /// for.
    package static func delay(retryAfter: String, now: Double) -> Double? {
        let text = retryAfter.trimmingCharacters(in: .whitespaces)
        let asked = if let seconds = Double(text), seconds.isFinite { seconds } else { date(text, now).map { $0 - now } }
        return asked.map { min(max(0, $0), 365 * 86_400) }
    }

    /// Returns the seconds since 1970 of an HTTP date. A year of two digits is in the next fifty years, or before.
    private static func date(_ text: String, _ now: Double) -> Double? {
        let latestYear = DateText.year(DateCount.seconds1970.seconds(now)) + 50
        return (try? DateText.seconds(text, .http, latestYear: latestYear)).map { DateCount.seconds1970.number($0) }
    }
}

extension RetryPolicy {
    private enum CodingKeys: String, CodingKey {
        case maximumTries
        case firstDelay
        case maximumDelay
        case totalSeconds
        case statuses
    }

    /// Decodes the values in a file; missing ones have their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let usual = RetryPolicy()
        self.init(
            maximumTries: try container.decodeIfPresent(Int.self, forKey: .maximumTries) ?? usual.maximumTries,
            firstDelay: try container.decodeIfPresent(Double.self, forKey: .firstDelay) ?? usual.firstDelay,
            maximumDelay: try container.decodeIfPresent(Double.self, forKey: .maximumDelay) ?? usual.maximumDelay,
            totalSeconds: try container.decodeIfPresent(Double.self, forKey: .totalSeconds) ?? usual.totalSeconds,
            statuses: try container.decodeIfPresent(Set<Int>.self, forKey: .statuses) ?? usual.statuses)
    }
}
