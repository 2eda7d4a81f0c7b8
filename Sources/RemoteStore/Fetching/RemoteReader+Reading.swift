internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RemoteReader {
    /// Returns the predicate for some objects.
    private func identity(_ ids: [NSManagedObjectID]) -> PredicateTree {
        let values = ids.map { PropertyValue.object(ObjectReference($0)) }
        return values.count == 1
            ? .compare(.evaluatedObject, .equal, .constant(values[0])) : .compare(.evaluatedObject, .isIn, .constant(.array(values)))
    }

    /// Reads objects by their identifiers. Embedded rows from earlier answers are used first.
    ///
    /// - Parameters:
    ///   - properties: The properties that the rows must know; empty if any will do.
    ///   - isFresh: Whether embedded rows from earlier answers are ignored.
    ///   - isReturned: Whether the store returns the rows.
    /// - Returns: The rows, without those of objects that do not exist.
    /// - Throws: An error even if only one of them cannot be read.
    func read(
        _ ids: [NSManagedObjectID], knowing properties: Set<String> = [], isFresh: Bool = false, _ budget: FetchBudget? = nil,
        for caller: StoreCaller
    ) async throws -> [Row] {
        let found = try await readAvailable(ids, knowing: properties, isFresh: isFresh, budget, for: caller)
        if !found.failures.isEmpty, let first = ids.lazy.compactMap({ found.failures[$0] }).first { throw first.error }
        return found.rows
    }

    /// Reads objects by their identifiers like ``read(_:knowing:isFresh:_:for:)``, and reports which of them cannot be read.
    func readAvailable(
        _ ids: [NSManagedObjectID], knowing properties: Set<String> = [], isFresh: Bool = false, isReturned: Bool = false,
        _ budget: FetchBudget? = nil, for caller: StoreCaller
    ) async throws -> (rows: [Row], failures: Failures) {
        var failures: Failures = [:]
        var missing = ids
        var rows: [Row] = []
        // An unreadable value is not requested again before the object is refreshed.
        if !isFresh { takeUnread(properties, of: &missing, &failures) }
        if !isFresh {
            let oldest = caller.stalenessInterval < 0 ? nil : options.now() - .seconds(caller.stalenessInterval)
            for (row, time) in parked.take(&missing, since: oldest) {
                if !properties.isEmpty {
                    let entity = row.knownObjectID.owningEntity
                    let isEnough = properties.allSatisfy { entity.frozenParts.byName[$0].map { !row.isUnknown($0) } ?? true }
                    guard isEnough else {
                        missing.append(row.knownObjectID)
                        continue
                    }
                }
                rows.append(row)
                if isReturned { earlier.note(CollectionOfOne(row), askedAt: time.uptime) }
            }
        }
        if missing.isEmpty { return (rows, failures) }
        // The objects are read by entity, because each may have endpoints of its own.
        var groups: [(entity: NSEntityDescription, ids: [NSManagedObjectID])] = []
        for id in missing {
            if let index = groups.firstIndex(where: { $0.entity === id.owningEntity }) {
                groups[index].ids.append(id)
            } else {
                groups.append((id.owningEntity, [id]))
            }
        }
        for (entity, ids) in groups {
            rows += try await read(
                ids, of: entity, properties, isReturned: isReturned, budget ?? FetchBudget(options, entity, blaming: nil), &failures,
                for: caller)
        }
        if !properties.isEmpty, !unreadable.isEmpty {
            rows.removeAll { row in
                let lacking = properties.filter { row.knownObjectID.owningEntity.frozenParts.byName[$0].map(row.isUnknown) ?? false }
                guard !lacking.isEmpty, let failure = unreadable.failure(lacking, of: row.knownObjectID) else { return false }
                failures[row.knownObjectID] = failure
                return true
            }
        }
        return (rows, failures)
    }

    /// Removes the objects with an unreadable value of one of the properties.
    private func takeUnread(_ properties: Set<String>, of ids: inout [NSManagedObjectID], _ failures: inout Failures) {
        if properties.isEmpty || unreadable.isEmpty { return }
        ids.removeAll { id in
            guard let failure = unreadable.failure(properties, of: id) else { return false }
            failures[id] = failure
            return true
        }
    }

    /// Reads further, or repeats the request for the rest, until each object was received or is known not to exist.
    private func read(
        _ ids: [NSManagedObjectID], of entity: NSEntityDescription, _ properties: Set<String>, isReturned: Bool, _ budget: FetchBudget,
        _ failures: inout Failures, for caller: StoreCaller
    ) async throws -> [Row] {
        var missing = Set(ids)
        var order = ids
        var rows: [Row] = []
        while !missing.isEmpty {
            var fetch = PlannedFetch(entity: entity)
            fetch.clauses = [identity(order)]
            fetch.mayComplete = false
            fetch.needs.properties = properties.filter { entity.frozenParts.byName[$0] != nil }
            let plan = try planner(caller).plan(fetch)
            let kept = plan.requests.count == 1 && plan.predicateInMemory != nil ? keptAnswer(plan, for: caller) : nil
            let found: Found
            if let kept {
                found = Found(rows: RowList(order.compactMap(kept.row)), time: kept.time)
            } else {
                found = try await readEach(plan, budget, for: order, &failures, for: caller)
                missing.subtract(failures.keys)
            }
            var new = 0
            let before = rows.count
            for row in found.rows where missing.remove(row.knownObjectID) != nil {
                rows.append(row)
                new += 1
            }
            if isReturned, found.isEarlier { found.note(Array(rows[before...]), in: earlier) }
            if found.time == nil { self.kept.didRead(found.rows) }
            if !missing.isEmpty {
                noteOtherForms(missing, of: entity, among: kept?.rows ?? found.rows, asked: Set(ids), &failures)
                missing.subtract(failures.keys)
            }
            // An object that was requested alone, or by a call that returns everything, does not exist.
            if found.isProven || new == 0 || plan.predicateInMemory != nil || plan.requests.count == order.count { break }
            order = order.filter(missing.contains)
        }
        return rows
    }

    private func keptAnswer(_ plan: FetchPlan, for caller: StoreCaller) -> KeptAnswers.Answer? {
        kept.answer(
            plan.requests[0], age: plan.endpoints[0].freshness, maximumAge: caller.stalenessInterval, epoch: runner.epoch)
    }

    // MARK: Relationships

    /// Returns the destinations of a relationship of objects, by owner. Embedded rows are kept for later requests.
    ///
    /// - Throws: Code 134091 if no endpoint returns them; the backend's error, even if only those of one owner cannot be read.
    func related(
        by relationship: NSRelationshipDescription, from owners: [NSManagedObjectID], _ budget: FetchBudget? = nil, for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        let (found, failures) = try await relatedAvailable(by: relationship, from: owners, budget, for: caller)
        if !failures.isEmpty, let first = owners.lazy.compactMap({ failures[$0] }).first { throw first.error }
        return found
    }

    /// Returns the destinations of a relationship for a context or a cache, with their actual entities.
    ///
    /// - Throws: `UnreadObjects` with the destinations of the other owners if some cannot be read.
    func relatedReturned(
        by relationship: NSRelationshipDescription, from owners: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        let (found, failures) = try await relatedAvailable(by: relationship, from: owners, for: caller)
        let known = try await knowingKinds(found, of: relationship, for: caller)
        if !failures.isEmpty { throw UnreadObjects(failures, related: known) }
        return known
    }

    /// Returns the destinations of a relationship like ``related(by:from:_:for:)``, and the owners whose destinations cannot be read.
    private func relatedAvailable(
        by relationship: NSRelationshipDescription, from owners: [NSManagedObjectID], _ budget: FetchBudget? = nil, for caller: StoreCaller
    ) async throws -> (found: [NSManagedObjectID: [NSManagedObjectID]], failures: Failures) {
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var failures: Failures = [:]
        var unknown: [NSManagedObjectID] = []
        for owner in owners {
            if let list = parked.list(relationship, of: owner) {
                found[owner] = list
            } else if !relationship.isToMany, let failure = unreadable.failure([relationship.name], of: owner) {
                failures[owner] = failure
            } else {
                unknown.append(owner)
            }
        }
        guard !unknown.isEmpty, let entity = relationship.entity, let destination = relationship.destinationEntity else {
            return (found, failures)
        }
        let budget = budget ?? FetchBudget(options, entity, blaming: nil)
        let planner = planner(caller)

        // Either the owners contain their destinations, or the destinations their owners.
        var byOwner = PlannedFetch(entity: entity)
        byOwner.clauses = [identity(unknown)]
        byOwner.mayComplete = false
        byOwner.needs.properties = [relationship.name]
        let ownerPlan = relationshipPlan(byOwner, relationship, planner)
        var byDestination = PlannedFetch(entity: destination)
        byDestination.prefetches = []
        let inverse = relationship.storedInverse
        if let inverse { byDestination.clauses = [links(inverse, unknown)] }
        var reason: (any Error)?
        var destinationPlan: FetchPlan?
        if inverse != nil {
            do { destinationPlan = try planner.plan(byDestination) } catch { reason = error }
            // If the owner is compared in memory, the answers must contain it.
            if let plan = destinationPlan, plan.predicateInMemory != nil,
                let inverse, !plan.endpoints.allSatisfy({ $0.brings(inverse.name, of: destination) })
            {
                destinationPlan = nil
            }
        }
        if let ownerPlan, ownerPlan.cost <= destinationPlan?.cost ?? .infinity {
            found.merge(try await fromOwners(ownerPlan, relationship, unknown, budget, &failures, for: caller)) { _, new in new }
        } else if let destinationPlan, let inverse {
            found.merge(try await fromDestinations(destinationPlan, inverse, unknown, budget, &failures, for: caller)) { _, new in new }
        } else {
            throw reason
                ?? RemoteStoreError.unanswerable(
                    entity.name ?? "?", "“\(relationship.name)” is read",
                    [
                        "No endpoint of “\(entity.name ?? "?")” brings it by identifier, and it has no inverse that one of "
                            + "“\(destination.name ?? "?")” could be asked by."
                    ])
        }
        for owner in unknown where found[owner] == nil && failures[owner] == nil {
            // An unreadable list must not become an empty one.
            if let failure = unreadable.failure([relationship.name], of: owner) { failures[owner] = failure } else { found[owner] = [] }
        }
        return (found, failures)
    }

    /// Returns the cheapest plan whose answers are declared to contain the relationship; nil if there is none.
    private func relationshipPlan(_ fetch: PlannedFetch, _ relationship: NSRelationshipDescription, _ planner: Planner) -> FetchPlan? {
        guard let plan = try? planner.bringing(relationship).plan(fetch) else { return nil }
        return plan.predicateInMemory == nil || plan.endpoints.allSatisfy({ $0.freshness != nil }) ? plan : nil
    }

    private func links(_ inverse: NSRelationshipDescription, _ owners: [NSManagedObjectID]) -> PredicateTree {
        let values = owners.map { PropertyValue.object(ObjectReference($0)) }
        let constant = ExpressionTree.constant(values.count == 1 ? values[0] : .array(values))
        return .compare(
            .keyPath([inverse.name]), values.count == 1 ? .equal : .isIn, constant, modifier: inverse.isToMany ? .any : .direct)
    }

    private func fromOwners(
        _ plan: FetchPlan, _ relationship: NSRelationshipDescription, _ owners: [NSManagedObjectID], _ budget: FetchBudget,
        _ failures: inout Failures, for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        let wanted = Set(owners)
        let answer = try await readEach(plan, budget, mayEndEarly: false, for: owners, &failures, for: caller)
        for row in answer.rows where wanted.contains(row.knownObjectID) {
            guard !row.isUnknown(relationship) else { continue }
            found[row.knownObjectID] = row.relatedIDs(relationship)
        }
        let missing = wanted.filter { found[$0] == nil && failures[$0] == nil }
        if !missing.isEmpty, let entity = relationship.entity {
            noteOtherForms(missing, of: entity, among: answer.rows, asked: wanted, &failures)
        }
        return found
    }

    private func fromDestinations(
        _ plan: FetchPlan, _ inverse: NSRelationshipDescription, _ owners: [NSManagedObjectID], _ budget: FetchBudget,
        _ failures: inout Failures, for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        if plan.predicateInMemory != nil {
            return try await fromDump(plan, inverse, Set(owners), budget, for: caller)
        }
        let wanted = Dictionary(
            owners.compactMap { id in decoding.resourceID(id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        var requests = plan.requests
        if plan.endpoints.contains(where: { !($0.properties?.contains(inverse.name) ?? !inverse.isToMany) && !$0.tellsOwners }) {
            requests = requests.flatMap { $0.oneForEachOwner(inverse.name) }
        }
        let time = AskTime(options.now())
        let asked = requests.enumerated().map { index, request in
            GroupRequest(request, at: plan.endpoints[min(index, plan.endpoints.count - 1)], naming: request.linkIndex(inverse.name))
        }
        try budget.expectRequests(asked.count)
        let (parts, refused) = try await answers(asked) { one in
            try await self.pairs(one.request, one.endpoint, inverse, wanted, budget)
        }
        for (one, failure) in refused {
            if one.ids.isEmpty { throw failure.error }
            for owner in one.ids.compactMap({ wanted[$0] }) { failures[owner] = failure }
        }
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var seen: Set<Pair> = []
        for (owner, row) in parts.joined() where seen.insert(Pair(owner: owner, member: row.knownObjectID)).inserted {
            found[owner, default: []].append(row.knownObjectID)
        }
        parked.park(parts.joined().map(\.row), at: time)
        return found
    }

    /// Groups all resources of an endpoint by their owners.
    private func fromDump(
        _ plan: FetchPlan, _ inverse: NSRelationshipDescription, _ owners: Set<NSManagedObjectID>, _ budget: FetchBudget,
        for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        let time = AskTime(options.now())
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var members: [Row] = []
        let forms = OtherForms(owners.compactMap { decoding.resourceID($0) }, of: inverse.destinationEntity?.name ?? "?")
        for row in try await budget.whole(plan.requests, { try await readAll(plan, budget, for: caller).rows }) {
            guard let own = row.knownObjectID.owningEntity.frozenParts.byName[inverse.name] as? NSRelationshipDescription else { continue }
            if row.isUnknown(own), let failure = unreadable.failure([inverse.name], of: row.knownObjectID) { throw failure.error }
            let related = row.relatedIDs(own)
            let here = related.filter(owners.contains)
            for id in related where here.count < related.count {
                if let other = decoding.resourceID(id).flatMap({ forms.contradiction($0) }) { throw other.error }
            }
            for owner in here { found[owner, default: []].append(row.knownObjectID) }
            if !here.isEmpty { members.append(row) }
        }
        parked.park(members, at: time)
        return found
    }

    private struct Pair: Hashable {
        let owner: NSManagedObjectID
        let member: NSManagedObjectID
    }

    /// Returns the destinations that a request finds, each with its owner.
    private func pairs(
        _ request: BackendRequest, _ endpoint: Endpoint, _ inverse: NSRelationshipDescription, _ wanted: [ResourceID: NSManagedObjectID],
        _ budget: FetchBudget
    ) async throws -> [(owner: NSManagedObjectID, row: Row)] {
        let only = request.onlyOwner(inverse.name).flatMap { wanted[$0] }
        let asked = Set(wanted.values)
        let forms = OtherForms(wanted.keys, of: inverse.destinationEntity?.name ?? "?")
        var pairs: [(owner: NSManagedObjectID, row: Row)] = []
        _ = try await readPages(request, endpoint, budget) { answer, _, _ in
            if !answer.owners.isEmpty {
                for (owner, index) in answer.owners {
                    if let id = wanted[owner] {
                        pairs.append((id, answer.rows[index]))
                    } else if let (_, error) = forms.contradiction(owner) {
                        throw error
                    }
                }
                return true
            }
            for row in answer.rows {
                if let only {
                    pairs.append((only, row))
                } else if let own = row.knownObjectID.owningEntity.frozenParts.byName[inverse.name] as? NSRelationshipDescription,
                    !row.isUnknown(own)
                {
                    for id in row.relatedIDs(own) {
                        if asked.contains(id) {
                            pairs.append((id, row))
                        } else if let found = self.decoding.resourceID(id), let (_, error) = forms.contradiction(found) {
                            throw error
                        }
                    }
                } else if let unread = answer.unreadValues.first(where: { $0.property == inverse.name && $0.id == row.knownObjectID }) {
                    throw RemoteStoreError.unreadValue(unread.note, unread.property)
                } else {
                    throw RemoteStoreError.unanswerable(
                        inverse.entity?.name ?? "?", "“\(inverse.name)” is one of several objects",
                        ["“\(endpoint.name)” was asked for several owners, and does not tell whose its resources are."])
                }
            }
            return true
        }
        return pairs
    }
}

extension Endpoint {
    /// Whether answers contain the owners of their resources: an endpoint of a relationship that accepts several owners.
    var tellsOwners: Bool { parameters.contains { $0.maximumValues > 1 && $0.keyPaths.contains { $0.hasPrefix("ANY ") } } }
}

extension BackendRequest {
    private func isLink(_ filter: Filter, _ inverse: String) -> Bool {
        (filter.keyPath == inverse || filter.keyPath == "ANY \(inverse)") && (filter.comparison == .equal || filter.comparison == .isIn)
    }

    /// The index of the filter by owners; nil if the request has none.
    fileprivate func linkIndex(_ inverse: String) -> Int? { filters.firstIndex { isLink($0, inverse) } }

    /// The owner that the request names, if there is only one.
    func onlyOwner(_ inverse: String) -> ResourceID? {
        let owners = linkIndex(inverse).map { filters[$0].ids } ?? []
        return owners.count == 1 ? owners[0] : nil
    }

    /// Returns a request for each owner.
    func oneForEachOwner(_ inverse: String) -> [BackendRequest] {
        guard let index = linkIndex(inverse), filters[index].ids.count > 1 else { return [self] }
        return filters[index].ids.map { naming([$0], at: index) }
    }
}

extension RemoteReader {
    /// Reads objects for a context.
    ///
    /// - Throws: `UnreadObjects` with the rows of the others if some cannot be read.
    func returned(
        _ ids: [NSManagedObjectID], knowing properties: Set<String> = [], for caller: StoreCaller
    ) async throws -> [Row] {
        var (rows, failures) = try await readAvailable(ids, knowing: properties, isReturned: true, for: caller)
        if hasReferencesToKinds { rows = try await knowingKinds(rows, for: caller) }
        if !failures.isEmpty { throw UnreadObjects(failures, rows: rows) }
        return rows
    }

    /// Returns rows of objects that know some properties. A value that an endpoint is declared to return and has omitted is nil.
    func values(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row] {
        do {
            return try complete(try await returned(ids, knowing: Set(properties.map(\.name)), for: caller), properties)
        } catch var unread as UnreadObjects {
            unread.rows = try complete(unread.rows, properties)
            throw unread
        }
    }

    private func complete(_ rows: [Row], _ properties: [NSPropertyDescription]) throws -> [Row] {
        try rows.map { row in
            let own = properties.compactMap { row.knownObjectID.owningEntity.frozenParts.byName[$0.name] as? NSAttributeDescription }
            let absent = own.filter { row.isUnknown($0) }
            if absent.isEmpty { return row }
            let copy = row.copy()
            if let time = earlier.take(row) { earlier.note(CollectionOfOne(copy), askedAt: time) }
            for attribute in absent { try copy.setValue(.null, of: attribute) }
            return copy
        }
    }
}
