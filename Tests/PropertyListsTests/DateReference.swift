import Foundation
import PropertyLists

/// A second reader of dates, by regular expressions and the calendar that counts.
struct DateReference {
    /// Returns the seconds since 2001 of a text; nil for what is no date of the notation.
    static func seconds(_ text: String, _ notation: DateNotation) -> Double? {
        switch notation {
        case .iso8601: iso8601(text, zone: #"(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?"#)
        case .database: iso8601(text, zone: #" ?(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?"#)
        case .typed: iso8601(text, zone: #" ?(?:[Zz]|[Uu][Tt][Cc]|[Gg][Mm][Tt]|[+-][0-9]{2}(?::?[0-9]{2})?)?"#)
        case .http: http(text)
        case .cookie, .pattern: nil
        }
    }

    private static func iso8601(_ text: String, zone: String) -> Double? {
        let pattern =
            #"^([0-9]{4}|[+-][0-9]{4,9})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?("# + zone
            + #"))?$"#
        guard let found = groups(pattern, text), found[1] != "-0000", !(found[1]!.hasPrefix("-") && Int(found[1]!) == 0) else { return nil }
        return seconds(
            (found[1], found[2], found[3]), (found[4], found[5], found[6]), fraction: found[7], zone: found[8] ?? "", latestYear: nil)
    }

    private static func http(_ text: String) -> Double? {
        let short = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
        let month = "([A-Za-z]+)"
        let clock = "([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?"
        let zone = "([+-][0-9]{2}(?::?[0-9]{2})?|GMT|UTC|UT|Z|EST|EDT|CST|CDT|MST|MDT|PST|PDT)"
        let usual = "(?i)^(?:(\(short)), +)?([0-9]{1,2})(-| +)\(month)(-| +)([0-9]{4}|[0-9]{2}) +\(clock) +\(zone)$"
        let ofC = "(?i)^(\(short)) +\(month) +([0-9]{1,2}) +\(clock) +([0-9]{4})$"
        let (weekday, result): (String?, Double?)
        var minutes = 0
        if let found = groups(usual, text) {
            guard found[3] == "-" ? found[5] == "-" : found[5] != "-" else { return nil }
            weekday = found[1]
            minutes = offset(found[10]!) ?? 0
            result = seconds(
                (found[6], Self.month(found[4]!), found[2]), (found[7], found[8], found[9]), fraction: nil, zone: found[10]!,
                latestYear: 2069)
        } else if let found = groups(ofC, text) {
            weekday = found[1]
            result = seconds(
                (found[7], Self.month(found[2]!), found[3]), (found[4], found[5], found[6]), fraction: nil, zone: "", latestYear: nil)
        } else {
            return nil
        }
        guard let result, let weekday else { return result }
        // The weekday is that of the place where the clock was read.
        let day = Int(((result + Double(minutes) * 60) / 86_400).rounded(.down))
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        return names[((day % 7) + 7) % 7] == weekday.lowercased().prefix(3) ? result : nil
    }

    private static func month(_ name: String) -> String? {
        let names = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
        ]
        return names.firstIndex { $0 == name.lowercased() || $0.prefix(3) == name.lowercased() }.map { "\($0 + 1)" }
    }

    /// Returns the minutes of an offset; nil for one beyond 18 hours.
    private static func offset(_ text: String) -> Int? {
        let zones = ["EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7]
        if let hours = zones[text.uppercased()] { return hours * 60 }
        guard let sign = text.first, "+-".contains(sign) else { return 0 }
        let digits = text.dropFirst().filter { $0 != ":" }
        let (hours, minutes) = (Int(digits.prefix(2))!, Int(digits.dropFirst(2)) ?? 0)
        guard minutes < 60, hours * 60 + minutes <= 1080 else { return nil }
        return (hours * 60 + minutes) * (sign == "-" ? -1 : 1)
    }

    private static func seconds(
        _ day: (String?, String?, String?), _ time: (String?, String?, String?), fraction: String?, zone: String, latestYear: Int?
    ) -> Double? {
        guard var year = day.0.flatMap({ Int($0) }), let month = day.1.flatMap({ Int($0) }), let dayNumber = day.2.flatMap({ Int($0) })
        else {
            return nil
        }
        if let latestYear, day.0?.count == 2 { while year + 100 <= latestYear { year += 100 } }
        let (hour, minute, second) = (Int(time.0 ?? "0")!, Int(time.1 ?? "0")!, Int(time.2 ?? "0")!)
        guard let days = DateCalendar.days(year, month, dayNumber), hour < 24, minute < 60, second < 61,
            let offset = offset(zone.trimmingCharacters(in: .whitespaces))
        else { return nil }
        let whole = days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
        if second == 60 {
            // A leap second is the last one of a month.
            guard whole % 86_400 == 0 else { return nil }
            let isFirst = (-5...5).contains { shift in
                (1...12).contains { DateCalendar.days(year + shift.signum(), $0, 1) == whole / 86_400 }
            }
            if !isFirst { return nil }
        }
        guard whole.magnitude < 1 << 53 else { return nil }
        return Double(whole) + (fraction.map { Double("0.\($0)")! } ?? 0)
    }

    private static func groups(_ pattern: String, _ text: String) -> [String?]? {
        guard let expression = try? NSRegularExpression(pattern: pattern),
            let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)),
            match.range.length == text.utf16.count
        else { return nil }
        return (0..<match.numberOfRanges).map { Range(match.range(at: $0), in: text).map { String(text[$0]) } }
    }
}
