public import Foundation
internal import Predicates

/// The kinds of change to an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The object was inserted.
    case insert = 0
    /// The object was updated.
    case update = 1
    /// The object was deleted.
    case delete = 2
}

/// A change of one object by a transaction.
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
    /// The ID of the changed object, which does not exist any more after a deletion.
    open var changedObjectID: NSManagedObjectID { content.objectID }
    /// The kind of change.
    open var changeType: NSPersistentHistoryChangeType { content.type }
    /// The values of a deleted object's attributes that are preserved in the history, by name; nil for other changes and where there are
    /// none.
    ///
    /// See ``NSAttributeDescription/preservesValueInHistoryOnDeletion``.
    open var tombstone: [AnyHashable: Any]? { content.tombstone }
    /// The transaction of the change.
    open var transaction: NSPersistentHistoryTransaction? { NSPersistentHistoryTransaction(record) }
    /// The properties written by an update; nil for other changes.
    open var updatedProperties: Set<NSPropertyDescription>? { content.updatedProperties }

    /// Returns the change itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether both are the same change of the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return other.changeID == changeID && other.record.storeID == record.storeID
    }

    /// The hash value, which is the same for equal changes.
    open override var hash: Int { changeID.hashValue }

    /// A description of the kind of change and the object.
    open override var description: String { "<NSPersistentHistoryChange \(changeID): \(changeType) \(changedObjectID)>" }

    /// The entity description of changes, for fetch requests; see ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// A new fetch request for changes; its predicate may use `changeID`, `changeType`, `changedObjectID`, `changedEntity` (by name) and
    /// the keys of their transactions.
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
