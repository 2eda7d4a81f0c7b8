internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RemoteReader {
    /// Answers a query.
    ///
    /// - Throws: Code 134091 for a query that no endpoint can answer, or that would read too much for an evaluation in memory; the backend's error;
    ///   `CancellationError`.
    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer {
        var fetch = try planned(query)
        var plan = try planner(caller).plan(fetch)
        RequestRunner.log.trace("\(plan)")
        while let join = plan.joins.first {
            let ids = try await destinations(join, for: caller)
            (fetch, plan) = try planner(caller).plan(fetch, after: join, found: ids)
            RequestRunner.log.trace("\(plan)")
        }
        let budget = FetchBudget(options, query.entity, blaming: plan.costlyClause)
        if plan.rowsAreResults(of: query) {
            let found = try await readAll(plan, budget, for: caller)
            return try await returned(found.rows, found, for: caller)
        }
        if plan.isCountedByBackend || plan.isAggregatedByBackend {
            try budget.noteRequest()
            let answer = try await runner.answer(plan.requests[0])
            if plan.isCountedByBackend, let total = answer.total { return .count(total) }
            if plan.isAggregatedByBackend, let found = try BackendGroups(query)?.result(answer) {
                return .dictionaries(StoreDictionaries(found))
            }
            // The backend has not reported the number: it is determined from the results.
            var whole = plan
            whole.requests[0].wantsCount = false
            whole.requests[0].aggregates = []
            whole.requests[0].groups = []
            return try await finish(query, whole, try await candidates(query, whole, budget, for: caller), for: caller)
        }
        return try await finish(query, plan, try await candidates(query, plan, budget, for: caller), for: caller)
    }

    /// Returns the number of results if the backend reports it in one request; nil if rows have to be read for it.
    ///
    /// - Throws: As ``fetch(_:for:)``.
    func numberOfResults(_ query: StoreQuery, for caller: StoreCaller) async throws -> Int? {
        let plan = try planner(caller).plan(planned(query))
        guard plan.joins.isEmpty, plan.isCountedByBackend else { return nil }
        return try await runner.answer(plan.requests[0]).total
    }

    /// Returns the destinations of a relationship that match. Their rows are kept for later requests.
    private func destinations(_ join: FetchPlan.SemiJoin, for caller: StoreCaller) async throws -> [NSManagedObjectID] {
        guard let entity = join.part.relationship.destinationEntity else { return [] }
        let time = AskTime(options.now())
        let answer = try await fetch(StoreQuery(entity).with(predicate: NSPredicate(tree: join.predicate)), for: caller)
        guard case .rows(let rows) = answer else { return [] }
        parked.park(rows.filter { earlier.take($0) == nil }, at: time)
        return rows.map(\.knownObjectID)
    }

    /// Reads rows until no result can be missing.
    ///
    /// - Returns: Rows that match the predicate, in the order of the results unless they are sorted in memory.
    private func candidates(
        _ query: StoreQuery, _ plan: FetchPlan, _ budget: FetchBudget, for caller: StoreCaller
    ) async throws -> CandidateRows {
        let candidates = CandidateRows()
        let isGrouped = query.resultType == .dictionaryResultType && (query.isGrouped || query.returnsDistinctResults)
        guard query.fetchLimit > 0, plan.isOrdered, !isGrouped, !plan.usesKeptAnswer else {
            var found = try await readAll(plan, budget, for: caller)
            defer {
                found.rows = RowList()
                candidates.found = found
            }
            return try await matching(Array(found.rows), query, plan, budget, candidates, for: caller)
        }
        // Pages are read only until there are enough results.
        let wanted = query.fetchLimit + (plan.requests.first?.offset == 0 ? query.fetchOffset : 0)
        var seen: Set<NSManagedObjectID> = []
        for (request, endpoint) in zip(plan.requests, plan.endpoints) {
            var order: RowList?
            _ = try await readPages(request, endpoint, budget) { _, new, all in
                let new = plan.requests.count == 1 ? Array(new) : new.filter { seen.insert($0.knownObjectID).inserted }
                _ = try await matching(new, query, plan, budget, candidates, for: caller)
                guard let all, plan.requests.count == 1 else { return candidates.rows.count < wanted }
                order = all
                return candidates.count(among: Array(all)) < wanted
            }
            if let order { candidates.order(as: Array(order)) }
            if candidates.rows.count >= wanted { break }
        }
        return candidates
    }

    /// Adds the matching rows.
    func matching(
        _ rows: [Row], _ query: StoreQuery, _ plan: FetchPlan, _ budget: FetchBudget, _ candidates: CandidateRows, for caller: StoreCaller
    ) async throws -> CandidateRows {
        var rows = rows
        if plan.filtersKinds {
            rows = rows.filter { row in
                let own = row.knownObjectID.owningEntity
                return own === query.entity || query.includesSubentities && own.isKindOf(entity: query.entity)
            }
        }
        if !plan.needs.isEmpty { rows = try await completed(rows, plan.needs, candidates, budget, for: caller) }
        guard let predicate = plan.predicateInMemory else {
            candidates.add(rows)
            return candidates
        }
        let earlier = candidates.rows
        candidates.set(rows)
        let filter = StoreQuery(query.entity, includesSubentities: query.includesSubentities).with(predicate: NSPredicate(tree: predicate))
        guard case .rows(let matching) = try RowEvaluator(candidates).answer(filter) else { return candidates }
        candidates.set(earlier + Array(matching))
        return candidates
    }

    /// Creates the answer from the matching rows: their order, page and form.
    private func finish(
        _ query: StoreQuery, _ plan: FetchPlan, _ candidates: CandidateRows, for caller: StoreCaller
    ) async throws -> StoreAnswer {
        let answer = try shaped(query, plan, candidates)
        guard case .rows(let list) = answer else { return answer }
        return try await returned(list, candidates.found, for: caller)
    }

    /// Returns rows to a context.
    private func returned(_ rows: RowList, _ found: Found?, for caller: StoreCaller) async throws -> StoreAnswer {
        if let found, found.isEarlier { found.note(rows, in: earlier) }
        return .rows(hasReferencesToKinds ? RowList(try await knowingKinds(Array(rows), for: caller)) : rows)
    }

    private func shaped(_ query: StoreQuery, _ plan: FetchPlan, _ candidates: CandidateRows) throws -> StoreAnswer {
        let isSkipped = plan.requests.first.map { $0.offset > 0 } ?? false
        let offset = isSkipped ? 0 : query.fetchOffset
        let rest = query.with(predicate: nil).with(fetchOffset: offset, fetchLimit: query.fetchLimit)
        if query.resultType == .dictionaryResultType || !plan.sortsInMemory.isEmpty {
            let isSorted = plan.sortsInMemory.isEmpty && !(query.resultType == .dictionaryResultType && query.isGrouped)
            return try RowEvaluator(candidates).answer(isSorted ? rest.sorted(by: []) : rest)
        }
        let rows = rest.page(candidates.rows)
        switch query.resultType {
        case .countResultType: return .count(rows.count)
        case .managedObjectIDResultType: return .ids(rows.map(\.knownObjectID))
        default: return .rows(RowList(rows))
        }
    }

    // MARK: Inputs of the evaluation

    /// Loads values that the evaluation of rows reads and that the rows do not contain.
    func completed(
        _ rows: [Row], _ needs: Needs, _ candidates: CandidateRows, _ budget: FetchBudget, for caller: StoreCaller
    ) async throws -> [Row] {
        var rows = rows
        let lacking = rows.filter { row in
            needs.properties.contains { name in
                row.knownObjectID.owningEntity.frozenParts.byName[name].map(row.isUnknown) ?? false
            }
        }
        if !lacking.isEmpty {
            let loaded = try await read(lacking.map(\.knownObjectID), knowing: needs.properties, budget, for: caller)
            didComplete?(loaded)
            let byID = Dictionary(loaded.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
            rows = try rows.map { row in
                let whole = byID[row.knownObjectID].map { row.filled(from: $0) } ?? row
                return try whole.withoutUnknown(needs.properties)
            }
        }
        candidates.addRelated(rows)
        for (name, inner) in needs.relationships.sorted(by: { $0.key < $1.key }) {
            let (targets, resolved) = try await targets(of: name, from: rows, candidates, budget, for: caller)
            if !resolved.isEmpty {
                rows = rows.map { row in resolved[row.knownObjectID].map { row.pointing(to: $0, by: name) } ?? row }
                candidates.addRelated(rows)
            }
            var missing: [NSManagedObjectID] = []
            var found: [Row] = []
            for id in targets { if let row = try candidates.row(with: id) { found.append(row) } else { missing.append(id) } }
            if !missing.isEmpty {
                let read = try await read(missing, knowing: inner.properties, budget, for: caller)
                didComplete?(read)
                found += read
            }
            candidates.addRelated(found)
            if !inner.isEmpty { candidates.addRelated(try await completed(found, inner, candidates, budget, for: caller)) }
        }
        return rows
    }

    /// Returns the distinct destinations of a relationship of rows and, by owner, those of to-one relationships that are unknown in the rows.
    private func targets(
        of name: String, from rows: [Row], _ candidates: CandidateRows, _ budget: FetchBudget, for caller: StoreCaller
    ) async throws -> (ids: [NSManagedObjectID], resolved: [NSManagedObjectID: [NSManagedObjectID]]) {
        var resolved: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var ids: [NSManagedObjectID] = []
        var seen: Set<NSManagedObjectID> = []
        var unknown: [ObjectIdentifier: (relationship: NSRelationshipDescription, owners: [NSManagedObjectID])] = [:]
        for row in rows {
            guard let relationship = row.knownObjectID.owningEntity.frozenParts.byName[name] as? NSRelationshipDescription else { continue }
            if row.isUnknown(relationship) {
                unknown[ObjectIdentifier(relationship), default: (relationship, [])].owners.append(row.knownObjectID)
            } else {
                for id in row.relatedIDs(relationship) where seen.insert(id).inserted { ids.append(id) }
            }
        }
        for (relationship, owners) in unknown.values {
            let found = try await related(by: relationship, from: owners, budget, for: caller)
            if relationship.isToMany {
                candidates.setLists(found, name)
            } else {
                for owner in owners { resolved[owner] = found[owner] ?? [] }
            }
            for owner in owners { for id in found[owner] ?? [] where seen.insert(id).inserted { ids.append(id) } }
        }
        return (ids, resolved)
    }
}

extension Row {
    /// Returns the row with nil for values that all endpoints have omitted although they are declared to return them, so that a comparison with nil matches.
    fileprivate func withoutUnknown(_ names: Set<String>) throws -> Row {
        let own = names.compactMap { knownObjectID.owningEntity.frozenParts.byName[$0] }.filter(isUnknown)
        if own.isEmpty { return self }
        let copy = copy()
        for property in own {
            if let attribute = property as? NSAttributeDescription {
                try copy.setValue(.null, of: attribute)
            } else if let relationship = property as? NSRelationshipDescription, !relationship.isToMany {
                copy.setRelatedIDs([], of: relationship)
            }
        }
        return copy
    }

    /// Returns the row with the destination of a to-one relationship.
    fileprivate func pointing(to ids: [NSManagedObjectID], by name: String) -> Row {
        guard let relationship = knownObjectID.owningEntity.frozenParts.byName[name] as? NSRelationshipDescription else { return self }
        let copy = copy()
        copy.setRelatedIDs(ids, of: relationship)
        return copy
    }
}
