internal import Foundation
internal import SQLiteStore

/// A copy of a SQLite store that cannot be read in place without changes to its files.
final class StoreCopyForReading {
    /// The file of the copy.
    let url: URL
    private let folder: URL

    private init(_ url: URL, folder: URL) { (self.url, self.folder) = (url, folder) }

    deinit { TemporaryFolders.remove(folder) }

    /// Copies a store with a log that no program has open, or with an unfinished last transaction; nil if it can be read in place.
    ///
    /// To read a log, SQLite creates a file beside it, unless a writer has done so. To roll back an unfinished transaction, it writes to the store
    /// itself. External data files are linked instead of copied.
    static func ifNeeded(_ url: URL) throws -> StoreCopyForReading? {
        // Copying anything but a regular file could block.
        let path = url.path
        try SQLiteFiles.requireSideFiles(path)
        // This also applies to an empty log, because SQLite looks for the other file.
        let hasLog = FileManager.default.fileExists(atPath: path + "-wal") && !FileManager.default.fileExists(atPath: path + "-shm")
        // A journal that a program is still writing is left alone.
        let hasJournal = FileManager.default.fileExists(atPath: path + "-journal") && SQLiteInspection.isUnfinished(url)
        guard hasLog || hasJournal else { return nil }
        let folder = try TemporaryFolders.make()
        let copy = StoreCopyForReading(folder.appendingPathComponent(url.lastPathComponent), folder: folder)
        for ending in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: path + ending) {
            try FileManager.default.copyItem(atPath: path + ending, toPath: copy.url.path + ending)
            // The store may be on a read-only disk, or belong to another user.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.url.path + ending)
        }
        let support = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
        let files = url.deletingLastPathComponent().appendingPathComponent(support)
        if FileManager.default.fileExists(atPath: files.path) {
            try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent(support), withDestinationURL: files)
        }
        return copy
    }
}
