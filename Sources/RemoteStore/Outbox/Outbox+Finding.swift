internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Applies to the file the information that a read gives about a sent change.
extension Outbox {
    /// The result of reading an object.
    enum Found {
        /// The backend does not have it.
        case missing
        /// The object has the sent values.
        case own
        /// The object has other values.
        case other
    }

    /// Notes the result of reading an object whose change was sent, or refused because of a conflict.
    ///
    /// - Parameter askedAt: The time of the request, in the file's ``CacheFile/order``.
    func noteFound(
        _ found: Found, version: ResourceVersion?, of key: LocalKey, askedAt: UInt64, in transaction: CacheTransaction
    ) throws {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard var record = try pending.record(key), let subject = try pending.subject(pending.place(record)) else { return }
        // If the object was deleted, a resource with its identifier is another object.
        let found = record.isDeletedByOthers ? Found.missing : found
        let isNew = !record.isDeletedByOthers && file.order.mayBeNew(subject.row.key, uptime: file.order.uptime(of: askedAt))
        switch (record.sent?.change.kind, found) {
        case (nil, _) where !record.isConfirmed:
            // The new object was not sent yet, and would replace the existing one.
            if found != .missing, record.isShown { record.refuse(Self.failure(RemoteStoreError.isThere(record.entity, record.resource))) }
        case (.insert, .missing):
            // If it was refused, no earlier attempt has saved it either.
            record.noteMissing()
        case (.insert, .own), (.update, .own): _ = try noteSaved(&record, record.sent?.change.id, version, [:], subject, pending)
        case (.update, .missing) where isNew, (.delete, .missing) where isNew:
            // A lagging replica may not have it yet: the change is sent again, and the backend decides.
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
