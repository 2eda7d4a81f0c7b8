extension DateScanner {
    /// Reads a date of HTTP or of a mail.
    mutating func http(latestYear: Int) throws(DateMistake) -> Double {
        var parts = DateParts()
        var weekday: Int?
        var (dayPlace, secondPlace) = (0, 0)
        let isOfC: Bool
        if place < text.count, text[place] &- 0x30 > 9 {
            weekday = try name(of: DateParts.weekdays, .weekdayOrDay)
            isOfC = !pass(",")
            try needBlanks()
        } else {
            isOfC = false
        }
        if isOfC {
            // Sun Nov  6 08:49:37 1994
            parts.month = try name(of: DateParts.months, .month) + 1
            try needBlanks()
            dayPlace = place
            parts.day = try number(.day, 1...2, 1...31)
            try needBlanks()
            secondPlace = try clock(&parts)
            try needBlanks()
            parts.year = try digits(4, .year)
        } else {
            dayPlace = place
            parts.day = try number(.day, 1...2, 1...31)
            let hasHyphens = pass("-")
            if !hasHyphens { try needBlanks() }
            parts.month = try name(of: DateParts.months, .month) + 1
            if hasHyphens { try need("-") } else { try needBlanks() }
            parts.year = try year(notAfter: latestYear)
            try needBlanks()
            secondPlace = try clock(&parts)
            try needBlanks()
            parts.offset = try mailZone()
        }
        try needEnd()
        let seconds = try parts.seconds(dayAt: dayPlace, secondAt: secondPlace)
        if let weekday, weekday != parts.weekday {
            throw DateMistake(0, .weekday(parts.weekday))
        }
        return seconds
    }

    private mutating func year(notAfter latest: Int) throws(DateMistake) -> Int {
        let start = place
        let year = try number(.year, 2...4, 0...9999)
        switch place - start {
        case 2: return DateParts.year(year, notAfter: latest)
        case 4: return year
        default: throw DateMistake(start, .digits(.year, 4))
        }
    }

    /// Reads a time; returns the place of its seconds.
    private mutating func clock(_ parts: inout DateParts) throws(DateMistake) -> Int {
        parts.hour = try number(.hour, 1...2, 0...23)
        try need(":")
        parts.minute = try pair(.minute, 0, 59)
        // Mails may have no seconds.
        if pass(":") { parts.second = try pair(.second, 0, 60) }
        return place - 2
    }

    /// The zones of RFC 5322 in hours. None begins with an earlier one.
    private static let zones: [(name: StaticString, hours: Int)] = [
        ("GMT", 0), ("UTC", 0), ("UT", 0), ("Z", 0), ("EST", -5), ("EDT", -4), ("CST", -6), ("CDT", -5), ("MST", -7), ("MDT", -6),
        ("PST", -8),
        ("PDT", -7),
    ]

    mutating func mailZone() throws(DateMistake) -> Int {
        if let offset = try signedOffset() { return offset }
        for zone in Self.zones where passWord(zone.name) { return zone.hours * 3600 }
        throw DateMistake(place, .expected(.mailZone))
    }
}

extension DateScanner {
    /// Reads a date of a cookie, by the algorithm of RFC 6265 (5.1.1): of the words between delimiters, the first that looks like a time is the time,
    /// and so on.
    mutating func cookie(latestYear: Int) throws(DateMistake) -> Double {
        var parts = DateParts()
        var (hasTime, hasDay, hasMonth, hasYear) = (false, false, false, false)
        var dayPlace = 0
        while let word = nextCookieWord() {
            if !hasTime, let time = Self.cookieTime(word.bytes) {
                (parts.hour, parts.minute, parts.second, hasTime) = (time.0, time.1, time.2, true)
            } else if !hasDay, let day = Self.cookieNumber(word.bytes, 1...2) {
                (parts.day, dayPlace, hasDay) = (day, word.place, true)
            } else if !hasMonth, let month = Self.cookieMonth(word.bytes) {
                (parts.month, hasMonth) = (month, true)
            } else if !hasYear, let year = Self.cookieNumber(word.bytes, 2...4) {
                (parts.year, hasYear) = (year < 100 ? DateParts.year(year, notAfter: latestYear) : year, true)
            }
        }
        guard hasTime, hasDay, hasMonth, hasYear, parts.year >= 1601, parts.hour < 24, parts.minute < 60, parts.second < 60 else {
            throw DateMistake(text.count, .expected(.cookie))
        }
        return try parts.seconds(dayAt: dayPlace, secondAt: 0)
    }

    private mutating func nextCookieWord() -> (place: Int, bytes: UnsafeRawBufferPointer)? {
        func isDelimiter(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
            default: false
            }
        }
        while place < text.count, isDelimiter(text[place]) { place += 1 }
        let start = place
        while place < text.count, !isDelimiter(text[place]) { place += 1 }
        return place > start ? (start, UnsafeRawBufferPointer(rebasing: text[start..<place])) : nil
    }

    /// Reads up to three numbers of two digits with colons between them, behind which anything but a digit may be.
    private static func cookieTime(_ word: UnsafeRawBufferPointer) -> (Int, Int, Int)? {
        var scanner = DateScanner(word)
        func number(_ scanner: inout DateScanner) -> Int? { try? scanner.number(.hour, 1...2, 0...99) }
        guard let hour = number(&scanner), scanner.pass(":"), let minute = number(&scanner), scanner.pass(":"),
            let second = number(&scanner), scanner.digit() == nil
        else { return nil }
        return (hour, minute, second)
    }

    /// Reads a number, behind which anything but a digit may be.
    private static func cookieNumber(_ word: UnsafeRawBufferPointer, _ counts: ClosedRange<Int>) -> Int? {
        var scanner = DateScanner(word)
        guard let number = try? scanner.number(.day, counts, 0...9999), scanner.digit() == nil else { return nil }
        return number
    }

    private static func cookieMonth(_ word: UnsafeRawBufferPointer) -> Int? {
        guard word.count >= 3 else { return nil }
        var scanner = DateScanner(UnsafeRawBufferPointer(rebasing: word[..<3]))
        return (try? scanner.name(of: DateParts.months, .month)).map { $0 + 1 }
    }
}
