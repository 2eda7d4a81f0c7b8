extension DateScanner {
    /// Reads a date of a pattern.
    mutating func seconds(_ pattern: DatePattern) throws(DateMistake) -> Double {
        var parts = DateParts()
        parts.year = pattern.usualYear
        var (dayPlace, secondPlace) = (text.count, text.count)
        var isAfternoon: Bool?
        var weekday: (name: Int, place: Int)?
        for (index, part) in pattern.parts.enumerated() {
            // A number has all its digits if another one is adjacent.
            let isExact = pattern.isExact || part.width != nil && pattern.isNumber(index - 1) || pattern.isNumber(index + 1)
            func counts(_ width: Int) -> ClosedRange<Int> { isExact ? width...width : 1...2 }
            let start = place
            switch part {
            case .year(let width): parts.year = try number(.year, (width == 4 ? 4 : 1)...4, 0...9999)
            case .shortYear:
                let year = try number(.year, isExact ? 2...2 : 1...4, 0...9999)
                parts.year = place - start == 2 ? DateParts.year(year, notAfter: pattern.latestYear) : year
            case .month(let width): parts.month = try number(.month, counts(width), 1...12)
            case .day(let width):
                dayPlace = start
                parts.day = try number(.day, counts(width), 1...31)
            case .hour(let width): parts.hour = try number(.hour, counts(width), 0...23)
            case .halfDayHour(let width): parts.hour = try number(.hour, counts(width), 1...12) % 12
            case .minute(let width): parts.minute = try number(.minute, counts(width), 0...59)
            case .second(let width):
                secondPlace = start
                parts.second = try number(.second, counts(width), 0...60)
            case .fraction(let width):
                parts.fraction = try fraction()
                if isExact, place - start != width { throw DateMistake(start, .digits(.fraction, width)) }
            case .monthName: parts.month = try name(of: DateParts.months, .month) + 1
            case .weekdayName: weekday = (try name(of: DateParts.weekdays, .weekday), start)
            case .halfDay:
                isAfternoon = passWord("PM")
                guard isAfternoon == true || passWord("AM") else { throw DateMistake(start, .expected(.halfDay)) }
            case .zone: parts.offset = try mailZone()
            case .literal(let bytes):
                guard text.count - start >= bytes.count, text[start..<start + bytes.count].elementsEqual(bytes) else {
                    throw DateMistake(start, .expected(.literal))
                }
                place += bytes.count
            }
        }
        try needEnd()
        if isAfternoon == true { parts.hour += 12 }
        let seconds = try parts.seconds(dayAt: dayPlace, secondAt: secondPlace)
        if let weekday, weekday.name != parts.weekday {
            throw DateMistake(weekday.place, .weekday(parts.weekday))
        }
        return seconds
    }

}

extension DateText {
    /// Returns a date in a pattern, without the parts that the pattern has no letters for; nil for a year that does not fit four digits.
    package static func text(_ seconds: Double, _ pattern: DatePattern) -> String? {
        var output: [UInt8] = []
        return append(seconds, pattern, to: &output) ? String(decoding: output, as: UTF8.self) : nil
    }

    /// Appends a date in a pattern, without the parts that the pattern has no letters for. Returns false, and appends nothing, for a year that does
    /// not fit its digits.
    package static func append(_ seconds: Double, _ pattern: DatePattern, to output: inout [UInt8]) -> Bool {
        guard seconds.magnitude < Double(DateParts.limit) else { return false }
        let whole = seconds.rounded(.down)
        let parts = DateParts(Int(whole))
        guard pattern.years.contains(parts.year) else { return false }
        for part in pattern.parts {
            switch part {
            case .year(let width): append(parts.year, width, to: &output)
            case .shortYear: append(parts.year % 100, 2, to: &output)
            case .month(let width): append(parts.month, width, to: &output)
            case .day(let width): append(parts.day, width, to: &output)
            case .hour(let width): append(parts.hour, width, to: &output)
            case .halfDayHour(let width): append((parts.hour + 11) % 12 + 1, width, to: &output)
            case .minute(let width): append(parts.minute, width, to: &output)
            case .second(let width): append(parts.second, width, to: &output)
            case .fraction(let width): append(cut(seconds, whole, width), width, to: &output)
            case .monthName(let isFull): output += "\(DateParts.months[parts.month - 1])".utf8.prefix(isFull ? .max : 3)
            case .weekdayName(let isFull): output += "\(DateParts.weekdays[parts.weekday])".utf8.prefix(isFull ? .max : 3)
            case .halfDay: output += (parts.hour < 12 ? "AM" : "PM").utf8
            case .zone(let zone): output += zone.rawValue.utf8
            case .literal(let bytes): output += bytes
            }
        }
        return true
    }

    /// Returns the given number of digits of a fraction, truncated. Digits that give the same date back are kept, even if the product has lost
    /// precision.
    private static func cut(_ seconds: Double, _ whole: Double, _ digits: Int) -> Int {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let product = (seconds - whole) * scale
        let nearest = product.rounded()
        // Bounded: less than a second, in digits.
        return Int(nearest < scale && whole + nearest / scale == seconds ? nearest : product.rounded(.down))
    }
}

extension DatePattern {
    /// Whether a part is there, and is a number.
    fileprivate func isNumber(_ index: Int) -> Bool { parts.indices.contains(index) && parts[index].isNumber }

    /// The years that survive a round trip through the pattern.
    fileprivate var years: ClosedRange<Int> {
        if parts.contains(where: { if case .year = $0 { true } else { false } }) { return 0...9999 }
        return parts.contains(.shortYear) ? latestYear - 99...latestYear : -DateParts.limit...DateParts.limit
    }
}
