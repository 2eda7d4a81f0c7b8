internal import Foundation
internal import PropertyLists

/// Which requests are sent again, how often, and after which time.
///
/// A request that may have arrived is sent again only where it is idempotent (``WebRequest/isIdempotent``). Any request is sent again where
/// nothing of it was sent, and where the service has said that it did nothing (the status 429). Where a service says when it will be there again
/// (`Retry-After`), the client waits for as long; otherwise for a time that doubles with each try, a random part of it less.
public struct RetryPolicy: Hashable, Sendable, Codable {
    /// How often a request is sent at most.
    public var maximumTries: Int
    /// The wait before the second try, in seconds.
    public var firstDelay: Double
    /// The longest wait that the client chooses, in seconds. A service may ask for a longer one.
    public var maximumDelay: Double
    /// The time for all tries and waits of a request together, in seconds.
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

    /// Every request is sent once.
    public static let never = RetryPolicy(maximumTries: 1)

    /// Whether a request is sent again after a status.
    func repeats(_ request: WebRequest, after status: Int) -> Bool {
        status == 429 || (request.isIdempotent && statuses.contains(status))
    }

    /// Whether a request is sent again after an error.
    func repeats(_ request: WebRequest, after error: TransportError) -> Bool {
        switch error.kind {
        case .cannotConnect: true
        case .timedOut, .lost, .malformed: request.isIdempotent
        case .untrusted, .tooLarge, .redirected, .notRecorded, .invalid, .unauthorized, .rateLimited: false
        }
    }

    /// Returns the wait after a try, in seconds, where the service says nothing of it.
    func delay(afterTry number: Int, random: Double) -> Double {
        let whole = min(maximumDelay, firstDelay * pow(2, Double(min(number, 40) - 1)))
        return max(0, whole * (0.5 + random / 2))
    }

    /// Returns the wait that a service asks for, in seconds: `120`, or `Fri, 31 Dec 2027 23:59:59 GMT`. None is longer than a year, whatever the
    /// service says.
    package static func delay(retryAfter: String, now: Double) -> Double? {
        let text = retryAfter.trimmingCharacters(in: .whitespaces)
        let asked = if let seconds = Double(text), seconds.isFinite { seconds } else { date(text, now).map { $0 - now } }
        return asked.map { min(max(0, $0), 365 * 86_400) }
    }

    /// Returns the seconds since 1970 of a date of HTTP. Two digits are a year of the next fifty, or one before.
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

    /// Decodes what a file says of it; the rest is as by default.
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
