public import Foundation

extension NSPersistentStoreCoordinator {
    // MARK: Migrating a store

    /// Copies a store to another URL or type and replaces it by the copy. The files of the old store are kept.
    ///
    /// The objects of the coordinator's contexts become those of the copy, with their unsaved changes, which the next save of a context writes. A
    /// store in files that is copied to one of the same type keeps its UUID, and with it the IDs and the URIs of its objects. Any other copy has a
    /// new UUID and new keys: registered objects get new ``NSManagedObject/objectID``s, and their contexts report them as refreshed. An
    /// ``NSManagedObjectID`` of the old store that the program has kept then leads to no object.
    ///
    /// Call it on any queue. It waits for the queues of all contexts of the coordinator, and of their children, and holds them until their objects
    /// are those of the copy: no context sees an intermediate state. It does not wait for a context of the main queue that has no objects. A context
    /// of the deprecated confinement type must not be in use meanwhile.
    ///
    /// - Parameters:
    ///   - store: A store of the coordinator.
    ///   - storeURL: The URL of the copy, where no file may exist. It is ignored for an in-memory store.
    ///   - options: The options to open the copy with.
    ///   - storeType: The registered type of the copy: ``NSSQLiteStoreType``, ``NSInMemoryStoreType``, or the type of a custom class that
    ///     conforms to the store interface.
    /// - Returns: The copy.
    /// - Throws: Code 516 if a file exists, 134070 for a store that does not belong to the coordinator or cannot be copied, 134000 for other types;
    ///   the stores' errors. The old store then stays in the coordinator, and there is no copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        guard persistentStores.contains(where: { $0 === store }), let source = store.interface else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store \(store.identifier ?? "?") cannot be migrated.",
                reason: "It does not belong to this coordinator.", next: "Give a store of this coordinator.",
                info: [NSAffectedStoresErrorKey: [store]])
        }
        guard let storeClass = Self.registeredStoreTypes[storeType], storeClass is any StoreInterface.Type else {
            throw CoreDataError.make(
                NSPersistentStoreInvalidTypeError, "The store cannot be migrated to the type “\(storeType)”.",
                reason: Self.registeredStoreTypes[storeType].map { "\($0) takes objects of contexts, not values." }
                    ?? "There is no store class for it.",
                next: "Give NSSQLiteStoreType, NSInMemoryStoreType or the type of a store that conforms to StoreInterface.")
        }
        let isWhole = store.configurationName == NSPersistentStore.defaultConfiguration
        let migration = StoreMigration(
            coordinator: self, store: store, source: source, storeClass: storeClass, type: storeType, url: storeURL, options: options,
            configuration: isWhole ? nil : store.configurationName)
        // The contexts come first, and then the store's lock, which they may wait for on their queues.
        return try moveObjects {
            guard let writes = source as? any CopyableStore else { return try migration.run() }
            // Nothing is written to the store until the copy has replaced it.
            return try writes.blockingWrites { try migration.run() }
        }
    }

    /// Copies a store to another URL or type and replaces it by the copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    // MARK: Replacing and destroying files

    /// Replaces the store at one URL by the content of another store, or creates it there: to restore a backup, or to back up an open
    /// store.
    ///
    /// The source may be in use; the data saved at the time of the call is copied. The content of an existing destination is replaced in
    /// one transaction. External data files are copied too.
    ///
    /// - Throws: Code 134070 for a destination store that this coordinator has open, 134000 for a type without files, and the errors of
    ///   reading and writing. The destination store is then unchanged.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        let files = try requireFiles(storeType)
        try checkClosed(destinationURL)
        guard destinationURL.standardizedFileURL != sourceURL.standardizedFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(sourceURL.path) cannot replace itself.", next: "Give two places.")
        }
        try files.replaceFiles(at: destinationURL, options: destinationOptions, from: sourceURL, sourceOptions: sourceOptions)
    }

    /// Replaces the store at one URL by the content of another store, or creates it there.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            ofType: storeType.rawValue)
    }

    /// Destroys a store. Of a SQLite store, an empty database file remains, as on Apple's platforms; its log and external data files are deleted.
    /// Does nothing if there is no store.
    ///
    /// If this coordinator has the store open, it is removed first, even if it then cannot be destroyed.
    ///
    /// - Parameter options: ``NSPersistentStoreTimeoutOption``, and ``NSPersistentStoreForceDestroyOption`` to delete a store that others
    ///   have open.
    /// - Throws: Code 134090 if others have the store open; nothing is deleted then.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        // An in-memory store ends with its coordinator.
        if let storeClass = Self.registeredStoreTypes[storeType], !storeClass.isPersistent { return }
        let files = try requireFiles(storeType)
        if let store = openStore(at: url) { try remove(store) }
        try files.destroyFiles(at: url, options: options)
    }

    /// Destroys a store.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    private func requireFiles(_ type: String) throws -> any FileStore.Type {
        if let files = Self.registeredStoreTypes[type] as? any FileStore.Type { return files }
        throw CoreDataError.make(
            NSPersistentStoreInvalidTypeError, "Stores of the type “\(type)” cannot be replaced or destroyed.",
            reason: "The coordinator does not know the files of such stores.", next: "Use the means of the store.")
    }

    /// Returns the store of this coordinator whose file a URL refers to, even through symbolic links.
    private func openStore(at url: URL) -> NSPersistentStore? {
        let place = url.resolvingSymlinksInPath().standardizedFileURL
        return persistentStores.first { $0.url?.resolvingSymlinksInPath().standardizedFileURL == place }
    }

    private func checkClosed(_ url: URL) throws {
        guard let store = openStore(at: url) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url.path) cannot be replaced.", reason: "This coordinator has it open.",
            next: "Call remove(_:) first.", info: [NSAffectedStoresErrorKey: [store]])
    }
}
