internal import Foundation

/// The form of a CSV file: what stands between fields and around them.
///
/// ```swift
/// var dialect = CSVDialect.excel           // a semicolon, and the decimal comma that goes with it
/// dialect.encoding = .windows1252
/// ```
///
/// A dialect is chosen, not guessed. ``detect(in:)`` tells what a file looks like, and is an error where more than one answer fits.
public struct CSVDialect: Hashable, Sendable {
    /// How a quote within quotes is written.
    public enum Escape: String, Hashable, Sendable {
        /// Twice, as in RFC 4180.
        case doubled
        /// With a backslash before it, as MySQL does; `\n`, `\r`, `\t`, `\0` and `\\` are understood, too.
        case backslash
    }

    /// How records end.
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
    /// The character around fields that need it, an ASCII character; nil for a file that has no quotes.
    public var quote: Character? = "\""
    /// How a quote within quotes is written.
    public var escape = Escape.doubled
    /// The ending of records that are added. The endings of others stay as they are. Nil takes that of the file's first record, or a line
    /// feed in a new file.
    public var lineEnding: LineEnding?
    /// Whether the first record has the names of the columns. Without it, columns are named `1`, `2`, and so on.
    public var hasHeader = true
    /// The character that begins a comment line; nil for a file without comments.
    public var comment: Character?
    /// The encoding; nil takes that of the byte order mark, and UTF-8 where there is none.
    public var encoding: FileEncoding?
    /// Whether a new file begins with a byte order mark. Other files keep theirs, or go without.
    public var writesByteOrderMark = false
    /// Whether a record may have fewer fields than there are columns: the missing ones are nil.
    public var allowsShortRecords = false
    /// How values are written.
    public var values = ValueSpelling()

    /// Creates the dialect of RFC 4180: commas, double quotes, a header.
    public init() {}

    /// Commas, double quotes, a header.
    public static let rfc4180 = CSVDialect()
    /// What Excel writes where the decimal separator is a comma: semicolons, a byte order mark, CRLF.
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

    /// Returns what is wrong with the dialect itself; nil where nothing is.
    var mistake: String? {
        for (name, character) in [("delimiter", delimiter), ("quote", quote ?? "\""), ("comment", comment ?? "#")] {
            guard let byte = character.asciiValue, byte != 0x0A, byte != 0x0D else { return "The \(name) must be one ASCII character." }
        }
        if quote == delimiter { return "The quote and the delimiter are the same character." }
        if let comment, comment == delimiter || comment == quote { return "The comment character has another meaning, too." }
        return nil
    }
}
