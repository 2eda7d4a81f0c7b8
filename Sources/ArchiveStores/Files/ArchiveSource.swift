internal import Foundation
internal import ObjectGraph

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The current file of a store, from which parts are copied into the next one.
// Used by the thread that writes the file.
final class ArchiveSource {
    private let descriptor: Int32
    private let file: ArchiveFile
    private let expected: FileStamp?
    // The buffer belongs to the source, which releases it.
    private let buffer: UnsafeMutableRawBufferPointer

    /// - Parameter expected: The state of the file that the parts are of.
    /// - Throws: The error of a file that is in another state.
    init(_ file: ArchiveFile, expected: FileStamp?) throws {
        self.file = file
        self.expected = expected
        descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        buffer = .allocate(byteCount: 1 << 20, alignment: 16)
        guard descriptor >= 0 else { throw file.failure(errno, "read", isWriting: false) }
        try finish()
    }

    deinit {
        buffer.deallocate()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Copies a part.
    func copy(_ range: Range<Int>, to output: ArchiveOutput) throws {
        var place = range.lowerBound
        while place < range.upperBound {
            let count = pread(descriptor, buffer.baseAddress, min(buffer.count, range.upperBound - place), off_t(place))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw file.failure(errno, "read", isWriting: false) }
            guard count > 0 else { throw changed() }
            try output.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            place += count
        }
    }

    /// Throws if the file was written while it was read.
    func finish() throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw file.failure(errno, "read", isWriting: false) }
        guard FileStamp(status) == expected else { throw changed() }
    }

    private func changed() -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(file.path) cannot be saved.",
            reason: "Another program is writing its file at the same time.", next: "Save again.", info: [NSFilePathErrorKey: file.path])
    }
}
