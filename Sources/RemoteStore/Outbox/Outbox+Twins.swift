internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Tells what has the identifier that a new object has got: the object itself, or another one that had it before, or has it now.
extension Outbox {
    /// What a row is that has the identifier which a new object has got.
    enum TwinPlace {
        /// The new object, which a read has brought before the answer.
        case same
        /// An object whose deletion was not known.
        case earlier
        /// One that has got the identifier since the new object was deleted.
        case later
        /// Another new object of this cache, which is sent once this one is deleted.
        case successor
        /// Either of them: the object that has the identifier is to be read, now that the new one is saved.
        case unclear
    }

    /// Tells what a row is that has the identifier which a new object has got.
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
        // No object has a version that is older than the one that it was made with.
        if let version, version.isNewer(than: known), known != nil { return .earlier }
        guard isOther(pending.values(row), subject) else { return .same }
        if let known, known.isNewer(than: version) { return .later }
        // Whoever was known before it was sent had the identifier before.
        if let sent = record.sent, twin.number < sent.nextKey { return .earlier }
        if isReadSince { return .later }
        // With a key the outcome may be that of an earlier attempt. What can be sent again is settled once it is known.
        if subject.saving.isIdempotent { return .unclear }
        // Without one it is that of this attempt, which was answered just now: another object has not got the identifier since, but had it before.
        return .earlier
    }

    /// Removes a row whose object was deleted, as its identifier has been given to another one.
    func endEarlier(_ key: CacheKey, _ pending: OutboxTransaction) throws {
        guard let subject = try pending.subject(key) else { return }
        noteGone(subject.row.resource, subject.row, in: pending.transaction)
        guard var record = try pending.record(pending.local(key)) else { return try pending.remove(subject.row) }
        try end(&record, subject, pending)
        try settle(&record, subject, pending)
        try pending.finish(record, subject.row)
    }
}
