internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// A version of the model that is known, and where it is known from.
struct KnownVersion {
    /// Where a version is known from.
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

    /// The model, limited to the configuration of the store.
    let model: NSManagedObjectModel
    let origin: Origin

    /// Identifies the version in whatever form it was read: made of this framework's hashes.
    let checksum: String

    /// The checksums that programs may know the whole model by: of the hashes that the model has, of this framework's, and that in
    /// `VersionInfo.plist`.
    let checksums: Set<String>
    /// The whole model, also where the store is limited to a configuration.
    let whole: NSManagedObjectModel

    /// - Parameters:
    ///   - whole: The whole model.
    ///   - configuration: The configuration of the store; nil for all entities.
    ///   - origin: Where the version is known from.
    ///   - checksum: A further checksum that the version has.
    init(_ whole: NSManagedObjectModel, in configuration: String?, origin: Origin, checksum: String? = nil) {
        self.whole = whole
        self.origin = origin
        model = whole.limited(to: configuration)
        self.checksum = model.ownVersionChecksum
        let own = model === whole ? self.checksum : whole.ownVersionChecksum
        checksums = Set([whole.versionChecksum, own] + (checksum.map { [$0] } ?? []))
    }

    /// The version's checksum as programs know it.
    var publicChecksum: String { whole.versionChecksum }

    /// Returns the same version, with the name that it has in a bundle.
    func named(among groups: [[KnownVersion]]) -> KnownVersion {
        guard case .coordinator = origin, let same = groups.joined().first(where: { $0.checksum == checksum }) else { return self }
        return KnownVersion(model: model, origin: same.origin, checksum: checksum, checksums: checksums.union(same.checksums), whole: whole)
    }

    private init(model: NSManagedObjectModel, origin: Origin, checksum: String, checksums: Set<String>, whole: NSManagedObjectModel) {
        (self.model, self.origin, self.checksum, self.checksums, self.whole) = (model, origin, checksum, checksums, whole)
    }

    /// The version for messages: its name in the bundle, its identifiers, or its checksum.
    var name: String {
        if case .bundle(let name) = origin { return "“\(name)”" }
        let identifiers = model.versionIdentifiers.map { "\($0.base)" }.filter { !$0.isEmpty }.sorted()
        if !identifiers.isEmpty { return "“\(identifiers.joined(separator: ", "))”" }
        return "with the checksum \(publicChecksum)"
    }
}

extension NSManagedObjectModel {
    /// The checksum over this framework's hashes, also where the model has Apple's.
    var ownVersionChecksum: String {
        NSManagedObjectModel.versionChecksum(
            of: Dictionary(
                entities.compactMap { entity in entity.name.map { ($0, entity.ownVersionHash) } }, uniquingKeysWith: { first, _ in first }))
    }

    /// Returns a copy with the entities of a configuration only; the model itself for all of them, and where it does not have the
    /// configuration.
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
