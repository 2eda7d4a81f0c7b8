public import Foundation
internal import Predicates

/// A save or batch request in the history of a store.
///
/// Source: [NSPersistentHistoryTransaction](https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction).
// Immutable.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    let record: HistoryRecord

    init(_ record: HistoryRecord) { self.record = record }

    /// The time of the transaction.
    open var timestamp: Date { record.timestamp }
    /// The changes of the transaction, in order; nil if only transactions were requested.
    open var changes: [NSPersistentHistoryChange]? {
        record.changes.map { changes in changes.map { NSPersistentHistoryChange(record, $0) } }
    }
    /// The number of the transaction within its store.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of the store.
    open var storeID: String { record.storeID }
    /// The bundle identifier of the writer; for a program without one, the name of the executable.
    open var bundleID: String { record.bundleID ?? "" }
    /// The name of the writing process.
    open var processID: String { record.processID ?? "" }
    /// The name of the writing context; see ``NSManagedObjectContext/name``.
    open var contextName: String? { record.contextName }
    /// The author of the transaction; see ``NSManagedObjectContext/transactionAuthor``.
    open var author: String? { record.author }
    /// The position in the history right after the transaction.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([record.storeID: record.position]) }

    /// Returns the transaction itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether both are the same transaction of the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return other.transactionNumber == transactionNumber && other.storeID == storeID
    }

    /// The hash value, which is the same for equal transactions.
    open override var hash: Int { transactionNumber.hashValue }

    /// A description of the number, time and author.
    open override var description: String {
        let time = AttributeCheck.describe(timestamp)
        return
            "<NSPersistentHistoryTransaction \(transactionNumber): \(time), author \(author ?? "nil"), \(record.changes?.count ?? 0) changes>"
    }

    /// The entity description of transactions, for fetch requests; see ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

    /// A new fetch request for transactions; its predicate may use `author`, `bundleID`, `contextName`, `processID`, `timestamp`,
    /// `transactionNumber` and `storeID`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.transaction) }
}
