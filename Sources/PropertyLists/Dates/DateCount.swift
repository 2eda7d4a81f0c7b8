/// Dates as numbers: seconds, or parts of seconds, since a moment.
package struct DateCount: Hashable, Sendable {
    /// How many make a second.
    package let perSecond: Double
    /// The moment, in seconds since 2001.
    private let origin: Double

    /// The seconds from 1970 to 2001.
    private static let from1970 = 978_307_200.0

    package static let seconds2001 = DateCount(perSecond: 1, origin: 0)
    package static let seconds1970 = DateCount(perSecond: 1, origin: -from1970)
    package static let milliseconds1970 = DateCount(perSecond: 1000, origin: -from1970)
    package static let microseconds1970 = DateCount(perSecond: 1_000_000, origin: -from1970)

    /// Returns the seconds since 2001 of a number.
    package func seconds(_ number: Double) -> Double { number / perSecond + origin }

    /// Returns the number of seconds since 2001.
    package func number(_ seconds: Double) -> Double { (seconds - origin) * perSecond }

    /// Returns the seconds since 2001 of a numeral in decimal digits; nil for other text, such as `nan` and `0x10`.
    package func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        let isNumeral = text.allSatisfy { byte in 0x30...0x39 ~= byte || "+-.eE".utf8.contains(byte) }
        guard isNumeral, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return seconds(number)
    }
}
