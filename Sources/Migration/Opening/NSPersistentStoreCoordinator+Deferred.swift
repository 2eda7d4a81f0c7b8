internal import Foundation
@_spi(Stores) public import ObjectGraph

extension NSPersistentStoreCoordinator {
    /// Finishes what the migrations of the coordinator's stores have put off, see ``NSPersistentStoreDeferredLightweightMigrationOptionKey``.
    ///
    /// The stores may be used meanwhile, on any thread. Does nothing where nothing was put off.
    ///
    /// - Throws: The errors of writing. What was done stays done, and another call goes on.
    public func finishDeferredLightweightMigration() throws {
        for store in persistentStores { while try continueDeferredMigration(of: store) {} }
    }

    /// Does a part of what the migrations of the coordinator's stores have put off; see ``finishDeferredLightweightMigration()``.
    ///
    /// Call it until ``hasDeferredLightweightMigration()`` is false, when the program has nothing better to do.
    ///
    /// - Throws: The errors of writing.
    public func finishDeferredLightweightMigrationTask() throws {
        for store in persistentStores where try hasDeferredMigration(store) {
            _ = try continueDeferredMigration(of: store)
            return
        }
    }

    /// Whether a migration of one of the coordinator's stores has put something off. Not in Apple's API.
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
