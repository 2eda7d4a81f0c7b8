internal import Foundation
internal import ObjectGraph

/// Finds the steps from a store's version to that of the coordinator's model.
///
/// A direct way is taken where there is one: a mapping model or, if it may be inferred, an inferred mapping. Otherwise the shortest chain over
/// the versions in the model's bundle is taken, whose steps have mapping models, or lead to a later version and can be inferred.
struct MigrationRoute {
    private let store: StoreVersion
    private let groups: [[KnownVersion]]
    private let mayInfer: Bool
    private let permitsMissingValues: Bool
    /// Where mapping models are: in the program's bundles, and beside the bundle of the coordinator's model.
    private let mappingBundles: [[Bundle]?]

    /// - Parameter permitsMissingValues: Whether what becomes required needs no default value; the options say so where it is nil.
    init(_ store: StoreVersion, in groups: [[KnownVersion]], permitsMissingValues: Bool? = nil) {
        (self.store, self.groups) = (store, groups)
        let beside = store.opening.coordinator.managedObjectModel.versionsURL.flatMap { Bundle(url: $0.deletingLastPathComponent()) }
        mappingBundles = [nil, beside.map { [$0] } ?? []].filter { $0?.isEmpty != true && MappingModelLocator.hasMappingModels(in: $0) }
        mayInfer = store.opening.isSet(NSInferMappingModelAutomaticallyOption)
        self.permitsMissingValues = permitsMissingValues ?? (store.opening.forbiddenRows != .fail)
    }

    /// Returns the steps from one version to another.
    ///
    /// - Throws: Code 134190 with what cannot be inferred, or 134140 where nothing is to be inferred.
    func steps(from source: KnownVersion, to destination: KnownVersion) throws -> [VersionStep] {
        do {
            if let way = try way(from: source, to: destination) {
                return [VersionStep(source: source, destination: destination, way: way)]
            }
        } catch let refusal as NSError where refusal.code == NSInferredMappingModelError {
            if let chain = try chain(from: source, to: destination) { return chain }
            throw refusal
        }
        if let chain = try chain(from: source, to: destination) { return chain }
        throw CoreDataError.make(
            NSMigrationMissingMappingModelError, "The store at \(store.url.path) cannot be migrated.",
            reason:
                "There is no mapping model from the version \(source.name) to the version \(destination.name), and none is to be inferred.",
            next: "Add a mapping model, or set NSInferMappingModelAutomaticallyOption.",
            info: ["sourceModel": source.model, "destinationModel": destination.model])
    }

    /// Returns the way between two versions; nil where there is no mapping model and none may be inferred.
    ///
    /// - Throws: Code 134190 with what cannot be inferred.
    func way(from source: KnownVersion, to destination: KnownVersion) throws -> VersionStep.Way? {
        if let mapped = mappedWay(from: source, to: destination) { return mapped }
        guard mayInfer else { return nil }
        return try inferredWay(from: source, to: destination)
    }

    /// Returns the way between two versions by a mapping model; nil where there is none.
    private func mappedWay(from source: KnownVersion, to destination: KnownVersion) -> VersionStep.Way? {
        for bundles in mappingBundles {
            if let found = MappingModelLocator.namedMappingModel(in: bundles, from: source.model, to: destination.model) {
                return .mappingModel(found.model, found.name)
            }
        }
        return nil
    }

    /// Returns the way between two versions by an inferred mapping.
    ///
    /// - Throws: Code 134190 with what cannot be inferred.
    func inferredWay(from source: KnownVersion, to destination: KnownVersion) throws -> VersionStep.Way {
        guard let files = store.opening.storeClass as? any ModelMigratingStore.Type else {
            return .inferred(try NSMappingModel.inferredMappingModel(forSourceModel: source.model, destinationModel: destination.model))
        }
        return .store(
            files,
            try InferredMapping.infer(from: source.model, to: destination.model, permitsMissingValues: permitsMissingValues))
    }

    // MARK: Chains

    /// Returns the shortest chain over versions of a bundle that has both; nil where there is none.
    private func chain(from source: KnownVersion, to destination: KnownVersion) throws -> [VersionStep]? {
        for versions in groups {
            guard let end = versions.firstIndex(where: { $0.checksum == destination.checksum }) else { continue }
            let start = versions.firstIndex { $0.checksum == source.checksum }
            var points = versions
            points[end] = destination
            // A version that is not in the bundle can only begin the chain.
            if let start { points[start] = source } else { points.append(source) }
            if let chain = try chain(over: points, from: start ?? points.count - 1, to: end, isOrdered: start.map { $0 < end } ?? false) {
                return chain
            }
        }
        return nil
    }

    /// Searches breadth-first, so that the first chain that is found is the shortest.
    private func chain(over versions: [KnownVersion], from start: Int, to end: Int, isOrdered: Bool) throws -> [VersionStep]? {
        var reached: [Int: VersionStep] = [:]
        var places: [Int: Int] = [:]
        var queue = [start]
        while !queue.isEmpty {
            let current = queue.removeFirst()
            for next in versions.indices where next != start && next != current && reached[next] == nil {
                // What is inferred on the way back, or past the destination, could drop what a later version has again.
                let isForward = isOrdered && current < next && next <= end
                guard let way = try step(from: versions[current], to: versions[next], mayInfer: isForward) else { continue }
                reached[next] = VersionStep(source: versions[current], destination: versions[next], way: way)
                places[next] = current
                if next == end {
                    var steps: [VersionStep] = []
                    var place = end
                    while place != start, let step = reached[place], let before = places[place] {
                        steps.append(step)
                        place = before
                    }
                    return steps.reversed()
                }
                queue.append(next)
            }
        }
        return nil
    }

    /// Returns the way of a step in a chain; nil where there is none.
    private func step(from source: KnownVersion, to destination: KnownVersion, mayInfer: Bool) throws -> VersionStep.Way? {
        if let mapped = mappedWay(from: source, to: destination) { return mapped }
        guard mayInfer, self.mayInfer else { return nil }
        do {
            return try inferredWay(from: source, to: destination)
        } catch let refusal as NSError where refusal.code == NSInferredMappingModelError {
            return nil
        }
    }
}
