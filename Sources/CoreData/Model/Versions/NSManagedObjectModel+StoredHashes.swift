internal import Foundation

extension NSManagedObjectModel {
    /// Takes over the hashes of a store's entities where the model that the store keeps describes the same entity.
    ///
    /// How Apple computes a hash is not public, so a model read from its XML cannot have it. The store's own model tells what the hash stands for.
    ///
    /// - Parameters:
    ///   - hashes: the hashes in the metadata of the store, by entity name.
    ///   - stored: the model that the store keeps.
    func adoptHashes(_ hashes: [String: Data], of stored: NSManagedObjectModel) {
        let storedEntities = stored.entitiesByName
        for entity in entities {
            guard let name = entity.name, let hash = hashes[name], let other = storedEntities[name],
                entity.ownVersionHash == other.ownVersionHash
            else { continue }
            entity.adopt(versionHash: hash)
        }
    }
}
