/// The UTF-8 bytes of a string or key, with its escapes decoded.
///
/// They are in the document. For a string with escapes, they are in a buffer of the scanner until it reads the next string or key.
@frozen @usableFromInline package struct JSONText {
    @usableFromInline package let start: UnsafeRawPointer
    /// The number of bytes.
    @usableFromInline package let count: Int

    @inlinable package init(start: UnsafeRawPointer, count: Int) {
        self.start = start
        self.count = count
    }

    /// The bytes. They are valid UTF-8.
    @inlinable package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// The text as an independent string.
    @inlinable package var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns whether the text equals the literal, byte by byte.
    @inlinable package static func == (text: JSONText, literal: StaticString) -> Bool {
        guard literal.hasPointerRepresentation, literal.utf8CodeUnitCount == text.count else { return false }
        for index in 0..<text.count where text.start.load(fromByteOffset: index, as: UInt8.self) != literal.utf8Start[index] {
            return false
        }
        return true
    }
}
