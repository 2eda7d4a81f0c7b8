internal import Foundation
internal import Logging
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph

/// The version that the files of a store are of, and the versions that the program knows.
struct StoreVersion {
    let opening: StoreOpening
    /// The place of the store.
    let url: URL
    /// The metadata of the store.
    let metadata: [String: Any]
    private let hashes: StoreModelHashes?

    /// Reads the metadata of a store that is not open.
    ///
    /// - Parameter refused: The metadata of the store when it was refused, for a class that cannot read them without opening it.
    /// - Throws: The error of reading them.
    init(_ opening: StoreOpening, at url: URL, refused: [String: Any]?) throws {
        self.opening = opening
        self.url = url
        do {
            metadata = try opening.storeClass.metadataForPersistentStore(with: url)
        } catch {
            guard let refused else { throw error }
            metadata = refused
        }
        hashes = StoreModelHashes(metadata)
    }

    /// Returns whether the store is of the version of a model, which is limited to its configuration.
    func isOf(_ model: NSManagedObjectModel) -> Bool { hashes?.areThose(of: model.entities) ?? false }

    /// Returns whether the store is of a version. Reads the store's model if necessary and possible.
    func isOf(_ version: KnownVersion) -> Bool {
        guard let hashes else { return false }
        if !version.isRead {
            if let known = version.knownHashes {
                guard hashes.areThose(known) else { return false }
            } else if let names = version.namesOfFile {
                guard version.isWhole ? names == Set(hashes.written.keys) : names.isSuperset(of: hashes.written.keys) else { return false }
                if version.isWhole, !hashes.knowsCopy, let listed = version.listedHashes, listed != hashes.written { return false }
            }
        }
        return version.isReadable && isOf(version.model)
    }

    /// The version of the coordinator's model.
    var destination: KnownVersion {
        KnownVersion(opening.coordinator.managedObjectModel, in: opening.configuration, origin: .coordinator)
    }

    // MARK: The versions that the program knows

    /// Returns the versions of each model in the program's bundles, in order, limited to the configuration of the store. Those of the bundle that the
    /// coordinator's model was read from come first.
    func versionsOfProgram() -> [[KnownVersion]] {
        var groups: [[ModelVersion]] = []
        if let url = opening.coordinator.managedObjectModel.versionsURL {
            do { groups.append(try ModelVersion.ofModel(at: url)) } catch { Log.model.error("\(error.localizedDescription)") }
        }
        // The bundle is mostly one of the program's.
        let own = groups.first?.map(\.place)
        groups += ModelVersion.ofModels(in: nil).filter { $0.map(\.place) != own }
        return groups.map { group in group.map { KnownVersion($0, in: opening.configuration) } }
    }

    /// Returns the version that the store was written with: one of the program, or several of its models merged; nil if there is none.
    func source(among groups: [[KnownVersion]]) -> KnownVersion? {
        for version in groups.joined() where isOf(version) { return adopted(version) }
        let parts = groups.joined().filter { mayBePart($0) && $0.isReadable }
        guard !parts.isEmpty, let merged = NSManagedObjectModel(byMerging: parts.map(\.whole), forStoreMetadata: metadata) else {
            return nil
        }
        let names = merged.versionIdentifiers.map { "\($0.base)" }.sorted().joined(separator: ", ")
        return KnownVersion(merged, in: opening.configuration, origin: .bundle(names.isEmpty ? "merged models" : names))
    }

    /// Returns whether the whole model of a version may be a part of the store's model, without reading it.
    private func mayBePart(_ version: KnownVersion) -> Bool {
        guard let hashes, !version.isRead else { return true }
        if let known = version.hashesOfFile { return hashes.mayConcern(known) }
        return version.namesOfFile?.isSubset(of: hashes.written.keys) ?? true
    }

    /// Returns a version whose entities have the hashes of the store, which Apple's framework computes in another way.
    private func adopted(_ version: KnownVersion) -> KnownVersion {
        hashes?.adopt(in: version.model)
        return version
    }

    /// Returns the copy that the store keeps of its model; nil if it keeps none.
    ///
    /// - Throws: Code 259 for a copy that cannot be read.
    func keptModel() throws -> KnownVersion? {
        func version(_ model: NSManagedObjectModel) -> KnownVersion { KnownVersion(model, in: opening.configuration, origin: .store) }
        switch opening.storeClass {
        case let files as any ModelMigratingStore.Type: return try files.keptModel(at: url, options: opening.options).map(version)
        case let files as any ModelKeepingStore.Type:
            return try files.keptModel(at: url, options: opening.options).map(version)
        default: return nil
        }
    }

    // MARK: Differences

    /// Returns the names of the entities of a version whose hashes differ from those of the store, including entities that only the store has.
    func entitiesDiffering(from version: KnownVersion) -> [String] {
        guard let hashes else { return version.model.entities.compactMap(\.name).sorted() }
        if !version.isRead, let known = version.knownHashes { return hashes.differing(from: known) }
        return hashes.differing(from: version.model.entities)
    }

    /// Returns the version among some that differs from the store's in the fewest entities, with these.
    func nearest(among versions: [KnownVersion]) -> (version: KnownVersion, differing: [String])? {
        versions.map { ($0, entitiesDiffering(from: $0)) }.min { $0.1.count < $1.1.count }
    }

    /// Returns a sentence that names the version nearest to the store's and the entities that differ, in detail if the store's model is known.
    func nearestSentence(among versions: [KnownVersion], kept: KnownVersion?) -> String {
        guard let (version, differing) = nearest(among: versions) else { return "The program has no version of the model." }
        var sentence = "The nearest version is \(version.name); these entities differ: \(differing.joined(separator: ", "))."
        guard let kept else { return sentence }
        let details = ModelDifference.persistent(kept.model, version.model)
        if !details.isEmpty { sentence += " " + details.prefix(8).joined(separator: " ") + (details.count > 8 ? " …" : "") }
        return sentence
    }
}
