/// The dates of HTTP's headers.
enum WebDate {
    /// Returns the seconds since the beginning of 1970 of a date in one of the three forms of RFC 9110.
    static func seconds(_ text: String) -> Double? {
        let words = text.split { " -,:".contains($0) }.map(String.init)
        // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT; Sun Nov  6 08:49:37 1994
        guard words.count >= 7 else { return nil }
        let isOfC = Int(words[1]) == nil
        let (day, month, year) = isOfC ? (words[2], words[1], words[6]) : (words[1], words[2], words[3])
        let clock = isOfC ? words[3...5] : words[4...6]
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        guard let monthIndex = months.firstIndex(of: String(month.lowercased().prefix(3))), let day = Int(day), (1...31).contains(day),
            var year = Int(year), (0...9999).contains(year)
        else { return nil }
        let parts = clock.compactMap { Int($0) }
        guard parts.count == 3, (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...60).contains(parts[2]) else { return nil }
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        return Double(days(year, monthIndex + 1, day) * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2])
    }

    /// Returns the days since the beginning of 1970 of a date of the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
