public import Foundation
internal import Logging
public import ObjectGraph

extension NSManagedObjectModel {
    /// Creates a model with copies of all entities of other models.
    ///
    /// - Parameter models: The models; nil for none.
    /// - Returns: The model; nil if two entities of one name differ, for which Apple's framework raises an exception. The reason is logged;
    ///   ``init(merging:)`` throws it.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        do {
            try self.init(merging: models ?? [])
        } catch {
            Log.model.error("\(error.localizedDescription)")
            return nil
        }
    }

    /// Creates a model with copies of all entities of other models.
    ///
    /// Configurations of one name are combined; relationships to entities of another model find their destinations.
    ///
    /// - Throws: Code 134020 when two entities or fetch requests of one name differ.
    public convenience init(merging models: [NSManagedObjectModel]) throws {
        self.init()
        var merged: [String: NSEntityDescription] = [:]
        var order: [NSEntityDescription] = []
        var configurations: [String: [String]] = [:]
        var parents: [String: String] = [:]
        let copies = models.map { $0.copy() as! NSManagedObjectModel }
        // A model releases its entities' reference cycles when it is deallocated: entities that were taken over must not belong to it by
        // then.
        defer {
            for entity in copies.flatMap(\.entities) where merged[entity.name ?? ""] !== entity {
                for case let relationship as NSRelationshipDescription in entity.declaredProperties { relationship.breakReferenceCycle() }
            }
            for copy in copies { copy.entities = [] }
        }
        for model in copies {
            for entity in model.entities {
                let name = entity.name ?? ""
                if let parent = entity.superentity?.name { parents[name] = parent }
                guard let known = merged[name] else {
                    merged[name] = entity
                    order.append(entity)
                    continue
                }
                let differences = ModelDifference.between(ModelFacts(of: entity), ModelFacts(of: known))
                guard differences.isEmpty else {
                    throw NSManagedObjectModel.conflict(
                        "There are two different entities called “\(name)”: \(differences.joined(separator: " "))")
                }
            }
            versionIdentifiers.formUnion(model.versionIdentifiers)
            for name in model.configurations {
                let members = (model.entities(forConfigurationName: name) ?? []).compactMap(\.name)
                configurations[name] = (configurations[name] ?? []) + members.filter { !(configurations[name] ?? []).contains($0) }
            }
            for (name, request) in model.templates {
                if let known = templates[name], ModelFacts.lines(of: known) != ModelFacts.lines(of: request) {
                    throw NSManagedObjectModel.conflict("There are two different fetch requests called “\(name)”.")
                }
                templates[name] = request
            }
        }
        NSManagedObjectModel.connect(order, with: merged, parents: parents)
        entities = order
        for entity in order { entity.managedObjectModel = self }
        for request in templates.values { request.settings.entity = request.entityName.flatMap { merged[$0] } }
        for (name, members) in configurations { setEntities(members.compactMap { merged[$0] }, forConfigurationName: name) }
    }

    /// Connects entities from several models with each other.
    private static func connect(
        _ entities: [NSEntityDescription], with merged: [String: NSEntityDescription], parents: [String: String]
    ) {
        let children = Dictionary(grouping: entities) { parents[$0.name ?? ""] }
        for entity in entities { entity.subentities = [] }
        for entity in entities { entity.subentities = children[entity.name] ?? [] }
        for case let relationship as NSRelationshipDescription in entities.flatMap(\.declaredProperties) {
            guard let destination = relationship.destinationEntity?.name ?? relationship.missingDestination else { continue }
            let inverse = relationship.inverseRelationship?.name ?? relationship.missingInverse
            relationship.inverseRelationship = nil
            ModelAssembly.connect(relationship, to: destination, inverse: inverse, in: merged)
        }
        for case let property as NSFetchedPropertyDescription in entities.flatMap(\.declaredProperties) {
            guard let request = property.fetchRequest, let name = request.entityName else { continue }
            request.settings.entityName = name
            request.settings.entity = merged[name]
        }
    }

    private static func conflict(_ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError, "The models cannot be merged.", reason: reason,
            next: "Merge models whose entities have different names, or are the same.")
    }

    /// Returns all models of bundles, merged.
    ///
    /// - Parameter bundles: The bundles; nil for the main bundle and the resource bundles of packages beside it. The models embedded in the
    ///   program (see ``EmbeddedModel``) belong to its main bundle, and to `Bundle.allBundles`, which is empty off Apple's platforms.
    /// - Returns: The model; nil when there is none, or when a model cannot be read or merged; the reason is logged.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        merged(
            ModelLocator.versions(in: bundles).compactMap { versions in
                do {
                    let model = NSManagedObjectModel()
                    try ModelFile.current(of: versions).read(into: model)
                    return model
                } catch {
                    Log.model.error("\(error.localizedDescription)")
                    return nil
                }
            }, bundles)
    }

    /// Returns all models of bundles, merged, in the versions that a store was written with.
    ///
    /// A version of a model is the store's if it has the store's hashes. A store of Apple's framework contains hashes that models read from XML do
    /// not have; a version is then the store's if it equals the copy of the model in the file. If the file has no copy either, like files from before
    /// 2012, it is the only version with the names of the store's entities, or the only one of these with the store's version identifiers. The
    /// entities of the result have the store's hashes.
    ///
    /// - Parameters:
    ///   - bundles: The bundles; nil for the main bundle, to which embedded models belong, and the resource bundles of packages beside it.
    ///   - metadata: The metadata of the store, as read from its file, with its hashes under ``NSStoreModelVersionHashesKey``.
    /// - Returns: The model; nil when neither a single version nor a combination of models is that of the store.
    public class func mergedModel(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]) -> NSManagedObjectModel? {
        guard let hashes = StoreModelHashes(metadata) else { return nil }
        var parts: [NSManagedObjectModel] = []
        var others: [NSManagedObjectModel] = []
        for versions in ModelLocator.versions(in: bundles) {
            for version in versions {
                if let entities = version.profiles().map(version.hashes(of:)), !hashes.mayConcern(entities) { continue }
                let model = NSManagedObjectModel()
                do {
                    try version.read(into: model)
                } catch {
                    Log.model.error("\(error.localizedDescription)")
                    continue
                }
                if hashes.areThose(of: model.entities) {
                    hashes.adopt(in: model)
                    return model
                }
                if hashes.containsAll(of: model) { parts.append(model) } else { others.append(model) }
            }
        }
        let covered = Set(parts.flatMap { $0.entities.compactMap(\.name) })
        let isWhole = covered == Set(hashes.written.keys) && !parts.isEmpty
        let model = isWhole ? merged(parts, bundles) : hashes.onlyModel(byNamesOf: others)
        if let model { hashes.adopt(in: model) }
        return model
    }

    /// Creates a model by merging the models that a store was written with.
    ///
    /// - Parameters:
    ///   - models: The models, of which those whose entities have the hashes of the store are merged.
    ///   - metadata: The metadata of the store.
    /// - Returns: The model, whose entities have the store's hashes; nil when the models do not have all entities of the store. See
    ///   ``mergedModel(from:forStoreMetadata:)`` for the comparison with a store of Apple's framework.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let hashes = StoreModelHashes(metadata) else { return nil }
        let parts = models.filter { hashes.containsAll(of: $0) }
        let isWhole = Set(parts.flatMap { $0.entities.compactMap(\.name) }) == Set(hashes.written.keys)
        guard isWhole || hashes.onlyModel(byNamesOf: models) != nil else { return nil }
        // Bounded: it is there, as was looked at.
        self.init(byMerging: isWhole ? parts : [hashes.onlyModel(byNamesOf: models)!])
        hashes.adopt(in: self)
    }

    private static func merged(_ models: [NSManagedObjectModel], _ bundles: [Bundle]?) -> NSManagedObjectModel? {
        guard !models.isEmpty else {
            Log.model.error("There is no model in \(ModelLocator.folders(of: bundles).map(\.path).joined(separator: ", ")).")
            return nil
        }
        return NSManagedObjectModel(byMerging: models)
    }
}
