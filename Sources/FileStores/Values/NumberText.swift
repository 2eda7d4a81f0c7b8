/// Reads and writes numbers.
enum NumberText {
    /// Returns a whole number; nil for other text, and for numbers that do not fit.
    @inline(__always) static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        var index = 0
        let isNegative = text.first == 0x2D
        if isNegative || text.first == 0x2B { index = 1 }
        let digits = text.count - index
        guard digits > 0, digits <= 18 else { return digits > 18 ? Int64(string(text)) : nil }
        var number: Int64 = 0
        while index < text.count {
            let digit = text[index] &- 0x30
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int64(digit)
            index += 1
        }
        return isNegative ? -number : number
    }

    /// The powers of ten that a double represents exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// Returns the double nearest to a number; nil for other text. The words `inf` and `-inf` are those that Swift writes.
    static func double(_ text: UnsafeRawBufferPointer, separator: UInt8) -> Double? {
        var index = 0
        let isNegative = text.first == 0x2D
        if isNegative || text.first == 0x2B { index = 1 }
        var digits: UInt64 = 0
        var (count, fraction) = (0, 0)
        var isBehindSeparator = false
        while index < text.count {
            let byte = text[index]
            let digit = byte &- 0x30
            if digit < 10 {
                digits = digits &* 10 &+ UInt64(digit)
                count += 1
                if isBehindSeparator { fraction += 1 }
            } else if byte == separator, !isBehindSeparator {
                isBehindSeparator = true
            } else {
                return slowDouble(text, separator)
            }
            index += 1
        }
        guard count > 0 else { return nil }
        // Both operands are exact, so a single division rounds correctly.
        if count <= 19, digits < 1 << 53, fraction <= 22 {
            let value = Double(digits) / powers[fraction]
            return isNegative ? -value : value
        }
        return slowDouble(text, separator)
    }

    private static func slowDouble(_ text: UnsafeRawBufferPointer, _ separator: UInt8) -> Double? {
        guard let normal = plain(text, separator) else { return nil }
        return Double(normal).flatMap { $0.isNaN ? nil : $0 }
    }

    /// Returns a number with a decimal point; nil for text that cannot be one.
    static func plain(_ text: UnsafeRawBufferPointer, _ separator: UInt8) -> String? {
        guard let first = text.first, first != 0x20, text.last != 0x20 else { return nil }
        if separator == 0x2E { return string(text) }
        if text.contains(0x2E) { return nil }
        return String(decoding: text.map { $0 == separator ? 0x2E : $0 }, as: UTF8.self)
    }

    static func string(_ text: UnsafeRawBufferPointer) -> String { String(decoding: text, as: UTF8.self) }

    static func append(_ number: Int64, to output: inout [UInt8]) {
        var rest = number.magnitude
        if number < 0 { output.append(0x2D) }
        let start = output.count
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            output.append(0x30 + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest != 0
        output[start...].reverse()
    }

    /// Appends the shortest text that is read as the same number.
    static func append(_ number: Double, separator: UInt8, to output: inout [UInt8]) {
        if let whole = Int64(exactly: number), whole.magnitude < 1 << 53, number.sign == .plus || whole != 0 {
            return append(whole, to: &output)
        }
        append(number.description, separator: separator, to: &output)
    }

    static func append(_ text: String, separator: UInt8, to output: inout [UInt8]) {
        if separator == 0x2E { return text.withUTF8ForReading { output.append(contentsOf: $0) } }
        for byte in text.utf8 { output.append(byte == 0x2E ? separator : byte) }
    }
}

extension String {
    /// Calls `body` with the UTF-8 of the text.
    @inline(__always) func withUTF8ForReading<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8(body)
    }
}
