internal import ExampleSupport
internal import Foundation

/// The file of a store, which is checked when the store is added, read, and replaced as a whole.
struct SongFile {
    /// Identifies the version of a file that was read, without reading it again.
    struct Stamp: Equatable {
        fileprivate let number: UInt64
        fileprivate let size: UInt64
        fileprivate let modified: Date
    }

    let url: URL

    /// Checks that `url` names a file.
    ///
    /// - Throws: ``SongFileError`` for a missing URL and for one that is not a file URL.
    init(_ url: URL?) throws {
        guard let url else {
            throw SongFileError(.unreachable, nil, "The store has no URL.", advice: "Add it with the file URL of a CSV file.")
        }
        guard url.isFileURL else {
            throw SongFileError(
                .unreachable, url, "The URL \(url.absoluteString) is not that of a file.",
                advice: "Use a URL made with URL(fileURLWithPath:).")
        }
        self.url = url
    }

    /// The UUID of the store, derived from the path, so that the URIs of objects are the same in every process.
    var storeIdentifier: String { UUID(derivedFrom: url.standardizedFileURL.resolvingSymlinksInPath().path).uuidString }

    // MARK: Opening

    /// Checks that there is a readable file, and a writable one unless the store is read-only. A new file gets `contents`.
    func prepare(isReadOnly: Bool, contents: Data) throws {
        var isDirectory = false
        if !exists(&isDirectory) {
            if isReadOnly {
                throw SongFileError(
                    .unreachable, url, "There is no such file.", advice: "Check the path, or open the store for writing to begin a file.")
            }
            do {
                try contents.write(to: url, options: .withoutOverwriting)
            } catch {
                throw SongFileError(
                    .unreachable, url, "There is no such file, and none can be made. \(error.localizedDescription)",
                    advice: "Check the path, and that its directory exists and may be written.", cause: error)
            }
        }
        if isDirectory { throw SongFileError(.unreachable, url, "This is a directory.", advice: "Name a CSV file.") }
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw SongFileError(
                .unreachable, url, "The file may not be read.", advice: "Change its permissions, or those of its directory.")
        }
        if !isReadOnly { try checkWritable() }
    }

    /// Checks that the file may be replaced.
    func checkWritable() throws {
        // A file without any write permission must not change, even where the user could write it.
        let permissions = try attributes()[.posixPermissions] as? NSNumber
        let directory = url.deletingLastPathComponent().path
        guard permissions.map({ $0.intValue & 0o222 != 0 }) ?? true, FileManager.default.isWritableFile(atPath: url.path) else {
            throw SongFileError(
                .readOnly, url, "The file is read-only.",
                advice: "Change its permissions, or open the store with NSReadOnlyPersistentStoreOption.")
        }
        guard FileManager.default.isWritableFile(atPath: directory) else {
            throw SongFileError(
                .readOnly, url, "The directory of the file is read-only, and a save makes a new file there.",
                advice: "Change its permissions, or open the store with NSReadOnlyPersistentStoreOption.")
        }
    }

    private func exists(_ isDirectory: inout Bool) -> Bool {
        var flag: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &flag)
        isDirectory = flag.boolValue
        return exists
    }

    private func attributes() throws -> [FileAttributeKey: Any] {
        try reaching { try FileManager.default.attributesOfItem(atPath: url.path) }
    }

    /// Returns the current version of the file.
    func stamp() throws -> Stamp {
        let attributes = try attributes()
        return Stamp(
            number: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0,
            size: (attributes[.size] as? NSNumber)?.uint64Value ?? 0,
            modified: attributes[.modificationDate] as? Date ?? .distantPast)
    }

    // MARK: Reading

    /// Opens the file for reading. The handle stays valid when the file is replaced.
    func open() throws -> FileHandle { try reaching { try FileHandle(forReadingFrom: url) } }

    /// Calls `body` with chunks of the file, so that a large one need not fit into memory.
    func forEachPiece(of handle: FileHandle, _ body: (Data) throws -> Void) throws {
        while let piece = try reaching({ try handle.read(upToCount: 1 << 16) }), !piece.isEmpty { try body(piece) }
    }

    /// Returns a range of bytes of the file.
    func read(_ range: Range<Int>, from handle: FileHandle) throws -> Data {
        let data = try reaching {
            try handle.seek(toOffset: UInt64(range.lowerBound))
            return try handle.read(upToCount: range.count)
        }
        guard let data, data.count == range.count else {
            throw SongFileError(
                .changedOutside, url, "The file has become shorter while it was open.",
                advice: "Open it again; let writers replace it instead.")
        }
        return data
    }

    private func reaching<Result>(_ work: () throws -> Result) throws -> Result {
        do { return try work() } catch {
            throw SongFileError(
                .unreachable, url, "The file cannot be read. \(error.localizedDescription)",
                advice: "Check that it exists and may be read.",
                cause: error)
        }
    }

    // MARK: Writing

    /// Replaces the file by a new one. A failure leaves the old file unchanged.
    ///
    /// - Parameter write: Writes the new file, which is read and checked before it replaces the old one.
    /// - Returns: The index of the new file.
    func replace(_ format: SongFileFormat, _ write: (FileHandle) throws -> Void) throws -> SongIndex {
        try checkWritable()
        let permissions = try attributes()[.posixPermissions]
        let draft = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            try Data().write(to: draft, options: .withoutOverwriting)
            let handle = try FileHandle(forWritingTo: draft)
            defer { handle.closeFile() }
            try write(handle)
            try handle.synchronize()
            if let permissions { try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: draft.path) }
            let index = try readBack(draft, format)
            try move(draft)
            return index
        } catch {
            // The draft may not exist; the original error matters.
            try? FileManager.default.removeItem(at: draft)
            if let error = error as? SongFileError { throw error }
            throw SongFileError(
                .unwritable, url, "The file could not be written. \(error.localizedDescription)",
                advice: "Check the space that is left on the disk and the permissions of the directory.", cause: error)
        }
    }

    private func readBack(_ draft: URL, _ format: SongFileFormat) throws -> SongIndex {
        do {
            return try SongIndex(scanning: SongFile(draft), format)
        } catch let error as SongFileError {
            throw SongFileError(
                .unstorable, url, "The objects do not make a file that can be read back. \(error.reason)",
                advice: "Look at what the objects refer to; the file was left as it was.", cause: error)
        }
    }

    /// Renames the draft atomically: a reader finds the old file or the new one.
    private func move(_ draft: URL) throws {
        #if os(Windows)
        _ = try FileManager.default.replaceItemAt(url, withItemAt: draft)
        #else
        // On Linux `replaceItemAt` removes the old file and then fails to find it (Swift 6.3).
        if rename(draft.path, url.path) != 0 { throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
        #endif
    }
}
