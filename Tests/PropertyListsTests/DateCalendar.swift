import Foundation

/// A second calendar, which counts days year by year: slow, and without a formula.
struct DateCalendar {
    /// Returns the days from 2001-01-01 to a day; nil for one that does not exist.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard 1...12 ~= month, 1...lengths(year)[month - 1] ~= day else { return nil }
        // The calendar repeats itself after 400 years, which have 146,097 days.
        let cycles = Int((Double(year - 2001) / 400).rounded(.down))
        var days = cycles * 146_097
        for other in 2001..<year - cycles * 400 { days += lengths(other).reduce(0, +) }
        return days + lengths(year).prefix(month - 1).reduce(0, +) + day - 1
    }

    private static func lengths(_ year: Int) -> [Int] {
        let isLeap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    }
}
