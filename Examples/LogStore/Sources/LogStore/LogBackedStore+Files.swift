@_spi(Stores) internal import CoreData
internal import Foundation

extension LogBackedStore: CopyableStore {
    /// Runs `body` while no thread saves to the store.
    func blockingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try writing.withLock(body) }
}

extension LogBackedStore: FileStore {
    /// Copies the current file.
    func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws {
        try writing.withLock {
            let file = try openFile()
            try file.withContents { contents in _ = try LogFile.make(url.path) { try $0(contents) } }
        }
    }

    /// Replaces one file by the content of another; neither may be open.
    static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        // Opening it read-only creates no file, and rejects a source that is not a store.
        let file = try LogFile(source.path, isReadOnly: true, isSynchronized: true)
        try file.withContents { contents in
            let (end, _) = try LogFormat.read(contents, path: file.path) { _, _ in }
            let whole = UnsafeRawBufferPointer(rebasing: contents[..<end])
            let held = try hold(destination)
            try LogFile.make(destination.path) { try $0(whole) }
            withExtendedLifetime(held) {}
        }
    }

    /// Removes the file.
    static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws {
        let option = options?[NSPersistentStoreForceDestroyOption]
        let isForced = (option as? NSNumber)?.boolValue ?? option as? Bool ?? false
        let held = isForced ? nil : try hold(url)
        for path in [url.path, LogFile.temporaryPath(url.path)] where unlink(path) != 0 && errno != ENOENT {
            throw LogStoreError.system(path, "removed")
        }
        withExtendedLifetime(held) {}
    }

    /// Goes on from the numbers that the store before has given to objects which are not saved yet. Everything else is in the file.
    func takeOver(stateOf former: any FileStore) throws {
        guard let former = former as? LogBackedStore else { return }
        let roots = persistentStoreCoordinator?.managedObjectModel.entities.filter { $0.superentity == nil } ?? []
        let numbers = former.lock.reading { roots.map { former.rows.lastNumber(of: $0) } }
        lock.writing {
            for (root, number) in zip(roots, numbers) { rows.setLastNumber(number, of: root) }
        }
    }

    /// Locks a store's file; nil where there is none.
    private static func hold(_ url: URL) throws -> LogFile? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try LogFile(url.path, isReadOnly: false, isSynchronized: true)
    }
}
