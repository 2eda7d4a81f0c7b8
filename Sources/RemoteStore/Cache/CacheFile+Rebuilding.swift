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
    /// nothing but what must survive; until that is complete the old file stays.
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
            let carried = try read(url, options, carrying)
            do {
                let migrating = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
                return (try add(migrating), carried)
            } catch let failure as NSError where versionErrors.contains(failure.code) {
                CachedStore.log.warning("The cache at \(url.path) cannot be migrated, and is made anew with what is pending: \(failure)")
            }
            let place = url.deletingLastPathComponent().appendingPathComponent("\(url.lastPathComponent)-new-\(UUID().uuidString)")
            defer { try? coordinator.destroyPersistentStore(at: place, ofType: storeType, options: options) }
            let new = try remake(place)
            do {
                defer { new.close() }
                try carried?.write(into: new)
            }
            try coordinator.replacePersistentStore(
                at: url, destinationOptions: options, withPersistentStoreFrom: place, sourceOptions: options, ofType: storeType)
            return (try add(), nil)
        }
    }

    /// The codes of migrations that cannot be done.
    private static let versionErrors: Set<Int> = [
        NSPersistentStoreIncompatibleVersionHashError, NSMigrationError, NSMigrationMissingSourceModelError,
        NSMigrationMissingMappingModelError, NSInferredMappingModelError,
    ]

    private static func read(_ url: URL, _ options: [AnyHashable: Any], _ carrying: Carrying) throws -> (any CarriedContent)? {
        guard let kind = NSPersistentStoreCoordinator.registeredStoreTypes[storeType] as? any ModelMigratingStore.Type,
            let model = try kind.keptModel(at: url, options: options)
        else { return nil }
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
