internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLiteStore

/// A copy of a file store in which a change is tried, with all checks of a save.
final class StoreCopyForTrying {
    /// The path of the copy.
    let place: String
    /// The identifier of the store, because that of the copy may differ.
    let identifier: String?
    private let original: String
    private let folder: URL

    deinit { TemporaryFolders.remove(folder) }

    /// Copies the files of a store, which are not changed. External data files of a SQLite store are hard-linked if the disk supports that.
    ///
    /// - Parameter store: The store, open for reading.
    /// - Throws: An error if its files are not writable, and errors of copying.
    init(of store: OpenStore) throws {
        guard FileManager.default.isWritableFile(atPath: store.url.path) else {
            throw CommandError.make(
                "The store at \(store.url.path) cannot be written.", reason: "Its permissions do not allow it.",
                next: "Change them, or import into a copy.")
        }
        folder = try TemporaryFolders.make()
        let copy = folder.appendingPathComponent(store.url.lastPathComponent)
        (place, original, identifier) = (copy.path, store.url.path, store.store.identifier)
        if store.kind == .sqlite {
            try (store.file ?? SQLiteInspection(store.url)).copy(of: store.url, to: copy)
            return
        }
        try Self.copy(store.url, to: copy)
        // Before its first save, the identity of a file store depends on its place.
        if let metadata = store.store.metadata {
            try NSPersistentStoreCoordinator.setMetadata(
                metadata, forPersistentStoreOfType: StoreReference.type(of: store.kind), at: copy, options: nil)
        }
    }

    /// Copies a file, or a folder of files. The targets of symbolic links are copied, too, so that no write to the copy reaches them.
    private static func copy(_ source: URL, to target: URL) throws {
        let source = source.resolvingSymlinksInPath()
        guard (try source.resourceValues(forKeys: [.isDirectoryKey])).isDirectory == true else {
            return try FileManager.default.copyItem(at: source, to: target)
        }
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path) {
            try copy(source.appendingPathComponent(name), to: target.appendingPathComponent(name))
        }
    }

    /// Returns an error in which the place and the identifier of the copy are replaced by those of the store.
    ///
    /// - Parameter copy: The identifier of the copy; nil if it is not known.
    func renamed(_ error: any Error, identifier copy: String? = nil) -> any Error {
        let error = Self.renamed(error as NSError, place, original)
        guard let copy, let identifier, copy != identifier else { return error }
        return Self.renamed(error, copy, identifier)
    }

    /// Returns an error with another path in its messages.
    static func renamed(_ error: NSError, _ copy: String, _ original: String) -> NSError {
        var info = error.userInfo
        for key in [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey] {
            if let text = info[key] as? String { info[key] = text.replacing(copy, with: original) }
        }
        return NSError(domain: error.domain, code: error.code, userInfo: info)
    }
}
