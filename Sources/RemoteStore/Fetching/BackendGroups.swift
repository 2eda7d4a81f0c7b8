internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A grouped fetch in a form that a backend can compute: columns to group by, and functions over attributes.
struct BackendGroups {
    /// The source of a column.
    private enum Source {
        case key(Int)
        case value(Int)
    }

    private let query: StoreQuery
    private let sources: [Source]
    /// The attributes to group by.
    let keys: [String]
    /// The functions.
    let aggregates: [Endpoint.Aggregate]

    /// Fails for a fetch that needs more than that: conditions for groups, or an order by something that is not a column.
    init?(_ query: StoreQuery) {
        guard query.isGrouped, query.havingPredicate == nil else { return nil }
        var keys: [String] = []
        for column in query.groupedBy {
            guard case .keyPath(let path) = column.expression, path.count == 1, query.entity.attributesByName[path[0]] != nil else {
                return nil
            }
            keys.append(path[0])
        }
        var sources: [Source] = []
        var aggregates: [Endpoint.Aggregate] = []
        for column in query.columns {
            if case .keyPath(let path) = column.expression, path.count == 1, let place = keys.firstIndex(of: path[0]) {
                sources.append(.key(place))
                continue
            }
            guard let (name, argument) = column.expression.overRows, argument.keys.count == 1,
                let function = Endpoint.Aggregate.Function(rawValue: name)
            else { return nil }
            sources.append(.value(aggregates.count))
            aggregates.append(Endpoint.Aggregate(function, of: argument.keys[0]))
        }
        if aggregates.isEmpty { return nil }
        for descriptor in query.sortDescriptors {
            guard !keys.isEmpty, let key = descriptor.key, !descriptor.hasComparator, descriptor.textOrder == .binary,
                query.columns.contains(where: { $0.name == key })
            else { return nil }
        }
        (self.query, self.sources, self.keys, self.aggregates) = (query, sources, keys, aggregates)
    }

    /// Returns the result; nil if the answer is incomplete.
    func result(_ answer: BackendAnswer) throws -> [NSDictionary]? {
        if keys.isEmpty {
            return answer.aggregates.count == aggregates.count ? try dictionaries([.init(keys: [], values: answer.aggregates)]) : nil
        }
        guard answer.next == nil, answer.groups.allSatisfy({ $0.keys.count == keys.count && $0.values.count == aggregates.count }) else {
            return nil
        }
        if answer.groups.isEmpty, answer.total != 0 { return nil }
        return try dictionaries(try sorted(answer.groups))
    }

    private func value(_ index: Int, _ group: BackendAnswer.Group) -> PropertyValue {
        switch sources[index] {
        case .key(let place): group.keys[place]
        case .value(let place): group.values[place]
        }
    }

    private func sorted(_ groups: [BackendAnswer.Group]) throws -> [BackendAnswer.Group] {
        let places = query.sortDescriptors.compactMap { descriptor in
            query.columns.firstIndex { $0.name == descriptor.key }.map { (place: $0, ascending: descriptor.ascending) }
        }
        return try groups.sorted { first, second in
            for (place, ascending) in places {
                let (left, right) = (value(place, first), value(place, second))
                if try Self.isBefore(left, right) { return ascending }
                if try Self.isBefore(right, left) { return !ascending }
            }
            return false
        }
    }

    /// Nil comes before every value.
    private static func isBefore(_ left: PropertyValue, _ right: PropertyValue) throws -> Bool {
        if left.isNull || right.isNull { return left.isNull && !right.isNull }
        return try ValueOperations.compare(left, .lessThan, right, clause: "sortDescriptors") ?? false
    }

    private func dictionaries(_ groups: [BackendAnswer.Group]) throws -> [NSDictionary] {
        let all = try groups.map { group in
            let dictionary = NSMutableDictionary()
            for (index, column) in query.columns.enumerated() {
                if let value = try column.publicValue(value(index, group)) { dictionary.setObject(value, forKey: column.name as NSString) }
            }
            return dictionary as NSDictionary
        }
        var seen: Set<NSDictionary> = []
        let distinct = query.returnsDistinctResults ? all.filter { seen.insert($0).inserted } : all
        let rest = distinct.dropFirst(query.fetchOffset)
        return Array(query.fetchLimit > 0 ? rest.prefix(query.fetchLimit) : rest)
    }
}
