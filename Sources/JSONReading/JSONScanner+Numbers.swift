extension JSONScanner {
    /// Reads a number.
    ///
    /// - Throws: If the next value is not a number, or is malformed.
    @inlinable package mutating func readNumber() throws(JSONError) -> JSONNumber {
        let first = token()
        guard first == UInt8(ascii: "-") || first &- UInt8(ascii: "0") < 10 else { throw unexpected("a number") }
        let number = next
        var place = next
        let isNegative = first == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let digits = place
        var significand: UInt64 = 0
        // More than nineteen digits overflow. They are read again below.
        while place < limit, case let digit = place.load(as: UInt8.self) &- UInt8(ascii: "0"), digit < 10 {
            significand = significand &* 10 &+ UInt64(digit)
            place += 1
        }
        var count = place - digits
        guard count > 0 else { throw error("A digit must follow the sign", at: place) }
        guard count == 1 || digits.load(as: UInt8.self) != UInt8(ascii: "0") else {
            throw error("A number must not begin with a zero before another digit", at: digits)
        }
        var exponent = 0
        var isInteger = true
        if place < limit {
            if place.load(as: UInt8.self) == UInt8(ascii: ".") {
                isInteger = false
                place += 1
                let fraction = place
                while limit - place >= 8, let eight = Self.eightDigits(place.loadUnaligned(as: UInt64.self)) {
                    significand = significand &* 100_000_000 &+ eight
                    place += 8
                }
                while place < limit, case let digit = place.load(as: UInt8.self) &- UInt8(ascii: "0"), digit < 10 {
                    significand = significand &* 10 &+ UInt64(digit)
                    place += 1
                }
                exponent = fraction - place
                guard exponent < 0 else { throw error("A digit must follow the decimal point", at: place) }
                count -= exponent
            }
            if place < limit, place.load(as: UInt8.self) | 0x20 == UInt8(ascii: "e") {
                isInteger = false
                exponent += try passExponent(&place)
            }
        }
        next = place
        guard count <= 19 else { return longNumber(number, exponent, isNegative, isInteger) }
        return JSONNumber(
            start: number, offset: number - start, count: place - number, significand: significand,
            exponent: Int32(clamping: exponent), isNegative: isNegative, isInteger: isInteger, isTruncated: false)
    }

    /// Reads a number that is an integer and fits, even if it is written as `1.0` or `1e3`.
    ///
    /// - Throws: If the next value is not such a number.
    @inlinable package mutating func readInteger() throws(JSONError) -> Int64 {
        let number = try readNumber()
        guard let value = number.int64 else { throw error("The number is not an integer of 64 bits", at: number.start) }
        return value
    }

    /// Reads a number as the nearest double.
    ///
    /// - Throws: If the next value is not a number, or exceeds the range of doubles.
    @inlinable package mutating func readDouble() throws(JSONError) -> Double {
        let number = try readNumber()
        guard let value = number.double else { throw error("The number is beyond what a Double can be", at: number.start) }
        return value
    }

    /// Returns the number that eight bytes represent if all of them are digits.
    @inlinable @inline(__always) package static func eightDigits(_ loaded: UInt64) -> UInt64? {
        let word = UInt64(littleEndian: loaded)
        // The upper half of each byte is 3, even after six is added.
        let sum = word &+ 0x0606_0606_0606_0606
        guard (word | sum) & 0xF0F0_F0F0_F0F0_F0F0 == 0x3030_3030_3030_3030, word & 0xF0F0_F0F0_F0F0_F0F0 == 0x3030_3030_3030_3030
        else { return nil }
        let digits = word &- 0x3030_3030_3030_3030
        // Every second byte has two digits, then four, then eight. The first digit is in the lowest byte.
        let pairs = digits &* 10 &+ digits >> 8
        let low = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }

    /// Reads the exponent at a place, and returns it. An extreme exponent is clamped, which does not change its effect.
    @usableFromInline @inline(never) package func passExponent(_ place: inout UnsafeRawPointer) throws(JSONError) -> Int {
        place += 1
        var isNegative = false
        if place < limit, case let sign = place.load(as: UInt8.self), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            place += 1
        }
        let first = place
        var exponent = 0
        while place < limit, case let digit = place.load(as: UInt8.self) &- UInt8(ascii: "0"), digit < 10 {
            if exponent < 1 << 48 { exponent = exponent * 10 + Int(digit) }
            place += 1
        }
        guard place > first else { throw error("A digit must follow here, in the exponent", at: place) }
        return isNegative ? -exponent : exponent
    }

    /// Returns the number from a place to the next byte, which has more than nineteen digits. `scale` is that of all digits.
    @usableFromInline @inline(never) package func longNumber(
        _ number: UnsafeRawPointer, _ scale: Int, _ isNegative: Bool, _ isInteger: Bool
    ) -> JSONNumber {
        var (significand, exponent, taken, zeros, isTruncated) = (UInt64(0), scale, 0, 0, false)
        var place = number
        // Zeros are counted and applied with the next other digit: trailing ones do not count, and leading ones have no effect.
        while place < next, case let byte = place.load(as: UInt8.self), byte | 0x20 != UInt8(ascii: "e") {
            place += 1
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { continue }
            if digit == 0 || taken + zeros >= 19 {
                zeros += taken == 0 && !isTruncated ? 0 : 1
                if digit != 0 { isTruncated = true }
                continue
            }
            for _ in 0..<zeros { significand = significand &* 10 }
            significand = significand &* 10 &+ UInt64(digit)
            taken += zeros + 1
            zeros = 0
        }
        exponent += zeros
        return JSONNumber(
            start: number, offset: number - start, count: next - number, significand: significand,
            exponent: Int32(clamping: exponent), isNegative: isNegative, isInteger: isInteger, isTruncated: isTruncated)
    }
}
