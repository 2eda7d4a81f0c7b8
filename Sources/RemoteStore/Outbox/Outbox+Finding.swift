internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Does to the file what a read says of a change that was sent.
extension Outbox {
    /// What a read has found of an object.
    enum Found {
        /// The backend does not have it.
        case missing
        /// It has what was sent.
        case own
        /// It has other values.
        case other
    }

    /// Notes what a read has found of an object whose change was sent, or refused because of a conflict.
    ///
    /// - Parameter askedAt: When it was asked for, in the file's ``CacheFile/order``.
    func noteFound(
        _ found: Found, version: ResourceVersion?, of key: LocalKey, askedAt: UInt64, in transaction: CacheTransaction
    ) throws {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard var record = try pending.record(key), let subject = try pending.subject(pending.place(record)) else { return }
        // Of a deleted object, what was found under its identifier is another one.
        let found = record.isDeletedByOthers ? Found.missing : found
        let isNew = !record.isDeletedByOthers && file.order.mayBeNew(subject.row.key, uptime: file.order.uptime(of: askedAt))
        switch (record.sent?.change.kind, found) {
        case (nil, _) where !record.isConfirmed:
            // A new object that was not sent yet: what is there would be replaced.
            if found != .missing, record.isShown { record.refuse(Self.failure(RemoteStoreError.isThere(record.entity, record.resource))) }
        case (.insert, .missing):
            // One that was refused was not saved by an earlier attempt either.
            record.noteMissing()
        case (.insert, .own), (.update, .own): _ = try noteSaved(&record, record.sent?.change.id, version, [:], subject, pending)
        case (.update, .missing) where isNew, (.delete, .missing) where isNew:
            // A copy of the backend that lags may not have it yet: it is sent again, and the backend says itself.
            break
        case (.insert, .other): if let sent = record.sent { record.refuse(Self.failure(RemoteStoreError.isThere(sent.change))) }
        case (_, .missing):
            noteGone(record.resource, subject.row, in: transaction)
            record.remake()
            try end(&record, subject, pending)
        default: record.remake()
        }
        try settle(&record, subject, pending)
        try pending.finish(record, subject.row)
    }
}
