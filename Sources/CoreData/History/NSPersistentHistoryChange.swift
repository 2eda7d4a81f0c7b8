public import Foundation
internal import Predicates

/// What happened to an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// It was inserted.
    case insert = 0
    /// It was updated.
    case update = 1
    /// It was deleted.
    case delete = 2
}

/// What a transaction did to one object.
///
/// Source: [NSPersistentHistoryChange](https://developer.apple.com/documentation/coredata/nspersistenthistorychange).
// Immutable; a tombstone's values are never changed.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    private let record: HistoryRecord
    private let content: HistoryRecord.Change

    init(_ record: HistoryRecord, _ content: HistoryRecord.Change) {
        self.record = record
        self.content = content
    }

    /// The number of the change within its store.
    open var changeID: Int64 { content.number }
    /// The object. One that was deleted is not there any more.
    open var changedObjectID: NSManagedObjectID { content.objectID }
    /// What happened to it.
    open var changeType: NSPersistentHistoryChangeType { content.type }
    /// The values that a deleted object had in the attributes that preserve them, by name; nil for other changes and where there are none.
    ///
    /// See ``NSAttributeDescription/preservesValueInHistoryOnDeletion``.
    open var tombstone: [AnyHashable: Any]? { content.tombstone }
    /// The transaction.
    open var transaction: NSPersistentHistoryTransaction? { NSPersistentHistoryTransaction(record) }
    /// The properties that an update has written; nil for other changes.
    open var updatedProperties: Set<NSPropertyDescription>? { content.updatedProperties }

    /// The change itself, as it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same change of the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return other.changeID == changeID && other.record.storeID == record.storeID
    }

    /// Equal changes have equal hashes.
    open override var hash: Int { changeID.hashValue }

    /// The kind of change and the object.
    open override var description: String { "<NSPersistentHistoryChange \(changeID): \(changeType) \(changedObjectID)>" }

    /// A description of changes, for fetch requests that choose among them; see ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// A description of changes, for a context.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { HistoryEntities.change }

    /// A new request that chooses among changes by `changeID`, `changeType`, `changedObjectID`, `changedEntity` (its name) and what their
    /// transactions have.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.change) }

    func value(forKey key: String) -> PropertyValue? {
        switch key {
        case "changeID": .int64(changeID)
        case "changeType": .int64(Int64(changeType.rawValue))
        case "changedObjectID": (try? PropertyValue(any: changedObjectID)) ?? .null
        case "changedEntity": .string(changedObjectID.owningEntity.name ?? "")
        default: record.value(forKey: key.hasPrefix("transaction.") ? String(key.dropFirst(12)) : key)
        }
    }
}
