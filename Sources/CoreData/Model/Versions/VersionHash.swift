public import Foundation
internal import Synchronization

/// The key of the hashes of the entities a store was written with, by name, in its metadata.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The key of the identifiers of the model a store was written with, in its metadata.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

extension NSPropertyDescription {
    /// A hash of what a store must know of the property: 32 bytes.
    ///
    /// It is ours; how Apple's is computed is not public. It is the same in every run and on every machine.
    public var versionHash: Data { ModelFacts(of: self).persistentHash }
}

extension NSEntityDescription {
    /// A hash of what a store must know of the entity: 32 bytes.
    ///
    /// Apple's, where the model was read with its hashes (from a `.momd`) and the entity has not been changed since; else ours, since how
    /// Apple's is computed is not public. Ours is the same in every run and on every machine.
    public var versionHash: Data {
        let own = ownVersionHash
        if let known = knownVersionHash, known.of == own { return known.hash }
        return own
    }

    /// Our hash, which what is inherited goes into. Of an entity that cannot be changed any more it is computed once: each opening of a store asks.
    var ownVersionHash: Data {
        guard let frozen else { return computedVersionHash }
        if let known = frozen.ownVersionHash.withLock({ $0 }) { return known }
        let hash = computedVersionHash
        frozen.ownVersionHash.withLock { $0 = hash }
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

    /// Takes a hash over from the metadata of a store that the entity's model was read from.
    ///
    /// - Parameter hash: Apple's hash of the entity as it is now.
    func adopt(versionHash hash: Data) { knownVersionHash = (hash, ownVersionHash) }
}

extension NSManagedObjectModel {
    /// The hashes of the entities by their names, see ``NSEntityDescription/versionHash``.
    public var entityVersionHashesByName: [String: Data] {
        Dictionary(entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }, uniquingKeysWith: { first, _ in first })
    }

    /// A short text that stands for the whole version of the model: base64 of the SHA-256 over the entities' hashes in the order of their names.
    public var versionChecksum: String { NSManagedObjectModel.versionChecksum(of: entityVersionHashesByName) }

    /// The digest that stands in the metadata of stores: base64 of the SHA-512 over the entities' names and hashes in the order of their names.
    public var versionHashesDigest: String { NSManagedObjectModel.versionHashesDigest(of: entityVersionHashesByName) }

    static func versionChecksum(of hashes: [String: Data]) -> String {
        SHA2.sha256(inOrder(hashes).reduce(into: Data()) { $0 += $1.hash }).base64EncodedString()
    }

    static func versionHashesDigest(of hashes: [String: Data]) -> String {
        SHA2.sha512(inOrder(hashes).reduce(into: Data()) { $0 += Data($1.name.utf8) + $1.hash }).base64EncodedString()
    }

    private static func inOrder(_ hashes: [String: Data]) -> [(name: String, hash: Data)] {
        // By code units, as Apple compares keys; Swift compares by grapheme clusters.
        hashes.map { ($0.key, $0.value) }.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
    }

    /// Whether a store with `metadata` was written with this model, or a configuration of it.
    ///
    /// - Parameters:
    ///   - configuration: the name of the configuration; nil for all entities.
    ///   - metadata: the metadata of the store, with its hashes under ``NSStoreModelVersionHashesKey``.
    /// - Returns: true when the store has the hashes of exactly these entities.
    public func isConfiguration(withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
            let entities = entities(forConfigurationName: configuration)
        else { return false }
        let own = entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }
        return Dictionary(own, uniquingKeysWith: { first, _ in first }) == hashes
    }
}
