internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Determines which object has the identifier of a new object: the new object itself, another one that had it before, or one that has it now.
extension Outbox {
    /// The relation of an existing row to a new object with the same identifier.
    enum TwinPlace {
        /// The new object itself, which a read has returned before the answer to the insert.
        case same
        /// An earlier object, whose deletion was not known.
        case earlier
        /// A later object, which received the identifier after the new object was deleted.
        case later
        /// Another new object of this cache, which is sent once this one is deleted.
        case successor
        /// Unclear: the object that has the identifier must be read, now that the new one is saved.
        case unclear
    }

    /// Returns the relation of an existing row to a new object with the same identifier.
    ///
    /// - Parameter isReadSince: Whether the row was read after the new object was saved.
    func place(
        of twin: CacheKey, _ version: ResourceVersion?, _ record: PendingRecord, isReadSince: Bool, _ subject: OutboxTransaction.Subject,
        _ pending: OutboxTransaction
    ) throws -> TwinPlace {
        guard let row = try pending.transaction.row(twin) else { return .same }
        if let own = try pending.record(pending.local(twin)), !own.isConfirmed, own.resource != nil { return .successor }
        let entity = file.entity(inner: row.knownObjectID.owningEntity)
        if entity.state(of: row) == .stub { return .same }
        let known = entity.version(of: row)
        // An object never has a version older than its first one.
        if let version, version.isNewer(than: known), known != nil { return .earlier }
        guard isOther(pending.values(row), subject) else { return .same }
        if let known, known.isNewer(than: version) { return .later }
        // An object that was known before the insert was sent had the identifier before.
        if let sent = record.sent, twin.number < sent.nextKey { return .earlier }
        if isReadSince { return .later }
        // With an idempotency key, the outcome may be that of an earlier attempt. If the change can be sent again, it is settled once the other object is read.
        if subject.saving.isIdempotent { return .unclear }
        // Without a key, the outcome is that of this attempt, which was answered a moment ago. The other object cannot have received the identifier since, so
        // it had it before.
        return .earlier
    }

    /// Removes the row of a deleted object whose identifier was assigned to another object.
    func endEarlier(_ key: CacheKey, _ pending: OutboxTransaction) throws {
        guard let subject = try pending.subject(key) else { return }
        noteGone(subject.row.resource, subject.row, in: pending.transaction)
        guard var record = try pending.record(pending.local(key)) else { return try pending.remove(subject.row) }
        try end(&record, subject, pending)
        try settle(&record, subject, pending)
        try pending.finish(record, subject.row)
    }
}
