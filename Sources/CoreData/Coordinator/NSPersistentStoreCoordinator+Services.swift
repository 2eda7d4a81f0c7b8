public import Foundation
internal import Logging

extension NSPersistentStoreCoordinator {
    // MARK: Moving a store

    /// Copies a store to another place or into another type, and puts the copy in its place in the coordinator. The files of the old store stay.
    ///
    /// A SQLite store that becomes one keeps its UUID, and with it the URIs of its objects; otherwise the copy has a UUID and keys of its own.
    /// ``NSManagedObjectID``s of the old store are of no use afterwards: fetch the objects again, and migrate when nothing is unsaved.
    ///
    /// - Parameters:
    ///   - store: a SQLite or in-memory store of the coordinator.
    ///   - storeURL: the place of the copy. There must be no file.
    ///   - options: what the copy is opened with.
    ///   - storeType: ``NSSQLiteStoreType`` or ``NSInMemoryStoreType``.
    /// - Returns: the copy.
    /// - Throws: code 516 where there is a file, 134070 for a store that is not the coordinator's, 134000 for other types; the store's error.
    ///   The old store stays in the coordinator then, and there is no copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        guard persistentStores.contains(where: { $0 === store }), let source = store as? any RowTable else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store \(store.identifier ?? "?") cannot be migrated.",
                reason: persistentStores.contains { $0 === store }
                    ? "It is a \(Swift.type(of: store)), which cannot be copied." : "It does not belong to this coordinator.",
                next: "Give a SQLite or in-memory store of this coordinator.", info: [NSAffectedStoresErrorKey: [store]])
        }
        // Nothing is written to it until the copy has taken its place.
        store.stopWrites()
        defer { store.resumeWrites() }
        let isWhole = store.configurationName == NSPersistentStore.defaultConfiguration
        let configuration = isWhole ? nil : store.configurationName
        let entities = managedObjectModel.entities(forConfigurationName: configuration) ?? []
        switch storeType {
        case NSInMemoryStoreType:
            let copy = try addPersistentStore(ofType: storeType, configurationName: configuration, at: nil, options: options)
            do {
                if let copy = copy as? InMemoryStore { try StoreCopy(source: source, entities: entities).fill(copy) }
                try remove(store)
            } catch {
                try remove(copy)
                throw error
            }
            return copy
        case NSSQLiteStoreType:
            guard storeURL.isFileURL, !SQLiteFiles.isInMemory(storeURL) else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError, "The store cannot be migrated to \(storeURL).", reason: "It is no file.",
                    next: "Give a file URL, or migrate to NSInMemoryStoreType.")
            }
            try SQLiteFileCopy.refuseExisting(storeURL)
            if let store = store as? SQLiteStore {
                try store.copyFile(to: storeURL, options: options)
            } else {
                try writeFile(StoreCopy(source: source, entities: entities), at: storeURL, configuration, like: store)
            }
            return try exchange(store, forFileAt: storeURL, configuration, options)
        default:
            throw CoreDataError.make(
                NSPersistentStoreInvalidTypeError, "The store cannot be migrated to the type “\(storeType)”.",
                next: "Give NSSQLiteStoreType or NSInMemoryStoreType.")
        }
    }

    /// Copies a store to another place or into another type, in the spelling of current SDKs.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Opens a copy in the place of the store it was made of. Both may have one UUID, so the old one goes first.
    private func exchange(
        _ store: NSPersistentStore, forFileAt url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        let (type, place, old) = (store.type, store.url, store.options)
        let isFile = store is SQLiteStore
        if isFile { try remove(store) }
        do {
            let copy = try addPersistentStore(ofType: NSSQLiteStoreType, configurationName: configuration, at: url, options: options)
            if !isFile { try remove(store) }
            return copy
        } catch {
            do { try SQLiteFileCopy.destroy(url, timeout: 5, isForced: true) } catch {
                Log.store.error("The copy at \(url.path) could not be removed: \(error)")
            }
            if isFile { try addPersistentStore(ofType: type, configurationName: configuration, at: place, options: old) }
            throw error
        }
    }

    /// Writes a new SQLite store of what another holds.
    private func writeFile(_ content: StoreCopy, at url: URL, _ configuration: String?, like store: NSPersistentStore) throws {
        // Objects of plain managed objects: nothing of the program's own classes is to run.
        let plain = managedObjectModel.copy() as! NSManagedObjectModel
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        try SQLiteFileCopy.make(url) { temporary in
            let coordinator = try NSPersistentStoreCoordinator(checking: plain)
            let copy = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: configuration, at: temporary,
                options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                try content.insert(into: context)
                try context.save()
            }
            try coordinator.remove(copy)
            // The file is to say of itself what a store of the real model does.
            let connection = try SQLiteFiles.connectForWriting(temporary, timeout: 5, creates: false)
            var metadata = SQLiteMetadata.make(for: content.entities, of: managedObjectModel)
            for (key, value) in store.metadata ?? [:] where metadata[key] == nil { metadata[key] = value }
            try connection.transaction {
                try SQLiteMetadata.write(metadata, to: connection)
                try connection.execute("DELETE FROM Z_MODELCACHE")
                try SQLiteModelCache.write(managedObjectModel, to: connection)
            }
        }
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
        try requireFiles(storeType)
        try refuseOpen(destinationURL, "replaced")
        guard destinationURL.standardizedFileURL != sourceURL.standardizedFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(sourceURL.path) cannot replace itself.", next: "Give two places.")
        }
        try SQLiteStore.replaceFile(at: destinationURL, options: destinationOptions, from: sourceURL, sourceOptions: sourceOptions)
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

    /// Removes a store from the disk: the database, its log, and the values in files of their own. There need be none.
    ///
    /// - Parameter options: ``NSPersistentStoreTimeoutOption``, and ``NSPersistentStoreForceDestroyOption`` to destroy it although others have it
    ///   open.
    /// - Throws: code 134090 where others have it open, 134070 where this coordinator has; nothing is removed then.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        // What lives in memory is gone with its store.
        if storeType == NSInMemoryStoreType { return }
        try requireFiles(storeType)
        try refuseOpen(url, "destroyed")
        try SQLiteStore.destroyFile(at: url, options: options)
    }

    /// Removes a store from the disk, in the spelling of current SDKs.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    private func requireFiles(_ type: String) throws {
        guard type != NSSQLiteStoreType else { return }
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
