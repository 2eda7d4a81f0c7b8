internal import Foundation
internal import ModelFiles
internal import ObjectGraph

/// Searches for the shortest chain of steps between two versions.
///
/// Inferring every possible step would take time that is quadratic in the number of versions. The search considers every step possible until it is
/// refused: it looks for the shortest chain of these, infers only the steps of that chain, and starts again if one is refused. A refusal because of a
/// property applies to every pair of versions whose profiles are the same there. So the number of inferences depends on the number of changes that
/// prevent them, not on the number of versions.
final class VersionChain {
    private let versions: [KnownVersion]
    private let start: Int
    private let end: Int
    private let isOrdered: Bool
    private let route: MigrationRoute
    /// For each pair of versions, the first in rows, whether a step cannot be inferred.
    private var refused: [Bool]
    /// The possible mapping models of a pair of versions, by their indices.
    private var mapped: [Int: [Int]] = [:]
    /// The ways that were found, by pair.
    private var ways: [Int: VersionStep.Way] = [:]

    /// - Parameters:
    ///   - versions: The versions.
    ///   - start: The index of the store's version.
    ///   - end: The index of the coordinator's version.
    ///   - isOrdered: Whether the versions are in an order in which the coordinator's comes after the store's.
    ///   - route: Finds mapping models, and infers mappings.
    init(over versions: [KnownVersion], from start: Int, to end: Int, isOrdered: Bool, by route: MigrationRoute) {
        (self.versions, self.start, self.end, self.isOrdered, self.route) = (versions, start, end, isOrdered, route)
        refused = Array(repeating: false, count: versions.count * versions.count)
        for (place, (_, model)) in route.mappingModels.enumerated() {
            let sources = versions.indices.filter { MappingModelLocator.mayFit(model, from: versions[$0].profiles, to: nil) }
            if sources.isEmpty { continue }
            let destinations = versions.indices.filter { MappingModelLocator.mayFit(model, from: nil, to: versions[$0].profiles) }
            for source in sources {
                for destination in destinations where destination != source { mapped[pair(source, destination), default: []].append(place) }
            }
        }
    }

    private func pair(_ source: Int, _ destination: Int) -> Int { source * versions.count + destination }

    /// Returns the steps; nil if there are none.
    ///
    /// - Parameter refusal: The reason why a mapping cannot be inferred from the first version to the last; nil if that was not tried.
    func steps(_ refusal: NSError?) throws -> [VersionStep]? {
        if let refusal { keep(refusal, start, end) }
        // Each round but the last records a refusal. If refusals never apply to other versions, the search stops after a limit.
        let limit = route.work.inferences + 2 * versions.count + 16
        while route.work.inferences < limit, let places = shortest() {
            let pairs = Array(zip(places, places.dropFirst()))
            // Mapping models come first: nothing is inferred for a chain that lacks one.
            guard pairs.allSatisfy({ findsMappingModel($0, $1) }) else { continue }
            var steps: [VersionStep] = []
            for (source, destination) in pairs {
                guard let way = try way(source, destination) else { break }
                steps.append(VersionStep(source: versions[source], destination: versions[destination], way: way))
            }
            if steps.count == pairs.count { return steps }
        }
        return nil
    }

    /// Returns the indices of the shortest chain whose steps are not refused, or of the one over the earliest versions if there are several; nil if
    /// there is none.
    private func shortest() -> [Int]? {
        var before: [Int: Int] = [:]
        var queue = [start]
        var place = 0
        while place < queue.count {
            let current = queue[place]
            place += 1
            for next in versions.indices where next != start && next != current && before[next] == nil {
                guard mapped[pair(current, next)] != nil || mayBeInferred(current, next) else { continue }
                before[next] = current
                if next == end {
                    var places = [end]
                    while let last = places.last, let earlier = before[last] { places.append(earlier) }
                    return places.reversed()
                }
                queue.append(next)
            }
        }
        return nil
    }

    /// A mapping that is inferred to an earlier version, or past the destination, could drop data that a later version has again.
    private func mayBeInferred(_ source: Int, _ destination: Int) -> Bool {
        route.mayInfer && isOrdered && source < destination && destination <= end && !refused[pair(source, destination)]
    }

    /// Looks for the mapping model of a step. Returns false if there is none, in which case the step must be inferred or is impossible.
    private func findsMappingModel(_ source: Int, _ destination: Int) -> Bool {
        let pair = pair(source, destination)
        guard ways[pair] == nil, let places = mapped[pair] else { return true }
        for place in places {
            guard let way = route.mappedWay(by: place, from: versions[source], to: versions[destination]) else { continue }
            ways[pair] = way
            return true
        }
        mapped[pair] = nil
        return false
    }

    /// Returns the way of a step without a mapping model; nil if the step is found to be impossible.
    private func way(_ source: Int, _ destination: Int) throws -> VersionStep.Way? {
        let pair = pair(source, destination)
        if let way = ways[pair] { return way }
        guard mayBeInferred(source, destination) else { return nil }
        guard versions[source].isReadable, versions[destination].isReadable else {
            refused[pair] = true
            return nil
        }
        do {
            let way = try route.inferredWay(from: versions[source], to: versions[destination])
            ways[pair] = way
            return way
        } catch let refusal as NSError where refusal.code == NSInferredMappingModelError {
            keep(refusal, source, destination)
            return nil
        }
    }

    // MARK: Refusals

    /// Records the reason why a step cannot be inferred, for all steps to which it applies.
    private func keep(_ refusal: NSError, _ source: Int, _ destination: Int) {
        refused[pair(source, destination)] = true
        for problem in refusal.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [refusal] {
            let info = problem.userInfo
            guard let entity = info["entity"] as? String, let sourceEntity = info["sourceEntity"] as? String else { continue }
            let property = info["property"] as? String
            let sourceProperty = info["sourceProperty"] as? String ?? property
            let sources = places(like: source, sourceEntity, sourceProperty)
            let destinations = places(like: destination, entity, property)
            for one in sources { for other in destinations { refused[pair(one, other)] = true } }
        }
    }

    /// Returns the versions whose entity, or a property of it, is the same as that of a version; also if that version has none.
    private func places(like place: Int, _ entity: String, _ property: String?) -> [Int] {
        func traits(_ place: Int) -> String? {
            guard let profile = versions[place].profiles[entity] else { return nil }
            return property.map { profile.propertyTraits[$0] ?? "" } ?? profile.traits
        }
        guard let wanted = traits(place) else { return [place] }
        return versions.indices.filter { traits($0) == wanted }
    }
}
