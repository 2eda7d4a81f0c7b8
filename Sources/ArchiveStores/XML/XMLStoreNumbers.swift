internal import Foundation

/// The numbers of an XML store. Apple's framework writes fractional numbers with twenty decimals.
enum XMLStoreNumbers {
    /// Writes a whole number.
    static func write(_ number: Int64, to output: ArchiveOutput) throws {
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { digits in
            var index = digits.count
            var rest = number.magnitude
            repeat {
                index -= 1
                digits[index] = 0x30 + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 {
                index -= 1
                digits[index] = 0x2D
            }
            try output.append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: digits[index...])))
        }
    }

    /// Writes a number with twenty decimals, or in Swift's shortest form if these would not be exact: numbers near zero, and infinite ones.
    static func write(_ number: Double, to output: ArchiveOutput) throws {
        let magnitude = number.magnitude
        // Between these bounds, all bits of the fraction fit a word with room for a decimal digit.
        guard magnitude == 0 || magnitude >= 0x1p-8 && magnitude < 0x1p62 else {
            let text = number.isFinite && magnitude < 1e40 ? String(format: "%.20f", number) : number.description
            return try output.append(Array((Double(text) == number ? text : number.description).utf8))
        }
        var whole = UInt64(magnitude)
        let fraction = magnitude - Double(whole)
        let shift: UInt64 = 60
        // Bounded: a fraction is below 1.
        var bits = UInt64(fraction * 0x1p60)
        let mask = (1 << shift) - 1 as UInt64
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 48) { digits in
            let end = digits.count
            for place in 0..<20 {
                bits *= 10
                digits[end - 20 + place] = 0x30 + UInt8(bits >> shift)
                bits &= mask
            }
            // The remainder is rounded to nearest, as in C.
            let half = 1 << (shift - 1) as UInt64
            if bits > half || bits == half && digits[end - 1] & 1 == 1 {
                var place = end - 1
                while place >= end - 20, digits[place] == 0x39 {
                    digits[place] = 0x30
                    place -= 1
                }
                if place >= end - 20 { digits[place] += 1 } else { whole += 1 }
            }
            var index = end - 21
            digits[index] = 0x2E
            repeat {
                index -= 1
                digits[index] = 0x30 + UInt8(whole % 10)
                whole /= 10
            } while whole > 0
            if number.sign == .minus {
                index -= 1
                digits[index] = 0x2D
            }
            try output.append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: digits[index...])))
        }
    }

    /// Reads a whole number; nil for any other text.
    static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard let first = text.first else { return nil }
        let isNegative = first == 0x2D
        var number: Int64 = 0
        let digits = isNegative || first == 0x2B ? UnsafeRawBufferPointer(rebasing: text[1...]) : text
        if digits.isEmpty { return nil }
        for byte in digits {
            let digit = Int64(byte) - 0x30
            guard digit >= 0, digit <= 9 else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflows || overflowsToo { return nil }
            number = sum
        }
        return number
    }

    private static let powers: [Double] = (0...22).map { Double("1e\($0)") ?? 1 }

    /// Reads a number; nil for any other text.
    static func double(_ text: UnsafeRawBufferPointer) -> Double? {
        // A few digits and a power of ten that are exact make an exact number; others are read by Swift.
        var end = text.count
        if text.contains(0x2E) { while end > 0, text[end - 1] == 0x30 { end -= 1 } }
        var index = 0
        let isNegative = text.first == 0x2D
        if isNegative { index = 1 }
        var digits: UInt64 = 0
        var count = 0
        var decimals: Int?
        while index < end {
            let byte = text[index]
            if byte == 0x2E, decimals == nil {
                decimals = 0
            } else if byte >= 0x30, byte <= 0x39, count < 15 {
                digits = digits * 10 + UInt64(byte - 0x30)
                if digits > 0 { count += 1 }
                decimals = decimals.map { $0 + 1 }
            } else {
                return general(text)
            }
            index += 1
        }
        guard text.count > (isNegative ? 1 : 0), decimals ?? 0 <= 22, !(text.count == 1 && decimals != nil) else { return general(text) }
        let value = Double(digits) / powers[decimals ?? 0]
        return isNegative ? -value : value
    }

    private static func general(_ text: UnsafeRawBufferPointer) -> Double? {
        let number = String(decoding: text, as: UTF8.self)
        // Neither hexadecimal numbers nor those with spaces.
        guard !number.contains(where: { $0 == "x" || $0 == "X" || $0 == "p" }) else { return nil }
        return Double(number)
    }
}
