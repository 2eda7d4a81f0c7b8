internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension ArchiveStore {
    /// The metadata key of files whose hashes are this framework's, and not Apple's.
    static var ownHashesKey: String { "OpenCoreDataVersionHashes" }

    /// The entities of the store.
    final var entities: [NSEntityDescription] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
        let isWhole = configurationName == NSPersistentStore.defaultConfiguration
        return model.entities(forConfigurationName: isWhole ? nil : configurationName) ?? []
    }

    /// Returns the metadata of a new store.
    final func newMetadata() -> [String: Any] {
        let own: [String: Any] = [
            NSStoreUUIDKey: UUID().uuidString,
            NSStoreTypeKey: Self.typeName,
            "NSPersistenceFrameworkVersion": 1344,
            Self.ownHashesKey: true,
        ]
        return own.merging(persistentStoreCoordinator?.managedObjectModel.versionMetadata(of: entities) ?? [:]) { $1 }
    }

    /// Returns the metadata to write.
    ///
    /// - Throws: Code 134030 for values that a property list cannot hold.
    final func checkedMetadata() throws -> [String: Any] { try Self.checked(metadata ?? [:], file) }

    static func checked(_ metadata: [String: Any], _ file: ArchiveFile) throws -> [String: Any] {
        guard PropertyListSerialization.propertyList(metadata, isValidFor: .xml) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store at \(file.path) cannot be written.",
                reason: "A property list cannot hold them.", next: "Use texts, numbers, dates, data, arrays and dictionaries only.")
        }
        return metadata
    }

    /// Compares the versions of the model and the file. Apple's hashes cannot be computed: in a file of Apple's framework, they are compared with
    /// those of the model, and if they differ, its objects must fit the model when they are read.
    ///
    /// - Throws: Code 134100 with the entities that differ.
    final func checkVersions() throws {
        let metadata = metadata ?? [:]
        if (options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue ?? false { return }
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data], !hashes.isEmpty else { return }
        let own = Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
        var differing = Set(hashes.keys).symmetricDifference(own.keys)
        if metadata[Self.ownHashesKey] != nil {
            differing.formUnion(own.filter { name, entity in hashes[name].map { $0 != entity.versionHash } ?? false }.keys)
        }
        if !differing.isEmpty { throw otherVersion(differing.sorted(), metadata) }
    }

    /// Returns the error of a file that was written with another version of the model.
    final func otherVersion(_ names: [String], _ metadata: [String: Any], reason: String? = nil) -> NSError {
        CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError, "The model is not the one that the store at \(file.path) was written with.",
            reason: reason ?? "These entities differ: \(names.joined(separator: ", ")).",
            next: "Open it with the model it was written with, or migrate it.",
            info: [NSAffectedStoresErrorKey: [self], "metadata": metadata, "NSDifferingEntities": names])
    }

    /// Adds the data that models are compared with to the metadata of a file: the model behind Apple's hashes is unknown.
    static func comparable(_ metadata: [String: Any]) -> [String: Any] {
        var metadata = metadata
        if metadata[ownHashesKey] == nil, metadata[NSStoreModelVersionHashesKey] != nil {
            metadata[StoreModelHashes.copyKey] = [String: Data]()
        }
        return metadata
    }
}
