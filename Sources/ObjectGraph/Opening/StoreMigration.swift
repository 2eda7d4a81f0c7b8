internal import Foundation
internal import Logging

/// Copies a store to another URL or type and replaces it by the copy.
///
/// Stores that can copy their files do so; others are read and written row by row.
struct StoreMigration {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    /// The interface of the store.
    let source: any StoreInterface
    /// The class of the copy, and its registered type.
    let storeClass: NSPersistentStore.Type
    let type: String
    let url: URL
    let options: [AnyHashable: Any]?
    let configuration: String?

    /// - Returns: The content in the copy.
    func run() throws -> MovedContent {
        guard let files = storeClass as? any FileStore.Type else { return try exchangeForFilled() }
        guard url.isFileURL, storeClass.isSingleStoreURL(url) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store cannot be migrated to \(url).", reason: "It is not a file.",
                next: "Give a file URL, or migrate to NSInMemoryStoreType.")
        }
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw CoreDataError.make(
                CocoaError.Code.fileWriteFileExists.rawValue, "There is a file at \(url.path) already.",
                next: "Choose another place, destroy the store there, or replace it with replacePersistentStore(at:…).",
                info: [NSFilePathErrorKey: url.path])
        }
        if Swift.type(of: store) == storeClass, let own = source as? any FileStore {
            try own.copyFiles(to: url, options: options)
            return MovedContent(source: store, destination: try exchangeForFiles(files, areSameFiles: true), identity: .same)
        }
        let ids = try writeFiles(files)
        let copy = try exchangeForFiles(files, areSameFiles: false)
        // The copy was filled as a store of another coordinator, under the same keys.
        return MovedContent(
            source: store, destination: copy,
            identity: .new(ids.mapValues { NSManagedObjectID(entity: $0.owningEntity, token: copy.token, reference: $0.reference) }))
    }

    private func open(in coordinator: NSPersistentStoreCoordinator, at url: URL?, _ options: [AnyHashable: Any]?) throws
        -> NSPersistentStore
    {
        try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url, options: options)
    }

    private func fill(_ copy: NSPersistentStore) throws -> [NSManagedObjectID: NSManagedObjectID] {
        // Metadata that the program has set; the stores' own metadata is not copied.
        for (key, value) in store.metadata ?? [:] where copy.metadata?[key] == nil && !key.hasPrefix("NS") && !key.hasPrefix("_") {
            copy.metadata?[key] = value
        }
        let entities = coordinator.managedObjectModel.entities(forConfigurationName: configuration) ?? []
        return try StoreCopy(source: source, entities: entities).fill(copy)
    }

    /// Fills a copy without files, and removes the old store afterwards.
    private func exchangeForFilled() throws -> MovedContent {
        let copy = try open(in: coordinator, at: storeClass.isPersistent ? url : nil, options)
        do {
            let ids = try fill(copy)
            try coordinator.remove(store)
            return MovedContent(source: store, destination: copy, identity: .new(ids))
        } catch {
            try coordinator.remove(copy)
            throw error
        }
    }

    /// Writes the files of the copy under temporary names and moves them into place when they are complete.
    ///
    /// - Returns: The IDs in the copy by those of the store.
    private func writeFiles(_ files: any FileStore.Type) throws -> [NSManagedObjectID: NSManagedObjectID] {
        // A store that is a folder remains a folder.
        let temporary = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)", isDirectory: url.hasDirectoryPath)
        defer { removeFiles(files, at: temporary) }
        let alone = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        var writable = options
        writable?[NSReadOnlyPersistentStoreOption] = nil
        let copy = try open(in: alone, at: temporary, writable)
        let ids: [NSManagedObjectID: NSManagedObjectID]
        do {
            ids = try fill(copy)
            try alone.remove(copy)
        } catch {
            try alone.remove(copy)
            throw error
        }
        try files.replaceFiles(at: url, options: writable, from: temporary, sourceOptions: writable)
        return ids
    }

    private func removeFiles(_ files: any FileStore.Type, at url: URL) {
        do {
            try files.destroyFiles(at: url, options: [NSPersistentStoreForceDestroyOption: true])
            // A destroyed store may leave an empty file.
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
        } catch {
            Log.store.error("The copy at \(url.path) could not be removed: \(error)")
        }
    }

    /// Opens the copy in the place of the old store. If it cannot be opened, the old store stays.
    ///
    /// - Parameter areSameFiles: Whether both stores have the same UUID and the same keys, so that the IDs of the old one lead to the copy.
    private func exchangeForFiles(_ files: any FileStore.Type, areSameFiles: Bool) throws -> NSPersistentStore {
        do {
            let copy = try coordinator.addStore(
                ofType: type, configurationName: configuration, at: url, options: options, inPlaceOf: areSameFiles ? store : nil)
            if !areSameFiles { try coordinator.remove(store) }
            return copy
        } catch {
            removeFiles(files, at: url)
            throw error
        }
    }
}
