/// The UTF-8 bytes of a string or key, without escapes.
///
/// They lie in the document, or, where the string has escapes, in a buffer of the scanner until it reads the next string or key.
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

    /// The text as a string of its own.
    @inlinable package var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the text is that of the literal, byte by byte.
    @inlinable package static func == (text: JSONText, literal: StaticString) -> Bool {
        guard literal.hasPointerRepresentation, literal.utf8CodeUnitCount == text.count else { return false }
        for index in 0..<text.count where text.start.load(fromByteOffset: index, as: UInt8.self) != literal.utf8Start[index] {
            return false
        }
        return true
    }
}
