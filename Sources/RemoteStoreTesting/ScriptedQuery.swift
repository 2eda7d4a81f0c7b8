internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// A resource with its entity.
struct ScriptedResource {
    let entity: String
    let id: ResourceID
    let record: ScriptedBackend.Record
}

/// Executes requests over the contents of a scripted backend.
struct ScriptedQuery {
    let state: ScriptedBackend.State
    let entities: [String: NSEntityDescription]
    /// The names of the to-many relationships, by entity.
    let toMany: [String: Set<String>]
    let endpoint: Endpoint

    /// Throws an error if a request contains parts that the endpoint has not declared.
    static func check(_ request: BackendRequest, _ endpoint: Endpoint) throws {
        for parameter in endpoint.parameters where parameter.isRequired && request.filter(parameter.name) == nil {
            throw ScriptMistake("\(request) lacks \(parameter.name).")
        }
        for filter in request.filters {
            guard let parameter = endpoint.parameters.first(where: { $0.name == filter.parameter }),
                parameter.keyPaths.contains(filter.keyPath), parameter.operators.contains(filter.comparison),
                filter.values.count + filter.ids.count <= max(1, parameter.maximumValues)
            else { throw ScriptMistake("\(request) has \(filter), which was not declared.") }
        }
        if request.predicate != nil, endpoint.logic != .tree { throw ScriptMistake("\(request) has a predicate.") }
        if request.sorts.count > endpoint.sorting.maximumKeys { throw ScriptMistake("\(request) has too many sort keys.") }
        for sort in request.sorts {
            guard endpoint.sorting.keys.contains(where: { $0.keyPath == sort.keyPath && ($0.isReversible || sort.isAscending) }) else {
                throw ScriptMistake("\(request) sorts by what was not declared.")
            }
        }
        if request.wantsCount, !endpoint.counts { throw ScriptMistake("\(request) counts.") }
        guard endpoint.aggregates.isSuperset(of: request.aggregates), endpoint.groups.isSuperset(of: request.groups) else {
            throw ScriptMistake("\(request) has functions or groups that were not declared.")
        }
        if request.limit != nil, !endpoint.paging.takesLimit { throw ScriptMistake("\(request) has a limit.") }
        if request.offset > 0, !endpoint.paging.takesOffset { throw ScriptMistake("\(request) has an offset.") }
        guard request.embeddings.allSatisfy({ path in endpoint.embeddings.contains { $0.keyPath == path } }) else {
            throw ScriptMistake("\(request) embeds what was not declared.")
        }
    }

    // MARK: Finding

    func matching(_ request: BackendRequest, _ entity: NSEntityDescription) throws -> [ScriptedResource] {
        let kinds = endpoint.includesSubentities ? entity.allKinds : [entity]
        var found: [ScriptedResource] = []
        let filters = request.filters.compactMap { filter in
            endpoint.parameters.first { $0.name == filter.parameter }.map { PreparedFilter(filter, $0) }
        }
        for name in kinds.compactMap(\.name) {
            let records = state.records[name] ?? [:]
            for id in state.order[name] ?? [] {
                guard let record = records[id] else { continue }
                let resource = ScriptedResource(entity: name, id: id, record: record)
                if try isMatching(resource, filters, request.predicate) { found.append(resource) }
            }
        }
        guard !request.sorts.isEmpty else { return found }
        let keyed = try found.enumerated().map { index, resource in
            (index, resource, try request.sorts.map { try value(resource, $0.keyPath) })
        }
        return keyed.sorted { first, second in
            for (index, sort) in request.sorts.enumerated() {
                let (left, right) = (first.2[index], second.2[index])
                if Self.isBefore(left, right) { return sort.isAscending }
                if Self.isBefore(right, left) { return !sort.isAscending }
            }
            return first.0 < second.0
        }.map(\.1)
    }

    /// Nil comes before every value.
    private static func isBefore(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
        if left.isNull || right.isNull { return left.isNull && !right.isNull }
        return (try? ValueOperations.compare(left, .lessThan, right, clause: "")) ?? nil ?? false
    }

    /// A filter with its values, which are compared with many resources.
    private struct PreparedFilter {
        let filter: BackendRequest.Filter
        let values: [PropertyValue]
        /// The identifiers, if they are compared.
        let ids: Set<PropertyValue>?
        let text: PredicateComparison.Options

        init(_ filter: BackendRequest.Filter, _ parameter: Parameter) {
            self.filter = filter
            let ids = filter.ids.map(constant)
            values = filter.values + ids
            self.ids = filter.comparison == .isIn && filter.values.isEmpty ? Set(ids) : nil
            text = parameter.text
        }
    }

    private func isMatching(_ resource: ScriptedResource, _ filters: [PreparedFilter], _ predicate: PredicateTree?) throws -> Bool {
        for prepared in filters {
            if let ids = prepared.ids {
                let path = prepared.filter.keyPath
                let own = try values(resource, (path.hasPrefix("ANY ") ? String(path.dropFirst(4)) : path).split(separator: "."))
                if own.contains(where: ids.contains) { continue }
                return false
            }
            let filter = prepared.filter
            if try compare(resource, filter.keyPath, filter.comparison, prepared.values, prepared.text) != true { return false }
        }
        if let predicate { return try isTrue(predicate, resource) == true }
        return true
    }

    static func constant(_ id: ResourceID) -> PropertyValue {
        switch id {
        case .integer(let value): .int64(value)
        case .string(let value): .string(value)
        case .uuid(let value): .uuid(value)
        case .composite(let parts): .array(parts.map(constant))
        }
    }

    /// Returns the values at a key path: several over a to-many relationship.
    private func values(_ resource: ScriptedResource, _ keys: [Substring]) throws -> [PropertyValue] {
        guard let key = keys.first, key != "SELF" else { return [Self.constant(resource.id)] }
        switch resource.record.values[String(key)] {
        case .value(let value)?: return [value]
        case .one(let reference?)?:
            if keys.count == 1 { return [Self.constant(reference.id)] }
            return try destination(resource.entity, String(key), reference).map { try values($0, Array(keys.dropFirst())) } ?? [.null]
        case .many(let references)?:
            return try references.flatMap { reference -> [PropertyValue] in
                if keys.count == 1 { return [Self.constant(reference.id)] }
                return try destination(resource.entity, String(key), reference).map { try values($0, Array(keys.dropFirst())) } ?? []
            }
        case nil where isToMany(resource.entity, String(key)): return []
        default: return [.null]
        }
    }

    private func isToMany(_ entity: String, _ key: String) -> Bool { toMany[entity]?.contains(key) ?? false }

    func destination(_ entity: String, _ key: String, _ reference: ResourceReference) -> ScriptedResource? {
        let named = reference.entity.flatMap { entities[$0] } ?? entities[entity]?.relationshipsByName[key]?.destinationEntity
        for name in named?.allKinds.compactMap(\.name) ?? [] {
            if let record = state.records[name]?[reference.id] { return ScriptedResource(entity: name, id: reference.id, record: record) }
        }
        return nil
    }

    private func value(_ resource: ScriptedResource, _ path: String) throws -> PropertyValue {
        try values(resource, path.split(separator: ".")).first ?? .null
    }

    // MARK: Comparing

    private func isTrue(_ tree: PredicateTree, _ resource: ScriptedResource) throws -> Bool? {
        switch tree {
        case .true: return true
        case .false: return false
        case .not(let part): return try isTrue(part, resource).map { !$0 }
        case .and(let parts):
            let truths = try parts.map { try isTrue($0, resource) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .or(let parts):
            let truths = try parts.map { try isTrue($0, resource) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .block: throw ScriptMistake("A block cannot be sent.")
        case .comparison(let comparison):
            guard case .constant(let constant) = comparison.right else { throw ScriptMistake("\(comparison) was sent.") }
            var path: [String] = []
            switch comparison.left {
            case .keyPath(let keys): path = keys
            case .evaluatedObject: path = ["SELF"]
            default: throw ScriptMistake("\(comparison) was sent.")
            }
            guard let (operation, values) = Self.operation(comparison.operator, constant) else {
                throw ScriptMistake("\(comparison) was sent.")
            }
            let keyPath = (comparison.modifier == .any ? "ANY " : "") + path.joined(separator: ".")
            guard
                endpoint.parameters.contains(where: {
                    $0.keyPaths.contains(keyPath)
                        && ($0.operators.contains(operation) || operation == .equal && $0.operators.contains(.isIn))
                        && values.count <= $0.maximumValues
                })
            else { throw ScriptMistake("\(comparison) was sent, which was not declared.") }
            return try compare(resource, keyPath, operation, values, comparison.options)
        }
    }

    private static func operation(
        _ operation: PredicateComparison.Operator, _ constant: PropertyValue
    ) -> (Parameter.Operator, [PropertyValue])? {
        switch operation {
        case .equal: constant.isNull ? (.isNil, []) : (.equal, [constant])
        case .notEqual: constant.isNull ? (.isNotNil, []) : (.notEqual, [constant])
        case .lessThan: (.lessThan, [constant])
        case .lessThanOrEqual: (.lessThanOrEqual, [constant])
        case .greaterThan: (.greaterThan, [constant])
        case .greaterThanOrEqual: (.greaterThanOrEqual, [constant])
        case .beginsWith: (.beginsWith, [constant])
        case .endsWith: (.endsWith, [constant])
        case .contains: (.contains, [constant])
        case .like: (.like, [constant])
        case .isIn: if case .array(let values) = constant { (.isIn, values) } else { nil }
        default: nil
        }
    }

    private func compare(
        _ resource: ScriptedResource, _ keyPath: String, _ operation: Parameter.Operator, _ right: [PropertyValue],
        _ options: PredicateComparison.Options
    ) throws -> Bool? {
        let isAny = keyPath.hasPrefix("ANY ")
        let left = try values(resource, (isAny ? String(keyPath.dropFirst(4)) : keyPath).split(separator: "."))
        var result: Bool? = false
        for value in left {
            let one = try compare(value, operation, right, options)
            if one == true { return true }
            if one == nil { result = nil }
        }
        return left.isEmpty && !isAny ? nil : result
    }

    private func compare(
        _ left: PropertyValue, _ operation: Parameter.Operator, _ right: [PropertyValue], _ options: PredicateComparison.Options
    ) throws -> Bool? {
        func folded(_ value: PropertyValue) -> PropertyValue {
            guard case .string(let text) = value else { return value }
            var folding: String.CompareOptions = []
            if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
            if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
            return folding.isEmpty ? value : .string(text.folding(options: folding, locale: nil))
        }
        func test(_ operation: PredicateComparison.Operator) throws -> Bool? {
            try ValueOperations.compare(folded(left), operation, folded(right[0]), clause: "")
        }
        switch operation {
        case .isNil: return left.isNull
        case .isNotNil: return !left.isNull
        case .isIn:
            if left.isNull { return nil }
            for value in right where try ValueOperations.compare(folded(left), .equal, folded(value), clause: "") == true { return true }
            return false
        case .equal: return try test(.equal)
        case .notEqual: return try test(.notEqual)
        case .lessThan: return try test(.lessThan)
        case .lessThanOrEqual: return try test(.lessThanOrEqual)
        case .greaterThan: return try test(.greaterThan)
        case .greaterThanOrEqual: return try test(.greaterThanOrEqual)
        case .beginsWith: return try test(.beginsWith)
        case .endsWith: return try test(.endsWith)
        case .contains: return try test(.contains)
        case .like: return try test(.like)
        }
    }

    // MARK: Answering

    func value(of aggregate: Endpoint.Aggregate, _ resources: [ScriptedResource]) throws -> PropertyValue {
        let values = try resources.map { try value($0, aggregate.attribute) }.filter { !$0.isNull }
        switch aggregate.function {
        case .sum: return try ValueOperations.aggregate("@sum", values, clause: "")
        case .minimum: return try ValueOperations.aggregate("@min", values, clause: "")
        case .maximum: return try ValueOperations.aggregate("@max", values, clause: "")
        case .average: return try ValueOperations.aggregate("@avg", values, clause: "")
        case .count: return .int64(Int64(values.count))
        }
    }

    func groups(_ request: BackendRequest, _ resources: [ScriptedResource]) throws -> [BackendAnswer.Group] {
        var members: [[PropertyValue]: [ScriptedResource]] = [:]
        for resource in resources { members[try request.groups.map { try value(resource, $0) }, default: []].append(resource) }
        return try members.map { keys, resources in
            BackendAnswer.Group(keys: keys, values: try request.aggregates.map { try value(of: $0, resources) })
        }
    }

    func write(_ resources: [ScriptedResource], _ request: BackendRequest, into answer: inout BackendAnswer) throws {
        let embedded = endpoint.embeddings.filter { $0.isAlwaysThere || request.embeddings.contains($0.keyPath) }.map(\.keyPath)
        let owners = request.filters.first { $0.keyPath.hasPrefix("ANY ") && $0.ids.count > 1 }
        var seen: Set<String> = []
        for resource in resources {
            var values = Self.shown(resource, endpoint.properties, isToMany)
            if let wanted = request.properties { values = values.filter { wanted.contains($0.key) } }
            for path in embedded {
                let keys = path.split(separator: ".")
                if let list = resource.record.values[String(keys[0])] {
                    values[String(keys[0])] = list
                } else if isToMany(resource.entity, String(keys[0])) {
                    values[String(keys[0])] = .many([])
                }
                try embed(resource, keys, into: &answer, &seen)
            }
            if let owners {
                // A resource of several owners is added once for each.
                let own = try self.values(resource, owners.keyPath.dropFirst(4).split(separator: "."))
                for owner in owners.ids where own.contains(Self.constant(owner)) {
                    try answer.add(resource.id, entity: resource.entity, version: version(resource), owner: owner, values)
                }
            } else {
                try answer.add(resource.id, entity: resource.entity, version: version(resource), values)
            }
        }
    }

    private static func shown(
        _ resource: ScriptedResource, _ properties: Set<String>?, _ isToMany: (String, String) -> Bool
    ) -> [String: ResourceValue] {
        resource.record.values.filter { name, _ in properties?.contains(name) ?? !isToMany(resource.entity, name) }
    }

    private func embed(_ resource: ScriptedResource, _ keys: [Substring], into answer: inout BackendAnswer, _ seen: inout Set<String>)
        throws
    {
        guard let key = keys.first.map(String.init) else { return }
        let references: [ResourceReference]
        switch resource.record.values[key] {
        case .one(let reference?)?: references = [reference]
        case .many(let list)?: references = list
        default: return
        }
        for reference in references {
            guard let target = destination(resource.entity, key, reference) else { continue }
            if keys.count > 1 { try embed(target, Array(keys.dropFirst()), into: &answer, &seen) }
            guard seen.insert("\(target.entity) \(target.id)").inserted else { continue }
            try answer.embed(target.id, entity: target.entity, version: version(target), Self.shown(target, nil, isToMany))
        }
    }

    private func version(_ resource: ScriptedResource) -> ResourceVersion? { state.mark(resource.record.version) }
}
