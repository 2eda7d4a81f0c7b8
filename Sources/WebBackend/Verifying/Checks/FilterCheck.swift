internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// Checks whether a filter finds exactly what it should, on all pages, alone and with others, and whether the total is that of its results.
enum FilterCheck {
    static let name = "filters"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.lists.flatMap { list -> [Trial] in
            let parameters = list.call.endpoint.parameters.filter { !$0.isRequired }
            let pairs = parameters.flatMap { parameter in
                parameter.operators.sorted { $0.rawValue < $1.rawValue }.map { (parameter, $0) }
            }
            let single = pairs.map { parameter, comparison in
                Trial("\(parameter.keyPaths.first ?? "") \(comparison.rawValue)", list.call, .filter) { probe in
                    guard let trial = FilterTrial.best(parameter, comparison, sample.resources) else {
                        throw Trial.Untried(reason: "The sample has no value for it.")
                    }
                    let found = try await tried([trial], list, sample, probe)
                    guard found.isEmpty, sample.resources.allSatisfy(trial.matches) else { return found }
                    throw Trial.Untried(reason: "All resources of the sample match: nothing tells whether it is ignored.")
                }
            }
            let cases = parameters.filter { isPlainText($0, sample) }.compactMap { FilterTrial.otherCase($0, sample.resources) }.map {
                trial in
                Trial(trial.text, list.call, .filter) { probe in try await tried([trial], list, sample, probe) }
            }
            let two = two(parameters, sample.resources).map { trials in
                Trial(trials.map(\.text).joined(separator: " AND "), list.call, .filter) { probe in
                    try await tried(trials, list, sample, probe)
                }
            }
            // First the ones that a small number of requests should not leave out.
            return Array(single.prefix(1)) + [two].compactMap { $0 } + cases.prefix(1) + single.dropFirst() + cases.dropFirst()
        }
    }

    /// Returns whether a parameter compares text that the service has unchanged.
    private static func isPlainText(_ parameter: Parameter, _ sample: EntitySample) -> Bool {
        guard case .attribute(.stringAttributeType, .byType)? = parameter.keyPaths.first.flatMap({ sample.plan.properties[$0] })?.kind
        else {
            return false
        }
        return true
    }

    /// Returns two comparisons of different properties that together find less than each of them.
    private static func two(_ parameters: [Parameter], _ sample: [TrialResource]) -> [FilterTrial]? {
        let trials = parameters.filter(\.isExact).flatMap { parameter in
            parameter.operators.sorted { $0.rawValue < $1.rawValue }.compactMap { FilterTrial.best(parameter, $0, sample) }
        }
        func found(_ trial: FilterTrial) -> Set<ResourceID> { Set(sample.filter(trial.matches).map(\.id)) }
        for first in trials {
            let own = found(first)
            for second in trials where second.parameter.keyPaths.first != first.parameter.keyPaths.first {
                let both = own.intersection(found(second))
                if both.count < own.count, both.count < found(second).count { return [first, second] }
            }
        }
        return nil
    }

    /// Requests the resources that all comparisons match.
    private static func tried(
        _ trials: [FilterTrial], _ list: ListReading, _ sample: EntitySample, _ probe: ServiceProbe
    ) async throws -> [CapabilityFinding] {
        let call = list.call
        let text = trials.map(\.text).joined(separator: " AND ")
        var request = sample.request(call)
        if call.endpoint.logic == .tree {
            request.predicate = trials.count == 1 ? trials[0].tree : .and(trials.map(\.tree))
        } else {
            for trial in trials { request.add(trial.parameter, trial.comparison, trial.values, ids: trial.ids) }
        }
        let found = try await probe.read(request, sample.plan, call, resources: .max, pages: 3)
        func finding(_ seen: String, _ advice: String) -> [CapabilityFinding] {
            [
                sample.finding(
                    .filter, name, call, text,
                    claim: trials.map { sample.claims.filter(call, $0.parameter, $0.comparison) }.joined(separator: "; "), seen: seen,
                    request: found.request, advice: advice)
            ]
        }
        func matches(_ resource: TrialResource) -> Bool { trials.allSatisfy { $0.matches(resource) } }
        let wrong = found.resources.filter { resource in trials.allSatisfy { $0.knows(resource) } && !matches(resource) }
        if trials.allSatisfy(\.parameter.isExact), let first = wrong.first {
            let isIgnored = found.ids.isSuperset(of: list.ids) && found.count >= list.count
            return finding(
                isIgnored
                    ? "It is ignored: the same \(found.resources.count) resources came as without it."
                    : "\(wrong.count) resources came that do not match, the first is \(first.id)\(shown(first, trials)).",
                isIgnored
                    ? "Correct the name in the template, or leave the property out of the call's filters."
                    : "Say inexact for the comparison, caseInsensitive or inexactForText where that is all, or leave it out of the filters."
            )
        }
        if found.ids.count < found.count, list.ids.count == list.count {
            return finding(
                "\(found.count - found.ids.count) of \(found.count) resources came twice.",
                "Have the service filter all pages alike, or leave the comparison out of the filters.")
        }
        guard found.isWhole else { return [] }
        let missing = sample.resources.filter { matches($0) && !found.ids.contains($0.id) }
        if let first = missing.first, list.call.call.name == sample.lists.first?.call.call.name {
            return finding(
                "\(missing.count) resources are missing that match, the first is \(first.id)\(shown(first, trials)).",
                "Correct the template, the form of the value, or the number of values; or leave the comparison out of the filters.")
        }
        return total(found, text, sample)
    }

    /// Returns a finding if the total in the answer is that of another list.
    private static func total(_ found: ListReading, _ text: String, _ sample: EntitySample) -> [CapabilityFinding] {
        guard sample.isWhole, let total = found.total, total != found.ids.count, found.pages.allSatisfy({ $0.unreadable.isEmpty }) else {
            return []
        }
        return [
            sample.finding(
                .count, name, found.call, "the number with filters", claim: sample.claims.paging(found.call, "total"),
                seen: "\(total) with “\(text)”, and \(found.ids.count) resources came.", request: found.request,
                advice: "Leave out the total: then resources are counted as they come.")
        ]
    }

    private static func shown(_ resource: TrialResource, _ trials: [FilterTrial]) -> String {
        let names = trials.compactMap(\.parameter.keyPaths.first).filter { resource.values[$0] != nil }
        return names.isEmpty ? "" : " (" + names.map { "\($0) \(resource.values[$0]?.shown ?? "?")" }.joined(separator: ", ") + ")"
    }
}
