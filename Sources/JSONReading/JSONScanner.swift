/// Reads the values of one JSON document (RFC 8259) in the order in which they stand there, without making objects of them.
///
/// The scanner does not own the document: whoever creates it keeps the bytes alive and unchanged for as long as the scanner and what it
/// returned (``JSONText``, ``JSONNumber``) are in use. It owns one buffer, for strings with escapes, and the memory of
/// ``nextIndex(in:)``; both are freed with it. It belongs to one thread at a time.
///
/// Whoever reads follows the structure of the document: ``beginObject()``, then ``nextKey()`` or ``nextIndex(in:)`` and a value in turn
/// until there is no key; ``beginArray()``, then ``nextElement()`` and a value in turn; ``end()`` after the outermost value. A value is
/// read by the method of its kind or skipped. A method that throws leaves the scanner in no useful state, except where its documentation
/// says so.
///
/// The scanner is strict: it refuses everything that RFC 8259 does, further a byte order mark, text that is not UTF-8 and escapes of
/// surrogates that stand alone. It does not look whether an object has a key twice.
///
/// Proof that no byte outside of the document is read: `next <= limit` always holds. A byte at `p` is read only after `p < limit` was
/// found, and eight (four) bytes only after `limit - p >= 8` (`4`). `next` moves only over bytes that were read.
@usableFromInline package struct JSONScanner: ~Copyable {
    /// The first byte of the document.
    @usableFromInline package let start: UnsafeRawPointer
    /// The end of the document: the place behind its last byte.
    @usableFromInline package let limit: UnsafeRawPointer
    /// The byte to read next.
    @usableFromInline package var next: UnsafeRawPointer
    /// Where the key that was read last begins, with its quote.
    @usableFromInline package var keyStart: UnsafeRawPointer
    /// Whether an object or array was begun of which nothing was read yet.
    @usableFromInline package var isFirst = false
    /// How many objects and arrays may still be begun here.
    @usableFromInline package var levelsLeft: Int
    /// The tables that were asked for keys, and in which order their keys came: the scanner owns it.
    @usableFromInline package var orders: UnsafeMutablePointer<JSONKeyOrder>?
    /// The buffer of strings with escapes: the scanner owns it.
    var buffer: UnsafeMutableRawPointer?
    var capacity = 0
    let depth: Int

    /// Creates a scanner at the beginning of a document.
    ///
    /// - Throws: If the document is longer than the limit allows.
    package init(_ document: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        // A document without bytes may have no address; nothing is ever read at this one.
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

    /// How far the document was read, in bytes from its start.
    @inlinable package var position: Int { next - start }

    /// The whole document.
    @inlinable package var document: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: limit - start) }

    /// What the scanner needs to go on from a place: see ``place``.
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

    /// Where the scanner is, to return there by ``seek(to:)-(Place)``.
    @inlinable package var place: Place { Place(offset: position, levelsLeft: levelsLeft, isFirst: isFirst) }

    /// Returns to a place of this document.
    @inlinable package mutating func seek(to place: Place) {
        // Bounded: the caller has the place from this scanner.
        precondition(place.offset <= limit - start, "This is a place of another document.")
        next = start + place.offset
        levelsLeft = place.levelsLeft
        isFirst = place.isFirst
    }

    /// Goes to a value whose range ``skipValue()`` returned, to read it.
    ///
    /// To go on with what follows the value that was read before, ask for ``place`` first and return there.
    @inlinable package mutating func seek(to offset: Int) {
        // Bounded: the caller has the place from this scanner.
        precondition(offset >= 0 && offset <= limit - start, "There is no such place in the document.")
        next = start + offset
        isFirst = false
    }

    // MARK: Tokens

    /// Skips white space; returns the byte behind it, without taking it, or 0 (which begins nothing) at the end of the document.
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

    /// The kind of the value that is read next.
    ///
    /// - Throws: If there is no value here. A value of this kind may be wrong all the same: reading or skipping it tells.
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

    /// Begins to read an object.
    ///
    /// - Throws: If the next value is none, or stands deeper than the limit allows.
    @inlinable package mutating func beginObject() throws(JSONError) {
        guard token() == UInt8(ascii: "{") else { throw unexpected("an object") }
        try begin()
    }

    /// Begins to read an array.
    ///
    /// - Throws: If the next value is none, or stands deeper than the limit allows.
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

    /// Whether the array that is being read has another element, which is read next; otherwise the array ends here.
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

    /// Goes to the quote that begins the next key of the object that is being read; returns false if the object ends here.
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

    /// The next key of the object that is being read, whose value is read next, or nil if the object ends here.
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

    /// The key that ``nextKey()`` or ``nextIndex(in:)`` read last, valid until the next string or key is read.
    ///
    /// Ask for it before keys of the value are read. It serves for keys that a table does not know.
    package mutating func key() -> JSONText { text(from: keyStart) }

    /// Ends the reading of the document.
    ///
    /// - Throws: If anything but white space follows the value.
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

    /// Reads the next value if it is `null`; returns whether it was.
    @inlinable package mutating func readIfNull() throws(JSONError) -> Bool {
        guard token() == UInt8(ascii: "n") else { return false }
        try passLiteral(0x6C6C_756E, 4)
        return true
    }

    /// Passes the last four letters, little endian, of a literal.
    @inlinable @inline(__always) package mutating func passLiteral(_ letters: UInt32, _ length: Int) throws(JSONError) {
        guard limit - next >= 4, UInt32(littleEndian: next.loadUnaligned(as: UInt32.self)) == letters else {
            throw wrongLiteral(length)
        }
        next += 4
    }
}
