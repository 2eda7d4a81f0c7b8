internal import ObjectGraph

/// The content of a file in memory, as UTF-8.
// Immutable once it is shared: nobody writes to the memory after `init`, which belongs to the instance, or to its array, and is freed with it.
package final class TextBytes: @unchecked Sendable {
    /// The first byte, after a byte order mark.
    let start: UnsafeRawPointer
    /// The number of bytes.
    package let count: Int
    private let memory: UnsafeMutableRawPointer?
    /// The bytes, if they were given as an array. Its storage does not move, because nothing writes to it.
    private let array: [UInt8]

    /// Takes ownership of memory that was allocated by `UnsafeMutableRawPointer.allocate`.
    ///
    /// - Parameters:
    ///   - memory: The memory, which the instance frees.
    ///   - skipped: The number of bytes that are not part of the text.
    ///   - count: The number of bytes, including the skipped ones.
    init(owning memory: UnsafeMutableRawPointer, skipping skipped: Int, count: Int) {
        self.memory = memory
        array = []
        start = UnsafeRawPointer(memory + skipped)
        self.count = count - skipped
    }

    /// Takes ownership of the bytes of an array.
    package init(_ bytes: [UInt8]) {
        array = bytes.isEmpty ? [0] : bytes
        start = array.withUnsafeBytes { $0.baseAddress }.known("an array with elements has storage")
        count = bytes.count
        memory = nil
    }

    deinit { memory?.deallocate() }

    package var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Returns a part as text.
    func string(_ range: Range<Int>) -> String { String(decoding: UnsafeRawBufferPointer(rebasing: buffer[range]), as: UTF8.self) }

    /// Returns the line and the column of a byte, both from 1. A column counts Unicode scalars.
    package func place(of offset: Int) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        var index = 0
        while index < min(offset, count) {
            let byte = buffer[index]
            if byte == 0x0D && index + 1 < count && buffer[index + 1] == 0x0A {
                // The following line feed ends the line.
            } else if byte == 0x0A || byte == 0x0D {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            index += 1
        }
        return (line, column)
    }
}
