import JSONReading

/// A copy of bytes in memory of exactly their size, so that a sanitizer sees each read beyond the end, at some distance from an address
/// that eight divides.
func withExactMemory<Result>(_ bytes: [UInt8], shift: Int = 0, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + shift, alignment: 8)
    defer { memory.deallocate() }
    let part = UnsafeMutableRawBufferPointer(rebasing: memory[shift...])
    part.copyBytes(from: bytes)
    return try body(UnsafeRawBufferPointer(part))
}

/// Reads a whole document one way or the other.
func read(_ bytes: [UInt8], limits: JSONLimits = JSONLimits(), shift: Int = 0) throws -> JSONValue {
    try withExactMemory(bytes, shift: shift) { bytes in
        var scanner = try JSONScanner(bytes, limits: limits)
        let value = try scanner.readValue()
        try scanner.end()
        return value
    }
}

func skip(_ bytes: [UInt8], limits: JSONLimits = JSONLimits(), shift: Int = 0) throws {
    try withExactMemory(bytes, shift: shift) { bytes in
        var scanner = try JSONScanner(bytes, limits: limits)
        try scanner.skipValue()
        try scanner.end()
    }
}

/// Goes through the document with a table of keys, of which it knows some, and asks for each key afterwards.
func walk(_ bytes: [UInt8], shift: Int = 0) throws -> JSONValue {
    let table = JSONKeyTable(["", "a", "id", "name", "title of the thing", "ключ"])
    return try withExactMemory(bytes, shift: shift) { bytes in
        var scanner = try JSONScanner(bytes)
        let value = try walk(&scanner, table)
        try scanner.end()
        return value
    }
}

private func walk(_ scanner: inout JSONScanner, _ table: JSONKeyTable) throws -> JSONValue {
    switch try scanner.peek() {
    case .object:
        var members: [JSONObject.Member] = []
        try scanner.beginObject()
        while try scanner.nextIndex(in: table) != nil {
            members.append(JSONObject.Member(key: scanner.key().string, value: try walk(&scanner, table)))
        }
        return .object(JSONObject(members))
    case .array:
        var elements: [JSONValue] = []
        try scanner.beginArray()
        while try scanner.nextElement() { elements.append(try walk(&scanner, table)) }
        return .array(elements)
    case .string:
        let place = scanner.place
        try scanner.skipString()
        scanner.seek(to: place)
        return .string(try scanner.readString().string)
    case .number:
        // Integers by their shorter way, if they are written so that reading them gives the same value.
        let place = scanner.place
        if let integer = try? scanner.readInteger() {
            let end = scanner.position
            scanner.seek(to: place)
            let number = try scanner.readNumber()
            guard number.int64 == integer, scanner.position == end else { throw WalkError.differs }
            return JSONValue(number)
        }
        scanner.seek(to: place)
        return JSONValue(try scanner.readNumber())
    case .true, .false: return .bool(try scanner.readBool())
    case .null: return try scanner.readIfNull() ? .null : .bool(false)
    }
}

private enum WalkError: Error { case differs }

/// The error of a document, however it is read.
func error(_ text: String, limits: JSONLimits = JSONLimits()) -> JSONError? {
    do {
        _ = try JSONValue(parsing: Array(text.utf8), limits: limits)
        return nil
    } catch {
        return error
    }
}

/// Runs a test with a scanner over a text.
func scan<Result>(_ text: String, limits: JSONLimits = JSONLimits(), _ body: (inout JSONScanner) throws -> Result) throws -> Result {
    try withExactMemory(Array(text.utf8)) { bytes in
        var scanner = try JSONScanner(bytes, limits: limits)
        return try body(&scanner)
    }
}
