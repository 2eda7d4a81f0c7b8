internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// A step that a migration manager takes: it writes a new store, which replaces the old one once it is complete and synced.
struct ManagedStep {
    let opening: StoreOpening
    let url: URL
    let source: KnownVersion
    let destination: KnownVersion

    /// The folder beside the store where the new one is written. It is the same for each attempt, so that the manager resumes a killed migration.
    private var folder: URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-migrated", isDirectory: true)
    }
    private var written: URL { folder.appendingPathComponent(url.lastPathComponent) }

    func run(_ mapping: NSMappingModel, _ progress: Progress) throws {
        let managerClass = opening.storeClass.migrationManagerClass() as? NSMigrationManager.Type ?? NSMigrationManager.self
        let manager = managerClass.init(sourceModel: source.model, destinationModel: destination.model)
        progress.addChild(manager.progress, withPendingUnitCount: 1)
        let replacement = try StoreReplacement(of: opening, at: url)
        // A store that an earlier attempt has written may lack later saves.
        try removeWritten()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            try manager.migrateStore(
                from: url, sourceType: opening.type, options: opening.options, with: mapping, toDestinationURL: written,
                destinationType: opening.type, destinationOptions: opening.options)
            try replacement.put(written)
        } catch {
            // Files that the next attempt can use stay.
            if (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.isEmpty ?? false { removeFolder() }
            throw error
        }
        removeFolder()
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
