/// A field of a record, by its place in the text.
package struct CSVField {
    /// The place of the first byte, after the quote of a quoted field.
    var start: Int
    /// The number of bytes, without quotes.
    package var count: Int
    /// Whether the field is in quotes.
    package var isQuoted: Bool
    /// Whether the field contains escapes.
    var hasEscapes: Bool

    /// The place of the field, including its quotes.
    var whole: Range<Int> { isQuoted ? start - 1..<start + count + 1 : start..<start + count }
}

/// Splits a CSV text into records and fields.
///
/// The scanner does not own the text: its user must keep the ``TextBytes`` alive.
package struct CSVScanner {
    private let base: UnsafeRawPointer
    let end: Int
    /// The place of the next byte.
    var next = 0
    private let delimiter: UInt8
    /// 0 for none.
    private let quote: UInt8
    private let hasBackslash: Bool
    /// 0 for none.
    private let comment: UInt8
    /// The fields of the last record.
    package private(set) var fields: [CSVField] = []
    /// The place of the last record, without its line ending.
    package private(set) var record = 0..<0

    package init(_ text: TextBytes, _ dialect: CSVDialect) {
        base = text.start
        end = text.count
        delimiter = dialect.delimiter.asciiValue ?? 0x2C
        quote = dialect.quote?.asciiValue ?? 0
        hasBackslash = dialect.escape == .backslash
        comment = dialect.comment?.asciiValue ?? 0
        fields.reserveCapacity(32)
    }

    @inline(__always) private func byte(_ index: Int) -> UInt8 { base.load(fromByteOffset: index, as: UInt8.self) }

    /// Reads the next record. Returns false at the end of the text. Empty lines and comments are skipped.
    package mutating func nextRecord() throws(FileMistake) -> Bool {
        while next < end {
            let first = byte(next)
            if first == 0x0A || first == 0x0D {
                next += 1
            } else if comment != 0, first == comment {
                passLine()
            } else {
                try readRecord()
                return true
            }
        }
        return false
    }

    private mutating func passLine() {
        while next < end, byte(next) != 0x0A, byte(next) != 0x0D { next += 1 }
    }

    @inline(__always) private mutating func readRecord() throws(FileMistake) {
        fields.removeAll(keepingCapacity: true)
        let start = next
        var index = next
        let (base, end, delimiter, quote) = (base, end, delimiter, quote)
        while true {
            if quote != 0, index < end, base.load(fromByteOffset: index, as: UInt8.self) == quote {
                index = try readQuoted(index)
            } else {
                let first = index
                var hasEscapes = false
                while index < end {
                    let byte = base.load(fromByteOffset: index, as: UInt8.self)
                    if byte == delimiter || byte == 0x0A || byte == 0x0D { break }
                    if byte == 0x5C, hasBackslash, index + 1 < end {
                        hasEscapes = true
                        index += 1
                    }
                    index += 1
                }
                fields.append(CSVField(start: first, count: index - first, isQuoted: false, hasEscapes: hasEscapes))
            }
            guard index < end else { break }
            let byte = base.load(fromByteOffset: index, as: UInt8.self)
            if byte != delimiter { break }
            index += 1
        }
        record = start..<index
        if index < end, byte(index) == 0x0D { index += 1 }
        if index < end, byte(index) == 0x0A, index == record.upperBound || byte(index - 1) == 0x0D { index += 1 }
        next = index
    }

    /// Reads a field in quotes. Returns the place after it.
    private mutating func readQuoted(_ start: Int) throws(FileMistake) -> Int {
        var index = start + 1
        var hasEscapes = false
        while index < end {
            let byte = byte(index)
            if byte == 0x5C, hasBackslash {
                hasEscapes = true
                index += 2
            } else if byte == quote {
                if !hasBackslash, index + 1 < end, self.byte(index + 1) == quote {
                    hasEscapes = true
                    index += 2
                    continue
                }
                fields.append(CSVField(start: start + 1, count: index - start - 1, isQuoted: true, hasEscapes: hasEscapes))
                index += 1
                guard index == end || self.byte(index) == delimiter || self.byte(index) == 0x0A || self.byte(index) == 0x0D else {
                    throw FileMistake(offset: index, expected: "a delimiter or the end of the line behind the closing quote")
                }
                return index
            } else {
                index += 1
            }
        }
        throw FileMistake(offset: start, expected: "a closing quote: the field that begins here does not end")
    }

    /// Writes the text of a field with escapes to memory with room for all of its bytes.
    ///
    /// - Returns: The number of unescaped bytes.
    func unescape(_ field: CSVField, into memory: UnsafeMutablePointer<UInt8>) -> Int {
        var index = field.start
        let end = field.start + field.count
        var count = 0
        while index < end {
            var byte = byte(index)
            if hasBackslash, byte == 0x5C, index + 1 < end {
                index += 1
                byte = self.byte(index)
                switch byte {
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "t"): byte = 0x09
                case UInt8(ascii: "0"): byte = 0
                default: break
                }
            } else if !hasBackslash, byte == quote {
                // The second of two quotes.
                index += 1
            }
            memory[count] = byte
            count += 1
            index += 1
        }
        return count
    }

    /// Returns a field as an independent string.
    package func string(_ field: CSVField) -> String {
        if !field.hasEscapes {
            return String(decoding: UnsafeRawBufferPointer(start: base + field.start, count: field.count), as: UTF8.self)
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, field.count)) { memory in
            guard let start = memory.baseAddress else { return "" }
            let count = unescape(field, into: start)
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }

    /// The line ending after the last record; nil at the end of the text.
    var lineEnding: CSVDialect.LineEnding? {
        let place = record.upperBound
        guard place < end else { return nil }
        if byte(place) == 0x0A { return .lineFeed }
        return place + 1 < end && byte(place + 1) == 0x0A ? .carriageReturnLineFeed : .carriageReturn
    }
}
