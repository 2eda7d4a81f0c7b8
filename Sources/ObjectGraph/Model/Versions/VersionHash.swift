public import Foundation
internal import Platform

/// The metadata key of the version hashes, by entity name, of the model that a store was written with.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The metadata key of the version identifiers of the model that a store was written with.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

extension NSPropertyDescription {
    /// The version hash of the property: 32 bytes over the settings that affect stores.
    ///
    /// The algorithm is this framework's, because Apple's is not public. The hash is the same in every run and on every machine.
    public var versionHash: Data { ModelFacts(of: self).persistentHash }
}

extension NSEntityDescription {
    /// The version hash of the entity: 32 bytes over the settings that affect stores.
    ///
    /// It is Apple's hash if the model was read with hashes (from a `.momd`) and the entity is unchanged since; otherwise this framework's, because
    /// Apple's algorithm is not public. This framework's hash is the same in every run and on every machine.
    public var versionHash: Data {
        guard let frozen else { return validAdoptedHash ?? ownVersionHash }
        if let known = frozen.hashes.withLock({ $0.version }) { return known }
        let hash = validAdoptedHash ?? ownVersionHash
        frozen.hashes.withLock { $0.version = hash }
        return hash
    }

    /// This framework's hash, which includes inherited properties. It is kept until the entity is edited, because each opening of a store needs it.
    package var ownVersionHash: Data {
        guard let frozen else { return keptVersionHash }
        if let known = frozen.hashes.withLock({ $0.own }) { return known }
        let hash = keptVersionHash
        frozen.hashes.withLock { $0.own = hash }
        return hash
    }

    private var keptVersionHash: Data {
        let state = HashState(of: self)
        if let made = madeHash.withLock({ $0 }), made.state == state { return made.hash }
        let hash = computedVersionHash
        madeHash.withLock { $0 = (state, hash) }
        return hash
    }

    private var computedVersionHash: Data {
        var hashes = ModelFacts(of: self).persistentHash
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var ancestor = superentity
        while let entity = ancestor, seen.insert(ObjectIdentifier(entity)).inserted {
            hashes += ModelFacts(of: entity).persistentHash
            ancestor = entity.superentity
        }
        return hashes.count == 32 ? hashes : SHA2.sha256(hashes)
    }
}

extension NSManagedObjectModel {
    /// The version hashes of the entities by name, see ``NSEntityDescription/versionHash``.
    public var entityVersionHashesByName: [String: Data] {
        Dictionary(entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }, uniquingKeysWith: { first, _ in first })
    }

    /// A short string that identifies the version of the model: base64 of the SHA-256 over the entities' hashes in the order of their
    /// names.
    public var versionChecksum: String { NSManagedObjectModel.versionChecksum(of: entityVersionHashesByName) }

    /// The digest in the metadata of stores: base64 of the SHA-512 over the entities' names and hashes in the order of their names.
    public var versionHashesDigest: String { NSManagedObjectModel.versionHashesDigest(of: entityVersionHashesByName) }

    package static func versionChecksum(of hashes: [String: Data]) -> String {
        SHA2.sha256(inOrder(hashes).reduce(into: Data()) { $0 += $1.hash }).base64EncodedString()
    }

    package static func versionHashesDigest(of hashes: [String: Data]) -> String {
        SHA2.sha512(inOrder(hashes).reduce(into: Data()) { $0 += Data($1.name.utf8) + $1.hash }).base64EncodedString()
    }

    private static func inOrder(_ hashes: [String: Data]) -> [(name: String, hash: Data)] {
        // By UTF-16 code units, as Apple's framework compares keys; Swift compares by grapheme clusters.
        hashes.map { ($0.key, $0.value) }.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
    }

    /// Returns whether a store was written with this model, or with a configuration of it.
    ///
    /// - Parameters:
    ///   - configuration: The name of the configuration; nil for all entities.
    ///   - metadata: The metadata of the store, with its hashes under ``NSStoreModelVersionHashesKey``.
    /// - Returns: Whether the store was written with exactly these entities: either it has their hashes, or it has hashes of Apple's framework, and
    ///   the copy of the model in the file, which metadata read from the file describe, has entities with these hashes.
    public func isConfiguration(withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let hashes = StoreModelHashes(metadata), let entities = entities(forConfigurationName: configuration) else { return false }
        return hashes.areThose(of: entities)
    }
}

extension NSManagedObjectModel {
    /// Returns the metadata that identify the version of the model for a new store with some entities.
    package final func versionMetadata(of entities: [NSEntityDescription]) -> [String: Any] {
        let hashes = Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }, uniquingKeysWith: { first, _ in first })
        return [
            NSStoreModelVersionHashesKey: hashes,
            "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionHashesDigest": Self.versionHashesDigest(of: hashes),
            "NSStoreModelVersionChecksumKey": Self.versionChecksum(of: hashes),
            NSStoreModelVersionIdentifiersKey: versionIdentifiers.compactMap { $0.base as? String }.sorted(),
        ]
    }
}
