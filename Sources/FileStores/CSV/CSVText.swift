/// Writes the fields of a CSV file.
struct CSVText {
    private let delimiter: UInt8
    private let quote: UInt8
    private let hasBackslash: Bool
    private let comment: UInt8

    init(_ dialect: CSVDialect) {
        delimiter = dialect.delimiter.asciiValue ?? 0x2C
        quote = dialect.quote?.asciiValue ?? 0
        hasBackslash = dialect.escape == .backslash
        comment = dialect.comment?.asciiValue ?? 0
    }

    func separate(_ output: inout [UInt8]) { output.append(delimiter) }

    /// Appends a field.
    ///
    /// - Parameter isQuoted: Whether quotes are required for any text.
    /// - Throws: ``FileMistake`` for text that needs quotes in a file without them.
    func append(_ text: UnsafeRawBufferPointer, quoted isQuoted: Bool, to output: inout [UInt8]) throws {
        var needsQuotes = isQuoted
        var needsEscapes = false
        for byte in text {
            if byte == delimiter || byte == 0x0A || byte == 0x0D { needsQuotes = true }
            if byte == quote && quote != 0 || byte == 0x5C && hasBackslash { (needsQuotes, needsEscapes) = (true, true) }
        }
        if let first = text.first, first == comment && comment != 0 || first == 0x20 { needsQuotes = true }
        if let last = text.last, last == 0x20 { needsQuotes = true }
        guard needsQuotes else {
            output.append(contentsOf: text)
            return
        }
        guard quote != 0 else {
            throw FileMistake(offset: 0, expected: "text without delimiters and line breaks: the dialect has no quotes")
        }
        output.append(quote)
        if needsEscapes {
            for byte in text {
                if hasBackslash {
                    if byte == quote || byte == 0x5C { output.append(0x5C) }
                } else if byte == quote {
                    output.append(quote)
                }
                output.append(byte)
            }
        } else {
            output.append(contentsOf: text)
        }
        output.append(quote)
    }

    func append(_ text: String, quoted: Bool = false, to output: inout [UInt8]) throws {
        var text = text
        try text.withUTF8 { try append(UnsafeRawBufferPointer($0), quoted: quoted, to: &output) }
    }
}
