public import Foundation
internal import Predicates

/// The dates that a parameter can be given where it cannot be given all, such as whole days of UTC or whole seconds.
///
/// A date between two of them is not cut to the earlier one: an order is sent by that of the two which misses nothing, and equality is decided in memory.
public struct DateSteps: Hashable, Sendable {
    /// The number of seconds that dates are multiples of, counted from the beginning of 2001 in UTC; infinite where they have no regular steps, such as
    /// months: then no date is sent.
    public var seconds: TimeInterval
    /// Whether resources may have dates between two steps all the same.
    public var mayLieBetween: Bool

    /// Creates steps of so many seconds.
    public init(seconds: TimeInterval, mayLieBetween: Bool = false) {
        self.seconds = seconds
        self.mayLieBetween = mayLieBetween
    }

    /// Returns the steps around a date; nil for one that is a step itself.
    func around(_ date: Date) -> (before: Date, after: Date)? {
        let time = date.timeIntervalSinceReferenceDate
        let quotient = time / seconds
        // What a double cannot tell from a step is one.
        // Bounded: a fraction, of which each has its opposite.
        if abs(quotient - quotient.rounded()) * seconds <= max(1e-9, time.ulp * 2) { return nil }
        let first = quotient.rounded(.down) * seconds
        return (Date(timeIntervalSinceReferenceDate: first), Date(timeIntervalSinceReferenceDate: first + seconds))
    }
}

extension Parameter {
    /// How far a comparison with dates that lie between steps can be sent.
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

    /// Returns the values to send for a comparison: for a date between steps the one that misses nothing.
    func sentValues(_ comparison: Operator, _ values: [PropertyValue]) -> [PropertyValue] {
        guard let dateSteps, dateSteps.seconds.isFinite else { return values }
        return values.map { value in
            guard case .date(let date) = value, let (before, after) = dateSteps.around(date) else { return value }
            switch comparison {
            case .lessThan: return .date(after)
            case .lessThanOrEqual: return .date(dateSteps.mayLieBetween ? after : before)
            case .greaterThan: return .date(before)
            // What is at least a date between two steps is at least the later one.
            case .greaterThanOrEqual: return .date(dateSteps.mayLieBetween ? before : after)
            default: return value
            }
        }
    }
}
