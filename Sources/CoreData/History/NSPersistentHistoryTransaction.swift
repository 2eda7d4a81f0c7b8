public import Foundation
internal import Predicates

/// One save or batch request, as the history of a store has it.
///
/// Source: [NSPersistentHistoryTransaction](https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction).
// Immutable.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    let record: HistoryRecord

    init(_ record: HistoryRecord) { self.record = record }

    /// When it was written.
    open var timestamp: Date { record.timestamp }
    /// What it did, in order; nil where only transactions were asked for.
    open var changes: [NSPersistentHistoryChange]? {
        record.changes.map { changes in changes.map { NSPersistentHistoryChange(record, $0) } }
    }
    /// Its number within its store.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of its store.
    open var storeID: String { record.storeID }
    /// The bundle that wrote it: its identifier or, for a program without one, the name of the executable.
    open var bundleID: String { record.bundleID ?? "" }
    /// The name of the process that wrote it.
    open var processID: String { record.processID ?? "" }
    /// The name of the context that wrote it; see ``NSManagedObjectContext/name``.
    open var contextName: String? { record.contextName }
    /// Who wrote it; see ``NSManagedObjectContext/transactionAuthor``.
    open var author: String? { record.author }
    /// The place in the history right after it.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([record.storeID: record.number]) }

    /// A notification such as a saving context posts, for ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    open func objectIDNotification() -> Notification {
        typealias Key = NSManagedObjectContext.NotificationKey
        func ids(_ type: NSPersistentHistoryChangeType) -> Set<NSManagedObjectID> {
            Set((record.changes ?? []).filter { $0.type == type }.map(\.objectID))
        }
        let info: [AnyHashable: Any] = [
            Key.insertedObjectIDs.rawValue: ids(.insert), Key.updatedObjectIDs.rawValue: ids(.update),
            Key.deletedObjectIDs.rawValue: ids(.delete),
        ]
        return Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info)
    }

    /// The transaction itself, as it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same transaction of the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return other.transactionNumber == transactionNumber && other.storeID == storeID
    }

    /// Equal transactions have equal hashes.
    open override var hash: Int { transactionNumber.hashValue }

    /// The number, time and author.
    open override var description: String {
        "<NSPersistentHistoryTransaction \(transactionNumber): \(timestamp), author \(author ?? "nil"), \(record.changes?.count ?? 0) changes>"
    }

    /// A description of transactions, for fetch requests that choose among them; see
    /// ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

    /// A description of transactions, for a context.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { HistoryEntities.transaction }

    /// A new request that chooses among transactions by `author`, `bundleID`, `contextName`, `processID`, `timestamp`, `transactionNumber` and
    /// `storeID`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.transaction) }
}
