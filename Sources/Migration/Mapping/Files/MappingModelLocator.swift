internal import Foundation
internal import Logging
internal import ModelFiles
internal import ObjectGraph

/// Finds the mapping model between two models in bundles and in the program.
enum MappingModelLocator {
    /// Returns the first mapping model that fits both models.
    ///
    /// Version hashes decide if a file has any. Xcode's files have none: they fit if the entities and properties in their outlines are those of the
    /// models or, without outlines, if everything that is mapped exists.
    static func mappingModel(in bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel)
        -> NSMappingModel?
    {
        namedMappingModel(in: bundles, from: source, to: destination)?.model
    }

    /// Returns the first mapping model that fits both models, with its name.
    static func namedMappingModel(
        in bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> (name: String, model: NSMappingModel)? {
        for candidate in candidates(in: bundles) {
            guard let model = candidate.model, fits(model, source, destination) else { continue }
            return (candidate.name, model.resolved(from: source, to: destination))
        }
        return nil
    }

    /// Returns all mapping models in bundles that can be read, with their names, in the order in which they are tried.
    static func mappingModels(in bundles: [Bundle]?) -> [(name: String, model: NSMappingModel)] {
        candidates(in: bundles).compactMap { candidate in candidate.model.map { (candidate.name, $0) } }
    }

    private struct Candidate {
        let name: String
        let read: () throws -> NSMappingModel

        /// The mapping model; nil if it cannot be read, which is logged.
        var model: NSMappingModel? {
            do { return try read() } catch {
                Log.model.error("\(error.localizedDescription)")
                return nil
            }
        }
    }

    /// The mapping models, those of the program first, then by name.
    private static func candidates(in bundles: [Bundle]?) -> [Candidate] {
        var found: [Candidate] = []
        if ModelFolders.includesProgram(bundles) {
            found += EmbeddedMappingModel.all.sorted { $0.name < $1.name }.map { type in
                Candidate(name: type.name) { try type.mappingModel() }
            }
        }
        var names = Set(found.map(\.name))
        for folder in ModelFolders.folders(of: bundles) {
            let contents = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
            for file in contents where file.hasSuffix(".xcmappingmodel") {
                guard names.insert(String(file.dropLast(15))).inserted else { continue }
                let url = folder.appendingPathComponent(file)
                found.append(Candidate(name: file) { try MappingModelFile.read(url) })
            }
            for file in contents where file.hasSuffix(".cdm") && !names.contains(String(file.dropLast(4))) {
                let url = folder.appendingPathComponent(file)
                found.append(Candidate(name: file) { try MappingModelFile.read(url) })
            }
        }
        return found
    }

    /// Returns whether a mapping model may map between versions with entities of some profiles, judged by names alone; nil stands for a version that
    /// does not matter.
    static func mayFit(_ model: NSMappingModel, from source: [String: EntityProfile]?, to destination: [String: EntityProfile]?) -> Bool {
        for mapping in model.entityMappings {
            if let source, let name = mapping.sourceEntityName, source[name] == nil { return false }
            guard let destination, let name = mapping.destinationEntityName else { continue }
            guard let entity = destination[name] else { return false }
            for property in mapping.propertyMappings { if let name = property.name, entity.propertyTraits[name] == nil { return false } }
        }
        guard let outlines = model.outlines else { return true }
        return source.map { ModelOutline(of: $0) == outlines.source } ?? true
            && destination.map { ModelOutline(of: $0) == outlines.destination } ?? true
    }

    /// Returns whether a mapping model is one between two models.
    static func fits(_ model: NSMappingModel, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
        for mapping in model.entityMappings {
            guard fits(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source),
                fits(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
            else { return false }
        }
        if let outlines = model.outlines {
            return outlines.source == ModelOutline(of: source) && outlines.destination == ModelOutline(of: destination)
        }
        let entities = Set(model.entityMappings.compactMap(\.destinationEntityName))
        let wanted = destination.entities.filter { !$0.isAbstract }.compactMap(\.name)
        // A missing policy class is reported when the store is migrated.
        let plain = model.copy() as! NSMappingModel
        for mapping in plain.entityMappings { mapping.entityMigrationPolicyClassName = nil }
        return entities.isSuperset(of: wanted) && (try? plain.validate(forSourceModel: source, destinationModel: destination)) != nil
    }

    private static func fits(_ name: String?, _ hash: Data?, _ model: NSManagedObjectModel) -> Bool {
        guard let name else { return true }
        guard let entity = model.entitiesByName[name] else { return false }
        return hash == nil || hash == entity.versionHash
    }
}
