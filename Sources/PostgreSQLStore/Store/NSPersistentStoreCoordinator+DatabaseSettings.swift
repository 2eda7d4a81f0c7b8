#if PostgreSQL
internal import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Synchronization

extension NSPersistentStoreCoordinator {
    /// The settings that each transaction of the coordinator's PostgreSQL stores makes on the server; empty if there are none. May be read on any
    /// queue.
    public var databaseSettings: [String: String] {
        persistentStores.lazy.compactMap { ($0 as? DatabaseStore)?.content?.settings.values }.first { !$0.isEmpty } ?? [:]
    }

    /// Returns a coordinator of the same databases and connections whose transactions begin with settings of their own, for policies of
    /// row-level security.
    ///
    /// ```swift
    /// context.persistentStoreCoordinator = try coordinator.coordinator(databaseSettings: ["app.tenant": "blue"])
    /// ```
    ///
    /// Each fetch and each save is a transaction that makes these settings (`SET LOCAL`). Objects, cached rows and save notifications are separate
    /// from those of other settings. Contexts with equal settings share one coordinator for as long as one of them uses it. The returned coordinator
    /// retains the coordinator whose connections it uses. This method sends nothing to the server.
    ///
    /// - Parameter settings: Values by the names of the server's settings; they replace those of
    ///   ``PostgreSQLStoreOptions/databaseSettings`` of the same name.
    /// - Returns: The coordinator; the receiver if it has these settings.
    /// - Throws: Code 134060 for settings that the store relies on, and for a coordinator with stores other than those in PostgreSQL databases. Call
    ///   it on any queue.
    public func coordinator(databaseSettings settings: [String: String]) throws -> NSPersistentStoreCoordinator {
        let stores = persistentStores.compactMap { $0 as? DatabaseStore }
        guard let first = stores.first, stores.count == persistentStores.count else {
            throw CoreDataError.make(
                NSCoreDataError, "A coordinator cannot have settings of its own on the server.",
                reason: "Not all of its stores are in PostgreSQL databases.", next: "Add the other stores to another coordinator.")
        }
        if let origin = first.origin { return try origin.coordinator(databaseSettings: settings) }
        if let known = first.derived.withLock({ $0[settings]?.coordinator }), known.persistentStores.count == stores.count { return known }
        let made = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
        for store in stores {
            let all = store.content.settings.values.merging(settings) { $1 }
            if stores.count == 1, all == store.content.settings.values { return self }
            try made.addStore(like: store, DatabaseSettings(all), of: self)
        }
        return first.derived.withLock { derived in
            // Another thread may have made one meanwhile.
            if let known = derived[settings]?.coordinator, known.persistentStores.count == stores.count { return known }
            derived = derived.filter { $0.value.coordinator != nil }
            derived[settings] = DatabaseStore.WeakCoordinator(coordinator: made)
            return made
        }
    }

    /// Adds a store over the connections of another.
    private func addStore(like store: DatabaseStore, _ settings: DatabaseSettings, of origin: NSPersistentStoreCoordinator) throws {
        guard let url = store.url else { return }
        let content = store.content!
        let opened = OpenedDatabase(
            pool: content.pool, schema: content.schema, mapping: content.mapping, metadata: store.metadata ?? [:], history: content.history,
            aftermath: content.aftermath, settings: settings, combinesSaves: content.combinesSaves, look: nil, origin: origin)
        let layout = type(of: store).layout
        let isWhole = store.configurationName == NSPersistentStore.defaultConfiguration
        try addPersistentStore(
            ofType: layout.storeType, configurationName: isWhole ? nil : store.configurationName, at: url,
            options: [
                DatabaseStore.preparationOption: DatabaseStore.Preparation(url, PostgreSQLStoreOptions(), opened: opened),
                NSReadOnlyPersistentStoreOption: NSNumber(value: store.isReadOnly),
            ])
    }
}

extension NSPersistentContainer {
    /// Returns a new context on a queue of its own, whose transactions begin with these settings, for policies of row-level security.
    ///
    /// - Parameter settings: See ``ObjectGraph/NSPersistentStoreCoordinator/coordinator(databaseSettings:)``.
    /// - Returns: A context that merges nothing automatically. It may be called on any queue.
    /// - Throws: Code 134060 for settings that the store relies on, and for a container with stores other than those in PostgreSQL databases.
    public func newBackgroundContext(databaseSettings settings: [String: String]) throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = try persistentStoreCoordinator.coordinator(databaseSettings: settings)
        return context
    }
}
#endif
