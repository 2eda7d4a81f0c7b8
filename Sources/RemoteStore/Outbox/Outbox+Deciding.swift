internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Carries out the application's decisions about changes that are set aside.
extension Outbox {
    /// Lets a change be retried. For a conflict, the displayed values are sent.
    ///
    /// - Returns: Whether there was such a change.
    func retry(_ key: CacheKey, in transaction: CacheTransaction) throws -> Bool {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard var record = try pending.record(pending.local(key)), let subject = try pending.subject(pending.place(record)) else {
            return false
        }
        switch record.stage {
        case .sending: return true
        case .conflicting: try settle(&record, by: .overwrite, subject, pending)
        case .waiting, .lost, .sought, .unknown, .failed: break
        }
        record.retry()
        try pending.finish(record, subject.row)
        return true
    }

    /// Drops a change, with the changes that depend on it.
    ///
    /// - Returns: The objects whose changes were dropped.
    /// - Throws: Code 134030 for a change that is being sent.
    func drop(_ key: CacheKey, in transaction: CacheTransaction) throws -> [CacheKey] {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard let first = try pending.record(pending.local(key)) else { return [] }
        var dropped: [CacheKey] = []
        var open = [first.key]
        var seen: Set<LocalKey> = [first.key]
        while let next = open.popLast() {
            guard var record = try pending.record(next), let subject = try pending.subject(pending.place(record)) else { continue }
            if case .sending = record.stage {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "The change of “\(record.entity)” cannot be given up.", reason: "It is being sent.",
                    next: "Wait for its outcome.")
            }
            let wasDeleted = !record.isShown
            let save = record.save
            // A change that takes over the identifier is dropped first.
            if wasDeleted, let resource = record.resource,
                let other = try transaction.key(of: resource, in: subject.row.entity), other != subject.row.key
            {
                if seen.insert(pending.local(other)).inserted {
                    open.append(next)
                    open.append(pending.local(other))
                    continue
                }
            }
            // Attempts that may have reached the backend are checked below.
            let settlement = record.drop(keepsAttempts: true)
            try apply(settlement, subject, pending)
            if !settlement.isRemoved, let resource = record.resource, subject.row.resource == nil {
                try transaction.setResource(resource, of: subject.row)
            }
            try pending.finish(record, subject.row)
            dropped.append(subject.row.key)
            guard wasDeleted, !settlement.isRemoved else { continue }
            try rejoin(next, subject, pending)
            for other in try pending.all() where other.save == save && !other.isShown && !seen.contains(other.key) {
                if try refers(other, to: next, pending) {
                    seen.insert(other.key)
                    open.append(other.key)
                }
            }
        }
        return dropped
    }

    /// Whether a deleted object refers to another.
    private func refers(_ record: PendingRecord, to key: LocalKey, _ pending: OutboxTransaction) throws -> Bool {
        guard let subject = try pending.subject(pending.place(record)) else { return false }
        for case let relationship as NSRelationshipDescription in subject.row.entity.inner.frozenParts.properties
        where !relationship.isToMany && relationship.destinationEntity?.top.name == key.root {
            let known = record.confirmed[relationship.name]?.localKey ?? subject.shown.value(relationship.name).localKey
            if known == key.key { return true }
        }
        return false
    }

    /// Restores relationships that were cut by the deletion of an object that is now displayed again.
    private func rejoin(_ key: LocalKey, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction) throws {
        for var record in try pending.all() where record.isShown && record.key != key {
            var written: [String: ResourceValue] = [:]
            var undone: [String: BackendChange.ListChange] = [:]
            guard let other = try pending.subject(pending.place(record)) else { continue }
            let parts = other.row.entity.inner.frozenParts
            for (name, value) in record.confirmed where value.localKey == key.key && other.shown.value(name).isNull {
                guard let relationship = parts.byName[name] as? NSRelationshipDescription,
                    relationship.destinationEntity?.top.name == key.root
                else { continue }
                written[name] = value
            }
            for (name, list) in record.lists {
                guard let relationship = parts.byName[name] as? NSRelationshipDescription,
                    relationship.destinationEntity?.top.name == key.root, list.removed.contains(.local(key.key))
                else { continue }
                undone[name] = .init(removed: [.local(key.key)])
                record.lists[name]?.removed.removeAll { $0 == .local(key.key) }
            }
            if written.isEmpty, undone.isEmpty { continue }
            try pending.write(written, other.row)
            try pending.undo(undone, other.row)
            record.prune(other.shown)
            try pending.finish(record, other.row)
        }
    }
}
