extension JSONScanner {
    /// Checks the escape that begins at a place, both halves of a pair of surrogates; returns the place behind it.
    @inline(never) func checkEscape(_ place: UnsafeRawPointer) throws(JSONError) -> UnsafeRawPointer {
        guard limit - place >= 2 else { throw error("The string does not end", at: limit) }
        switch place.load(fromByteOffset: 1, as: UInt8.self) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return place + 2
        case UInt8(ascii: "u"): break
        default: throw error("There is no such escape", at: place)
        }
        guard let unit = unit(place) else { throw error("Four hexadecimal digits must follow \\u", at: place) }
        switch unit {
        case 0xD800..<0xDC00:
            guard let second = self.unit(place + 6), 0xDC00..<0xE000 ~= second else {
                throw error("The first half of a pair of surrogates stands alone", at: place)
            }
            return place + 12
        case 0xDC00..<0xE000: throw error("The second half of a pair of surrogates stands alone", at: place)
        default: return place + 6
        }
    }

    /// The code unit of the escape `\uXXXX` at a place, or nil if there is none.
    private func unit(_ place: UnsafeRawPointer) -> UInt32? {
        guard limit - place >= 6, place.load(as: UInt8.self) == UInt8(ascii: "\\"),
            place.load(fromByteOffset: 1, as: UInt8.self) == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for index in 2..<6 {
            let byte = place.load(fromByteOffset: index, as: UInt8.self)
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(byte & 15)
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(byte & 15 + 9)
            default: return nil
            }
        }
        return unit
    }

    /// The text of a string that was checked already and whose quote is at a place.
    mutating func text(from quote: UnsafeRawPointer) -> JSONText {
        var place = min(quote + 1, limit)
        let text = place
        var hasEscapes = false
        while place < limit, place.load(as: UInt8.self) != UInt8(ascii: "\"") {
            let isEscape = place.load(as: UInt8.self) == UInt8(ascii: "\\") && limit - place >= 2
            if isEscape { hasEscapes = true }
            place += isEscape ? 2 : 1
        }
        return hasEscapes ? unescape(text, place) : JSONText(start: text, count: place - text)
    }

    /// Writes the text between two places without its escapes into the buffer. It was checked already.
    @inline(never) mutating func unescape(_ text: UnsafeRawPointer, _ end: UnsafeRawPointer) -> JSONText {
        // Every escape is longer than what it stands for, so the text fits; eight bytes more, for they are copied eight at a time.
        let needed = end - text + 8
        if needed > capacity {
            buffer?.deallocate()
            capacity = max(needed, 2 * capacity, 256)
            buffer = .allocate(byteCount: capacity, alignment: 8)
        }
        let written = buffer!
        var (from, to) = (text, written)
        while from < end {
            // Both sides have eight bytes: `to` is never further in the buffer than `from` in the text.
            if end - from >= 8 {
                let word = from.loadUnaligned(as: UInt64.self)
                to.storeBytes(of: word, as: UInt64.self)
                let marks = Self.backslashes(word)
                let plain = marks == 0 ? 8 : marks.trailingZeroBitCount >> 3
                from += plain
                to += plain
                if marks == 0 { continue }
            }
            let byte = from.load(as: UInt8.self)
            guard byte == UInt8(ascii: "\\") else {
                to.storeBytes(of: byte, as: UInt8.self)
                from += 1
                to += 1
                continue
            }
            let letter = from.load(fromByteOffset: 1, as: UInt8.self)
            guard letter == UInt8(ascii: "u"), var scalar = unit(from) else {
                to.storeBytes(of: Self.character(letter), as: UInt8.self)
                from += 2
                to += 1
                continue
            }
            from += 6
            if 0xD800..<0xDC00 ~= scalar, let second = unit(from) {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + second & 0x3FF
                from += 6
            }
            to = Self.write(scalar, to)
        }
        return JSONText(start: written, count: to - written)
    }

    /// As ``marks(_:)``, only for backslashes.
    private static func backslashes(_ loaded: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let word = UInt64(littleEndian: loaded) ^ (ones &* 0x5C)
        return (word &- ones) & ~word & (ones &* 0x80)
    }

    /// What a letter behind a backslash stands for.
    private static func character(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// Writes a character as UTF-8; returns the place behind it.
    private static func write(_ scalar: UInt32, _ to: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        func put(_ byte: UInt32, _ index: Int) { to.storeBytes(of: UInt8(truncatingIfNeeded: byte), toByteOffset: index, as: UInt8.self) }
        switch scalar {
        case 0..<0x80:
            put(scalar, 0)
            return to + 1
        case 0x80..<0x800:
            put(0xC0 | scalar >> 6, 0)
            put(0x80 | scalar & 0x3F, 1)
            return to + 2
        case 0x800..<0x10000:
            put(0xE0 | scalar >> 12, 0)
            put(0x80 | scalar >> 6 & 0x3F, 1)
            put(0x80 | scalar & 0x3F, 2)
            return to + 3
        default:
            put(0xF0 | scalar >> 18, 0)
            put(0x80 | scalar >> 12 & 0x3F, 1)
            put(0x80 | scalar >> 6 & 0x3F, 2)
            put(0x80 | scalar & 0x3F, 3)
            return to + 4
        }
    }
}
