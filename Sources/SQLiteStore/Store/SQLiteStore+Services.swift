internal import CSQLite
package import Foundation
@_spi(Stores) internal import ObjectGraph

extension SQLiteStore: FileStore {
    /// Replaces one store by the content of another.
    package static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        for url in [destination, source] where !url.isFileURL || SQLiteFiles.isInMemory(url) {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(url) cannot be part of a replacement.", reason: "It is not a file.",
                next: "Give two file URLs.")
        }
        let timeout = try SQLiteOptions(options).timeout
        let reader = try SQLiteFiles.connectForReading(source, timeout: SQLiteOptions(sourceOptions).timeout)
        // A database that is not a store is rejected as a source.
        _ = try SQLiteMetadata.read(from: reader)
        try SQLiteFileCopy.copyExternalFiles(from: source, to: destination)
        try putContent(of: reader, at: destination, timeout: timeout)
        SQLiteFileCopy.removeExternalFiles(of: destination, notIn: source)
    }

    private static func putContent(of reader: SQLConnection, at destination: URL, timeout: TimeInterval) throws {
        guard FileManager.default.fileExists(atPath: destination.path) else {
            return try SQLiteFileCopy.copy(reader, to: destination, timeout: timeout)
        }
        do {
            // Other connections to the old content continue with the new one.
            let target = try SQLiteFiles.connectForWriting(destination, timeout: timeout, creates: false)
            try SQLiteFileCopy.fill(target, from: reader, timeout: timeout)
        } catch let error as NSError {
            switch error.userInfo[NSSQLiteErrorDomain] as? Int {
            // A damaged database, or one with another page size, is replaced as a file.
            case Int(SQLITE_CORRUPT), Int(SQLITE_NOTADB):
                try exchange(destination, for: reader, timeout: timeout)
            case Int(SQLITE_READONLY) where FileManager.default.isWritableFile(atPath: destination.path):
                try exchange(destination, for: reader, timeout: timeout)
            default: throw error
            }
        }
    }

    private static func exchange(_ url: URL, for reader: SQLConnection, timeout: TimeInterval) throws {
        try SQLiteFileCopy.make(url) { temporary in
            let copy = try SQLiteFiles.connectForWriting(temporary, timeout: timeout, creates: true)
            try SQLiteFileCopy.fill(copy, from: reader, timeout: timeout)
        }
    }

    package static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws {
        if SQLiteFiles.isInMemory(url) { return }
        guard url.isFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(url) cannot be destroyed.", reason: "It is not a file.",
                next: "Give a file URL.")
        }
        let option = options?[NSPersistentStoreForceDestroyOption]
        let isForced = (option as? NSNumber)?.boolValue ?? (option as? Bool) ?? false
        try SQLiteFileCopy.destroy(url, timeout: SQLiteOptions(options).timeout, isForced: isForced)
    }

    /// Copies the whole store to a new place.
    package func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws {
        let timeout = try SQLiteOptions(options).timeout
        let support = SQLiteFiles.externalFiles(of: url)?.deletingLastPathComponent()
        let hadSupport = support.map { FileManager.default.fileExists(atPath: $0.path) } ?? true
        do {
            if let own = self.url, !SQLiteFiles.isInMemory(own) { try SQLiteFileCopy.copyExternalFiles(from: own, to: url) }
            try writeLock.withLock { try SQLiteFileCopy.copy(database(), to: url, timeout: timeout) }
        } catch {
            // A directory that did not exist is removed.
            if !hadSupport, let support { try? FileManager.default.removeItem(at: support) }
            throw error
        }
    }
}
