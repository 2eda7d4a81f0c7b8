internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Merges the results of reads with pending changes.
extension Outbox: PendingFolding {
    func receive(
        confirmed: Row, lists: [String: [CacheKey]], version: ResourceVersion?, askedAt: UInt64, key: CacheKey,
        in transaction: CacheTransaction
    ) throws {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard let subject = try pending.subject(key), var record = try pending.record(pending.local(key)) else { return }
        let parts = subject.row.entity.inner.frozenParts
        var values: [String: ResourceValue] = [:]
        var large: [String] = []
        for name in OutboxTransaction.names(subject.row.entity) {
            guard let property = parts.byName[name], !confirmed.isUnknown(property) else { continue }
            if subject.saving.uploads.contains(name) {
                large.append(name)
                continue
            }
            values[name] = OutboxTransaction.value(confirmed, property)
        }
        guard record.isConfirmed else {
            // The answer to the change is still to come, with an earlier version: the skipped result is requested again.
            if record.sent != nil { file.order.noteSkip() }
            return
        }
        if !file.keeps(.folding) { return try pending.write(values, subject.row) }
        let compares = comparing.withLock { $0.contains(askedAt) }
        let written = record.receive(
            values, version: version, subject.shown, compares: compares, keeping: compares ? overwriting(subject) : [],
            uncompared: subject.saving.uploads)
        try pending.write(written, subject.row)
        var known = Set(values.keys)
        for name in large where record.confirmed[name] == nil {
            // Large values are not compared: a pending value is kept, and another one is replaced by the backend's.
            try subject.row.set(OutboxTransaction.value(confirmed, parts.byName[name]).value, name)
            known.insert(name)
        }
        var knowledge = subject.row.knowledge
        if !knowledge.unknown.isDisjoint(with: known) {
            knowledge.setUnknown(knowledge.unknown.subtracting(known))
            subject.row.setKnowledge(knowledge)
        }
        if version != nil { setVersion(version, of: subject.row, in: transaction) }
        for (name, members) in lists { try receive(name, members, &record, subject, pending) }
        if !values.isEmpty { record.prune(subject.shown) }
        try settle(&record, subject, pending)
        try pending.finish(record, subject.row)
    }

    func receiveDeletion(askedAt: UInt64, key: CacheKey, in transaction: CacheTransaction) throws {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard let subject = try pending.subject(key), var record = try pending.record(pending.local(key)), record.isConfirmed else {
            return
        }
        try end(&record, subject, pending)
        try settle(&record, subject, pending)
        try pending.finish(record, subject.row)
    }

    func removes(_ member: CacheKey, from name: String, of key: CacheKey, in transaction: CacheTransaction) throws -> Bool {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard try pending.isAny, let record = try pending.record(pending.local(key)) else { return false }
        return [record.lists[name], record.sent?.lists[name]].contains { $0?.removed.contains(.local(member.number)) ?? false }
    }

    /// Notes that others have deleted an object. Its identifier is free: a resource that has it from now on is another object.
    func end(_ record: inout PendingRecord, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction) throws {
        guard record.isConfirmed else { return }
        record.receiveDeletion()
        if subject.row.resource != nil { try pending.transaction.setResource(nil, of: subject.row) }
    }

    /// Receives a complete list.
    func receive(
        _ name: String, _ members: [CacheKey], _ record: inout PendingRecord, _ subject: OutboxTransaction.Subject,
        _ pending: OutboxTransaction
    ) throws {
        let relationship = try subject.row.relationship(name)
        var places = Dictionary(members.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let mine = try pending.transaction.list(subject.row.key, name)
        for key in mine { places[key.number] = key }
        let isPending = { (row: Row) in pending.file.entity(inner: row.knownObjectID.owningEntity).state(of: row).isPending }
        var shown: [CacheKey]
        if record.lists[name] != nil {
            shown = record.receive(
                name, members: members.map { .local($0.number) }, mine: mine.map { .local($0.number) }, isOrdered: relationship.isOrdered
            ).compactMap { $0.localKey.flatMap { places[$0] } }
        } else {
            // Members with pending changes keep the place that their changes give them.
            let there = Set(members)
            shown = members + (try pending.transaction.rows(mine).filter(isPending).map { file.key(of: $0) }.filter { !there.contains($0) })
            if let inverse = relationship.storedInverse, !inverse.isToMany {
                let own = Set(mine)
                let moved = Set(
                    try pending.transaction.rows(members.filter { !own.contains($0) }).filter(isPending).map { file.key(of: $0) })
                shown.removeAll(where: moved.contains)
            }
        }
        try pending.transaction.setList(subject.row.key, name, shown) { !isPending($0) }
        var knowledge = subject.row.knowledge
        if knowledge.lists[name] == nil {
            knowledge.lists[name] = pending.transaction.now
            subject.row.setKnowledge(knowledge)
        }
    }

    // MARK: Conflicts

    /// The attributes that keep their displayed values in a conflict that others have caused. If the whole object wins, these are all known attributes.
    func overwriting(_ subject: OutboxTransaction.Subject) -> Set<String> {
        guard case .overwrite = rule else { return [] }
        let attributes = subject.row.entity.outer?.attributesByName.keys.filter { !subject.saving.uploads.contains($0) } ?? []
        return Set(attributes).subtracting(subject.row.knowledge.unknown)
    }

    /// Resolves a conflict, unless the application's function has to decide, or an answer is still to come.
    func settle(_ record: inout PendingRecord, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction) throws {
        guard record.theirs != nil, record.sent == nil else { return }
        if case .resolver = rule, record.state != .conflicting { return }
        try settle(&record, by: rule, subject, pending)
    }

    /// Resolves a conflict by a rule.
    func settle(
        _ record: inout PendingRecord, by rule: ConflictResolution, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction
    ) throws {
        var isAssigned = true
        switch subject.saving.identity {
        case .assignedByBackend: break
        default: isAssigned = false
        }
        let settlement = record.settle(rule, subject.shown, isAssigned: isAssigned)
        try apply(settlement, subject, pending)
        // An object that is created again under its former identifier gets it back, unless another object has it now.
        if record.kind == .insert, let resource = record.resource, subject.row.resource == nil,
            try pending.transaction.key(of: resource, in: subject.row.entity) == nil
        {
            try pending.transaction.setResource(resource, of: subject.row)
        }
    }

    /// Writes the values of a settlement to the row.
    func apply(_ settlement: PendingRecord.Settlement, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction) throws {
        if settlement.isRemoved { return }
        try pending.write(settlement.values, subject.row)
        try pending.undo(settlement.undone, subject.row)
        if settlement.isNew {
            try pending.transaction.setResource(nil, of: subject.row)
            subject.row.setVersion(nil)
        }
    }
}
