internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The part of a predicate that is about the destinations of one relationship.
struct RelationshipPart {
    let relationship: NSRelationshipDescription
    /// Whether one of several destinations must match.
    let isAny: Bool
    /// The clauses of the predicate that form this part.
    var clauses: [PredicateTree]
    /// The predicates of the destinations.
    var predicates: [PredicateTree]

    /// Returns the comparison of the relationship with objects.
    func comparison(_ ids: [PropertyValue]) -> PredicateTree {
        .compare(.keyPath([relationship.name]), .isIn, .constant(.array(ids)), modifier: relationship.isToMany ? .any : .direct)
    }

    /// Returns the parts of a predicate, one for each to-one relationship.
    static func parts(of clauses: [PredicateTree], _ entity: NSEntityDescription) -> [RelationshipPart] {
        var parts: [RelationshipPart] = []
        for clause in clauses {
            guard let (relationship, isAny, inner) = split(clause, entity) else { continue }
            if !isAny, let index = parts.firstIndex(where: { !$0.isAny && $0.relationship === relationship }) {
                parts[index].clauses.append(clause)
                parts[index].predicates.append(inner)
            } else {
                parts.append(RelationshipPart(relationship: relationship, isAny: isAny, clauses: [clause], predicates: [inner]))
            }
        }
        return parts
    }

    /// Returns the relationship with which a predicate begins, and the predicate of its destinations; nil if it is about something else, or may match if there
    /// is no destination.
    private static func split(
        _ tree: PredicateTree, _ entity: NSEntityDescription
    ) -> (relationship: NSRelationshipDescription, isAny: Bool, inner: PredicateTree)? {
        switch tree {
        case .and(let trees), .or(let trees):
            var inner: [PredicateTree] = []
            var found: NSRelationshipDescription?
            for tree in trees {
                guard let part = split(tree, entity), !part.isAny, found == nil || found === part.relationship else { return nil }
                found = part.relationship
                inner.append(part.inner)
            }
            guard let found else { return nil }
            if case .and = tree { return (found, false, .and(inner)) }
            return (found, false, .or(inner))
        case .comparison(var comparison):
            let keys = comparison.left.keys
            guard keys.count > 1, let clause = ClauseReader(entity).clause(tree), clause.comparison != .isNil,
                let relationship = entity.propertiesByName[keys[0]] as? NSRelationshipDescription,
                let destination = relationship.destinationEntity
            else { return nil }
            let isAny = comparison.modifier == .any
            comparison.left = .keyPath(Array(keys.dropFirst()))
            comparison.modifier = isAny && isOverMany(keys.dropFirst(), destination) ? .any : .direct
            return (relationship, isAny, .comparison(comparison))
        default: return nil
        }
    }

    private static func isOverMany(_ keys: ArraySlice<String>, _ entity: NSEntityDescription) -> Bool {
        var current: NSEntityDescription? = entity
        for key in keys {
            guard let relationship = current?.propertiesByName[key] as? NSRelationshipDescription else { return false }
            if relationship.isToMany { return true }
            current = relationship.destinationEntity
        }
        return false
    }
}

extension Planner {
    /// A placeholder for an object that is not known yet.
    private static let placeholder = ResourceID.string("…")

    /// Returns the plans that first find the matching destinations of a relationship, and then the objects that refer to them.
    func joins(_ fetch: PlannedFetch, depth: Int) -> [FetchPlan] {
        RelationshipPart.parts(of: fetch.clauses, fetch.entity).compactMap { part in
            guard let destination = part.relationship.destinationEntity else { return nil }
            var search = Search()
            var first = PlannedFetch(entity: destination)
            first.mayJoin = true
            let predicate = part.predicates.count == 1 ? part.predicates[0] : .and(part.predicates)
            first.clauses = NormalForm(destination).clauses(predicate)
            guard let firstPlan = best(first, depth: depth + 1, &search) else { return nil }
            // Only a small share of the rows that are compared in memory will match.
            let share = firstPlan.predicateInMemory == nil ? 1 : 0.1
            let count = max(1, min(5000, Int((Double(firstPlan.estimatedRows) * share).rounded(.up))))
            var second = fetch
            second.clauses = fetch.clauses.filter { !part.clauses.contains($0) } + [part.comparison([])]
            second.joined = Clause(
                keyPath: (part.relationship.isToMany ? "ANY " : "") + part.relationship.name, comparison: .isIn,
                ids: Array(repeating: Self.placeholder, count: count))
            guard var plan = single(second, &search).min(by: { $0.cost < $1.cost }) else { return nil }
            plan.joins = [
                FetchPlan.SemiJoin(
                    relationship: part.relationship.name, entity: destination.name ?? "?", predicate: predicate, plan: firstPlan, part: part
                )
            ]
            plan.requests = plan.requests.prefix(1).map { $0.without(Self.placeholder) }
            plan.endpoints = Array(plan.endpoints.prefix(1))
            plan.cost += firstPlan.cost
            plan.estimatedRows += firstPlan.estimatedRows
            plan.estimatedRequests += firstPlan.estimatedRequests
            return plan
        }
    }

    /// Returns the plan for a fetch whose destinations have been found: either with their identifiers, or without the join if that is cheaper now.
    func plan(_ fetch: PlannedFetch, after join: FetchPlan.SemiJoin, found ids: [NSManagedObjectID]) throws -> (
        fetch: PlannedFetch, plan: FetchPlan
    ) {
        var known = fetch
        // No object is among no objects.
        let comparison = ids.isEmpty ? .false : join.part.comparison(ids.map { .object(ObjectReference($0)) })
        known.clauses = NormalForm(fetch.entity).clauses(.and(fetch.clauses.filter { !join.part.clauses.contains($0) } + [comparison]))
        var unaware = fetch
        unaware.mayJoin = false
        var search = Search()
        let other = best(unaware, depth: 0, &search)
        do {
            let plan = try plan(known)
            if let other, other.cost < plan.cost { return (unaware, other) }
            return (known, plan)
        } catch {
            guard let other else { throw error }
            return (unaware, other)
        }
    }
}

extension BackendRequest {
    /// Returns the request without a placeholder for identifiers, for display.
    fileprivate func without(_ placeholder: ResourceID) -> BackendRequest {
        var request = self
        request.filters = filters.map { filter in
            guard filter.ids.contains(placeholder) else { return filter }
            return Filter(parameter: filter.parameter, keyPath: filter.keyPath, comparison: .isIn, values: [], ids: [])
        }
        request.predicate = predicate?.without(placeholder.propertyValue)
        return request
    }
}

extension PredicateTree {
    fileprivate func without(_ placeholder: PropertyValue) -> PredicateTree {
        switch self {
        case .and(let parts): return .and(parts.map { $0.without(placeholder) })
        case .or(let parts): return .or(parts.map { $0.without(placeholder) })
        case .comparison(var comparison):
            guard comparison.right.constantValue?.elements?.contains(placeholder) ?? false else { return self }
            comparison.right = .constant(.array([]))
            return .comparison(comparison)
        default: return self
        }
    }
}
