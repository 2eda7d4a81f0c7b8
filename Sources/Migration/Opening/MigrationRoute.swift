internal import Foundation
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph

/// Finds the steps from a store's version to that of the coordinator's model.
///
/// A direct way is used if there is one: a mapping model or, if inference is allowed, an inferred mapping. Otherwise it is the shortest chain over
/// the versions in the model's bundle whose steps have mapping models, or lead to a later version and can be inferred (``VersionChain``).
struct MigrationRoute {
    /// How much was done to find the steps.
    final class Work {
        /// How many mappings were inferred, or refused.
        var inferences = 0
        /// The mapping models in the program's bundles, and beside the bundle of the coordinator's model: read once, when the first is needed.
        fileprivate var mappingModels: [(name: String, model: NSMappingModel)]?
    }

    private let store: StoreVersion
    private let groups: [[KnownVersion]]
    private let permitsMissingValues: Bool
    /// Whether a mapping may be inferred if there is no mapping model.
    let mayInfer: Bool
    let work = Work()

    /// - Parameter permitsMissingValues: Whether values that become required need no default; nil to follow the options.
    init(_ store: StoreVersion, in groups: [[KnownVersion]], permitsMissingValues: Bool? = nil) {
        (self.store, self.groups) = (store, groups)
        mayInfer = store.opening.isSet(NSInferMappingModelAutomaticallyOption)
        self.permitsMissingValues = permitsMissingValues ?? (store.opening.forbiddenRows != .fail)
    }

    /// The mapping models in the program's bundles, and beside the bundle of the coordinator's model.
    var mappingModels: [(name: String, model: NSMappingModel)] {
        if let known = work.mappingModels { return known }
        let beside = store.opening.coordinator.managedObjectModel.versionsURL.flatMap { Bundle(url: $0.deletingLastPathComponent()) }
        let found = MappingModelLocator.mappingModels(in: nil) + (beside.map { MappingModelLocator.mappingModels(in: [$0]) } ?? [])
        work.mappingModels = found
        return found
    }

    /// Returns the steps from one version to another.
    ///
    /// - Throws: Code 134190 with the changes that cannot be inferred, or 134140 if inference is not allowed.
    func steps(from source: KnownVersion, to destination: KnownVersion) throws -> [VersionStep] {
        do {
            if let way = try way(from: source, to: destination) {
                return [VersionStep(source: source, destination: destination, way: way)]
            }
        } catch let refusal as NSError where refusal.code == NSInferredMappingModelError {
            if let chain = try chain(from: source, to: destination, refusal) { return chain }
            throw refusal
        }
        if let chain = try chain(from: source, to: destination, nil) { return chain }
        throw CoreDataError.make(
            NSMigrationMissingMappingModelError, "The store at \(store.url.path) cannot be migrated.",
            reason:
                "There is no mapping model from the version \(source.name) to the version \(destination.name), and none is to be inferred.",
            next: "Add a mapping model, or set NSInferMappingModelAutomaticallyOption.",
            info: ["sourceModel": source.model, "destinationModel": destination.model])
    }

    /// Returns the way between two versions; nil if there is no mapping model and inference is not allowed.
    ///
    /// - Throws: Code 134190 with the changes that cannot be inferred.
    private func way(from source: KnownVersion, to destination: KnownVersion) throws -> VersionStep.Way? {
        for place in mappingModels.indices {
            if let mapped = mappedWay(by: place, from: source, to: destination) { return mapped }
        }
        return mayInfer ? try inferredWay(from: source, to: destination) : nil
    }

    /// Returns the way between two versions by one of the mapping models; nil if it does not map between these.
    func mappedWay(by place: Int, from source: KnownVersion, to destination: KnownVersion) -> VersionStep.Way? {
        let (name, model) = mappingModels[place]
        guard MappingModelLocator.mayFit(model, from: source.profiles, to: destination.profiles), source.isReadable, destination.isReadable,
            MappingModelLocator.fits(model, source.model, destination.model)
        else { return nil }
        return .mappingModel(model.resolved(from: source.model, to: destination.model), name)
    }

    /// Returns the way between two versions by an inferred mapping.
    ///
    /// - Throws: Code 134190 with the changes that cannot be inferred.
    func inferredWay(from source: KnownVersion, to destination: KnownVersion) throws -> VersionStep.Way {
        work.inferences += 1
        guard let files = store.opening.storeClass as? any ModelMigratingStore.Type else {
            return .inferred(try NSMappingModel.inferredMappingModel(forSourceModel: source.model, destinationModel: destination.model))
        }
        return .store(
            files,
            try InferredMapping.infer(from: source.model, to: destination.model, permitsMissingValues: permitsMissingValues))
    }

    /// Returns the shortest chain over versions of a bundle that has both; nil if there is none.
    private func chain(from source: KnownVersion, to destination: KnownVersion, _ refusal: NSError?) throws -> [VersionStep]? {
        for versions in groups {
            guard let end = versions.firstIndex(for: destination) else { continue }
            let start = versions.firstIndex(for: source)
            var points = versions
            points[end] = destination
            // A version that is not in the bundle can only begin the chain.
            if let start { points[start] = source } else { points.append(source) }
            let chain = VersionChain(
                over: points, from: start ?? points.count - 1, to: end, isOrdered: start.map { $0 < end } ?? false, by: self)
            if let steps = try chain.steps(refusal) { return steps }
        }
        return nil
    }
}
