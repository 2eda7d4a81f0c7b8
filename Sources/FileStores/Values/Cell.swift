/// A value in a file, as text: a field of a CSV record, or a member of a JSON object.
struct Cell {
    enum Kind: UInt8 {
        /// The record has no such field.
        case absent
        /// `null` in JSON; the spelling of nil in CSV.
        case null
        /// Text without quotes in CSV.
        case plain
        /// Text in quotes.
        case quoted
        /// A number of JSON.
        case number
        /// `true` or `false` of JSON.
        case boolean
        /// An array or object of JSON.
        case container
    }

    var kind: Kind
    /// The UTF-8 bytes, without quotes and escapes. Valid until the next record is read.
    var text: UnsafeRawBufferPointer

    static var absent: Cell { Cell(kind: .absent, text: UnsafeRawBufferPointer(start: nil, count: 0)) }

    var isNil: Bool { kind == .absent || kind == .null }
}

/// The forms of the text of a value.
enum SpelledForm {
    case null
    case text
    case number
    case boolean
}
