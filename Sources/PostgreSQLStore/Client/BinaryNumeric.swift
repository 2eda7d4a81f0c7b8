#if PostgreSQL
internal import Foundation

/// Decimal numbers in PostgreSQL's binary format: digits to the base 10,000.
enum BinaryNumeric {
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let infinity: UInt16 = 0xD000
    private static let negativeInfinity: UInt16 = 0xF000

    /// Returns the numeral of a value, such as `-12.5`; nil for bytes that are not a numeric value.
    static func numeral(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 8 else { return nil }
        func word(_ index: Int) -> UInt16 { UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)) }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        let sign = word(2)
        switch sign {
        case notANumber: return "NaN"
        case infinity: return "inf"
        case negativeInfinity: return "-inf"
        default: break
        }
        guard bytes.count >= 8 + count * 2 else { return nil }
        if count == 0 { return "0" }
        var text = sign == negative ? "-" : ""
        if weight < 0 { text += "0" }
        func padded(_ digit: UInt16) -> String { String(repeating: "0", count: 4 - String(digit).count) + String(digit) }
        for place in stride(from: weight, through: 0, by: -1) where weight >= 0 {
            let index = weight - place
            let digit = index < count ? word(4 + index) : 0
            text += index == 0 ? String(digit) : padded(digit)
        }
        let firstFraction = max(0, weight + 1)
        guard weight < 0 || count > firstFraction else { return text }
        var fraction = weight < -1 ? String(repeating: "0000", count: -weight - 1) : ""
        for index in firstFraction..<count { fraction += padded(word(4 + index)) }
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? text : text + "." + fraction
    }

    /// Returns the decimal number of a value; nil if `Decimal` cannot hold it.
    static func decimal(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        guard let numeral = numeral(bytes) else { return nil }
        if numeral == "NaN" { return .nan }
        // “-inf” would be read as zero.
        if numeral.hasSuffix("inf") { return nil }
        return Decimal(string: numeral, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// Returns the value as a binary number.
    static func double(_ bytes: UnsafeRawBufferPointer) -> Double? { numeral(bytes).flatMap(Double.init) }

    /// Returns the bytes of a decimal number.
    static func bytes(of number: Decimal) -> [UInt8] {
        if number.isNaN { return words([0, 0, notANumber, 0]) }
        // Without a grouping or an exponent.
        var numeral = NSDecimalNumber(decimal: number).description(withLocale: Locale(identifier: "en_US_POSIX"))
        let isNegative = numeral.hasPrefix("-")
        if isNegative { numeral.removeFirst() }
        let parts = numeral.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var whole = String(parts[0])
        var fraction = parts.count > 1 ? String(parts[1]) : ""
        let scale = fraction.count
        whole = String(repeating: "0", count: (4 - whole.count % 4) % 4) + whole
        fraction += String(repeating: "0", count: (4 - fraction.count % 4) % 4)
        func digits(_ text: String) -> [UInt16] {
            let characters = Array(text.utf8)
            return stride(from: 0, to: characters.count, by: 4).map { start in
                characters[start..<start + 4].reduce(0) { $0 * 10 + UInt16($1 - UInt8(ascii: "0")) }
            }
        }
        var all = digits(whole)
        var weight = all.count - 1
        all += digits(fraction)
        while all.first == 0 {
            all.removeFirst()
            weight -= 1
        }
        while all.last == 0 { all.removeLast() }
        if all.isEmpty { weight = 0 }
        return words(
            [
                UInt16(all.count), UInt16(bitPattern: Int16(weight)), isNegative && !all.isEmpty ? negative : 0,
                UInt16(truncatingIfNeeded: scale),
            ] + all)
    }

    private static func words(_ words: [UInt16]) -> [UInt8] { words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }
}
#endif
