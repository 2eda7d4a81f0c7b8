#if ManagedAccessors
internal import SwiftSyntax

/// A replacement of a part of a file's text.
struct SourceEdit {
    /// The UTF-8 offsets of the replaced part.
    let range: Range<Int>
    let replacement: String

    init(range: Range<Int>, replacement: String) {
        self.range = range
        self.replacement = replacement
    }

    init(from start: AbsolutePosition, to end: AbsolutePosition, _ replacement: String) {
        self.init(range: start.utf8Offset..<end.utf8Offset, replacement: replacement)
    }

    /// Returns a text with edits, whose ranges do not overlap. Line numbers are kept: the line ends of removed text remain.
    static func apply(_ edits: [SourceEdit], to text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        // An insertion before a part precedes the replacement of the part.
        let ordered = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.element.range.upperBound, $0.offset)
                < ($1.element.range.lowerBound, $1.element.range.upperBound, $1.offset)
        }
        for (_, edit) in ordered {
            result += bytes[position..<edit.range.lowerBound]
            let ends = bytes[edit.range].filter { $0 == UInt8(ascii: "\n") }.count
            let kept = edit.replacement.utf8.filter { $0 == UInt8(ascii: "\n") }.count
            result += Array(edit.replacement.utf8) + Array(repeating: UInt8(ascii: "\n"), count: max(0, ends - kept))
            position = edit.range.upperBound
        }
        return String(decoding: result + bytes[position...], as: UTF8.self)
    }

    /// Returns a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}
#endif
