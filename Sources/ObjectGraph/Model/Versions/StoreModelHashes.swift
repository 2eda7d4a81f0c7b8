internal import Foundation

/// The version hashes in the metadata of a store, and how the entities of a model compare with them.
///
/// Apple's framework writes hashes whose algorithm is not public. A store that it wrote therefore contains hashes that differ from those that this
/// framework computes for the same model, but also a copy of the model. This framework's hashes of the copy are in the metadata that are read from
/// the file, and decide if Apple's hashes are not conclusive.
package struct StoreModelHashes {
    /// The metadata key of this framework's hashes of the copy, by entity name; empty for a file without a copy. They are derived from the
    /// file and never written to it.
    package static let copyKey = "OpenCoreDataModelHashes"

    /// The hashes that the store was written with, by entity name.
    package let written: [String: Data]
    /// This framework's hashes of the copy; nil if the metadata contain none.
    private let copy: [String: Data]?
    private let identifiers: Set<String>

    /// Reads metadata; nil if they contain no hashes.
    package init?(_ metadata: [String: Any]) {
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
        written = hashes
        copy = metadata[Self.copyKey] as? [String: Data]
        identifiers = Set(metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []).subtracting([""])
    }

    /// The hashes of an entity: the declared one, and this framework's.
    package struct Hashes: Sendable {
        package let version: Data
        package let own: Data

        package init(version: Data, own: Data) { (self.version, self.own) = (version, own) }
    }

    /// Returns whether the store was written with the version of an entity.
    package func contains(_ entity: NSEntityDescription) -> Bool {
        contains(entity.name, version: entity.versionHash, own: entity.ownVersionHash)
    }

    private func contains(_ name: String?, version: @autoclosure () -> Data, own: @autoclosure () -> Data) -> Bool {
        guard let name, let hash = written[name] else { return false }
        return version() == hash || copy?[name].map { $0 == own() } ?? false
    }

    /// Returns whether the store was written with exactly the versions of entities that have some hashes, by name.
    package func areThose(_ entities: [String: Hashes]) -> Bool { entities.count == written.count && containsAll(entities) }

    /// Returns whether the store was written with the versions of all entities that have some hashes, by name.
    package func containsAll(_ entities: [String: Hashes]) -> Bool {
        !entities.isEmpty && entities.keys.allSatisfy { written[$0] != nil }
            && entities.allSatisfy { contains($0.key, version: $0.value.version, own: $0.value.own) }
    }

    /// Returns whether the store may have been written with a model with entities of some hashes, or with a part of it, by whichever hashes are
    /// available.
    package func mayConcern(_ entities: [String: Hashes]) -> Bool {
        containsAll(entities) || (copy?.isEmpty == true && Set(entities.keys) == Set(written.keys))
    }

    /// Whether there are hashes of the copy, in which case the hashes of Apple's framework alone do not decide.
    package var knowsCopy: Bool { copy?.isEmpty == false }

    /// Returns the names of the entities whose versions differ from some hashes by name, including entities that only one side has.
    package func differing(from entities: [String: Hashes]) -> [String] {
        let changed = entities.filter { !contains($0.key, version: $0.value.version, own: $0.value.own) }.keys
        return Set(entities.keys).symmetricDifference(written.keys).union(changed).sorted()
    }

    /// Returns whether the store was written with the versions of all entities of a model, and perhaps of others.
    package func containsAll(of model: NSManagedObjectModel) -> Bool {
        !model.entities.isEmpty && hasNames(ofAll: model.entities) && model.entities.allSatisfy(contains)
    }

    /// Returns whether the store was written with exactly the versions of some entities.
    package func areThose(of entities: [NSEntityDescription]) -> Bool {
        Set(entities.compactMap(\.name)) == Set(written.keys) && entities.allSatisfy(contains)
    }

    /// Returns the names of the entities whose versions differ, in order: of those that only the model or only the store has, and of those with
    /// different hashes.
    package func differing(from entities: [NSEntityDescription]) -> [String] {
        let changed = entities.filter { !contains($0) }.compactMap(\.name)
        return Set(entities.compactMap(\.name)).symmetricDifference(written.keys).union(changed).sorted()
    }

    /// Returns the same with this framework's hashes of the copy.
    package func knowing(copy: [String: Data]) -> StoreModelHashes {
        StoreModelHashes(written: written, copy: copy, identifiers: identifiers)
    }

    private init(written: [String: Data], copy: [String: Data]?, identifiers: Set<String>) {
        (self.written, self.copy, self.identifiers) = (written, copy, identifiers)
    }

    /// Returns the only one of some models that the store may have been written with, judged only by the names of its entities and then by its
    /// version identifiers: Apple's framework wrote no copy of the model before 2012. It is nil if there is none, or more than one.
    package func onlyModel(byNamesOf models: [NSManagedObjectModel]) -> NSManagedObjectModel? {
        guard copy?.isEmpty == true else { return nil }
        let named = models.filter { Set($0.entities.compactMap(\.name)) == Set(written.keys) }
        if named.count == 1 { return named[0] }
        let identified = named.filter {
            !identifiers.isEmpty && Set($0.versionIdentifiers.compactMap { $0.base as? String }) == identifiers
        }
        return identified.count == 1 ? identified[0] : nil
    }

    /// Gives the hashes of the store to the entities of a model that the store was written with.
    package func adopt(in model: NSManagedObjectModel) {
        for entity in model.entities {
            if let hash = written[entity.name ?? ""], entity.versionHash != hash { entity.adopt(versionHash: hash) }
        }
    }

    private func hasNames(ofAll entities: [NSEntityDescription]) -> Bool {
        entities.allSatisfy { $0.name.map { written[$0] != nil } ?? false }
    }
}
