extension JSONScanner {
    /// Returns the character of the escape at a place, or of a surrogate pair, and the place after it.
    @inline(__always) func escape(_ place: UnsafeRawPointer) throws(JSONError) -> (scalar: UInt32, end: UnsafeRawPointer) {
        guard limit - place >= 2 else { throw error("The string does not end", at: limit) }
        let letter = place.load(fromByteOffset: 1, as: UInt8.self)
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return (UInt32(letter), place + 2)
        case UInt8(ascii: "n"): return (0x0A, place + 2)
        case UInt8(ascii: "r"): return (0x0D, place + 2)
        case UInt8(ascii: "t"): return (0x09, place + 2)
        case UInt8(ascii: "b"): return (0x08, place + 2)
        case UInt8(ascii: "f"): return (0x0C, place + 2)
        case UInt8(ascii: "u"): return try unicodeEscape(place)
        default: throw error("There is no such escape", at: place)
        }
    }

    /// Returns the same for an escape that begins with `\u`.
    private func unicodeEscape(_ place: UnsafeRawPointer) throws(JSONError) -> (scalar: UInt32, end: UnsafeRawPointer) {
        guard let unit = unit(place) else { throw error("Four hexadecimal digits must follow \\u", at: place) }
        guard unit & 0xF800 == 0xD800 else { return (unit, place + 6) }
        guard unit < 0xDC00 else { throw error("The second half of a pair of surrogates stands alone", at: place) }
        guard let second = self.unit(place + 6), second & 0xFC00 == 0xDC00 else {
            throw error("The first half of a pair of surrogates stands alone", at: place)
        }
        return (0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF, place + 12)
    }

    /// Returns the code unit of the escape `\uXXXX` at a place, or nil if there is none.
    @inline(__always) private func unit(_ place: UnsafeRawPointer) -> UInt32? {
        guard limit - place >= 6, place.load(as: UInt8.self) == UInt8(ascii: "\\"),
            place.load(fromByteOffset: 1, as: UInt8.self) == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for index in 2..<6 {
            let byte = place.load(fromByteOffset: index, as: UInt8.self)
            let digit = byte &- UInt8(ascii: "0")
            let letter = (byte | 0x20) &- UInt8(ascii: "a")
            guard digit < 10 || letter < 6 else { return nil }
            unit = unit << 4 | UInt32(digit < 10 ? digit : letter + 10)
        }
        return unit
    }

    // MARK: Unescaping

    /// Reads a string that begins after its quote at `text` and is valid up to a backslash; moves to the place after its end.
    @inline(never) mutating func unescape(_ text: UnsafeRawPointer, checkedTo backslash: UnsafeRawPointer) throws(JSONError) -> JSONText {
        let count = backslash - text
        // The buffer up to `to` has the text so far. An iteration of the loop writes at most eight bytes and then four, unless it asks for more room.
        var to = room(for: count + 16, behind: 0)
        to.copyMemory(from: text, byteCount: count)
        to += count
        var last = buffer! + (capacity - 16)
        var place = backslash
        while true {
            if to > last {
                to = room(for: 16, behind: to - buffer!)
                last = buffer! + (capacity - 16)
            }
            if limit - place >= 8 {
                let word = place.loadUnaligned(as: UInt64.self)
                to.storeBytes(of: word, as: UInt64.self)
                let marks = Self.marks(word)
                guard marks != 0 else {
                    place += 8
                    to += 8
                    continue
                }
                let plain = marks.trailingZeroBitCount >> 3
                place += plain
                to += plain
            }
            guard place < limit else { throw error("The string does not end", at: limit) }
            let byte = place.load(as: UInt8.self)
            if byte == UInt8(ascii: "\\") {
                let (scalar, end) = try escape(place)
                to = Self.write(scalar, to)
                place = end
            } else if byte == UInt8(ascii: "\"") {
                next = place + 1
                return JSONText(start: buffer!, count: to - buffer!)
            } else if byte >= 0x80 {
                let end = try checkSequences(place)
                let count = end - place
                if count > 4 {
                    to = room(for: count + 16, behind: to - buffer!)
                    last = buffer! + (capacity - 16)
                    to.copyMemory(from: place, byteCount: count)
                } else {
                    for index in 0..<count {
                        to.storeBytes(of: place.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index, as: UInt8.self)
                    }
                }
                to += count
                place = end
            } else if byte >= 0x20 {
                to.storeBytes(of: byte, as: UInt8.self)
                to += 1
                place += 1
            } else {
                throw error("A control character in a string must be escaped", at: place)
            }
        }
    }

    /// Returns the place in the buffer after the kept bytes, with room for more.
    private mutating func room(for count: Int, behind kept: Int) -> UnsafeMutableRawPointer {
        if let buffer, capacity - kept >= count { return buffer + kept }
        capacity = max(256, 2 * (kept + count))
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        if let buffer {
            larger.copyMemory(from: buffer, byteCount: kept)
            buffer.deallocate()
        }
        buffer = larger
        return larger + kept
    }

    /// Returns the text of a checked string whose quote is at a place.
    mutating func text(from quote: UnsafeRawPointer) -> JSONText {
        let place = next
        defer { next = place }
        next = quote
        // The string was read before, so reading it again succeeds.
        return (try? readString()) ?? JSONText(start: start, count: 0)
    }

    /// Writes a character as UTF-8, and returns the place after it.
    @inline(__always) private static func write(_ scalar: UInt32, _ to: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        func put(_ byte: UInt32, _ index: Int) { to.storeBytes(of: UInt8(truncatingIfNeeded: byte), toByteOffset: index, as: UInt8.self) }
        if scalar < 0x80 {
            put(scalar, 0)
            return to + 1
        }
        if scalar < 0x800 {
            put(0xC0 | scalar >> 6, 0)
            put(0x80 | scalar & 0x3F, 1)
            return to + 2
        }
        if scalar < 0x10000 {
            put(0xE0 | scalar >> 12, 0)
            put(0x80 | scalar >> 6 & 0x3F, 1)
            put(0x80 | scalar & 0x3F, 2)
            return to + 3
        }
        put(0xF0 | scalar >> 18, 0)
        put(0x80 | scalar >> 12 & 0x3F, 1)
        put(0x80 | scalar >> 6 & 0x3F, 2)
        put(0x80 | scalar & 0x3F, 3)
        return to + 4
    }
}
