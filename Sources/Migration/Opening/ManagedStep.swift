internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// A step that a migration manager takes: it writes a new store, which takes the place of the old one once it is complete and synced.
struct ManagedStep {
    let opening: StoreOpening
    let url: URL
    let source: KnownVersion
    let destination: KnownVersion

    /// The folder beside the store where the new one is written. It is the same for each attempt, so that the manager resumes what was killed.
    private var folder: URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-migrated", isDirectory: true)
    }
    private var written: URL { folder.appendingPathComponent(url.lastPathComponent) }

    func run(_ mapping: NSMappingModel, _ progress: Progress) throws {
        let managerClass = opening.storeClass.migrationManagerClass() as? NSMigrationManager.Type ?? NSMigrationManager.self
        let manager = managerClass.init(sourceModel: source.model, destinationModel: destination.model)
        progress.addChild(manager.progress, withPendingUnitCount: 1)
        // A store that an earlier attempt has written may lack what was saved since.
        try removeWritten()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try manager.migrateStore(
            from: url, sourceType: opening.type, options: opening.options, with: mapping, toDestinationURL: written,
            destinationType: opening.type, destinationOptions: opening.options)
        try putInPlace()
        removeFolder()
    }

    /// Replaces the old store by the new one in one step.
    private func putInPlace() throws {
        if let files = opening.storeClass as? any FileStore.Type {
            return try files.replaceFiles(at: url, options: opening.options, from: written, sourceOptions: opening.options)
        }
        try synchronize(written)
        guard rename(written.path, url.path) == 0 else {
            throw CoreDataError.make(
                NSMigrationManagerDestinationStoreError, "The migrated store cannot be moved to \(url.path).",
                reason: String(cString: strerror(errno)), next: "The old store is as it was.", info: [NSFilePathErrorKey: url.path])
        }
        try synchronize(url.deletingLastPathComponent())
    }

    /// Syncs a file or a folder.
    private func synchronize(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw CoreDataError.make(
                NSMigrationManagerDestinationStoreError, "\(url.path) cannot be synced.", reason: String(cString: strerror(errno)),
                info: [NSFilePathErrorKey: url.path])
        }
    }

    private func removeWritten() throws {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where !name.hasSuffix("-migration") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    private func removeFolder() {
        do { try FileManager.default.removeItem(at: folder) } catch {
            Log.store.notice("The folder \(folder.path) stays: \(error.localizedDescription)")
        }
    }
}
