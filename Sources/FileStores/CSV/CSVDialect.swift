internal import Foundation

/// The form of a CSV file: the characters between fields and around them.
///
/// ```swift
/// var dialect = CSVDialect.excel           // a semicolon, and the decimal comma that goes with it
/// dialect.encoding = .windows1252
/// ```
///
/// A dialect is chosen, not guessed. ``detect(in:)`` determines the dialect of a file, and throws if several fit.
public struct CSVDialect: Hashable, Sendable {
    /// The ways to escape a quote within quotes.
    public enum Escape: String, Hashable, Sendable {
        /// It is doubled, as in RFC 4180.
        case doubled
        /// It follows a backslash, as in MySQL; `\n`, `\r`, `\t`, `\0` and `\\` are understood, too.
        case backslash
    }

    /// The endings of records.
    public enum LineEnding: String, Hashable, Sendable, CaseIterable {
        /// A line feed.
        case lineFeed = "\n"
        /// A carriage return and a line feed, as in RFC 4180.
        case carriageReturnLineFeed = "\r\n"
        /// A carriage return.
        case carriageReturn = "\r"
    }

    /// The character between fields, an ASCII character.
    public var delimiter: Character = ","
    /// The character around fields that need it, an ASCII character; nil for a file without quotes.
    public var quote: Character? = "\""
    /// The way to escape a quote within quotes.
    public var escape = Escape.doubled
    /// The ending of new records; existing records keep theirs. Nil stands for the ending of the file's first record, or a line feed in a new file.
    public var lineEnding: LineEnding?
    /// Whether the first record has the names of the columns. Without it, columns are named `1`, `2`, and so on.
    public var hasHeader = true
    /// The character that begins a comment line; nil for a file without comments.
    public var comment: Character?
    /// The encoding; nil for that of the byte order mark, or UTF-8 without one.
    public var encoding: FileEncoding?
    /// Whether a new file begins with a byte order mark. Existing files stay with or without one.
    public var writesByteOrderMark = false
    /// Whether a record may have fewer fields than there are columns: the missing ones are nil.
    public var allowsShortRecords = false
    /// The spelling of values.
    public var values = ValueSpelling()

    /// Creates the dialect of RFC 4180: commas, double quotes, a header.
    public init() {}

    /// Commas, double quotes, a header.
    public static let rfc4180 = CSVDialect()
    /// Excel's form if the decimal separator is a comma: semicolons, a byte order mark, CRLF.
    public static var excel: CSVDialect {
        var dialect = CSVDialect()
        dialect.delimiter = ";"
        dialect.lineEnding = .carriageReturnLineFeed
        dialect.writesByteOrderMark = true
        dialect.values.decimalSeparator = ","
        return dialect
    }
    /// Tabs, as in Excel's “Unicode text”.
    public static var tabs: CSVDialect {
        var dialect = CSVDialect()
        dialect.delimiter = "\t"
        return dialect
    }

    /// The mistake in the dialect itself; nil if there is none.
    var mistake: String? {
        for (name, character) in [("delimiter", delimiter), ("quote", quote ?? "\""), ("comment", comment ?? "#")] {
            guard let byte = character.asciiValue, byte != 0x0A, byte != 0x0D else { return "The \(name) must be one ASCII character." }
        }
        if quote == delimiter { return "The quote and the delimiter are the same character." }
        if let comment, comment == delimiter || comment == quote { return "The comment character has another meaning, too." }
        return nil
    }
}
