/// A number in the document: its text, and its parsed digits.
///
/// Its value as an integer or a double is computed on demand. It is valid as long as the document.
@frozen @usableFromInline package struct JSONNumber {
    /// The first byte of the number.
    @usableFromInline package let start: UnsafeRawPointer
    /// The place of the number in the document.
    @usableFromInline package let offset: Int
    /// The number of bytes.
    @usableFromInline package let count: Int
    /// The digits without sign and point; the first nineteen significant ones if there are more.
    @usableFromInline package let significand: UInt64
    /// The power of ten for the significand.
    @usableFromInline package let exponent: Int32
    @usableFromInline package let isNegative: Bool
    /// Whether the text is that of an integer, without point and exponent.
    @usableFromInline package let isInteger: Bool
    /// Whether the significand lacks digits.
    @usableFromInline package let isTruncated: Bool

    @inlinable package init(
        start: UnsafeRawPointer, offset: Int, count: Int, significand: UInt64, exponent: Int32, isNegative: Bool, isInteger: Bool,
        isTruncated: Bool
    ) {
        self.start = start
        self.offset = offset
        self.count = count
        self.significand = significand
        self.exponent = exponent
        self.isNegative = isNegative
        self.isInteger = isInteger
        self.isTruncated = isTruncated
    }

    /// The place of the text in the document.
    @inlinable package var range: Range<Int> { offset..<offset + count }

    /// The text, which is ASCII, with all digits.
    @inlinable package var text: JSONText { JSONText(start: start, count: count) }

    /// The exact value if it is an integer that fits, even if it is written as `1.0` or `1e3`.
    @inlinable package var int64: Int64? {
        guard exponent == 0, !isTruncated else { return scaledInteger }
        if significand <= UInt64(Int64.max) { return isNegative ? -Int64(significand) : Int64(significand) }
        return isNegative && significand == UInt64(Int64.max) + 1 ? .min : nil
    }

    /// The nearest double, with ties to even; nil if the value exceeds the range of doubles.
    @inlinable package var double: Double? {
        // Both operands are exact, so the single operation rounds correctly (Clinger).
        if !isTruncated, significand <= 1 << 53, exponent >= -22, exponent <= 22 {
            let digits = Double(significand)
            let value = exponent < 0 ? digits / Self.power(-exponent) : digits * Self.power(exponent)
            return isNegative ? -value : value
        }
        return roundedDouble
    }

    /// The value as an integer, if the significand must be multiplied or divided.
    @usableFromInline @inline(never) package var scaledInteger: Int64? {
        guard !isTruncated else { return nil }
        guard significand != 0 else { return 0 }
        guard exponent >= -19, exponent <= 18 else { return nil }
        var value = significand
        if exponent < 0 {
            for _ in 0..<(-exponent) {
                guard value % 10 == 0 else { return nil }
                value /= 10
            }
        } else {
            for _ in 0..<exponent {
                let (product, overflows) = value.multipliedReportingOverflow(by: 10)
                guard !overflows else { return nil }
                value = product
            }
        }
        if value <= UInt64(Int64.max) { return isNegative ? -Int64(value) : Int64(value) }
        return isNegative && value == UInt64(Int64.max) + 1 ? .min : nil
    }

    /// The value as a double, if a single operation does not produce it.
    @usableFromInline @inline(never) package var roundedDouble: Double? {
        let exponent = Int(exponent)
        var value = PowersOfTen.product(significand, exponent)
        // With further digits, the value lies between this significand and the next one.
        if isTruncated, PowersOfTen.product(significand + 1, exponent) != value {
            // The standard library parses every text of a JSON number, and rounds correctly.
            guard let exact = Double(text.string) else { return nil }
            value = exact.magnitude
        }
        guard value.isFinite else { return nil }
        return isNegative ? -value : value
    }

    /// Ten to the power of at most 22, which is exact.
    @inlinable @inline(__always) static func power(_ exponent: Int32) -> Double {
        switch exponent {
        case 0: 1e0
        case 1: 1e1
        case 2: 1e2
        case 3: 1e3
        case 4: 1e4
        case 5: 1e5
        case 6: 1e6
        case 7: 1e7
        case 8: 1e8
        case 9: 1e9
        case 10: 1e10
        case 11: 1e11
        case 12: 1e12
        case 13: 1e13
        case 14: 1e14
        case 15: 1e15
        case 16: 1e16
        case 17: 1e17
        case 18: 1e18
        case 19: 1e19
        case 20: 1e20
        case 21: 1e21
        default: 1e22
        }
    }
}
