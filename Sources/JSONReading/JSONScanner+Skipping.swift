extension JSONScanner {
    /// Skips the next value of any kind. It is validated as if it were read.
    ///
    /// - Returns: Its place in the document, for ``seek(to:)-(Int)``.
    /// - Throws: If there is no value, or it is malformed or too deep. A number that exceeds the range of doubles is no error.
    @inlinable @discardableResult package mutating func skipValue() throws(JSONError) -> Range<Int> {
        let byte = token()
        let first = position
        if byte == UInt8(ascii: "\"") {
            try passString()
        } else if byte | 0x20 == UInt8(ascii: "{") {
            try skipContainer()
        } else {
            try skipScalar(byte)
        }
        return first..<position
    }

    /// Skips a number or literal that begins with a byte.
    @usableFromInline @inline(never) package mutating func skipScalar(_ byte: UInt8) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "n"): try readNull()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try readBool()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try readNumber()
        default: throw unexpected("a value")
        }
    }

    /// Skips the object or array that begins at the next byte.
    ///
    /// One bit for each level tells whether it is an object. Levels beyond 64 are left to another call, so that the limit of the depth also limits the
    /// use of the stack.
    @usableFromInline @inline(never) package mutating func skipContainer() throws(JSONError) {
        var (levels, objects) = (0, UInt64(0))
        values: while true {
            let byte = token()
            if byte == UInt8(ascii: "\"") {
                try passString()
            } else if byte | 0x20 != UInt8(ascii: "{") {
                try skipScalar(byte)
            } else if levels == 64 {
                try skipContainer()
            } else {
                try begin()
                isFirst = false
                levels += 1
                let isObject = byte == UInt8(ascii: "{")
                objects = objects << 1 | (isObject ? 1 : 0)
                let inside = token()
                if isObject {
                    if inside == UInt8(ascii: "\"") {
                        try passString()
                        try passColon()
                        continue
                    }
                    guard inside == UInt8(ascii: "}") else { throw unexpected("a key or the end of the object") }
                } else if inside != UInt8(ascii: "]") {
                    continue
                }
            }
            // The value ends here, and possibly the values around it.
            while levels > 0 {
                let isObject = objects & 1 == 1
                let byte = token()
                if byte == UInt8(ascii: ",") {
                    next += 1
                    guard isObject else { continue values }
                    guard token() == UInt8(ascii: "\"") else { throw unexpected("a key") }
                    try passString()
                    try passColon()
                    continue values
                }
                guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw unexpected("a comma or the end of the \(isObject ? "object" : "array")")
                }
                next += 1
                levelsLeft += 1
                levels -= 1
                objects >>= 1
            }
            return
        }
    }
}
