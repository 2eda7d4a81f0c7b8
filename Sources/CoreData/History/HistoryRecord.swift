internal import Foundation
internal import Predicates

/// A transaction read from a store; the public history classes are views of it.
// Immutable; a tombstone's values never change.
final class HistoryRecord: @unchecked Sendable {
    struct Change {
        let number: Int64
        let objectID: NSManagedObjectID
        let type: NSPersistentHistoryChangeType
        let updatedProperties: Set<NSPropertyDescription>?
        let tombstone: [AnyHashable: Any]?
    }
    let number: Int64
    let storeID: String
    let timestamp: Date
    let author: String?
    let contextName: String?
    let bundleID: String?
    let processID: String?
    /// The changes; nil where they were not requested.
    let changes: [Change]?

    init(
        number: Int64, storeID: String, timestamp: Date, author: String?, contextName: String?, bundleID: String?, processID: String?,
        changes: [Change]?
    ) {
        self.number = number
        self.storeID = storeID
        self.timestamp = timestamp
        self.author = author
        self.contextName = contextName
        self.bundleID = bundleID
        self.processID = processID
        self.changes = changes
    }

    func with(_ changes: [Change]?) -> HistoryRecord {
        HistoryRecord(
            number: number, storeID: storeID, timestamp: timestamp, author: author, contextName: contextName, bundleID: bundleID,
            processID: processID, changes: changes)
    }

    /// Returns the value of a key in predicates; nil for a key that transactions do not have.
    func value(forKey key: String) -> PropertyValue? {
        func text(_ text: String?) -> PropertyValue { text.map { .string($0) } ?? .null }
        return switch key {
        case "author": text(author)
        case "contextName": text(contextName)
        case "bundleID": text(bundleID)
        case "processID": text(processID)
        case "storeID": text(storeID)
        case "timestamp": .date(timestamp)
        case "transactionNumber": .int64(number)
        default: nil
        }
    }
}

/// The entities of transactions and changes in fetch requests.
enum HistoryEntities {
    static let transactionKeys = ["author", "bundleID", "contextName", "processID", "storeID", "timestamp", "transactionNumber"]
    static let changeKeys = ["changeID", "changeType", "changedEntity", "changedObjectID"]

    static let transaction = make("Transaction", transactionKeys)
    static let change = make("Change", changeKeys + transactionKeys)

    private static func make(_ name: String, _ keys: [String]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = keys.map { key in
            let attribute = NSAttributeDescription()
            attribute.name = key
            attribute.attributeType =
                switch key {
                case "timestamp": .dateAttributeType
                case "transactionNumber", "changeID", "changeType": .integer64AttributeType
                case "changedObjectID": .objectIDAttributeType
                default: .stringAttributeType
                }
            return attribute
        }
        return entity
    }

    static func request(_ entity: NSEntityDescription) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}

/// Resolves the keys of transactions and changes in predicates and sort descriptors.
// Immutable.
final class HistorySchema: PredicateSchema, Sendable {
    static let transactions = HistorySchema("A history transaction", HistoryEntities.transactionKeys)
    static let changes = HistorySchema("A history change", HistoryEntities.changeKeys + HistoryEntities.transactionKeys)
    let schemaName: String
    private let keys: Set<String>

    private init(_ name: String, _ keys: [String]) {
        schemaName = name
        self.keys = Set(keys)
    }

    func predicateProperty(named key: String) -> PredicateProperty? {
        guard keys.contains(key) else { return nil }
        return .computed { subject in
            switch subject.object {
            case let change as NSPersistentHistoryChange: change.value(forKey: key) ?? .null
            case let transaction as NSPersistentHistoryTransaction: transaction.record.value(forKey: key) ?? .null
            default: .null
            }
        }
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(subject.object)) }
    func constant(for object: AnyObject) -> PropertyValue? { (object as? NSEntityDescription)?.name.map { .string($0) } }
    func publicObject(of subject: PredicateSubject) -> Any { subject.object }

    /// Filters and sorts elements by a request, and applies its offset and limit.
    func select<Element: AnyObject>(_ elements: [Element], by request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Element] {
        func subject(_ element: Element) -> PredicateSubject {
            PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(element).toOpaque()), object: element)
        }
        var chosen = elements
        if let predicate = request.predicate {
            let test = try predicate.tree().compiled(for: self, logic: .twoValued)
            chosen = try chosen.filter { try test.matches(subject($0)) }
        }
        if let descriptors = request.sortDescriptors, !descriptors.isEmpty {
            let sort = try CompiledSort(descriptors, for: self)
            chosen = try sort.sortedIndices(count: chosen.count) { subject(chosen[$0]) }.map { chosen[$0] }
        }
        return chosen.page(offset: request.fetchOffset, limit: request.fetchLimit)
    }
}
