internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The input of the planner: a fetch without the parts that concern only contexts.
struct PlannedFetch {
    var entity: NSEntityDescription
    var includesSubentities = true
    /// The parts of the predicate, in normal form.
    var clauses: [PredicateTree] = []
    /// The sort keys; nil if the order is defined by code.
    var sorts: [StoreSort]? = []
    var limit = 0
    var offset = 0
    var wantsCount = false
    var aggregates: [Endpoint.Aggregate] = []
    /// The attributes to group by, if a backend could do it.
    var groups: [String] = []
    /// The properties of the results that are read in addition to the predicate and the order.
    var needs = Needs()
    /// Whether nothing else of the results is needed, as for dictionaries and identifiers, whose rows are not kept.
    var wantsOnlyNeeds = false
    /// Whether the destinations of a relationship may be fetched first.
    var mayJoin = false
    /// The last clause, if it is about destinations that are fetched first and are not known yet.
    var joined: Clause?
    /// Whether rows that lack needed properties may be completed by identifier afterwards.
    var mayComplete = true
    /// The key paths of relationships to prefetch.
    var prefetches: [String] = []

    var hasSort: Bool { sorts.map { !$0.isEmpty } ?? true }
}

/// Chooses endpoints for a fetch by cost, and the remaining work in memory.
struct Planner {
    let catalog: Catalog
    let decoding: AnswerDecoding
    /// The name of a relationship that answers must be declared to contain; nil for none.
    var broughtRelationship: String?
    /// Whether a fresh answer to a request is kept.
    let isKept: (BackendRequest, Endpoint) -> Bool

    /// Returns a planner that uses only endpoints whose answers are declared to contain a relationship.
    func bringing(_ relationship: NSRelationshipDescription) -> Planner {
        var planner = self
        planner.broughtRelationship = relationship.name
        return planner
    }

    /// Returns the cheapest plan.
    ///
    /// - Throws: Code 134091 if no endpoint can answer, naming the clause and the requirements of each endpoint.
    func plan(_ fetch: PlannedFetch) throws -> FetchPlan {
        var search = Search()
        if let plan = best(fetch, depth: 0, &search) { return plan }
        let clause = fetch.clauses.isEmpty ? nil : "\(fetch.clauses.count == 1 ? fetch.clauses[0] : PredicateTree.and(fetch.clauses))"
        throw RemoteStoreError.unanswerable(fetch.entity.name ?? "?", clause, search.reasons)
    }

    func best(_ fetch: PlannedFetch, depth: Int, _ search: inout Search) -> FetchPlan? {
        if fetch.clauses.contains(.false) { return nothing(fetch) }
        var plans = single(fetch, &search)
        // Only clauses that would be evaluated in memory may be cheaper as separate requests.
        let known = plans.min { $0.cost < $1.cost }
        if known.map({ $0.predicateInMemory != nil && $0.estimatedRequests > 1 }) ?? true, depth < 3 {
            for index in fetch.clauses.indices {
                if let plan = alternatives(fetch, at: index, depth: depth, &search) { plans.append(plan) }
            }
        }
        if depth < 3, known.map({ $0.estimatedRequests > 1 }) ?? true, let plan = kinds(fetch, depth: depth, &search) {
            plans.append(plan)
        }
        if fetch.mayJoin, depth < 3, known.map({ $0.predicateInMemory != nil }) ?? true { plans += joins(fetch, depth: depth) }
        return plans.min { $0.cost < $1.cost }
    }

    private func nothing(_ fetch: PlannedFetch) -> FetchPlan {
        var plan = FetchPlan()
        plan.hasSort = fetch.hasSort
        return plan
    }

    /// The state of a search for the cheapest plan.
    struct Search {
        /// The reasons why endpoints cannot answer, each once.
        private(set) var reasons: [String] = []
        /// The number of alternatives that may still be planned separately, which bounds the planning time of a long predicate.
        private var alternatives = 60

        mutating func note(_ reason: String) { if !reasons.contains(reason) { reasons.append(reason) } }

        /// Returns whether a number of alternatives may be planned.
        mutating func begin(_ count: Int) -> Bool {
            guard count <= alternatives else { return false }
            alternatives -= count
            return true
        }
    }

    // MARK: One endpoint

    func single(_ fetch: PlannedFetch, _ search: inout Search) -> [FetchPlan] {
        let entries = catalog.entries(for: fetch.entity, includingSubentities: fetch.includesSubentities)
        let reader = ClauseReader(fetch.entity, decoding)
        var clauses = fetch.clauses.map { EndpointBinding.Candidate(tree: $0, clause: reader.clause($0)) }
        if let joined = fetch.joined, let last = fetch.clauses.last {
            clauses[clauses.count - 1] = EndpointBinding.Candidate(tree: last, clause: joined)
        }
        var plans: [FetchPlan] = []
        for entry in entries {
            var bindings = EndpointBinding.bindings(of: clauses, to: entry.endpoint)
            if bindings.isEmpty {
                let missing = entry.endpoint.parameters.filter { parameter in
                    parameter.isRequired
                        && !clauses.contains { $0.clause.map { EndpointBinding.fit($0, parameter) != nil } ?? false }
                }
                let what = missing.map { parameter in
                    let operators = Parameter.Operator.allCases.filter(parameter.operators.contains).map(\.rawValue)
                    return "\(parameter.keyPaths.joined(separator: " or ")) by \(operators.joined(separator: " or "))"
                }
                search.note("“\(entry.endpoint.name)” needs \(what.joined(separator: " and ")).")
            }
            for index in bindings.indices { bindings[index].bindCompounds(clauses, reader, entry.endpoint) }
            plans += bindings.compactMap { plan(fetch, entry, $0, &search) }
        }
        return plans
    }

    private func plan(_ fetch: PlannedFetch, _ entry: Catalog.Entry, _ binding: EndpointBinding, _ search: inout Search) -> FetchPlan? {
        let endpoint = entry.endpoint
        // Unknown destinations cannot be compared in memory.
        if fetch.joined != nil, !binding.exact.contains(fetch.clauses.count - 1) { return nil }
        var plan = FetchPlan()
        if endpoint.isForMissingValues, fetch.needs.properties.isEmpty { return nil }
        if let broughtRelationship, !endpoint.brings(broughtRelationship, of: entry.entity) { return nil }
        plan.hasSort = fetch.hasSort
        let left = fetch.clauses.indices.filter { !binding.exact.contains($0) }.map { fetch.clauses[$0] }
        plan.predicateInMemory = left.isEmpty ? nil : left.count == 1 ? left[0] : .and(left)
        plan.filtersKinds =
            entry.entity !== fetch.entity || !fetch.includesSubentities && endpoint.includesSubentities && !fetch.entity.subentities.isEmpty
        let isOneRequest = binding.variants.count <= 1
        let pushedSorts = isOneRequest ? pushed(fetch.sorts, endpoint.sorting) : fetch.hasSort ? nil : []
        if pushedSorts == nil { plan.sortsInMemory = fetch.sorts?.map(\.keyPath) ?? ["a comparator"] }
        plan.needs = fetch.needs
        if plan.predicateInMemory != nil || pushedSorts == nil { plan.needs.formUnion(evaluated(plan, fetch)) }

        // Rows without needed properties are completed by identifier.
        var completion = 0.0
        let missing = Self.missing(plan.needs, endpoint)
        if !missing.isEmpty {
            guard fetch.mayComplete, let part = completionPart(fetch.entity, missing) else {
                search.note("“\(endpoint.name)” does not bring \(missing.sorted().joined(separator: ", ")).")
                return nil
            }
            completion = 1 / Double(part)
        }

        let isPaged = fetch.limit > 0 || fetch.offset > 0
        let mayPage = plan.isExact && isOneRequest
        plan.pagesInMemory = isPaged && !mayPage
        estimate(&plan, fetch, endpoint, binding, completion, mayPage: mayPage)
        plan.requests = binding.variants.map { filters in
            var request = BackendRequest(entity: entry.entity.name ?? "?", endpoint: endpoint.name, decoding: decoding)
            request.filters = filters
            request.predicate = binding.tree
            request.sorts = pushedSorts ?? []
            request.embeddings = embeddings(endpoint, fetch, plan.needs)
            request.properties = properties(endpoint, fetch, plan.needs)
            if mayPage {
                if fetch.wantsCount, endpoint.counts, !isPaged {
                    request.wantsCount = true
                    plan.isCountedByBackend = true
                } else if !fetch.aggregates.isEmpty, !isPaged, fetch.aggregates.allSatisfy(endpoint.aggregates.contains),
                    endpoint.groups.isSuperset(of: fetch.groups)
                {
                    request.aggregates = fetch.aggregates
                    request.groups = fetch.groups
                    plan.isAggregatedByBackend = true
                } else if isPaged {
                    if endpoint.paging.takesOffset { request.offset = fetch.offset }
                    if endpoint.paging.takesLimit, fetch.limit > 0 {
                        request.limit = fetch.limit + (endpoint.paging.takesOffset ? 0 : fetch.offset)
                    }
                }
            }
            return request
        }
        plan.endpoints = plan.requests.map { _ in endpoint }
        if plan.isCountedByBackend || plan.isAggregatedByBackend { (plan.estimatedRows, plan.estimatedRequests, plan.cost) = (0, 1, 1) }
        if plan.requests.count == 1, isKept(plan.requests[0], endpoint) {
            plan.usesKeptAnswer = true
            plan.estimatedRequests = 0
            plan.cost = Double(plan.estimatedRows) * 0.0001
        }
        plan.relationshipsInMemory = plan.needs.relationshipPaths
        if let predicate = plan.predicateInMemory {
            plan.costlyClause = "\(predicate)"
        } else if !plan.sortsInMemory.isEmpty, isPaged {
            plan.costlyClause = "sort by \(plan.sortsInMemory.joined(separator: ", "))"
        }
        return plan
    }

    /// Returns the embeddings to request from an endpoint.
    private func embeddings(_ endpoint: Endpoint, _ fetch: PlannedFetch, _ needs: Needs) -> [String] {
        let wanted = fetch.prefetches + needs.relationshipPaths + Array(needs.properties) + (broughtRelationship.map { [$0] } ?? [])
        return endpoint.embeddings.filter { !$0.isAlwaysThere && wanted.contains($0.keyPath) }.map(\.keyPath)
    }

    /// Returns the properties to request from an endpoint; nil for all that it returns. A kept answer may also be used by other fetches.
    private func properties(_ endpoint: Endpoint, _ fetch: PlannedFetch, _ needs: Needs) -> Set<String>? {
        guard fetch.wantsOnlyNeeds, endpoint.freshness == nil else { return nil }
        return endpoint.properties.map(needs.properties.intersection) ?? needs.properties
    }

    /// Returns the properties that predicate and order read in memory.
    private func evaluated(_ plan: FetchPlan, _ fetch: PlannedFetch) -> Needs {
        var reader = NeedsReader(fetch.entity)
        if let predicate = plan.predicateInMemory { reader.add(predicate) }
        for path in plan.sortsInMemory where path != "a comparator" { reader.add(path: path) }
        return reader.needs
    }

    /// Returns the sort keys for a request; nil if the endpoint cannot apply all of them.
    private func pushed(_ sorts: [StoreSort]?, _ sorting: Sorting) -> [BackendRequest.Sort]? {
        guard let sorts, sorts.count <= sorting.maximumKeys || sorts.isEmpty else { return nil }
        var pushed: [BackendRequest.Sort] = []
        for sort in sorts {
            guard
                sorting.keys.contains(where: {
                    $0.keyPath == sort.keyPath && (sort.ascending || $0.isReversible) && $0.order == sort.order
                })
            else { return nil }
            pushed.append(BackendRequest.Sort(keyPath: sort.keyPath, isAscending: sort.ascending))
        }
        return pushed
    }

    /// Returns the needed properties that the answers of an endpoint do not contain.
    static func missing(_ needs: Needs, _ endpoint: Endpoint) -> Set<String> {
        endpoint.properties.map { needs.properties.subtracting($0).subtracting(endpoint.embeddings.map(\.keyPath)) } ?? []
    }

    /// Returns the number of resources that one request completes; nil if no endpoint returns the properties by identifier.
    private func completionPart(_ entity: NSEntityDescription, _ properties: Set<String>) -> Int? {
        let kinds = entity.subentities.isEmpty ? [entity] : [entity] + entity.allKinds
        return kinds.flatMap { catalog.entries(for: $0, includingSubentities: false) }.compactMap { entry -> Int? in
            guard entry.endpoint.properties?.isSuperset(of: properties) ?? true else { return nil }
            let required = entry.endpoint.parameters.filter(\.isRequired)
            guard required.allSatisfy({ $0.keyPaths.contains("SELF") }) else { return nil }
            return entry.endpoint.parameters.first { $0.keyPaths.contains("SELF") }?.maximumValues ?? 1000
        }.max()
    }

    private func estimate(
        _ plan: inout FetchPlan, _ fetch: PlannedFetch, _ endpoint: Endpoint, _ binding: EndpointBinding, _ completion: Double,
        mayPage: Bool
    ) {
        var rows = binding.identifierCount.map(Double.init) ?? Double(endpoint.cost.expectedRows) * binding.share
        let parts = Double(max(1, binding.variants.count))
        if binding.identifierCount == nil, binding.variants.count > 1 { rows = max(rows, parts) }
        if fetch.limit > 0, plan.sortsInMemory.isEmpty {
            let wanted = Double(fetch.limit + (mayPage && endpoint.paging.takesOffset ? 0 : fetch.offset))
            rows = min(rows, plan.isExact ? wanted : wanted * 4)
        }
        var requests = parts
        if let size = endpoint.paging.step { requests = parts * max(1, (rows / parts / Double(size)).rounded(.up)) }
        if completion > 0 { requests += max(1, (rows * completion).rounded(.up)) }
        // Relationships that are loaded for the evaluation in memory count as requests.
        requests += Double(plan.needs.relationshipPaths.count { path in !endpoint.embeddings.contains { $0.keyPath == path } })
        if binding.variants.isEmpty { (rows, requests) = (0, 0) }
        // Bounded: within the expected rows of a description, which are a whole number.
        plan.estimatedRows = Int(rows.rounded(.up))
        plan.estimatedRequests = Int(requests)
        plan.cost = requests * endpoint.cost.request + rows * endpoint.cost.row
    }

    // MARK: Several endpoints

    /// Returns the plan with a separate part for each alternative of an OR.
    private func alternatives(_ fetch: PlannedFetch, at index: Int, depth: Int, _ search: inout Search) -> FetchPlan? {
        guard case .or(let parts) = fetch.clauses[index], search.begin(parts.count) else { return nil }
        var branch = fetch
        branch.mayJoin = false
        (branch.limit, branch.offset, branch.wantsCount, branch.aggregates, branch.sorts) = (0, 0, false, [], [])
        var rest = fetch.clauses
        rest.remove(at: index)
        var plans: [FetchPlan] = []
        for part in parts {
            branch.clauses = NormalForm(fetch.entity).clauses(.and([part] + rest))
            guard let plan = best(branch, depth: depth + 1, &search) else { return nil }
            plans.append(plan)
        }
        return united(plans, fetch)
    }

    /// Returns the plan with a separate part for each subentity.
    private func kinds(_ fetch: PlannedFetch, depth: Int, _ search: inout Search) -> FetchPlan? {
        guard fetch.includesSubentities, !fetch.entity.subentities.isEmpty else { return nil }
        var plans: [FetchPlan] = []
        for kind in fetch.entity.allKinds where !kind.isAbstract {
            var part = fetch
            part.mayJoin = false
            (part.limit, part.offset, part.wantsCount, part.aggregates, part.sorts) = (0, 0, false, [], [])
            (part.entity, part.includesSubentities) = (kind, false)
            guard let plan = best(part, depth: depth + 1, &search) else { return nil }
            plans.append(plan)
        }
        return united(plans, fetch)
    }

    /// Combines plans whose results are united and, if one leaves work to memory, evaluated again.
    private func united(_ plans: [FetchPlan], _ fetch: PlannedFetch) -> FetchPlan {
        var plan = FetchPlan()
        plan.hasSort = fetch.hasSort
        plan.requests = plans.flatMap(\.requests)
        plan.endpoints = plans.flatMap(\.endpoints)
        plan.estimatedRows = plans.reduce(0) { $0 + $1.estimatedRows }
        plan.estimatedRequests = plans.reduce(0) { $0 + $1.estimatedRequests }
        plan.cost = plans.reduce(0) { $0 + $1.cost }
        plan.filtersKinds = plans.contains(where: \.filtersKinds)
        if plans.contains(where: { $0.predicateInMemory != nil }) {
            plan.predicateInMemory = fetch.clauses.count == 1 ? fetch.clauses[0] : .and(fetch.clauses)
            plan.costlyClause = plans.compactMap(\.costlyClause).first
        }
        if fetch.hasSort { plan.sortsInMemory = fetch.sorts?.map(\.keyPath) ?? ["a comparator"] }
        plan.pagesInMemory = fetch.limit > 0 || fetch.offset > 0
        plan.needs = fetch.needs
        for part in plans { plan.needs.formUnion(part.needs) }
        plan.needs.formUnion(evaluated(plan, fetch))
        plan.relationshipsInMemory = plan.needs.relationshipPaths
        // If one part leaves work to memory, it is done for the rows of all parts.
        for (index, endpoint) in plan.endpoints.enumerated() {
            plan.requests[index].embeddings = embeddings(endpoint, fetch, plan.needs)
            plan.requests[index].properties = properties(endpoint, fetch, plan.needs)
        }
        return plan
    }
}

extension Endpoint {
    /// Whether answers contain a relationship: a to-many one if that is declared, a to-one one by default.
    func brings(_ relationship: String, of entity: NSEntityDescription) -> Bool {
        if embeddings.contains(where: { $0.keyPath == relationship }) { return true }
        if let properties { return properties.contains(relationship) }
        return entity.allKinds.contains { ($0.frozenParts.byName[relationship] as? NSRelationshipDescription)?.isToMany == false }
    }
}
