package import Foundation
@_spi(Stores) package import ObjectGraph
internal import Platform

extension ArchiveStore: FileStore {
    package func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws {
        try requestLock.withLock {
            guard let read = try file.read() else { throw file.failure(ENOENT, "copied", isWriting: false) }
            try Self.copy(read.bytes, to: ArchiveFile(url), Self.timeout(options), mustBeNew: true)
        }
    }

    package static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        let file = ArchiveFile(source)
        guard let read = try file.read() else { throw file.failure(ENOENT, "read", isWriting: false) }
        // Only a store may replace a store.
        _ = try metadata(in: read.bytes, of: file)
        try copy(read.bytes, to: ArchiveFile(destination), timeout(options), mustBeNew: false)
    }

    private static func copy(_ bytes: [UInt8], to file: ArchiveFile, _ timeout: TimeInterval, mustBeNew: Bool) throws {
        try file.withLock(timeout: timeout) {
            if mustBeNew, FileStamp(file.path) != nil { throw file.failure(EEXIST, "written", isWriting: true) }
            _ = try file.replace { try $0.append(bytes) }
        }
    }

    package static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws {
        let file = ArchiveFile(url)
        guard FileStamp(file.path) != nil else { return }
        try file.withLock(timeout: timeout(options)) {
            file.removeRemains()
            try file.remove()
        }
    }

    package func takeOver(stateOf former: any FileStore) throws {
        guard let former = former as? ArchiveStore else { return }
        try former.requestLock.withLock {
            try former.takeVersions(into: contents.rows)
            contents.lastNumber = max(contents.lastNumber, former.contents.lastNumber)
        }
    }

    private static func timeout(_ options: [AnyHashable: Any]?) -> TimeInterval {
        (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout
    }
}

extension ArchiveStore {
    /// Replaces the metadata of a store that is not open. The UUID and the type stay the same, unless others are given.
    static func replaceMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        let file = ArchiveFile(url)
        try file.withLock(timeout: SQLiteStoreDefaults.timeout) {
            guard let read = try file.read() else { throw file.failure(ENOENT, "written", isWriting: true) }
            let old = try Self.metadata(in: read.bytes, of: file)
            var new = metadata ?? [:]
            for key in [NSStoreUUIDKey, NSStoreTypeKey] where new[key] == nil { new[key] = old[key] }
            let checked = try checked(new, file)
            _ = try file.replace { try write(checked, in: read.bytes, of: file, to: $0) }
        }
    }
}
