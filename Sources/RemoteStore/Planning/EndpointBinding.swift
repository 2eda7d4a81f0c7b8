internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The parts of a predicate that an endpoint applies, bound to its parameters.
struct EndpointBinding {
    /// The filters of each request: more than one if values are split.
    var variants: [[BackendRequest.Filter]] = [[]]
    /// The predicate, for endpoints that take trees.
    var tree: PredicateTree?
    /// The clauses that need no evaluation in memory.
    var exact: Set<Int> = []
    /// The expected share of the resources, and the number of requested identifiers.
    var share = 1.0
    var identifierCount: Int?

    /// A clause of a predicate with its comparison, if it is one.
    struct Candidate {
        let tree: PredicateTree
        let clause: Clause?
    }

    /// Returns the ways to bind clauses to an endpoint's parameters; none if a required parameter cannot be given.
    static func bindings(of clauses: [Candidate], to endpoint: Endpoint) -> [EndpointBinding] {
        var start = EndpointBinding()
        var used: Set<Int> = []
        for parameter in endpoint.parameters where parameter.isRequired {
            guard let index = start.best(clauses, for: parameter, used, mustNotSplit: false) else { return [] }
            start.bind(clauses[index], index, to: parameter)
            used.insert(index)
        }
        var found: [EndpointBinding] = []
        // No further clauses are bound: a kept answer may be used.
        if endpoint.freshness != nil { found.append(start) }
        if endpoint.logic == .tree {
            var whole = start
            whole.bindTree(clauses, endpoint)
            return found + [whole]
        }
        var plain = start
        var usedPlainly = used
        let optional = endpoint.parameters.filter { !$0.isRequired }
        for parameter in optional {
            // A parameter may be given once for each comparison.
            for _ in 0..<parameter.operators.count {
                guard let index = plain.best(clauses, for: parameter, usedPlainly, mustNotSplit: true) else { break }
                plain.bind(clauses[index], index, to: parameter)
                usedPlainly.insert(index)
            }
        }
        found.append(plain)
        // Even if values must be split, there may be fewer requests than pages.
        for parameter in optional {
            guard let index = plain.best(clauses, for: parameter, usedPlainly, mustNotSplit: false) else { continue }
            var split = plain
            split.bind(clauses[index], index, to: parameter)
            found.append(split)
        }
        return found
    }

    // MARK: One parameter

    /// The precision with which a parameter expresses a clause.
    enum Fit {
        case exact, wider
    }

    /// Returns the precision with which a parameter expresses a comparison; nil if it does not.
    static func fit(_ clause: Clause, _ parameter: Parameter) -> Fit? {
        guard parameter.keyPaths.contains(clause.keyPath), parameter.takes(clause) else { return nil }
        switch clause.comparison {
        case .equal: if parameter.operators.isDisjoint(with: [.equal, .isIn]) { return nil }
        case .isIn: if parameter.operators.isDisjoint(with: [.equal, .isIn]) { return nil }
        default:
            if !parameter.operators.contains(clause.comparison), parameter.pattern(clause.comparison, clause.values) == nil { return nil }
        }
        switch parameter.dateFit(clause.comparison, clause.values) {
        case .sent: break
        case .sentWider: return .wider
        case .decidedInMemory: return nil
        }
        guard clause.values.contains(where: { if case .string = $0 { true } else { false } }) else {
            return parameter.isExact ? .exact : .wider
        }
        if clause.options == parameter.text { return parameter.isExact ? .exact : .wider }
        let folds: PredicateComparison.Options = [.caseInsensitive, .diacriticInsensitive]
        guard clause.options.isSubset(of: folds), parameter.text.isSubset(of: folds), clause.options.isSubset(of: parameter.text) else {
            return nil
        }
        switch clause.comparison {
        case .equal, .isIn, .beginsWith, .endsWith, .contains, .like: return .wider
        default: return nil
        }
    }

    /// The number of values that a request can contain for a clause.
    private static func room(_ clause: Clause, _ parameter: Parameter) -> Int {
        parameter.operators.contains(.isIn) ? parameter.maximumValues : 1
    }

    /// Returns the most restrictive clause.
    private func best(_ clauses: [Candidate], for parameter: Parameter, _ used: Set<Int>, mustNotSplit: Bool) -> Int? {
        let given = Set((variants.first ?? []).filter { $0.parameter == parameter.name }.map(\.comparison))
        return clauses.indices.filter { index in
            guard !used.contains(index), let clause = clauses[index].clause, Self.fit(clause, parameter) != nil,
                !given.contains(clause.comparison)
            else { return false }
            return !mustNotSplit || clause.count <= Self.room(clause, parameter)
        }.min { Self.share(clauses[$0].clause) < Self.share(clauses[$1].clause) }
    }

    private static func share(_ clause: Clause?) -> Double {
        guard let clause else { return 1 }
        switch clause.comparison {
        case .equal: return 0.02
        case .isIn: return min(0.9, 0.02 * Double(clause.count))
        case .isNil, .beginsWith, .endsWith, .contains, .like: return 0.2
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return 0.4
        case .notEqual, .isNotNil: return 0.9
        }
    }

    private mutating func bind(_ candidate: Candidate, _ index: Int, to parameter: Parameter) {
        guard let clause = candidate.clause, let fit = Self.fit(clause, parameter) else { return }
        if fit == .exact { exact.insert(index) }
        if clause.keyPath == "SELF", clause.comparison == .equal || clause.comparison == .isIn {
            identifierCount = clause.count
        } else if !parameter.isRequired {
            share *= Self.share(clause)
        }
        let room = Self.room(clause, parameter)
        var filters: [BackendRequest.Filter] = []
        func append(_ values: [PropertyValue], _ ids: [ResourceID]) {
            // A single value becomes an equality for parameters without membership.
            let isOne = values.count + ids.count == 1
            var comparison = clause.comparison
            if comparison == .isIn, isOne, parameter.operators.contains(.equal) { comparison = .equal }
            if comparison == .equal, !parameter.operators.contains(.equal) { comparison = .isIn }
            var values = values
            if let pattern = parameter.pattern(comparison, values) { (comparison, values) = (.like, [pattern]) }
            filters.append(
                BackendRequest.Filter(
                    parameter: parameter.name, keyPath: clause.keyPath, comparison: comparison, values: values, ids: ids))
        }
        if let ids = clause.ids {
            for part in ids.parts(of: room) { append([], part) }
        } else if clause.values.isEmpty {
            append([], [])
        } else {
            for part in parameter.sentValues(clause.comparison, clause.values).parts(of: room) { append(part, []) }
        }
        variants = variants.flatMap { variant in filters.map { variant + [$0] } }
    }

    // MARK: Trees

    private mutating func bindTree(_ clauses: [Candidate], _ endpoint: Endpoint) {
        var pushed: [PredicateTree] = []
        for (index, candidate) in clauses.enumerated() {
            guard let (tree, isExact) = Self.expressed(candidate, endpoint, mustBeExact: false) else { continue }
            pushed.append(tree)
            if isExact { exact.insert(index) } else { exact.remove(index) }
            share *= Self.share(candidate.clause)
            if let clause = candidate.clause, clause.keyPath == "SELF", clause.ids != nil { identifierCount = clause.count }
        }
        tree = pushed.isEmpty ? nil : pushed.count == 1 ? pushed[0] : .and(pushed)
    }

    /// Returns a predicate for an endpoint, with identifiers instead of objects; nil if it cannot be expressed.
    private static func expressed(
        _ candidate: Candidate, _ endpoint: Endpoint, mustBeExact: Bool
    ) -> (tree: PredicateTree, isExact: Bool)? {
        switch candidate.tree {
        case .true, .false: return (candidate.tree, true)
        case .and, .or, .not, .block: return nil
        case .comparison(var comparison):
            guard let clause = candidate.clause else { return nil }
            let fits = endpoint.parameters.compactMap { parameter -> (fit: Fit, parameter: Parameter)? in
                guard clause.comparison != .isIn || clause.count <= parameter.maximumValues && parameter.operators.contains(.isIn) else {
                    return nil
                }
                return fit(clause, parameter).map { ($0, parameter) }
            }
            guard let best = fits.first(where: { $0.fit == .exact }) ?? (mustBeExact ? nil : fits.first) else { return nil }
            let isExact = best.fit == .exact
            if let ids = clause.ids {
                let values = ids.map(\.propertyValue)
                // Objects of other stores are compared in memory.
                if values.isEmpty { return nil }
                comparison.right = .constant(clause.comparison == .isIn ? .array(values) : values[0])
            } else if !clause.values.isEmpty {
                let values = best.parameter.sentValues(clause.comparison, clause.values)
                comparison.right = .constant(clause.comparison == .isIn ? .array(values) : values[0])
                if let pattern = best.parameter.pattern(clause.comparison, values) {
                    (comparison.operator, comparison.right) = (.like, .constant(pattern))
                }
            }
            return (.comparison(comparison), isExact)
        }
    }

    /// Returns a predicate of any form for an endpoint that accepts trees; nil if a part of it cannot be expressed.
    static func expressed(
        _ tree: PredicateTree, _ reader: ClauseReader, _ endpoint: Endpoint, mustBeExact: Bool
    ) -> (tree: PredicateTree, isExact: Bool)? {
        switch tree {
        case .or where !endpoint.connectives.contains(.or), .not where !endpoint.connectives.contains(.not): return nil
        case .and(let parts), .or(let parts):
            var isExact = true
            var trees: [PredicateTree] = []
            for part in parts {
                guard let (tree, isPartExact) = expressed(part, reader, endpoint, mustBeExact: mustBeExact) else { return nil }
                trees.append(tree)
                isExact = isExact && isPartExact
            }
            if case .and = tree { return (.and(trees), isExact) }
            return (.or(trees), isExact)
        case .not(let part):
            // The additional matches have no value to compare.
            let isExact = !(endpoint.negationsFindNil && reader.mayLeadToNil(part))
            guard isExact || !mustBeExact else { return nil }
            return expressed(part, reader, endpoint, mustBeExact: true).map { (.not($0.tree), isExact) }
        default: return expressed(Candidate(tree: tree, clause: reader.clause(tree)), endpoint, mustBeExact: mustBeExact)
        }
    }

    /// Adds the compound clauses that an endpoint with trees can express.
    mutating func bindCompounds(_ clauses: [Candidate], _ reader: ClauseReader, _ endpoint: Endpoint) {
        guard endpoint.logic == .tree else { return }
        var parts = tree.map { tree -> [PredicateTree] in if case .and(let parts) = tree { parts } else { [tree] } } ?? []
        for (index, candidate) in clauses.enumerated() where candidate.clause == nil {
            guard let (tree, isExact) = Self.expressed(candidate.tree, reader, endpoint, mustBeExact: false) else { continue }
            parts.append(tree)
            share *= 0.5
            if isExact { exact.insert(index) }
        }
        tree = parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
    }
}

extension ResourceID {
    /// The identifier as a constant of a predicate; a composite one is an array.
    var propertyValue: PropertyValue {
        switch self {
        case .integer(let value): .int64(value)
        case .string(let value): .string(value)
        case .uuid(let value): .uuid(value)
        case .composite(let parts): .array(parts.map(\.propertyValue))
        }
    }
}

extension Array {
    /// Splits the elements into parts of at most `size`.
    func parts(of size: Int) -> [[Element]] {
        if count <= size { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min(count, $0 + size)]) }
    }
}
