internal import Foundation
internal import Predicates
internal import RemoteStore

/// Checks whether an order is the requested one, on all pages.
enum OrderCheck {
    static let name = "orders"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.lists.flatMap { list -> [Trial] in
            let sorting = list.call.endpoint.sorting
            let single = sorting.keys.flatMap { key in
                (key.isReversible ? [true, false] : [true]).map { isAscending in trial([(key.keyPath, isAscending)], list, sample) }
            }
            return single + [two(sorting, list, sample)].compactMap { $0 }
        }
    }

    private typealias Keys = [(keyPath: String, isAscending: Bool)]

    /// Returns a trial with two keys, of which the first has equal values.
    private static func two(_ sorting: Sorting, _ list: ListReading, _ sample: EntitySample) -> Trial? {
        guard sorting.maximumKeys > 1 else { return nil }
        func distinct(_ keyPath: String, _ resources: [TrialResource]) -> Set<ResourceValue> {
            Set(resources.compactMap { $0.values[keyPath] })
        }
        for first in sorting.keys {
            let groups = Dictionary(grouping: sample.resources.filter { $0.values[first.keyPath] != nil }) { $0.values[first.keyPath] }
            guard groups.count > 1 else { continue }
            for second in sorting.keys where second.keyPath != first.keyPath {
                guard groups.values.contains(where: { distinct(second.keyPath, $0).count > 1 }) else { continue }
                return trial([(first.keyPath, true), (second.keyPath, !second.isReversible)], list, sample)
            }
        }
        return nil
    }

    private static func trial(_ keys: Keys, _ list: ListReading, _ sample: EntitySample) -> Trial {
        let text = keys.map { $0.keyPath + ($0.isAscending ? "" : " descending") }.joined(separator: ", ")
        return Trial(text, list.call, .order) { probe in
            guard keys.allSatisfy({ key in Set(sample.resources.compactMap { $0.values[key.keyPath] }).count > 1 }) else {
                throw Trial.Untried(reason: "The sample has no two values of it.")
            }
            var request = sample.request(list.call)
            request.sort(keys)
            let found = try await probe.read(request, sample.plan, list.call, resources: .max, pages: 2)
            func finding(_ seen: String, _ advice: String) -> [CapabilityFinding] {
                [
                    sample.finding(
                        .order, name, list.call, text, claim: sample.claims.order(list.call), seen: seen, request: found.request,
                        advice: advice)
                ]
            }
            for (left, right) in zip(found.resources, found.resources.dropFirst()) {
                guard let order = compare(left, right, keys), order > 0 else { continue }
                return finding(
                    "\(left.id) (\(shown(left, keys))) came before \(right.id) (\(shown(right, keys))).",
                    "Leave the key out of sorting: then it is sorted in memory. For text there is sortsTextInOrder, for nil sortsNilFirst.")
            }
            let repeated = found.count - found.ids.count
            if repeated > 0, list.ids.count == list.count {
                return finding(
                    "\(repeated) of \(found.count) resources came twice: equal values change their order from page to page.",
                    "Name a unique key as last in sorting.")
            }
            guard sample.isWhole, list.call.call.name == sample.lists.first?.call.call.name else { return [] }
            let missing = sample.resources.filter { resource in
                guard !found.ids.contains(resource.id) else { return false }
                guard !found.isWhole, let last = found.resources.last else { return true }
                return compare(resource, last, keys).map { $0 < 0 } ?? false
            }
            guard let first = missing.first else { return [] }
            return finding(
                "\(missing.count) resources are missing, the first is \(first.id) (\(shown(first, keys))).",
                "Name a unique key as last in sorting, or leave the key out.")
        }
    }

    private static func shown(_ resource: TrialResource, _ keys: Keys) -> String {
        keys.map { resource.values[$0.keyPath]?.shown ?? "?" }.joined(separator: ", ")
    }

    /// Compares two resources by the keys; nil if their order is unknown.
    private static func compare(_ left: TrialResource, _ right: TrialResource, _ keys: Keys) -> Int? {
        for key in keys {
            guard let first = left.values[key.keyPath], let second = right.values[key.keyPath],
                let order = TrialOrder.compare(first.value, second.value)
            else { return nil }
            if order != 0 { return key.isAscending ? order : -order }
        }
        return 0
    }
}

/// Core Data's order of values.
enum TrialOrder {
    /// Returns a negative number, zero or a positive one; nil for values without an order.
    static func compare(_ left: PropertyValue, _ right: PropertyValue) -> Int? {
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.string(let left), .string(let right)):
            return left == right ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
        case (.date(let left), .date(let right)): return left == right ? 0 : left < right ? -1 : 1
        default:
            guard let left = left.doubleValue, let right = right.doubleValue else { return nil }
            return left == right ? 0 : left < right ? -1 : 1
        }
    }
}
