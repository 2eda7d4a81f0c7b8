/// Reads the parts of a date from text, in order.
struct DateScanner {
    /// The caller keeps the bytes.
    let text: UnsafeRawBufferPointer
    var place = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    var isAtEnd: Bool { place == text.count }

    // MARK: Letters

    /// Passes a character of ASCII, if it is the next one.
    @inline(__always) mutating func pass(_ character: Unicode.Scalar) -> Bool {
        guard place < text.count, text[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Passes a character of ASCII.
    @inline(__always) mutating func need(_ character: Unicode.Scalar) throws(DateMistake) {
        if !pass(character) { throw DateMistake(place, .character(UInt8(ascii: character))) }
    }

    /// Passes blanks; returns whether there was one.
    mutating func passBlanks() -> Bool {
        let start = place
        while pass(" ") {}
        return place > start
    }

    mutating func needBlanks() throws(DateMistake) {
        if !passBlanks() { throw DateMistake(place, .expected(.blank)) }
    }

    mutating func needEnd() throws(DateMistake) {
        if !isAtEnd { throw DateMistake(place, .expected(.end)) }
    }

    /// Passes a word of letters, or its beginning, whatever their case, if it is next.
    mutating func passWord(_ word: StaticString, _ letters: Int? = nil) -> Bool {
        let count = letters ?? word.utf8CodeUnitCount
        guard text.count - place >= count else { return false }
        for index in 0..<count where text[place + index] | 0x20 != word.utf8Start[index] | 0x20 { return false }
        place += count
        return true
    }

    /// Reads one of some names, in full or its first three letters, whatever their case; returns its index.
    mutating func name(of names: [StaticString], _ what: DateMistake.What) throws(DateMistake) -> Int {
        for (index, name) in names.enumerated() where passWord(name) || passWord(name, 3) { return index }
        throw DateMistake(place, .expected(what))
    }

    // MARK: Numbers

    /// Reads a digit, if it is the next character.
    @inline(__always) mutating func digit() -> Int? {
        guard place < text.count, text[place] &- 0x30 <= 9 else { return nil }
        place += 1
        return Int(text[place - 1] &- 0x30)
    }

    /// Reads a number of so many digits.
    @inline(__always) mutating func digits(_ count: Int, _ part: DateMistake.Part) throws(DateMistake) -> Int {
        let start = place
        var value = 0
        for _ in 0..<count {
            guard let digit = digit() else { throw DateMistake(start, .digits(part, count)) }
            value = value * 10 + digit
        }
        return value
    }

    /// Reads a number of two digits that lies in a range.
    @inline(__always) mutating func pair(_ part: DateMistake.Part, _ first: Int, _ last: Int) throws(DateMistake) -> Int {
        guard text.count - place >= 2, text[place] &- 0x30 <= 9, text[place + 1] &- 0x30 <= 9 else {
            throw DateMistake(place, .digits(part, 2))
        }
        let value = Int(text[place] &- 0x30) * 10 + Int(text[place + 1] &- 0x30)
        if value < first || value > last { throw DateMistake(place, .range(part, first, last)) }
        place += 2
        return value
    }

    /// Reads a number of some digits that lies in a range.
    mutating func number(_ part: DateMistake.Part, _ counts: ClosedRange<Int>, _ range: ClosedRange<Int>) throws(DateMistake) -> Int {
        let start = place
        var value = 0
        while place - start < counts.upperBound, let digit = digit() { value = value * 10 + digit }
        guard place - start >= counts.lowerBound else { throw DateMistake(start, .digits(part, counts.lowerBound)) }
        guard range.contains(value) else { throw DateMistake(start, .range(part, range.lowerBound, range.upperBound)) }
        return value
    }

    /// Reads the digits after a point, as the nearest number below one.
    mutating func fraction() throws(DateMistake) -> Double {
        let start = place
        var (numerator, denominator) = (0.0, 1.0)
        while let digit = digit() {
            numerator = numerator * 10 + Double(digit)
            denominator *= 10
        }
        if place == start { throw DateMistake(start, .digits(.fraction, 1)) }
        // Up to fifteen digits both are exact, and so is their quotient but for one rounding.
        if place - start <= 15 { return numerator / denominator }
        return Double("0." + String(decoding: text[start..<place], as: UTF8.self)) ?? 0
    }

    // MARK: Times

    /// Reads an offset from UTC in seconds, behind its sign.
    mutating func offset(isBehind: Bool) throws(DateMistake) -> Int {
        let start = place - 1
        let hours = try digits(2, .offset)
        let hasColon = pass(":")
        let hasMinutes = hasColon || place < text.count && text[place] &- 0x30 <= 9
        let minutes = hasMinutes ? try digits(2, .offset) : 0
        guard minutes < 60, hours * 60 + minutes <= 18 * 60 else {
            throw DateMistake(start, .expected(.offset))
        }
        return (hours * 3600 + minutes * 60) * (isBehind ? -1 : 1)
    }

    /// Reads a sign and an offset, if they are there.
    @inline(__always) mutating func signedOffset() throws(DateMistake) -> Int? {
        if pass("+") { return try offset(isBehind: false) }
        if pass("-") { return try offset(isBehind: true) }
        return nil
    }
}
