internal import Foundation

/// A position in a text, with line and column from 1.
struct CSVPosition {
    var line: Int
    var column: Int
}

/// One field of a record.
struct CSVField {
    var text: String
    /// Whether the field is quoted. Empty without quotes means no value; empty in quotes means an empty string.
    var isQuoted = false
    var position = CSVPosition(line: 1, column: 1)

    var isNil: Bool { text.isEmpty && !isQuoted }
}

/// A record: one line, unless quoted fields contain line ends.
struct CSVRecord {
    var fields: [CSVField]
    var line: Int
    /// The bytes of the record in the file, including the line end.
    var range: Range<Int>
}

/// Parses CSV according to RFC 4180, from chunks of bytes of any size.
///
/// Lines end with LF or CRLF. Empty lines are skipped. Errors are a quote inside an unquoted field, text after a closing quote, an
/// unclosed quote, a lone carriage return, and invalid UTF-8.
struct CSVParser {
    private enum State { case fieldStart, unquoted, quoted, quoteInQuoted, carriageReturn }

    private let url: URL
    private var state = State.fieldStart
    private var position: CSVPosition
    private var offset: Int
    private var fieldPosition: CSVPosition
    private var recordStart: Int
    private var recordLine: Int
    private var bytes: [UInt8] = []
    private var fields: [CSVField] = []
    /// Whether a line outside of quotes has ended with CRLF.
    private(set) var usesCarriageReturns = false

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - url: The file, for errors.
    ///   - line: The number of the first line.
    ///   - offset: The offset of the first byte in the file.
    init(url: URL, line: Int = 1, offset: Int = 0) {
        self.url = url
        position = CSVPosition(line: line, column: 1)
        fieldPosition = position
        self.offset = offset
        recordStart = offset
        recordLine = line
    }

    /// Parses the next bytes and calls `body` with each record that they complete.
    mutating func parse(_ chunk: Data, _ body: (CSVRecord) throws -> Void) throws {
        for byte in chunk {
            try take(byte, body)
            offset += 1
            if byte == .lineFeed {
                position = CSVPosition(line: position.line + 1, column: 1)
            } else if byte & 0xC0 != 0x80 {
                // Continuation bytes of a character do not count.
                position.column += 1
            }
            if state == .fieldStart, bytes.isEmpty { fieldPosition = position }
            if byte == .lineFeed, state == .fieldStart { (recordStart, recordLine) = (offset, position.line) }
        }
    }

    /// Ends the text; a last line without a line end is included.
    mutating func finish(_ body: (CSVRecord) throws -> Void) throws {
        switch state {
        case .quoted:
            throw malformed("The quote is never closed.", advice: "Close it, or double it if it belongs to the text.", at: fieldPosition)
        case .carriageReturn: throw loneCarriageReturn()
        case .fieldStart where fields.isEmpty: return
        case .fieldStart, .unquoted, .quoteInQuoted: try endRecord(body)
        }
    }

    private mutating func take(_ byte: UInt8, _ body: (CSVRecord) throws -> Void) throws {
        switch (state, byte) {
        case (.quoted, .quote): state = .quoteInQuoted
        case (.quoted, _): bytes.append(byte)
        case (.quoteInQuoted, .quote):
            bytes.append(byte)
            state = .quoted
        case (.carriageReturn, .lineFeed):
            usesCarriageReturns = true
            try endRecord(body, lineEnd: 1)
        case (.carriageReturn, _): throw loneCarriageReturn()
        case (_, .carriageReturn):
            // The text before it is kept until a line feed shows that the record ends here.
            try endField()
            state = .carriageReturn
        case (_, .lineFeed):
            try endField()
            try endRecord(body, lineEnd: 1)
        case (_, .comma):
            try endField()
            state = .fieldStart
        case (.fieldStart, .quote):
            fieldPosition = position
            state = .quoted
        case (.quoteInQuoted, _):
            throw malformed("There is text behind a closing quote.", advice: "Put the whole field in quotes, and double those in the text.")
        case (_, .quote):
            throw malformed(
                "There is a quote inside a field without quotes.", advice: "Put the whole field in quotes, and double those in the text.")
        default:
            bytes.append(byte)
            state = .unquoted
        }
    }

    private mutating func endField() throws {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw malformed("The field is not UTF-8 text.", advice: "Save the file with the encoding UTF-8.", at: fieldPosition)
        }
        fields.append(CSVField(text: text, isQuoted: state == .quoteInQuoted, position: fieldPosition))
        bytes = []
    }

    /// Passes the record to `body`. At the end of the file, its last field is still open.
    private mutating func endRecord(_ body: (CSVRecord) throws -> Void, lineEnd: Int = 0) throws {
        if lineEnd == 0 { try endField() }
        let record = CSVRecord(fields: fields, line: recordLine, range: recordStart..<offset + lineEnd)
        fields = []
        state = .fieldStart
        if record.fields.count == 1, record.fields[0].isNil { return }
        try body(record)
    }

    private func loneCarriageReturn() -> SongFileError {
        malformed("There is a carriage return without a line feed.", advice: "End lines with LF or CRLF, or put the field in quotes.")
    }

    private func malformed(_ reason: String, advice: String, at place: CSVPosition? = nil) -> SongFileError {
        SongFileError(.malformed, url, at: place ?? position, reason, advice: advice)
    }
}

extension UInt8 {
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
