/// Reads the values of one JSON document (RFC 8259) in order, without creating objects for them.
///
/// The scanner does not own the document: its creator must keep the bytes alive and unchanged as long as the scanner and its results (``JSONText``,
/// ``JSONNumber``) are in use. It owns one buffer, for strings with escapes, and the memory of ``nextIndex(in:)``; both are freed with it. One thread
/// at a time may use it.
///
/// The calls follow the structure of the document: ``beginObject()``, then ``nextKey()`` or ``nextIndex(in:)`` and a value in turn until there is no
/// key; ``beginArray()``, then ``nextElement()`` and a value in turn; ``end()`` after the outermost value. A value is read by the method of its kind,
/// or skipped. After an error, the state of the scanner is undefined, unless the documentation of the method says otherwise.
///
/// The scanner is strict: it refuses everything that RFC 8259 does, and also a byte order mark, invalid UTF-8, and escapes of lone surrogates. It does
/// not check whether the keys of an object are unique.
///
/// Proof that no byte outside of the document is read: `next <= limit` always holds. A byte at `p` is read only after `p < limit` was
/// found, and eight (four) bytes only after `limit - p >= 8` (`4`). `next` moves only over bytes that were read.
@usableFromInline package struct JSONScanner: ~Copyable {
    /// The first byte of the document.
    @usableFromInline package let start: UnsafeRawPointer
    /// The end of the document: the place after its last byte.
    @usableFromInline package let limit: UnsafeRawPointer
    /// The byte to read next.
    @usableFromInline package var next: UnsafeRawPointer
    /// The beginning of the last key, with its quote.
    @usableFromInline package var keyStart: UnsafeRawPointer
    /// Whether nothing of the current object or array was read yet.
    @usableFromInline package var isFirst = false
    /// The number of further levels of objects and arrays that may begin here.
    @usableFromInline package var levelsLeft: Int
    /// The orders of keys for the tables that were used. The scanner owns them.
    @usableFromInline package var orders: UnsafeMutablePointer<JSONKeyOrder>?
    /// The buffer of strings with escapes. The scanner owns it.
    var buffer: UnsafeMutableRawPointer?
    var capacity = 0
    let depth: Int

    /// Creates a scanner at the beginning of a document.
    ///
    /// - Throws: If the document is longer than the limit allows.
    package init(_ document: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        // An empty document may have no address; nothing is ever read at this one.
        start = document.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
        limit = start + document.count
        next = start
        keyStart = start
        levelsLeft = limits.depth
        depth = limits.depth
        guard document.count <= limits.length else {
            throw JSONError(
                "The document has \(document.count) bytes; \(limits.length) are allowed", offset: limits.length, line: 1, column: 1)
        }
    }

    deinit {
        buffer?.deallocate()
        if let orders { JSONKeyOrder.free(orders) }
    }

    // MARK: Places

    /// The current position, in bytes from the start of the document.
    @inlinable package var position: Int { next - start }

    /// The whole document.
    @inlinable package var document: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: limit - start) }

    /// The state of the scanner at a place: see ``place``.
    @frozen @usableFromInline package struct Place: Sendable {
        @usableFromInline package let offset: Int
        @usableFromInline package let levelsLeft: Int
        @usableFromInline package let isFirst: Bool

        @inlinable init(offset: Int, levelsLeft: Int, isFirst: Bool) {
            self.offset = offset
            self.levelsLeft = levelsLeft
            self.isFirst = isFirst
        }
    }

    /// The current place, to return to by ``seek(to:)-(Place)``.
    @inlinable package var place: Place { Place(offset: position, levelsLeft: levelsLeft, isFirst: isFirst) }

    /// Returns to a place of this document.
    @inlinable package mutating func seek(to place: Place) {
        // Bounded: the caller has the place from this scanner.
        precondition(place.offset <= limit - start, "This is a place of another document.")
        next = start + place.offset
        levelsLeft = place.levelsLeft
        isFirst = place.isFirst
    }

    /// Moves to a value whose range ``skipValue()`` has returned, to read it.
    ///
    /// To continue after the value that was read before, get ``place`` first and return there.
    @inlinable package mutating func seek(to offset: Int) {
        // Bounded: the caller has the place from this scanner.
        precondition(offset >= 0 && offset <= limit - start, "There is no such place in the document.")
        next = start + offset
        isFirst = false
    }

    // MARK: Tokens

    /// Skips white space; returns the next byte without consuming it, or 0 (which begins nothing) at the end of the document.
    @inlinable @inline(__always) package mutating func token() -> UInt8 {
        guard next < limit else { return 0 }
        let byte = next.load(as: UInt8.self)
        return byte > 0x20 ? byte : tokenBehindSpace()
    }

    @usableFromInline @inline(never) package mutating func tokenBehindSpace() -> UInt8 {
        while next < limit {
            let byte = next.load(as: UInt8.self)
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            next += 1
            // Indentation.
            while limit - next >= 8, next.loadUnaligned(as: UInt64.self) == 0x2020_2020_2020_2020 { next += 8 }
        }
        return 0
    }

    /// The kinds of values.
    @frozen @usableFromInline package enum Kind: UInt8, Sendable, CaseIterable {
        case object, array, string, number, `true`, `false`, null
    }

    /// Returns the kind of the next value.
    ///
    /// - Throws: If there is no value here. The value may still be malformed: reading or skipping it validates it.
    @inlinable package mutating func peek() throws(JSONError) -> Kind {
        switch token() {
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): .number
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "t"): .true
        case UInt8(ascii: "f"): .false
        case UInt8(ascii: "n"): .null
        default: throw unexpected("a value")
        }
    }

    // MARK: Structure

    /// Begins an object.
    ///
    /// - Throws: If the next value is not an object, or exceeds the maximum depth.
    @inlinable package mutating func beginObject() throws(JSONError) {
        guard token() == UInt8(ascii: "{") else { throw unexpected("an object") }
        try begin()
    }

    /// Begins an array.
    ///
    /// - Throws: If the next value is not an array, or exceeds the maximum depth.
    @inlinable package mutating func beginArray() throws(JSONError) {
        guard token() == UInt8(ascii: "[") else { throw unexpected("an array") }
        try begin()
    }

    @inlinable @inline(__always) package mutating func begin() throws(JSONError) {
        guard levelsLeft > 0 else { throw tooDeep() }
        levelsLeft -= 1
        next += 1
        isFirst = true
    }

    /// Returns whether the current array has another element, which is the next value to read; otherwise the array ends here.
    @inlinable package mutating func nextElement() throws(JSONError) -> Bool {
        let byte = token()
        if isFirst {
            isFirst = false
            guard byte == UInt8(ascii: "]") else { return true }
        } else if byte == UInt8(ascii: ",") {
            next += 1
            return true
        } else if byte != UInt8(ascii: "]") {
            throw unexpected("a comma or the end of the array")
        }
        next += 1
        levelsLeft += 1
        return false
    }

    /// Moves to the quote of the next key of the current object. Returns false if the object ends here.
    @inlinable @inline(__always) package mutating func advanceToKey() throws(JSONError) -> Bool {
        var byte = token()
        if isFirst {
            isFirst = false
            if byte == UInt8(ascii: "\"") { return true }
            guard byte == UInt8(ascii: "}") else { throw unexpected("a key or the end of the object") }
        } else if byte == UInt8(ascii: ",") {
            next += 1
            byte = token()
            guard byte == UInt8(ascii: "\"") else { throw unexpected("a key") }
            return true
        } else if byte != UInt8(ascii: "}") {
            throw unexpected("a comma or the end of the object")
        }
        next += 1
        levelsLeft += 1
        return false
    }

    /// Returns the next key of the current object, or nil if the object ends here. Its value is the next one to read.
    ///
    /// - Returns: The key, valid until the next string or key is read.
    @inlinable package mutating func nextKey() throws(JSONError) -> JSONText? {
        guard try advanceToKey() else { return nil }
        keyStart = next
        let key = try readString()
        try passColon()
        return key
    }

    @inlinable @inline(__always) package mutating func passColon() throws(JSONError) {
        guard token() == UInt8(ascii: ":") else { throw unexpected("a colon") }
        next += 1
    }

    /// Returns the last key of ``nextKey()`` or ``nextIndex(in:)``, which is valid until the next string or key is read.
    ///
    /// Call it before keys of the value are read. It is for keys that a table does not have.
    package mutating func key() -> JSONText { text(from: keyStart) }

    /// Ends the reading of the document.
    ///
    /// - Throws: If the value is followed by anything but white space.
    @inlinable package mutating func end() throws(JSONError) {
        _ = token()
        guard next == limit else { throw unexpected("the end of the document") }
    }

    // MARK: Literals

    /// Reads `true` or `false`.
    @inlinable package mutating func readBool() throws(JSONError) -> Bool {
        let byte = token()
        if byte == UInt8(ascii: "t") {
            try passLiteral(0x6575_7274, 4)
            return true
        }
        guard byte == UInt8(ascii: "f") else { throw unexpected("true or false") }
        next += 1
        try passLiteral(0x6573_6C61, 5)
        return false
    }

    /// Reads `null`.
    @inlinable package mutating func readNull() throws(JSONError) {
        guard token() == UInt8(ascii: "n") else { throw unexpected("null") }
        try passLiteral(0x6C6C_756E, 4)
    }

    /// Reads the next value if it is `null`. Returns whether it was.
    @inlinable package mutating func readIfNull() throws(JSONError) -> Bool {
        guard token() == UInt8(ascii: "n") else { return false }
        try passLiteral(0x6C6C_756E, 4)
        return true
    }

    /// Consumes the last four letters of a literal, which are little endian.
    @inlinable @inline(__always) package mutating func passLiteral(_ letters: UInt32, _ length: Int) throws(JSONError) {
        guard limit - next >= 4, UInt32(littleEndian: next.loadUnaligned(as: UInt32.self)) == letters else {
            throw wrongLiteral(length)
        }
        next += 4
    }
}
