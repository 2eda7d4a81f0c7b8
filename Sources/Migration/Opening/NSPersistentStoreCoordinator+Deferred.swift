internal import Foundation
@_spi(Stores) public import ObjectGraph

extension NSPersistentStoreCoordinator {
    /// Finishes the deferred steps of the stores' migrations, see ``NSPersistentStoreDeferredLightweightMigrationOptionKey``.
    ///
    /// The stores may be used meanwhile, on any thread. Does nothing if no steps were deferred.
    ///
    /// - Throws: The errors of writing. Finished steps stay finished, and another call continues.
    public func finishDeferredLightweightMigration() throws {
        for store in persistentStores { while try continueDeferredMigration(of: store) {} }
    }

    /// Performs a part of the deferred steps of the stores' migrations; see ``finishDeferredLightweightMigration()``.
    ///
    /// Call it until ``hasDeferredLightweightMigration()`` is false, when the program is idle.
    ///
    /// - Throws: The errors of writing.
    public func finishDeferredLightweightMigrationTask() throws {
        for store in persistentStores where try hasDeferredMigration(store) {
            _ = try continueDeferredMigration(of: store)
            return
        }
    }

    /// Returns whether a migration of one of the coordinator's stores has deferred steps. Not in Apple's API.
    ///
    /// - Throws: The errors of reading.
    public func hasDeferredLightweightMigration() throws -> Bool { try persistentStores.contains(where: hasDeferredMigration) }

    private func files(of store: NSPersistentStore) -> (any ModelMigratingStore.Type, URL)? {
        guard !store.isReadOnly, let files = Swift.type(of: store) as? any ModelMigratingStore.Type, let url = store.url,
            Swift.type(of: store).isSingleStoreURL(url)
        else { return nil }
        return (files, url)
    }

    private func hasDeferredMigration(_ store: NSPersistentStore) throws -> Bool {
        guard let (files, url) = files(of: store) else { return false }
        return try files.hasDeferredMigration(at: url, options: store.options)
    }

    private func continueDeferredMigration(of store: NSPersistentStore) throws -> Bool {
        guard let (files, url) = files(of: store), try files.hasDeferredMigration(at: url, options: store.options) else { return false }
        return try files.continueDeferredMigration(at: url, options: store.options, model: managedObjectModel)
    }
}
