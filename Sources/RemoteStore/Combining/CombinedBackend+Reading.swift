internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension CombinedBackend {
    func answer(_ request: BackendRequest, _ entity: CombinedEntity) async throws -> BackendAnswer {
        switch entity.routes[request.endpoint] {
        case .identity(let indices): return try await byIdentity(request, entity, indices)
        case .all: return try await everything(request, entity)
        case .part(let index, let endpoint): return try await one(request, entity, entity.shares[index], endpoint)
        case nil: throw RemoteStoreError.unanswerable(entity.name, nil, ["There is no endpoint “\(request.endpoint)”."])
        }
    }

    /// Returns the values of an object from all shares. If a part does not have it, the properties of that part are nil.
    func values(_ id: ResourceID, _ entity: CombinedEntity, _ parts: [(share: CombinedEntity.Share, row: PartRow?)])
        -> [String: ResourceValue]
    {
        var values: [String: ResourceValue] = [entity.identity: .value(id.attributeValue)]
        for (share, row) in parts {
            if let row {
                values.merge(row.values.filter { share.share.properties.contains($0.key) }) { _, new in new }
                continue
            }
            let lists = Set(share.lookup.endpoint.embeddings.filter(\.isAlwaysThere).map(\.keyPath))
            for name in share.share.properties {
                switch entity.entity.propertiesByName[name] {
                case let relationship as NSRelationshipDescription where relationship.isToMany:
                    if lists.contains(name) { values[name] = .many([]) }
                case is NSRelationshipDescription: values[name] = .one(nil)
                default: values[name] = .value(.null)
                }
            }
        }
        return values
    }

    /// Adds an object, with the unreadable values of its parts.
    private func add(
        _ id: ResourceID, _ entity: CombinedEntity, _ parts: [(share: CombinedEntity.Share, row: PartRow?)], to answer: inout BackendAnswer
    ) throws {
        try answer.add(id, values(id, entity, parts))
        for (share, row) in parts { row?.noteUnread(in: &answer, among: Set(share.share.properties)) }
    }

    // MARK: By identity

    private func byIdentity(_ request: BackendRequest, _ entity: CombinedEntity, _ indices: [Int]) async throws -> BackendAnswer {
        let filter = request.filter(CombinedEntity.parameter)
        var order: [ResourceID] = []
        var wanted: Set<ResourceID> = []
        for id in (filter?.ids ?? []) + (filter?.values ?? []).compactMap(ResourceID.init) where wanted.insert(id).inserted {
            order.append(id)
        }
        var rows = try await lookup(wanted, entity, indices)
        // An object that a part does not have exists if another part has it.
        let missing = wanted.filter { id in !rows.values.contains { $0[id] != nil } }
        let others = entity.shares.indices.filter { !indices.contains($0) }
        let elsewhere = try await lookup(missing, entity, others)
        let found = Set(elsewhere.values.flatMap(\.keys))
        for index in indices where rows[index] == nil { rows[index] = [:] }
        var answer = request.answer()
        for id in order where found.contains(id) || rows.values.contains(where: { $0[id] != nil }) {
            try add(id, entity, indices.map { (entity.shares[$0], rows[$0]?[id]) }, to: &answer)
        }
        answer.isComplete = true
        return answer
    }

    /// Asks several parts concurrently.
    func lookup(
        _ ids: Set<ResourceID>, _ entity: CombinedEntity, _ indices: [Int]
    ) async throws -> [Int: [ResourceID: PartRow]] {
        if ids.isEmpty { return [:] }
        return try await withThrowingTaskGroup(of: (Int, [ResourceID: PartRow]).self) { group in
            for index in indices {
                let share = entity.shares[index]
                let member = members[share.member]
                group.addTask {
                    let rows = try await member.lookup(ids, share.share)
                    return (index, rows)
                }
            }
            var rows: [Int: [ResourceID: PartRow]] = [:]
            for try await (index, found) in group { rows[index] = found }
            return rows
        }
    }

    // MARK: Everything

    private func everything(_ request: BackendRequest, _ entity: CombinedEntity) async throws -> BackendAnswer {
        let pages = try await withThrowingTaskGroup(of: (Int, PartPage).self) { group in
            for (index, share) in entity.shares.enumerated() {
                guard let list = share.list else { continue }
                let member = members[share.member]
                let own = BackendRequest(entity: entity.name, endpoint: list.name, decoding: member.decoding)
                group.addTask {
                    let page = try await member.all(own, list)
                    return (index, page)
                }
            }
            var pages: [Int: PartPage] = [:]
            for try await (index, page) in group { pages[index] = page }
            return pages
        }
        var answer = request.answer()
        var order: [ResourceID] = []
        var rows: [ResourceID: [Int: PartRow]] = [:]
        for (index, page) in pages.sorted(by: { $0.key < $1.key }) {
            for row in page.rows {
                guard let id = identity(row, entity, entity.shares[index], &answer) else { continue }
                if let other = rows[id]?[index] {
                    // Pages may overlap, but two resources must not be the same object.
                    if other.native != row.native { answer.unreadable.append(twin(row, other, entity.shares[index])) }
                    continue
                }
                if rows[id] == nil { order.append(id) }
                rows[id, default: [:]][index] = row
            }
            try page.embed(in: &answer)
            page.take(&answer)
        }
        for id in order {
            try add(id, entity, entity.shares.indices.map { (entity.shares[$0], rows[id]?[$0]) }, to: &answer)
        }
        answer.isComplete = true
        return answer
    }

    /// Returns the identity of a row; nil for a row without one, which is reported.
    private func identity(
        _ row: PartRow, _ entity: CombinedEntity, _ share: CombinedEntity.Share, _ answer: inout BackendAnswer
    ) -> ResourceID? {
        if let id = row.identity { return id }
        let reason = CoreDataError.make(
            NSPersistentStoreOperationError, "“\(entity.name)” \(row.native) of “\(members[share.member].name)” cannot be read.",
            reason: "Its “\(entity.identity)”, which is its identity, has no value.", next: "Set it there.")
        answer.unreadable.append(UnreadableResource(entity.name, id: row.native, reason: reason, raw: nil))
        return nil
    }

    private func twin(_ row: PartRow, _ other: PartRow, _ share: CombinedEntity.Share) -> any Error {
        let reason = CoreDataError.make(
            NSPersistentStoreOperationError, "“\(row.entity)” \(row.native) of “\(members[share.member].name)” is left out.",
            reason: "It has the identity of \(other.native).", next: "Remove one of the two there.")
        return UnreadableResource(row.entity, id: row.native, reason: reason, raw: nil)
    }

    // MARK: One part

    private func one(
        _ request: BackendRequest, _ entity: CombinedEntity, _ share: CombinedEntity.Share, _ endpoint: Endpoint
    ) async throws -> BackendAnswer {
        var answer = request.answer()
        let member = members[share.member]
        guard var (own, _) = try await member.own(request, endpoint.name) else {
            (answer.total, answer.isComplete) = (0, true)
            return answer
        }
        if endpoint.logic == .tree, own.predicate == nil, !own.filters.isEmpty {
            own.predicate = .and(own.filters.map { $0.tree(endpoint.parameters) })
            own.filters = []
        }
        if !share.share.identifiesAlike { own.properties?.insert(entity.identity) }
        let page = try await member.page(own)
        (answer.next, answer.total) = (page.answer.next, page.answer.total)
        (answer.aggregates, answer.groups) = (page.answer.aggregates, page.answer.groups)
        var seen: [ResourceID: PartRow] = [:]
        for row in page.rows {
            guard let id = identity(row, entity, share, &answer) else { continue }
            if let other = seen.updateValue(row, forKey: id), other.native != row.native {
                answer.unreadable.append(twin(row, other, share))
                continue
            }
            try add(id, entity, [(share, row)], to: &answer)
        }
        try page.embed(in: &answer)
        page.take(&answer)
        return answer
    }
}
