internal import Foundation
internal import ObjectGraph
internal import Platform

/// The current file of a store, from which parts are copied into the next one.
// Used by the thread that writes the file.
final class ArchiveSource {
    private let source: OpenFile
    private let file: ArchiveFile
    private let expected: FileStamp?
    // The buffer belongs to the source, which releases it.
    private let buffer: UnsafeMutableRawBufferPointer

    /// - Parameter expected: The state of the file that the parts are of.
    /// - Throws: The error of a file that is in another state.
    init(_ file: ArchiveFile, expected: FileStamp?) throws {
        self.file = file
        self.expected = expected
        source = try OpenFile(reading: file.path)
        buffer = .allocate(byteCount: 1 << 20, alignment: 16)
        try finish()
    }

    deinit { buffer.deallocate() }

    /// Copies a part.
    func copy(_ range: Range<Int>, to output: ArchiveOutput) throws {
        var place = range.lowerBound
        while place < range.upperBound {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, range.upperBound - place)])
            let count = try source.read(into: part, at: place)
            guard count > 0 else { throw changed() }
            try output.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            place += count
        }
    }

    /// Throws if the file was written while it was read.
    func finish() throws {
        guard try source.stamp() == expected else { throw changed() }
    }

    private func changed() -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(file.path) cannot be saved.",
            reason: "Another program is writing its file at the same time.", next: "Save again.", info: [NSFilePathErrorKey: file.path])
    }
}
