package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads files of external origin: a pipe or a device in the place of a file would block, or have no end.
package enum RegularFile {
    /// Reads a file.
    ///
    /// - Throws: Foundation's error of a file that cannot be read; code 259 (`NSFileReadCorruptFileError`) for a pipe or a device.
    package static func data(_ url: URL, options: Data.ReadingOptions = []) throws -> Data {
        try check(url.path)
        return try Data(contentsOf: url, options: options)
    }

    /// Reads the first bytes of a file.
    package static func start(of url: URL, _ count: Int) throws -> Data {
        try check(url.path)
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        return try handle.read(upToCount: count) ?? Data()
    }

    /// Returns whether the path leads to something other than a file or a folder.
    package static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Returns whether there is a device. A pipe, which a user may name, ends.
    package static func isDevice(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && [S_IFCHR, S_IFBLK].contains(status.st_mode & S_IFMT)
    }

    /// - Throws: Code 259 for a pipe or a device. Reading reports a missing file.
    package static func check(_ path: String) throws {
        guard isSpecial(path) else { return }
        throw CocoaError(
            .fileReadCorruptFile,
            userInfo: [
                NSFilePathErrorKey: path,
                NSLocalizedDescriptionKey:
                    "The file \(path) cannot be read. It is a pipe or a device, and no file. Copy what it gives to a file.",
            ])
    }
}
