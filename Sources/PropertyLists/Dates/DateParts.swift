/// A date and a time of day, at an offset from UTC. All parts except the day are within their ranges.
struct DateParts {
    var year = 2001
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    /// 60 in a leap second.
    var second = 0
    /// The part of a second.
    var fraction = 0.0
    /// How many seconds the time is ahead of UTC.
    var offset = 0

    /// The maximum number of seconds that a `Double` represents exactly: 285 million years. Beyond it, dates are written as numbers.
    static let limit = 9_007_199_254_740_992

    /// Returns the seconds since 2001.
    ///
    /// - Parameters:
    ///   - day: The place of the day in the text.
    ///   - second: The place of the second.
    /// - Throws: For a day that the month does not have, and for a second 60 where there is no leap second.
    @inline(__always) func seconds(dayAt dayPlace: Int, secondAt secondPlace: Int) throws(DateMistake) -> Double {
        let length = GregorianCalendar.length(month, year)
        guard day >= 1, day <= length else { throw DateMistake(dayPlace, .range(.day, 1, length)) }
        let whole = GregorianCalendar.days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        if second == 60 {
            let (days, rest) = whole.flooredQuotientAndRemainder(86_400)
            guard rest == 0, GregorianCalendar.date(days).day == 1 else { throw DateMistake(secondPlace, .range(.second, 0, 59)) }
        }
        guard whole > -Self.limit, whole < Self.limit else {
            throw DateMistake(0, .expected(.reachedYear))
        }
        return Double(whole) + fraction
    }
}

extension DateParts {
    /// The parts of whole seconds since 2001, in UTC.
    init(_ seconds: Int) {
        let (days, rest) = seconds.flooredQuotientAndRemainder(86_400)
        (year, month, day) = GregorianCalendar.date(days)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// The day of the week: 0 for a Sunday.
    var weekday: Int { GregorianCalendar.weekday(GregorianCalendar.days(year, month, day)) }

    static let weekdays: [StaticString] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months: [StaticString] = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]

    /// Returns the year of two digits: the last one with them that is not later than another one.
    static func year(_ digits: Int, notAfter latest: Int) -> Int { latest - ((latest - digits) % 100 + 100) % 100 }
}

extension Int {
    /// Returns the quotient, rounded down, and the remainder, which is never negative.
    func flooredQuotientAndRemainder(_ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
