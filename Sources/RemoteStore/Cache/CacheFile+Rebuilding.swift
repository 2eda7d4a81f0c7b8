internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// What a file of another version of the model has that cannot be read again from the backend.
protocol CarriedContent: Sendable {
    /// Writes it into a new file, whose rows are all gone.
    func write(into file: CacheFile) throws
}

/// Opens files that an earlier version of the program has made.
extension CacheFile {
    /// Reads what must survive from a file as it is; nil where there is nothing.
    typealias Carrying = (_ store: NSPersistentStore, _ model: NSManagedObjectModel) throws -> (any CarriedContent)?

    /// Adds the file to the coordinator. One of another version of the model is migrated. Where that cannot be done it is made anew, with
    /// nothing but what must survive; until that is complete the old file stays, as it does where that cannot be read.
    ///
    /// - Returns: The store, and what the file had that must survive, where it was of another version.
    /// - Throws: The errors of opening a file; those of reading what must survive, in which case nothing has changed.
    static func open(
        _ url: URL, _ coordinator: NSPersistentStoreCoordinator, _ options: [AnyHashable: Any], _ carrying: Carrying,
        remake: (URL) throws -> CacheFile
    ) throws -> (store: NSPersistentStore, carried: (any CarriedContent)?) {
        func add(_ further: [AnyHashable: Any] = [:]) throws -> NSPersistentStore {
            try coordinator.addPersistentStore(
                ofType: storeType, configurationName: nil, at: url, options: options.merging(further) { _, new in new })
        }
        do { return (try add(), nil) } catch let error as NSError where error.code == NSPersistentStoreIncompatibleVersionHashError {
            let model = try keptModel(url, options)
            let carried = try model.flatMap { try read(url, $0, options, carrying) }
            do {
                let migrating = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
                return (try add(migrating), carried)
            } catch let failure as NSError where model != nil && versionErrors.contains(failure.code) {
                // A file without its model may have pending changes that nobody can read: it would stay as it is.
                RequestRunner.log.warning("The cache at \(url.path) cannot be migrated, and is made anew with what is pending: \(failure)")
            }
            // Files of large values are in a folder that has the name without its extension: that must differ, too.
            let name = url.deletingPathExtension().lastPathComponent + "-new"
            let place = url.deletingLastPathComponent().appendingPathComponent(name).appendingPathExtension(url.pathExtension)
            // What a run has left that was killed here.
            try remove(place, coordinator)
            let new = try remake(place)
            do {
                defer { new.close() }
                try carried?.write(into: new)
            }
            try coordinator.replacePersistentStore(
                at: url, destinationOptions: options, withPersistentStoreFrom: place, sourceOptions: options, ofType: storeType)
            try remove(place, coordinator)
            return (try add(), nil)
        }
    }

    private static func remove(_ place: URL, _ coordinator: NSPersistentStoreCoordinator) throws {
        guard FileManager.default.fileExists(atPath: place.path) else { return }
        try coordinator.destroyPersistentStore(at: place, ofType: storeType, options: [NSPersistentStoreForceDestroyOption: true])
        // An empty file is left of a destroyed store.
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: place.path + suffix) {
            try FileManager.default.removeItem(atPath: place.path + suffix)
        }
    }

    /// The codes of migrations that cannot be done.
    private static let versionErrors: Set<Int> = [
        NSPersistentStoreIncompatibleVersionHashError, NSMigrationError, NSMigrationMissingSourceModelError,
        NSMigrationMissingMappingModelError, NSInferredMappingModelError,
    ]

    /// Returns the model of the version that has written a file; nil where the file does not have it.
    private static func keptModel(_ url: URL, _ options: [AnyHashable: Any]) throws -> NSManagedObjectModel? {
        let kind = NSPersistentStoreCoordinator.registeredStoreTypes[storeType] as? any ModelMigratingStore.Type
        return try kind?.keptModel(at: url, options: options)
    }

    private static func read(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any], _ carrying: Carrying
    ) throws -> (any CarriedContent)? {
        let coordinator = try NSPersistentStoreCoordinator(checking: model)
        let store = try coordinator.addPersistentStore(
            ofType: storeType, configurationName: nil, at: url, options: options.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        defer { try? coordinator.remove(store) }
        return try carrying(store, model)
    }

    /// Returns the entity that an earlier version of the program's model has called by a name; nil where the model does not have it any more.
    func entity(renamedFrom name: String) -> CacheEntity? {
        if let entity = entity(named: name), entity.outer != nil { return entity }
        return entities.first { $0.outer?.renamingIdentifier == name }
    }
}

extension CacheEntity {
    /// The properties of the program's entity, by the names that they had in an earlier version too.
    var propertiesByOldName: [String: NSPropertyDescription] {
        let properties = outer?.frozenParts.properties ?? []
        var names: [String: NSPropertyDescription] = [:]
        for property in properties { if let old = property.renamingIdentifier { names[old] = property } }
        for property in properties { names[property.name] = property }
        return names
    }
}
