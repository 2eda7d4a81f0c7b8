internal import Foundation
internal import Logging
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph

/// A known version of the model, and where it was found.
///
/// A version in a file is only read when its model is needed: its identity, and the names of its entities and properties, are known without it.
final class KnownVersion {
    /// The place where a version was found.
    enum Origin {
        /// The model of the coordinator.
        case coordinator
        /// A version in a bundle or in the program, called so.
        case bundle(String)
        /// A model that a stage of the migration names.
        case stage
        /// The copy that the store keeps of its model.
        case store
    }

    let origin: Origin
    private let configuration: String?
    private let file: ModelVersion?
    /// A further checksum that the version has.
    private let listedChecksum: String?
    private var read: NSManagedObjectModel?
    private var limited: NSManagedObjectModel?
    private var failure: (any Error)?

    /// Creates a version whose model is loaded.
    ///
    /// - Parameters:
    ///   - whole: The whole model.
    ///   - configuration: The configuration of the store; nil for all entities.
    ///   - origin: The place where the version was found.
    ///   - checksum: A further checksum that the version has.
    init(_ whole: NSManagedObjectModel, in configuration: String?, origin: Origin, checksum: String? = nil) {
        (read, self.configuration, self.origin, listedChecksum, file) = (whole, configuration, origin, checksum, nil)
    }

    /// Creates a version in a file.
    init(_ file: ModelVersion, in configuration: String?) {
        (self.file, self.configuration, origin, listedChecksum) = (file, configuration, .bundle(file.name), file.checksum)
    }

    private init(_ version: KnownVersion, as named: KnownVersion) {
        (read, configuration, origin, file) = (version.whole, version.configuration, named.origin, nil)
        listedChecksum = named.listedChecksum ?? version.listedChecksum
    }

    // MARK: The model

    /// The whole model, even if the store is limited to a configuration; a model without entities if its file cannot be read.
    var whole: NSManagedObjectModel {
        if let read { return read }
        var model = NSManagedObjectModel()
        do { model = try file?.model() ?? model } catch {
            Log.model.error("\(error.localizedDescription)")
            failure = error
        }
        read = model
        return model
    }

    /// The model, limited to the configuration of the store.
    var model: NSManagedObjectModel {
        if let limited { return limited }
        let model = whole.limited(to: configuration)
        limited = model
        return model
    }

    /// Whether the model has all entities, whatever configuration the store is limited to.
    var isWhole: Bool { configuration == nil }

    /// Whether the model was needed so far, or was there.
    var isRead: Bool { read != nil }

    /// Whether there is a model, which is read for that.
    var isReadable: Bool {
        _ = whole
        return failure == nil
    }

    // MARK: Facts that do not need the model

    /// The profiles of the entities of the whole model, from its file; nil if only the model has them.
    private lazy var profilesOfFile: [String: EntityProfile]? = file?.profiles()

    /// The profiles of the entities.
    private(set) lazy var profiles: [String: EntityProfile] =
        knownProfiles
        ?? Dictionary(
            model.entities.map { ($0.name ?? "", EntityProfile(of: $0)) }, uniquingKeysWith: { first, _ in first })

    /// The same, if the model is not needed: a configuration changes relationships that lead out of it.
    private var knownProfiles: [String: EntityProfile]? { isWhole ? profilesOfFile : nil }

    /// The hashes of the whole model's entities, if it need not be read.
    var hashesOfFile: [String: StoreModelHashes.Hashes]? { file.flatMap { file in profilesOfFile.map(file.hashes(of:)) } }

    /// The hashes of the entities, if the model need not be read.
    var knownHashes: [String: StoreModelHashes.Hashes]? { isWhole ? hashesOfFile : nil }

    /// The names and hashes of the whole model's entities by Apple's tools, if these list them beside the file.
    var listedHashes: [String: Data]? { file?.listedHashes }

    /// The names of the whole model's entities, if it need not be read.
    var namesOfFile: Set<String>? { (profilesOfFile.map { Set($0.keys) }) ?? listedHashes.map { Set($0.keys) } }

    /// Identifies the version in whatever form it was read: made of this framework's hashes.
    private(set) lazy var checksum: String =
        knownProfiles.map { NSManagedObjectModel.versionChecksum(of: $0.mapValues(\.ownHash)) } ?? model.ownVersionChecksum

    /// A checksum by which a program with this version knows it, obtained without reading the model if possible.
    var cheapestChecksum: String {
        if isWhole, !isRead, profilesOfFile == nil, let listedHashes {
            return NSManagedObjectModel.versionChecksum(of: listedHashes)
        }
        return checksum
    }

    /// The checksums that programs may know the whole model by: of the hashes that the model has, of this framework's, and that in
    /// `VersionInfo.plist`.
    private(set) lazy var checksums: Set<String> = {
        var checksums = Set(listedChecksum.map { [$0] } ?? [])
        if let hashes = hashesOfFile {
            checksums.insert(NSManagedObjectModel.versionChecksum(of: hashes.mapValues(\.version)))
            checksums.insert(NSManagedObjectModel.versionChecksum(of: hashes.mapValues(\.own)))
        } else {
            checksums.insert(whole.versionChecksum)
            checksums.insert(whole.ownVersionChecksum)
        }
        return checksums
    }()

    /// The version's checksum as programs know it.
    var publicChecksum: String { whole.versionChecksum }

    /// Returns whether this is known to be the version of another without reading the model. False means unknown.
    fileprivate func isKnownToBe(_ other: KnownVersion) -> Bool {
        if self === other { return true }
        guard isWhole else { return false }
        if isRead || profilesOfFile != nil { return checksum == other.checksum }
        return listedHashes == other.whole.entityVersionHashesByName
    }

    /// Returns whether this is known not to be the version of another without reading the model. False means unknown.
    fileprivate func isKnownNotToBe(_ other: KnownVersion) -> Bool {
        guard !isRead, let names = namesOfFile else { return false }
        let others = Set(other.model.entities.compactMap(\.name))
        return isWhole ? names != others : !names.isSuperset(of: others)
    }

    /// Returns the same version, with the name that it has in a bundle.
    func named(among groups: [[KnownVersion]]) -> KnownVersion {
        guard case .coordinator = origin, let same = Array(groups.joined()).first(for: self) else { return self }
        return KnownVersion(self, as: same)
    }

    /// The version for messages: its name in the bundle, its identifiers, or its checksum.
    var name: String {
        if case .bundle(let name) = origin { return "“\(name)”" }
        let identifiers = model.versionIdentifiers.map { "\($0.base)" }.filter { !$0.isEmpty }.sorted()
        if !identifiers.isEmpty { return "“\(identifiers.joined(separator: ", "))”" }
        return "with the checksum \(publicChecksum)"
    }
}

extension [KnownVersion] {
    /// Returns the index of a version, whatever it was read from; nil if it is not among these. Models are read only if nothing else decides.
    func firstIndex(for version: KnownVersion) -> Int? {
        firstIndex { $0.isKnownToBe(version) } ?? firstIndex { !$0.isKnownNotToBe(version) && $0.checksum == version.checksum }
    }

    /// Returns the version that is the same as another, whatever it was read from; nil if there is none.
    func first(for version: KnownVersion) -> KnownVersion? { firstIndex(for: version).map { self[$0] } }
}

extension NSManagedObjectModel {
    /// The checksum over this framework's hashes, even if the model has Apple's.
    var ownVersionChecksum: String {
        NSManagedObjectModel.versionChecksum(
            of: Dictionary(
                entities.compactMap { entity in entity.name.map { ($0, entity.ownVersionHash) } }, uniquingKeysWith: { first, _ in first }))
    }

    /// Returns a copy with the entities of a configuration only; the model itself for all of them, and if it does not have the configuration.
    func limited(to configuration: String?) -> NSManagedObjectModel {
        guard let configuration, let members = entities(forConfigurationName: configuration) else { return self }
        let names = Set(members.compactMap(\.name))
        if names.count == entities.count { return self }
        let copy = self.copy() as! NSManagedObjectModel
        let dropped = copy.entities.filter { !names.contains($0.name ?? "") }
        copy.entities = copy.entities.filter { names.contains($0.name ?? "") }
        for case let relationship as NSRelationshipDescription in dropped.flatMap(\.declaredProperties) {
            relationship.inverseRelationship = nil
        }
        return copy
    }

    /// Returns the names of the entities that another model does not have, or has in another version, and the reverse.
    func entitiesDiffering(from other: NSManagedObjectModel) -> [String] {
        let others = other.entitiesByName
        let own = entitiesByName
        let changed = own.filter { name, entity in others[name].map { $0.ownVersionHash != entity.ownVersionHash } ?? false }
        return Set(own.keys).symmetricDifference(others.keys).union(changed.keys).sorted()
    }

    /// Returns whether the model has all persistent entities, attributes and relationships of another.
    func hasEverything(of other: NSManagedObjectModel) -> Bool {
        let own = entitiesByName
        return other.entitiesByName.allSatisfy { name, entity in
            guard let same = own[name] else { return false }
            let properties = same.propertiesByName
            return entity.properties.allSatisfy { property in
                if property.isTransient || property is NSFetchedPropertyDescription { return true }
                switch (property, properties[property.name]) {
                case (let old as NSAttributeDescription, let new as NSAttributeDescription): return old.attributeType == new.attributeType
                case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
                    return old.isToMany == new.isToMany && old.destinationEntity?.name == new.destinationEntity?.name
                default: return false
                }
            }
        }
    }
}
