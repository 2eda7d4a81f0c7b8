extension JSONScanner {
    /// Reads a string.
    ///
    /// - Returns: Its text, in the document if it has no escapes; otherwise valid until the next string or key is read.
    /// - Throws: If the next value is not a string, is not valid UTF-8, or has a control character or an invalid escape.
    @inlinable package mutating func readString() throws(JSONError) -> JSONText {
        guard token() == UInt8(ascii: "\"") else { throw unexpected("a string") }
        let text = next + 1
        var place = text
        while limit - place >= 8 {
            let marks = Self.marks(place.loadUnaligned(as: UInt64.self))
            guard marks != 0 else {
                place += 8
                continue
            }
            place += marks.trailingZeroBitCount >> 3
            guard place.load(as: UInt8.self) == UInt8(ascii: "\"") else { break }
            next = place + 1
            return JSONText(start: text, count: place - text)
        }
        return try readString(text, checkedTo: place)
    }

    /// Skips a string, which may be read later. It is validated as if it were read.
    @inlinable package mutating func skipString() throws(JSONError) {
        guard token() == UInt8(ascii: "\"") else { throw unexpected("a string") }
        try passString()
    }

    /// Skips a string whose quote is the next byte.
    @inlinable package mutating func passString() throws(JSONError) {
        var place = next + 1
        while limit - place >= 8 {
            let marks = Self.marks(place.loadUnaligned(as: UInt64.self))
            guard marks != 0 else {
                place += 8
                continue
            }
            place += marks.trailingZeroBitCount >> 3
            guard place.load(as: UInt8.self) == UInt8(ascii: "\"") else { break }
            next = place + 1
            return
        }
        try checkString(from: place)
    }

    /// Returns a mask of the bytes, of eight, that end a string or need attention: quotes, backslashes, control characters and non-ASCII bytes.
    ///
    /// - Returns: The lowest set bit belongs to the first of them. Bits above it may be set for other bytes, because of a borrow.
    @inlinable @inline(__always) package static func marks(_ loaded: UInt64) -> UInt64 {
        let word = UInt64(littleEndian: loaded)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        return (((quotes &- ones) | (backslashes &- ones) | (word &- (ones &* 0x20))) | word) & (ones &* 0x80)
    }

    /// Reads the rest of a string that begins after its quote at `text` and has only plain ASCII up to `start`.
    @usableFromInline @inline(never) package mutating func readString(
        _ text: UnsafeRawPointer, checkedTo start: UnsafeRawPointer
    ) throws(JSONError) -> JSONText {
        let place = try checkPlain(start)
        guard place.load(as: UInt8.self) == UInt8(ascii: "\"") else { return try unescape(text, checkedTo: place) }
        next = place + 1
        return JSONText(start: text, count: place - text)
    }

    /// Validates the rest of a string from a place in it, and moves to the place after its end.
    @usableFromInline @inline(never) package mutating func checkString(from start: UnsafeRawPointer) throws(JSONError) {
        var place = try checkPlain(start)
        while place.load(as: UInt8.self) == UInt8(ascii: "\\") {
            place = try checkPlain(try escape(place).end)
        }
        next = place + 1
    }

    /// Validates a string from a place in it up to its next quote or backslash, and returns the place of that.
    @inline(__always) func checkPlain(_ start: UnsafeRawPointer) throws(JSONError) -> UnsafeRawPointer {
        var place = start
        while true {
            if limit - place >= 8 {
                let marks = Self.marks(place.loadUnaligned(as: UInt64.self))
                guard marks != 0 else {
                    place += 8
                    continue
                }
                place += marks.trailingZeroBitCount >> 3
            }
            guard place < limit else { throw error("The string does not end", at: limit) }
            let byte = place.load(as: UInt8.self)
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return place }
            if byte >= 0x80 {
                place = try checkSequences(place)
            } else if byte >= 0x20 {
                place += 1
            } else {
                throw error("A control character in a string must be escaped", at: place)
            }
        }
    }

    /// Validates characters of more than one byte, and returns the place of the first ASCII byte.
    @inline(__always) func checkSequences(_ first: UnsafeRawPointer) throws(JSONError) -> UnsafeRawPointer {
        var place = first
        while limit - place >= 4 {
            // The first byte of the sequence is the lowest of the word.
            let word = UInt32(littleEndian: place.loadUnaligned(as: UInt32.self))
            if word & 0xC0E0 == 0x80C0, word & 0x1E != 0 {
                place += 2
            } else if word & 0xC0_C0F0 == 0x80_80E0, word & 0x200F != 0, word & 0x200F != 0x200D {
                // Neither overlong nor a surrogate.
                place += 3
            } else if word & 0xC0C0_C0F8 == 0x8080_80F0, word & 0x3007 != 0, word & 0x04 == 0 || word & 0x3003 == 0 {
                // Neither overlong nor beyond U+10FFFF.
                place += 4
            } else if word & 0x80 == 0 {
                return place
            } else {
                throw notUTF8(place)
            }
        }
        return try checkLastSequences(place)
    }

    /// Does the same for the last three bytes of the document.
    @inline(never) private func checkLastSequences(_ first: UnsafeRawPointer) throws(JSONError) -> UnsafeRawPointer {
        var place = first
        while place < limit, place.load(as: UInt8.self) >= 0x80 {
            let (lead, left) = (place.load(as: UInt8.self), limit - place)
            let second = left > 1 ? place.load(fromByteOffset: 1, as: UInt8.self) : 0
            let third = left > 2 ? place.load(fromByteOffset: 2, as: UInt8.self) : 0
            if 0xC2...0xDF ~= lead, second & 0xC0 == 0x80 {
                place += 2
            } else if 0xE0...0xEF ~= lead, second & 0xC0 == 0x80, third & 0xC0 == 0x80, lead != 0xE0 || second >= 0xA0,
                lead != 0xED || second < 0xA0
            {
                place += 3
            } else {
                throw notUTF8(place)
            }
        }
        return place
    }

    @inline(never) private func notUTF8(_ place: UnsafeRawPointer) -> JSONError { error("The string is not valid UTF-8", at: place) }
}
