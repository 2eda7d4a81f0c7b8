/// Rounds numbers of up to nineteen digits to doubles, by the algorithm of Eisel and Lemire (“Number Parsing at a Gigabyte per Second”, 2021; “Fast
/// Number Parsing Without Fallback”, 2023, proves that no further digits are needed).
enum PowersOfTen {
    private static let lowest = -342
    private static let highest = 308

    /// Returns the double nearest to `significand` times ten to the power of `exponent`, with ties to even; infinity if it exceeds the range.
    static func product(_ significand: UInt64, _ exponent: Int) -> Double {
        guard significand != 0, exponent >= lowest else { return 0 }
        guard exponent <= highest else { return .infinity }
        let zeros = significand.leadingZeroBitCount
        let word = significand << zeros
        let index = 2 * (exponent - lowest)
        var (high, low) = word.multipliedFullWidth(by: fives[index])
        // The other half of the power matters only if the bits below those of the double are all set.
        if high & 0x1FF == 0x1FF {
            let more = word.multipliedFullWidth(by: fives[index + 1]).high
            low &+= more
            if more > low { high += 1 }
        }
        let upper = Int(high >> 63)
        let shift = upper + 9
        // The bits of the double and one more, to round.
        var mantissa = high >> shift
        // 217,706 / 65,536 is the logarithm of ten to the base of two.
        var power = (217_706 * exponent) >> 16 + 63 + upper - zeros + 1023
        if power <= 0 {
            guard power > -63 else { return 0 }
            mantissa >>= 1 - power
            mantissa = (mantissa + mantissa & 1) >> 1
            // The result may have become the smallest normal number.
            return Double(bitPattern: mantissa)
        }
        // Exactly between two doubles: round to even.
        if low <= 1, exponent >= -4, exponent <= 23, mantissa & 3 == 1, mantissa << shift == high { mantissa &= ~1 }
        mantissa = (mantissa + mantissa & 1) >> 1
        if mantissa >= 1 << 53 {
            mantissa = 1 << 52
            power += 1
        }
        guard power < 0x7FF else { return .infinity }
        return Double(bitPattern: UInt64(power) << 52 | mantissa & (1 << 52 - 1))
    }

    /// The first 128 bits of each power of five, the upper half before the lower one. Negative powers that 64 bits can divide are rounded up, all
    /// others down. They are computed once, in much less than a millisecond.
    private static let fives: [UInt64] = {
        var halves = [UInt64](repeating: 0, count: 2 * (highest - lowest + 1))
        func put(_ exponent: Int, _ number: [UInt64], roundsUp: Bool) {
            // The word with the first bit, and the two below it, shifted so that the first bit is the highest.
            let top = number.lastIndex { $0 != 0 }!
            let zeros = number[top].leadingZeroBitCount
            func word(_ index: Int) -> UInt64 {
                let (upper, lower) = (index >= 0 ? number[index] : 0, index > 0 ? number[index - 1] : 0)
                return zeros == 0 ? upper : upper << zeros | lower >> (64 - zeros)
            }
            let (low, carries) = word(top - 1).addingReportingOverflow(roundsUp ? 1 : 0)
            halves[2 * (exponent - lowest)] = word(top) + (carries ? 1 : 0)
            halves[2 * (exponent - lowest) + 1] = low
        }
        // The lowest word comes first. Five to the power of 308 has 716 bits.
        var number = [UInt64](repeating: 0, count: 12)
        number[0] = 1
        for exponent in 0...highest {
            put(exponent, number, roundsUp: false)
            var carry: UInt64 = 0
            for index in number.indices {
                let (high, low) = number[index].multipliedFullWidth(by: 5)
                let (sum, overflows) = low.addingReportingOverflow(carry)
                number[index] = sum
                carry = high + (overflows ? 1 : 0)
            }
        }
        // Two to the power of 1,024, divided by five repeatedly: 229 bits are left at the end.
        number = [UInt64](repeating: 0, count: 17)
        number[16] = 1
        for exponent in stride(from: -1, through: lowest, by: -1) {
            var rest: UInt64 = 0
            for index in number.indices.reversed() { (number[index], rest) = UInt64(5).dividingFullWidth((rest, number[index])) }
            put(exponent, number, roundsUp: exponent >= -27)
        }
        return halves
    }()
}
