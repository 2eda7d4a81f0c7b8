internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Looks for accepted changes: new objects whose identifiers the backend has not reported, and changes that no read has shown yet.
extension OutboxSender {
    /// The number of times that an accepted change is looked for before it counts as failed.
    static let maximumLooks = 5

    /// Looks for the objects of a call by the sent values. If exactly one object that was not known before has them, it is the new object; otherwise the
    /// application decides.
    ///
    /// - Throws: The errors of the file.
    func seek(_ keys: [LocalKey]) async throws {
        for key in keys {
            guard let entity = outbox.file.entity(named: key.root), let row = try outbox.file.row(CacheKey(entity: entity, number: key.key))
            else { continue }
            let place = outbox.file.key(of: row)
            guard let sent = try outbox.record(place)?.sent, sent.isAccepted, let outer = place.entity.outer else { continue }
            if sent.change.kind != .insert {
                try await look([key])
                continue
            }
            let found: [ResourceID]
            var failure: PendingRecord.Failure?
            do {
                found = try await reader.seek(sent.change, outer, for: StoreCaller(stalenessInterval: 0)).compactMap(
                    reader.decoding.resourceID)
            } catch {
                if state.withLock({ $0.isClosed }) { return }
                if Prospect(error).mayPass == true {
                    try noteUnread(error, [key])
                    continue
                }
                (found, failure) = ([], Outbox.failure(error))
            }
            if state.withLock({ $0.isClosed }) { return }
            let isFound = try note(found, of: key, sent, failure)
            if isFound { try await read([key], compares: false) }
        }
    }

    /// Notes the objects that have the sent values of a new object.
    ///
    /// - Returns: Whether one of them is the new object.
    private func note(
        _ found: [ResourceID], of key: LocalKey, _ sent: PendingRecord.Sent, _ failure: PendingRecord.Failure?
    ) throws -> Bool {
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        let (isFound, changed) = try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard var record = try pending.record(key), record.sent == sent, let subject = try pending.subject(pending.place(record)) else {
                return (false, transaction.changedKeys)
            }
            // An object that was known before the insert was sent is another object.
            let new = try found.filter { id in
                try transaction.key(of: id, in: subject.row.entity).map { $0.number >= sent.nextKey && $0 != subject.row.key } ?? true
            }
            var isFound = false
            if new.count == 1 {
                isFound = try outbox.noteSaved(&record, new[0], nil, [:], isTwinRead: true, subject, pending) == .nothing
            }
            if !isFound, new.isEmpty, failure == nil, sent.isLater, record.attempts < Self.maximumLooks {
                postpone(&record, transaction)
            } else if !isFound {
                record.leaveToApplication(failure ?? Outbox.failure(RemoteStoreError.isNotIdentified(sent.change, new.count)))
            }
            try outbox.settle(&record, subject, pending)
            try pending.finish(record, subject.row)
            return (isFound, transaction.changedKeys)
        }
        try merge(changed, queryTime)
        return isFound
    }
}

extension OutboxSender {
    /// The state of an accepted change according to a read.
    fileprivate enum Sight {
        /// The object still has the values of before the change.
        case before([String])
        /// The change was made; others may have changed the object since.
        case made
        /// The backend does not have the object.
        case missing
    }

    /// Reads objects whose changes were accepted, and notes which changes were made. If an object is unchanged, it is read again after a while: the backend may
    /// make the change later, or a lagging replica may have answered. If the change is still not made then, it has failed.
    ///
    /// - Throws: The errors of the file.
    func look(_ keys: [LocalKey]) async throws {
        let file = outbox.file
        for key in keys {
            guard let entity = file.entity(named: key.root), let row = try file.row(CacheKey(entity: entity, number: key.key)) else {
                continue
            }
            let place = file.key(of: row)
            guard let record = try outbox.record(place), let sent = record.sent, sent.isAccepted, let outer = place.entity.outer,
                let resource = record.resource ?? place.entity.resource(of: row)
            else { continue }
            let id = reader.decoding.id(resource, of: outer)
            let askedAt = file.order.begin()
            defer { file.order.end(askedAt) }
            let rows: [Row]
            do { rows = try await reader.read([id], isFresh: true, for: StoreCaller(stalenessInterval: 0)) } catch {
                if state.withLock({ $0.isClosed }) { return }
                if Prospect(error).mayPass == true || record.attempts < Self.maximumLooks {
                    try noteUnread(error, [key])
                } else {
                    // The outcome cannot be determined, but the backend has reported success.
                    try note(.made, [], of: key, sent, askedAt)
                }
                continue
            }
            if state.withLock({ $0.isClosed }) { return }
            try note(try sight(rows.first, sent, place), rows, of: key, sent, askedAt)
        }
    }

    /// Returns whether a row shows the sent values.
    private func sight(_ row: Row?, _ sent: PendingRecord.Sent, _ place: CacheKey) throws -> Sight {
        guard let row else { return .missing }
        if sent.change.kind == .delete { return .before([]) }
        let base = try outbox.file.write { transaction -> [String: ResourceValue] in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard let record = try pending.record(pending.local(place)), let subject = try pending.subject(place) else { return [:] }
            return try self.base(of: sent.change, record, subject, pending)
        }
        var change = sent.change
        change.base = base
        return .init(before: reader.unchanged(row, by: change))
    }

    private func note(_ sight: Sight, _ rows: [Row], of key: LocalKey, _ sent: PendingRecord.Sent, _ askedAt: UInt64) throws {
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        let changed = try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard var record = try pending.record(key), record.sent == sent, let subject = try pending.subject(pending.place(record)) else {
                return transaction.changedKeys
            }
            switch sight {
            case .missing where sent.change.kind == .delete:
                _ = try outbox.noteSaved(&record, nil, nil, [:], subject, pending)
            // A lagging replica may not have the object yet.
            case .missing where record.attempts < Self.maximumLooks: postpone(&record, transaction)
            case .missing:
                outbox.noteGone(record.resource, subject.row, in: transaction)
                record.remake()
                try outbox.end(&record, subject, pending)
            case .made:
                let version = rows.first.flatMap { reader.versions.version($0.knownObjectID, $0.version) }
                _ = try outbox.noteSaved(&record, nil, version, [:], subject, pending)
            case .before(let names):
                if record.attempts < Self.maximumLooks {
                    postpone(&record, transaction)
                } else {
                    // The backend's own error message is more informative.
                    let told = record.failure.flatMap { $0 == Outbox.failure(RemoteStoreError.isUnseen(sent.change)) ? nil : $0 }
                    record.refuse(told ?? Outbox.failure(RemoteStoreError.isUntaken(names, sent.change)))
                }
            }
            try outbox.settle(&record, subject, pending)
            if record.isDone, !record.isShown { outbox.noteGone(record.resource, subject.row, in: transaction) }
            try pending.finish(record, subject.row)
            // The row may also contain other changes that others have made since.
            if sent.change.kind != .delete { try takeWithin(rows, askedAt, transaction) }
            return transaction.changedKeys
        }
        try merge(changed, queryTime)
    }

    /// Postpones the next look for a change, with a growing delay.
    private func postpone(_ record: inout PendingRecord, _ transaction: CacheTransaction) {
        let (key, wait) = (record.key, delay(record.attempts, nil))
        record.postpone(until: clock.now + wait.inSeconds)
        let due = clock.uptime + wait
        transaction.whenCommitted { [state] in state.withLock { $0.due[key] = due } }
    }
}

extension OutboxSender.Sight {
    fileprivate init(before names: [String]) { self = names.isEmpty ? .made : .before(names) }
}
