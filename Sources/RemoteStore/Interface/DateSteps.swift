public import Foundation
internal import Predicates

/// The dates that a parameter accepts if it does not accept all, such as whole days of UTC or whole seconds.
///
/// A date between two steps is not rounded down: for an order comparison, the step that misses no resource is sent; equality is evaluated in memory.
public struct DateSteps: Hashable, Sendable {
    /// The number of seconds that dates are multiples of, counted from the beginning of 2001 in UTC. It is infinite if the dates have no regular steps, such as
    /// months: then no date is sent.
    public var seconds: TimeInterval
    /// Whether resources may nevertheless have dates between two steps.
    public var mayLieBetween: Bool

    /// Creates steps of a number of seconds.
    public init(seconds: TimeInterval, mayLieBetween: Bool = false) {
        self.seconds = seconds
        self.mayLieBetween = mayLieBetween
    }

    /// Returns the steps around a date; nil for a date that is a step itself.
    func around(_ date: Date) -> (before: Date, after: Date)? {
        let time = date.timeIntervalSinceReferenceDate
        let quotient = time / seconds
        // A date that a double cannot distinguish from a step counts as a step.
        // Bounded: a fraction, of which each has its opposite.
        if abs(quotient - quotient.rounded()) * seconds <= max(1e-9, time.ulp * 2) { return nil }
        let first = quotient.rounded(.down) * seconds
        return (Date(timeIntervalSinceReferenceDate: first), Date(timeIntervalSinceReferenceDate: first + seconds))
    }
}

extension Parameter {
    /// How a comparison with dates that lie between steps can be sent.
    enum DateFit {
        case sent, sentWider, decidedInMemory
    }

    /// Returns how a comparison with values can be sent.
    func dateFit(_ comparison: Operator, _ values: [PropertyValue]) -> DateFit {
        guard let dateSteps else { return .sent }
        let dates = values.compactMap { value -> Date? in if case .date(let date) = value { date } else { nil } }
        if dates.isEmpty { return .sent }
        guard dateSteps.seconds.isFinite else { return .decidedInMemory }
        guard dates.contains(where: { dateSteps.around($0) != nil }) else { return .sent }
        switch comparison {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return dateSteps.mayLieBetween ? .sentWider : .sent
        default: return .decidedInMemory
        }
    }

    /// Returns the values to send for a comparison. A date between steps is replaced by the step that misses no resource.
    func sentValues(_ comparison: Operator, _ values: [PropertyValue]) -> [PropertyValue] {
        guard let dateSteps, dateSteps.seconds.isFinite else { return values }
        return values.map { value in
            guard case .date(let date) = value, let (before, after) = dateSteps.around(date) else { return value }
            switch comparison {
            case .lessThan: return .date(after)
            case .lessThanOrEqual: return .date(dateSteps.mayLieBetween ? after : before)
            case .greaterThan: return .date(before)
            // Dates on steps that are at least a date between two steps are at least the later step.
            case .greaterThanOrEqual: return .date(dateSteps.mayLieBetween ? before : after)
            default: return value
            }
        }
    }
}
