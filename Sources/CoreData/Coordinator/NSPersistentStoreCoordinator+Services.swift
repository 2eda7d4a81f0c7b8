public import Foundation

extension NSPersistentStoreCoordinator {
    // MARK: Moving a store

    /// Copies a store to another place or into another type, and puts the copy in its place in the coordinator. The files of the old store stay.
    ///
    /// A SQLite store that becomes one keeps its UUID, and with it the URIs of its objects; otherwise the copy has a UUID and keys of its own.
    /// ``NSManagedObjectID``s of the old store are of no use afterwards: fetch the objects again, and migrate when nothing is unsaved.
    ///
    /// - Parameters:
    ///   - store: a store of the coordinator.
    ///   - storeURL: the place of the copy. There must be no file. A store that lives in memory has no place.
    ///   - options: what the copy is opened with.
    ///   - storeType: the type of the copy, whose class is registered: ``NSSQLiteStoreType``, ``NSInMemoryStoreType``, or that of a class of
    ///     the program's own that conforms to the store interface.
    /// - Returns: the copy.
    /// - Throws: code 516 where there is a file, 134070 for a store that is not the coordinator's or cannot be copied, 134000 for other types;
    ///   the stores' errors. The old store stays in the coordinator then, and there is no copy.
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
        // Nothing is written to it until the copy has taken its place.
        guard let writes = source as? any CopyableStore else { return try migration.run() }
        return try writes.holdingWrites { try migration.run() }
    }

    /// Copies a store to another place or into another type, in the spelling of current SDKs.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    // MARK: Replacing and destroying files

    /// Puts the content of one store into the place of another, or where there is none: to restore a backup, and to make one of a store that
    /// is open.
    ///
    /// The source may be in use; what is saved at the time of the call is copied. Where there is a store at the destination, its content is
    /// exchanged in one transaction. Values in files of their own are copied too.
    ///
    /// - Throws: code 134070 for a store that this coordinator has open at the destination, 134000 for a type that has no files, and
    ///   the errors of reading and writing. The store at the destination is as it was then.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        let files = try requireFiles(storeType)
        try refuseOpen(destinationURL, "replaced")
        guard destinationURL.standardizedFileURL != sourceURL.standardizedFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(sourceURL.path) cannot replace itself.", next: "Give two places.")
        }
        try files.replaceFiles(at: destinationURL, options: destinationOptions, from: sourceURL, sourceOptions: sourceOptions)
    }

    /// Puts the content of one store into the place of another, in the spelling of current SDKs.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            ofType: storeType.rawValue)
    }

    /// Removes a store from the disk with all of its files: of a SQLite store the database, its log, and the values in files of their own. There
    /// need be none.
    ///
    /// - Parameter options: ``NSPersistentStoreTimeoutOption``, and ``NSPersistentStoreForceDestroyOption`` to destroy it although others have it
    ///   open.
    /// - Throws: code 134090 where others have it open, 134070 where this coordinator has; nothing is removed then.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        // What lives in memory is gone with its store.
        if let storeClass = Self.registeredStoreTypes[storeType], !storeClass.isPlace(url) { return }
        let files = try requireFiles(storeType)
        try refuseOpen(url, "destroyed")
        try files.destroyFiles(at: url, options: options)
    }

    /// Removes a store from the disk, in the spelling of current SDKs.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    private func requireFiles(_ type: String) throws -> any FileStore.Type {
        if let files = Self.registeredStoreTypes[type] as? any FileStore.Type { return files }
        throw CoreDataError.make(
            NSPersistentStoreInvalidTypeError, "Stores of the type “\(type)” cannot be replaced or destroyed.",
            reason: "The coordinator does not know what lies on the disk for them.", next: "Do it by their own means.")
    }

    private func refuseOpen(_ url: URL, _ word: String) throws {
        let place = url.resolvingSymlinksInPath().standardizedFileURL
        guard let store = persistentStores.first(where: { $0.url?.resolvingSymlinksInPath().standardizedFileURL == place }) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url.path) cannot be \(word).", reason: "This coordinator has it open.",
            next: "Call remove(_:) first.", info: [NSAffectedStoresErrorKey: [store]])
    }
}
