package import Foundation
internal import Platform
internal import Predicates

/// Migrates a store to the version of the coordinator's model before it is opened.
///
/// The module Migration has the shipped implementation. Without it, as in programs that import `ObjectGraph` only, a store of another version is
/// refused.
package protocol StoreMigrator: Sendable {
    /// Migrates a store whose version is not that of the coordinator's model, or whose last migration did not end.
    ///
    /// Returns when the store can be opened, which another process may have achieved.
    ///
    /// - Parameters:
    ///   - opening: The store.
    ///   - refusal: The reason why the store could not be opened as it is.
    /// - Throws: The reason of a failure. The store is then unchanged, or at the end of one of several stages.
    func migrate(_ opening: StoreOpening, refusedWith refusal: NSError) throws
}

/// A store that is about to be opened.
package struct StoreOpening {
    /// The coordinator that the store will belong to, with the model.
    package let coordinator: NSPersistentStoreCoordinator
    /// The class of the store.
    package let storeClass: NSPersistentStore.Type
    /// The type that the class is registered under.
    package let type: String
    /// The configuration of the model that the store is limited to; nil for all entities.
    package let configuration: String?
    /// The place of the store; nil for a store without one.
    package let url: URL?
    /// The options to open the store with.
    package let options: [AnyHashable: Any]?

    /// Creates the opening of a store.
    package init(
        coordinator: NSPersistentStoreCoordinator, storeClass: NSPersistentStore.Type, type: String, configuration: String?, url: URL?,
        options: [AnyHashable: Any]?
    ) {
        (self.coordinator, self.storeClass, self.type) = (coordinator, storeClass, type)
        (self.configuration, self.url, self.options) = (configuration, url, options)
    }

    /// Returns whether an option is set to true.
    package func isSet(_ option: String) -> Bool { (options?[option] as? NSNumber)?.boolValue ?? (options?[option] as? Bool) ?? false }

    /// The metadata key of the remaining steps of a staged migration, see the module Migration. A store with this key is opened only if the options
    /// have the key, too, which the migration sets.
    package static let unfinishedStageKey = "OpenCoreDataUnfinishedStage"

    /// Whether the options allow the migration of a store that cannot be opened as it is.
    var mayMigrate: Bool {
        guard let url, storeClass.isSingleStoreURL(url), storeClass.isPersistent else { return false }
        return isSet(NSMigratePersistentStoresAutomaticallyOption) || options?[NSPersistentStoreStagedMigrationManagerOptionKey] != nil
    }

    /// Compares the version hashes that a store has in its metadata with the model.
    ///
    /// - Throws: Code 134100 with the entities that differ, unless the option to ignore versions is set, and for a store whose last staged migration
    ///   did not end.
    func checkVersion(of store: NSPersistentStore) throws {
        guard let metadata = store.metadata else { return }
        if metadata[Self.unfinishedStageKey] != nil, options?[Self.unfinishedStageKey] == nil {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleVersionHashError, "The last migration of the store at \(place) did not end.",
                next: "Open the store with the staged migration manager that began it.", info: ["metadata": metadata])
        }
        guard !storeClass.checksModelVersion, !isSet(NSIgnorePersistentStoreVersioningOption), let hashes = StoreModelHashes(metadata),
            !hashes.written.isEmpty
        else { return }
        let entities = coordinator.managedObjectModel.entities(forConfigurationName: configuration) ?? []
        let differing = hashes.differing(from: entities)
        if differing.isEmpty { return }
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError, "The model is not the one that the store at \(place) was written with.",
            reason: "These entities differ: \(differing.joined(separator: ", ")).",
            next: "Open it with the model it was written with, or migrate it.",
            info: [NSAffectedStoresErrorKey: [store], "metadata": metadata, "NSDifferingEntities": differing])
    }

    /// The place of the store, for messages.
    package var place: String { url.map { $0.isFileURL ? $0.path : $0.absoluteString } ?? "no URL" }

    private static let migrator = LockedBox<(any StoreMigrator)?>(nil)

    /// Migrates the store if that is requested and possible.
    ///
    /// - Parameter refusal: The error of opening the store.
    /// - Throws: `refusal` if no migration is requested, or the error of the migration.
    func migrate(refusedWith refusal: NSError) throws {
        guard mayMigrate, let migrator = Self.migrator.withLock({ $0 }) else { throw refusal }
        try migrator.migrate(self, refusedWith: refusal)
    }

    fileprivate static func register(_ migrator: any StoreMigrator) { self.migrator.set(migrator) }
}

extension NSError {
    /// Whether a store was refused for its version.
    var isVersionRefusal: Bool { domain == NSCocoaErrorDomain && code == NSPersistentStoreIncompatibleVersionHashError }
}

extension NSPersistentStoreCoordinator {
    /// Registers the migrator of stores that are opened, from the function that was passed to ``coredata_set_registration(_:)``.
    package class func registerStoreMigrator(_ migrator: any StoreMigrator) { StoreOpening.register(migrator) }
}
