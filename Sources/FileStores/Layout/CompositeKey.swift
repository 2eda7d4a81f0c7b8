/// Keys of several values in one text, in which slashes separate the values.
///
/// A slash in a value is `%2F`, a percent sign `%25`. Each text therefore stands for exactly one list of values, and is not a number or a UUID.
enum CompositeKey {
    private static let (slash, percent) = (UInt8(ascii: "/"), UInt8(ascii: "%"))

    /// Appends a value.
    static func append(_ part: UnsafeRawBufferPointer, isFirst: Bool, to text: inout [UInt8]) {
        if !isFirst { text.append(slash) }
        for byte in part {
            switch byte {
            case slash: text += "%2F".utf8
            case percent: text += "%25".utf8
            default: text.append(byte)
            }
        }
    }

    /// Returns the text of values. The text of a single value is the value itself.
    static func text(_ parts: [String]) -> String {
        if parts.count == 1 { return parts[0] }
        var text: [UInt8] = []
        for (index, part) in parts.enumerated() {
            part.withUTF8ForReading { append(UnsafeRawBufferPointer($0), isFirst: index == 0, to: &text) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the values of a key; nil for text with another number of values.
    static func parts(_ text: String, count: Int) -> [String]? {
        if count == 1 { return [text] }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == count else { return nil }
        return parts.map { part in String(part.replacing("%2F", with: "/").replacing("%25", with: "%")) }
    }

    /// Returns the text of the values of several cells, in memory that the caller deallocates; nil if one of them has no value.
    static func cell(_ cells: some Sequence<Cell>) -> UnsafeMutableRawBufferPointer? {
        var text: [UInt8] = []
        var isFirst = true
        for cell in cells {
            if cell.isNil || cell.text.isEmpty { return nil }
            append(cell.text, isFirst: isFirst, to: &text)
            isFirst = false
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        memory.copyBytes(from: text)
        return memory
    }
}
