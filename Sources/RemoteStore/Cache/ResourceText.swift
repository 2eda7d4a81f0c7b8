internal import Foundation

// The text of an identifier in a cache's file. Every row has one, and every row of an answer is looked up by it. It is short, and has no character that equals
// another one, as the semicolon equals the Greek question mark, for which a database would have to search too. The texts of increasing numbers increase, so
// that an index is appended to: the number of digits comes before the digits.
extension ResourceID {
    /// The text by which rows are found.
    var fileText: String {
        switch self {
        case .integer: withFileText { String(decoding: $0, as: UTF8.self) }
        case .string(let text): "s" + text
        case .uuid(let value): "u" + value.uuidString
        case .composite: encoded
        }
    }

    /// Calls `body` with the bytes of ``fileText``, without creating a string for a number.
    func withFileText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        guard case .integer(let number) = self else {
            var text = fileText
            return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
        }
        // The bytes are written from the end: at most 19 digits, their number as a letter from “a” on, and a letter for the kind.
        return try withUnsafeTemporaryAllocation(byteCount: 21, alignment: 1) { bytes in
            var start = 21
            var rest = number.magnitude
            repeat {
                start -= 1
                bytes[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes[start - 1] = UInt8(ascii: "a") - 1 + UInt8(truncatingIfNeeded: 21 - start)
            bytes[start - 2] = number < 0 ? Self.negative : Self.number
            return try body(UnsafeRawBufferPointer(rebasing: bytes[(start - 2)...]))
        }
    }

    private static let number = UInt8(ascii: "i")
    private static let negative = UInt8(ascii: "h")

    /// Creates the identifier from the text of ``fileText``; nil for another text.
    init?(fileText text: String) {
        switch text.utf8.first {
        case Self.number, Self.negative:
            guard let number = Int64(digits: text.utf8.dropFirst(2), isNegative: text.utf8.first == Self.negative) else { return nil }
            self = .integer(number)
        case UInt8(ascii: "s"): self = .string(String(text.unicodeScalars.dropFirst()))
        case UInt8(ascii: "u"):
            guard let value = UUID(uuidString: String(text.dropFirst())) else { return nil }
            self = .uuid(value)
        case UInt8(ascii: "("): self.init(encoded: text)
        default: return nil
        }
    }
}

extension Int64 {
    /// Parses decimal digits; nil for other text, and for a number that does not fit.
    fileprivate init?(digits: Substring.UTF8View, isNegative: Bool) {
        if digits.isEmpty { return nil }
        var number: Int64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            // The number is built as a negative one, because there is one more of them.
            let (product, isTooMuch) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLow) = product.subtractingReportingOverflow(Int64(digit))
            if digit > 9 || isTooMuch || isTooLow { return nil }
            number = sum
        }
        if !isNegative && number == .min { return nil }
        self = isNegative ? number : -number
    }
}
