@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The import of lists: the members that a row, or a relationship that was read, contains.
extension ImportRun {
    /// Returns the complete lists of a row.
    func lists(_ row: Row) throws -> [String: [CacheKey]] {
        guard kind(row.knownObjectID.owningEntity).hasToMany else { return [:] }
        var lists: [String: [CacheKey]] = [:]
        for relationship in row.knownObjectID.owningEntity.frozenParts.relationships
        where relationship.isToMany && !relationship.isTransient && !row.isUnknown(relationship) {
            lists[relationship.name] = row.relatedIDs(relationship).compactMap { places[$0]?.key }
        }
        return lists
    }

    func takeList(_ name: String, _ members: [CacheKey], _ owner: CacheRow, _ knowledge: inout CacheEntity.Knowledge) throws {
        try setList(name, members, owner.key)
        // The time is that of the first answer: an answer that changes nothing writes nothing.
        if knowledge.lists[name] == nil { knowledge.lists[name] = now }
    }

    /// Sets the members, except those with conflicting pending changes.
    private func setList(_ name: String, _ members: [CacheKey], _ owner: CacheKey) throws {
        let shown = try shown(members, name, owner)
        try transaction.setList(owner, name, shown) { row in
            !isKept(row)
        }
    }

    /// Whether a member has pending changes, or changes that were acknowledged after the list was requested.
    private func isKept(_ row: Row) -> Bool {
        let key = file.key(of: row)
        return key.entity.state(of: row).isPending || file.order.isNewer(key, than: askedAt)
    }

    /// Returns the members of a list, including pending changes: new members stay, and members that were moved or removed do not come back.
    private func shown(_ members: [CacheKey], _ name: String, _ owner: CacheKey) throws -> [CacheKey] {
        let own = file.entity(inner: owner.entity.inner).inner
        guard let relationship = own.frozenParts.byName[name] as? NSRelationshipDescription else { return members }
        let current = try transaction.list(owner, name)
        var pending: [CacheKey] = []
        for row in try transaction.rows(current) {
            if isKept(row) { pending.append(file.key(of: row)) }
        }
        var result = members
        if let inverse = relationship.storedInverse {
            let known = Set(current)
            let new = members.filter { !known.contains($0) }
            let moved =
                inverse.isToMany
                ? try Set(new.filter { try isTakenOut(owner, inverse, $0) })
                : try Set(transaction.rows(new).filter(isKept).map { file.key(of: $0) })
            if !moved.isEmpty { result.removeAll(where: moved.contains) }
        }
        let here = Set(result)
        return result + pending.filter { !here.contains($0) }
    }

    /// Whether an object has removed another one from a relationship that is sent with it, by a change that is pending or was acknowledged after the other end
    /// was requested.
    private func isTakenOut(_ member: CacheKey, _ relationship: NSRelationshipDescription, _ key: CacheKey) throws -> Bool {
        guard let folding = importer.folding, let entity = key.entity.outer,
            let own = entity.frozenParts.byName[relationship.name] as? NSRelationshipDescription,
            importer.catalog.saving(of: entity)?.sends(own) == true
        else { return false }
        if file.order.isNewer(key, than: askedAt) {
            file.order.noteSkip()
            return true
        }
        return try folding.removes(member, from: relationship.name, of: key, in: transaction)
    }

    func takeList(_ name: String, of owner: CacheKey, _ members: [NSManagedObjectID]) throws {
        guard let stored = try transaction.row(owner) else { return }
        if file.order.isNewer(owner, than: askedAt) { return }
        let keys = members.compactMap { places[$0]?.key }
        let entity = file.entity(inner: stored.knownObjectID.owningEntity)
        if let relationship = entity.inner.frozenParts.byName[name] as? NSRelationshipDescription, !relationship.isToMany {
            return try takeOne(relationship, keys.first, stored, owner, entity)
        }
        if entity.state(of: stored).isPending, let folding = importer.folding {
            let blank = Row.unknown(entity.inner, file.innerID(owner), version: stored.version)
            return try folding.receive(
                confirmed: blank, lists: [name: keys], version: entity.version(of: stored), askedAt: askedAt, key: owner, in: transaction)
        }
        try setList(name, keys, owner)
        var knowledge = entity.knowledge(of: stored)
        if knowledge.lists[name] == nil {
            knowledge.lists[name] = now
            try transaction.edit(owner)?.setKnowledge(knowledge)
        }
    }

    /// Stores the destination of a to-one relationship that was unknown.
    private func takeOne(
        _ relationship: NSRelationshipDescription, _ destination: CacheKey?, _ stored: Row, _ owner: CacheKey, _ entity: CacheEntity
    ) throws {
        if entity.state(of: stored).isPending, let folding = importer.folding {
            let row = Row.unknown(entity.inner, file.innerID(owner), version: stored.version)
            row.setRelatedIDs(destination.map { [file.innerID($0)] } ?? [], of: relationship)
            return try folding.receive(
                confirmed: row, lists: [:], version: entity.version(of: stored), askedAt: askedAt, key: owner, in: transaction)
        }
        guard let edit = try transaction.edit(owner) else { return }
        try edit.setOne(destination, relationship.name)
        var knowledge = edit.knowledge
        knowledge.setUnknown(knowledge.unknown.subtracting([relationship.name]))
        edit.setKnowledge(knowledge)
    }
}
