internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// The content of a file of another model version that cannot be read again from the backend.
protocol CarriedContent: Sendable {
    /// Writes it into a new file without rows.
    func write(into file: CacheFile) throws
}

/// Opens files that an earlier version of the program has created.
extension CacheFile {
    /// Reads the content that must survive from an unchanged file; nil if there is none.
    typealias Carrying = (_ store: NSPersistentStore, _ model: NSManagedObjectModel) throws -> (any CarriedContent)?

    /// Adds the file to the coordinator. A file of another model version is migrated. If that is impossible, it is created anew with only the content that must
    /// survive. The old file stays until the new one is complete, or if that content cannot be read.
    ///
    /// - Returns: The store and, if the file was of another version, the content that must survive.
    /// - Throws: The errors of opening a file; those of reading the content that must survive, in which case nothing has changed.
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
                // A file without its model may have pending changes that cannot be read: it would stay unchanged.
                RequestRunner.log.warning("The cache at \(url.path) cannot be migrated, and is made anew with what is pending: \(failure)")
            }
            // Files of large values are in a folder with the name without its extension, so that the name must differ, too.
            let name = url.deletingPathExtension().lastPathComponent + "-new"
            let place = url.deletingLastPathComponent().appendingPathComponent(name).appendingPathExtension(url.pathExtension)
            // A previous run that was killed here may have left the file.
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
        // Destroying a store leaves an empty file.
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: place.path + suffix) {
            try FileManager.default.removeItem(atPath: place.path + suffix)
        }
    }

    /// The codes of migrations that are impossible.
    private static let versionErrors: Set<Int> = [
        NSPersistentStoreIncompatibleVersionHashError, NSMigrationError, NSMigrationMissingSourceModelError,
        NSMigrationMissingMappingModelError, NSInferredMappingModelError,
    ]

    /// Returns the model of the version that has written a file; nil if the file does not contain it.
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

    /// Returns the entity that an earlier version of the program's model has called by a name; nil if the model no longer has it.
    func entity(renamedFrom name: String) -> CacheEntity? {
        if let entity = entity(named: name), entity.outer != nil { return entity }
        return entities.first { $0.outer?.renamingIdentifier == name }
    }
}

extension CacheEntity {
    /// The properties of the program's entity, by their current names and by those of an earlier version.
    var propertiesByOldName: [String: NSPropertyDescription] {
        let properties = outer?.frozenParts.properties ?? []
        var names: [String: NSPropertyDescription] = [:]
        for property in properties { if let old = property.renamingIdentifier { names[old] = property } }
        for property in properties { names[property.name] = property }
        return names
    }
}
