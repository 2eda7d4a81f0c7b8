public import Foundation
internal import Predicates

/// A transaction in the history of a store; the public history classes are views of it.
@_spi(Stores)
// Unchecked: immutable; a tombstone's values never change.
public final class HistoryRecord: @unchecked Sendable {
    /// A change of one object by the transaction.
    @_spi(Stores) public struct Change {
        /// The number of the change within its store.
        public let number: Int64
        /// The ID of the changed object.
        public let objectID: NSManagedObjectID
        /// The kind of change.
        public let type: NSPersistentHistoryChangeType
        /// The properties written by an update; nil for other changes.
        public let updatedProperties: Set<NSPropertyDescription>?
        /// The preserved values of a deleted object, by name; nil for other changes and where there are none.
        public let tombstone: [AnyHashable: Any]?

        /// Creates a change.
        public init(
            number: Int64, objectID: NSManagedObjectID, type: NSPersistentHistoryChangeType,
            updatedProperties: Set<NSPropertyDescription>? = nil, tombstone: [AnyHashable: Any]? = nil
        ) {
            self.number = number
            self.objectID = objectID
            self.type = type
            self.updatedProperties = updatedProperties
            self.tombstone = tombstone
        }
    }
    /// The number of the transaction within its store.
    public var number: Int64 { position.number }
    /// The position right after the transaction.
    public let position: HistoryPosition
    /// The UUID of the store.
    public let storeID: String
    /// The time of the transaction.
    public let timestamp: Date
    /// The author; see ``NSManagedObjectContext/transactionAuthor``.
    public let author: String?
    /// The name of the writing context.
    public let contextName: String?
    /// The bundle identifier of the writer, or the name of its executable.
    public let bundleID: String?
    /// The name of the writing process.
    public let processID: String?
    /// The changes, in order; nil if they were not requested.
    public let changes: [Change]?

    /// Creates a record.
    public init(
        number: Int64, storeID: String, timestamp: Date, author: String?, contextName: String?, bundleID: String?, processID: String?,
        changes: [Change]?, position: HistoryPosition? = nil
    ) {
        self.position = position ?? HistoryPosition(number: number)
        self.storeID = storeID
        self.timestamp = timestamp
        self.author = author
        self.contextName = contextName
        self.bundleID = bundleID
        self.processID = processID
        self.changes = changes
    }

    package func with(_ changes: [Change]?) -> HistoryRecord {
        HistoryRecord(
            number: number, storeID: storeID, timestamp: timestamp, author: author, contextName: contextName, bundleID: bundleID,
            processID: processID, changes: changes, position: position)
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
        case "token": .string(NSPersistentHistoryToken([storeID: number]).description)
        case "transactionNumber": .int64(number)
        default: nil
        }
    }
}

/// The entities of transactions and changes in fetch requests.
enum HistoryEntities {
    static let transactionKeys = ["author", "bundleID", "contextName", "processID", "storeID", "timestamp", "token", "transactionNumber"]
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
                case "token": .transformableAttributeType
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
    func constant(for object: AnyObject) -> PropertyValue? {
        if let token = object as? NSPersistentHistoryToken { return .string(token.description) }
        return (object as? NSEntityDescription)?.name.map { .string($0) }
    }
    func publicObject(of subject: PredicateSubject) -> Any { subject.object }

    /// Filters and sorts elements by a request, and applies its offset and limit.
    func select<Element: AnyObject>(_ elements: [Element], by request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Element] {
        func subject(_ element: Element) -> PredicateSubject {
            // No property of the schema lies in a slot: the address is never read. `elements` keeps the element.
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
