/// The proleptic Gregorian calendar, in days relative to 2001-01-01, a Monday. The year before 1 is 0.
package enum GregorianCalendar {
    /// The days from 0000-03-01 to 2001-01-01.
    private static let epoch = 730_791

    /// Returns the days from 2001-01-01 to a date, which must exist.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March have the leap day at their end.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - epoch
    }

    /// Returns the date that is so many days after 2001-01-01.
    package static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + epoch
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    /// Returns the number of days of a month.
    static func length(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the day of the week that is so many days after 2001-01-01: 0 for a Sunday.
    static func weekday(_ days: Int) -> Int { ((days + 1) % 7 + 7) % 7 }
}
