extension JSONScanner {
    /// Returns an error at a place in the document, with its line and column.
    ///
    /// Lines end with a line feed, a carriage return, or both.
    @usableFromInline @inline(never) package func error(_ reason: String, at place: UnsafeRawPointer) -> JSONError {
        let offset = min(place, limit) - start
        var (line, lineStart) = (1, 0)
        for index in 0..<offset {
            let byte = document[index]
            // The line feed of a pair does not start another line.
            if byte == 0x0A && index > 0 && document[index - 1] == 0x0D {
                lineStart = index + 1
            } else if byte == 0x0A || byte == 0x0D {
                line += 1
                lineStart = index + 1
            }
        }
        return JSONError(reason, offset: offset, line: line, column: offset - lineStart + 1)
    }

    /// Returns an error with the expected input at the next byte, and the actual one.
    @usableFromInline @inline(never) package func unexpected(_ expected: String) -> JSONError {
        if let mark = byteOrderMark {
            return error("Expected \(expected), found \(mark): the document must be UTF-8 without one", at: start)
        }
        return error("Expected \(expected), found \(found)", at: next)
    }

    @usableFromInline @inline(never) package func tooDeep() -> JSONError {
        error("More than \(depth) objects and arrays stand in one another here", at: next)
    }

    /// Returns the error of a literal whose last four letters are not at the next byte.
    @usableFromInline @inline(never) package func wrongLiteral(_ length: Int) -> JSONError {
        error("Expected a value: only null, true and false begin with this letter", at: next - (length - 4))
    }

    private var byteOrderMark: String? {
        guard next == start else { return nil }
        let bytes = document.prefix(3)
        if bytes.elementsEqual([0xEF, 0xBB, 0xBF]) { return "a byte order mark" }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return "the byte order mark of UTF-16" }
        return nil
    }

    private var found: String {
        guard next < limit else { return next == start ? "no document at all" : "the end of the document" }
        let byte = next.load(as: UInt8.self)
        switch byte {
        case UInt8(ascii: "\""): return "a string"
        case UInt8(ascii: "{"): return "an object"
        case UInt8(ascii: "["): return "an array"
        case UInt8(ascii: "}"): return "the end of an object"
        case UInt8(ascii: "]"): return "the end of an array"
        case UInt8(ascii: ","): return "a comma"
        case UInt8(ascii: ":"): return "a colon"
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return "a number"
        case 0x21..<0x7F: return "“\(Unicode.Scalar(byte))”"
        default: return "the byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
}
