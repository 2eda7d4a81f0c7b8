extension DateScanner {
    /// The text that may separate a time and its offset.
    enum ZoneForm {
        /// Nothing.
        case plain
        /// A blank.
        case blank
        /// A blank; the words `UTC` and `GMT` are offsets.
        case words
    }

    /// Reads a date in the form of ISO 8601.
    mutating func iso8601(_ form: ZoneForm) throws(DateMistake) -> Double {
        var parts = DateParts()
        parts.year = try year()
        try need("-")
        parts.month = try pair(.month, 1, 12)
        try need("-")
        let dayPlace = place
        parts.day = try pair(.day, 0, 99)
        if isAtEnd { return try parts.seconds(dayAt: dayPlace, secondAt: 0) }
        guard pass("T") || pass("t") || pass(" ") else { throw DateMistake(place, .expected(.timeOrEnd)) }
        parts.hour = try pair(.hour, 0, 23)
        try need(":")
        parts.minute = try pair(.minute, 0, 59)
        let secondPlace = place + 1
        if pass(":") {
            parts.second = try pair(.second, 0, 60)
            if pass(".") || pass(",") { parts.fraction = try fraction() }
        }
        if !isAtEnd { parts.offset = try zone(form) }
        return try parts.seconds(dayAt: dayPlace, secondAt: secondPlace)
    }

    /// Reads a year: four digits, or a sign and four to nine.
    @inline(__always) private mutating func year() throws(DateMistake) -> Int {
        let start = place
        let isNegative = pass("-")
        guard isNegative || pass("+") else { return try digits(4, .year) }
        let year = try number(.year, 4...9, 0...999_999_999)
        // There is one year 0, which has no negative form.
        if isNegative, year == 0 { throw DateMistake(start, .expected(.positiveYear)) }
        return isNegative ? -year : year
    }

    /// Reads an offset, up to the end of the text.
    private mutating func zone(_ form: ZoneForm) throws(DateMistake) -> Int {
        switch form {
        case .plain: break
        case .blank, .words:
            if pass(" "), isAtEnd { return 0 }
        }
        let start = place
        var offset: Int?
        if pass("Z") || pass("z") {
            offset = 0
        } else if let signed = try signedOffset() {
            offset = signed
        } else if case .words = form, passWord("UTC") || passWord("GMT") {
            offset = 0
        }
        guard let offset else {
            throw DateMistake(start, .expected(form == .words ? .wordOrEnd : .zoneOrEnd))
        }
        try needEnd()
        return offset
    }
}
