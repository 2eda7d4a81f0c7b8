internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Seeks new objects that the backend has accepted without telling their identifiers.
extension OutboxSender {
    /// Seeks the objects of a call by the values that were sent. Where just one object has them that was not known before, it is the new one; otherwise
    /// the application decides.
    ///
    /// - Throws: The errors of the file.
    func seek(_ keys: [LocalKey]) async throws {
        for key in keys {
            guard let entity = outbox.file.entity(named: key.root), let row = try outbox.file.row(CacheKey(entity: entity, number: key.key))
            else { continue }
            let place = outbox.file.key(of: row)
            guard let sent = try outbox.record(place)?.sent, sent.isAccepted, let outer = place.entity.outer else { continue }
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

    /// Notes which objects have what was sent of a new one.
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
            // What was known before it was sent is another object.
            let new = try found.filter { id in
                try transaction.key(of: id, in: subject.row.entity).map { $0.number >= sent.nextKey && $0 != subject.row.key } ?? true
            }
            var isFound = false
            if new.count == 1 {
                isFound = try outbox.noteSaved(&record, new[0], nil, [:], isTwinRead: true, subject, pending) == .nothing
            }
            if !isFound {
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
