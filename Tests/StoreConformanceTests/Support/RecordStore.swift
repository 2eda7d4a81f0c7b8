import CoreData
import Synchronization

/// An incremental store over records in memory, for any model. It reads many records by one question and counts what it is asked.
///
/// The options may hold a ``Mistake`` under `"mistake"`, for the kit to find.
final class RecordStore: NSIncrementalStore {
    static let storeType = "RecordStore"

    /// What stores get wrong.
    enum Mistake: CaseIterable {
        case readsOneByOne, sortsRelationships, roundsDecimals, cutsTextAtNUL, forgetsDeletes, forgetsNil, countsNoVersions, writesAtOnce
    }

    private var mistake: Mistake? { options?["mistake"] as? Mistake }
    private var records: [NSManagedObjectID: Record] = [:]
    private var order: [NSManagedObjectID] = []
    private var lastKey = 0
    private let asked = Mutex(0)

    /// How often the store was asked for something. May be read from any thread.
    var callCount: Int { asked.withLock { $0 } }

    override var type: String { Self.storeType }

    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.storeType] }

    func record(_ id: NSManagedObjectID) -> Record? { records[id] }

    private func ask() { asked.withLock { $0 += 1 } }

    // MARK: Requests

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        ask()
        switch request {
        case let save as NSSaveChangesRequest:
            try write(save)
            return []
        case let fetch as NSFetchRequest<any NSFetchRequestResult>:
            guard let context, let entity = fetch.entity else { return [] }
            return try answer(fetch, entity, context)
        default: throw NSError(domain: NSCocoaErrorDomain, code: NSPersistentStoreUnsupportedRequestTypeError)
        }
    }

    private func answer(
        _ fetch: NSFetchRequest<any NSFetchRequestResult>, _ entity: NSEntityDescription, _ context: NSManagedObjectContext
    ) throws -> Any {
        let schema = RecordSchema(entity, self)
        var found = order.filter { fetch.includesSubentities ? $0.entity.isKindOf(entity: entity) : $0.entity === entity }
            .compactMap { records[$0] }
        if let predicate = try fetch.predicate?.compiled(for: schema) { found = try found.filter { try predicate.matches($0.subject) } }
        if let descriptors = fetch.sortDescriptors, !descriptors.isEmpty {
            let sort = try CompiledSort(descriptors, for: schema)
            found = try sort.sortedIndices(count: found.count) { found[$0].subject }.map { found[$0] }
        }
        found = Array(found.dropFirst(fetch.fetchOffset))
        if fetch.fetchLimit > 0 { found = Array(found.prefix(fetch.fetchLimit)) }
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: found.count)]
        case .managedObjectIDResultType: return found.map(\.id)
        case .managedObjectResultType: return found.map { context.object(with: $0.id) }
        default: throw NSError(domain: NSCocoaErrorDomain, code: NSPersistentStoreUnsupportedRequestTypeError)
        }
    }

    // MARK: Faults

    private func node(_ record: Record) -> NSIncrementalStoreNode {
        let toMany = record.id.entity.relationshipsByName.filter { $0.value.isToMany }
        return NSIncrementalStoreNode(
            objectID: record.id, withValues: record.values.filter { toMany[$0.key] == nil }, version: record.version)
    }

    private func related(_ relationship: NSRelationshipDescription, _ id: NSManagedObjectID) -> Any {
        records[id]?.values[relationship.name] ?? (relationship.isToMany ? [NSManagedObjectID]() : NSNull())
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        ask()
        guard let record = records[objectID] else {
            throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError)
        }
        return node(record)
    }

    override func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]? {
        if mistake == .readsOneByOne { return nil }
        ask()
        return objectIDs.compactMap { records[$0] }.map(node)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        ask()
        return related(relationship, objectID)
    }

    override func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]? {
        if mistake == .readsOneByOne { return nil }
        ask()
        return Dictionary(objectIDs.map { ($0, related(relationship, $0)) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Saves

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        ask()
        return array.map { object in
            lastKey += 1
            let id = newObjectID(for: object.entity, referenceObject: lastKey)
            if mistake == .writesAtOnce { put(id, [:]) }
            return id
        }
    }

    private func write(_ save: NSSaveChangesRequest) throws {
        let (inserted, updated) = (save.insertedObjects ?? [], save.updatedObjects ?? [])
        let (deleted, locked) = (save.deletedObjects ?? [], save.lockedObjects ?? [])
        try findConflicts(updated.union(deleted).union(locked))
        // Everything is read before anything is written.
        let changes = (inserted.union(updated)).map { ($0.objectID, values(of: $0)) }
        for (id, values) in changes { put(id, values) }
        for object in locked { if let record = records[object.objectID] { record.version += 1 } }
        if mistake == .forgetsDeletes { return }
        for object in deleted { records[object.objectID] = nil }
        if !deleted.isEmpty { order.removeAll { records[$0] == nil } }
    }

    private func put(_ id: NSManagedObjectID, _ values: [String: Any]) {
        if let record = records[id] {
            let version = record.version + (mistake == .countsNoVersions ? 0 : 1)
            records[id] = Record(id: id, values: record.values.merging(values) { $1 }, version: version, self)
        } else {
            records[id] = Record(id: id, values: values, version: 1, self)
            order.append(id)
        }
    }

    /// The values of a new object, or what has changed in another.
    private func values(of object: NSManagedObject) -> [String: Any] {
        let changed = object.isInserted ? nil : Set(object.changedValues().keys)
        var values: [String: Any] = [:]
        for (name, property) in object.entity.propertiesByName where !property.isTransient && changed?.contains(name) ?? true {
            if let relationship = property as? NSRelationshipDescription {
                let ids = object.objectIDs(forRelationshipNamed: name)
                values[name] = relationship.isToMany ? sorted(ids) : ids.first ?? NSNull()
            } else {
                values[name] = stored(object.value(forKey: name))
            }
        }
        return values
    }

    private func sorted(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        mistake == .sortsRelationships ? ids.sorted { "\($0)" < "\($1)" } : ids
    }

    private func stored(_ value: Any?) -> Any? {
        switch (mistake, value) {
        case (.forgetsNil, nil): nil
        case (_, nil): NSNull()
        case (.roundsDecimals, let number as Decimal): Decimal((number as NSDecimalNumber).doubleValue)
        case (.cutsTextAtNUL, let text as String): String(text.prefix { $0 != "\0" })
        case (_, let value): value
        }
    }

    private func findConflicts(_ objects: Set<NSManagedObject>) throws {
        let conflicts = objects.compactMap { object -> NSMergeConflict? in
            guard let read = baseVersion(of: object) else { return nil }
            let record = records[object.objectID]
            guard record?.version != read else { return nil }
            return NSMergeConflict(
                source: object, newVersion: Int(record?.version ?? 0), oldVersion: Int(read), cachedSnapshot: nil,
                persistedSnapshot: record?.values)
        }
        guard !conflicts.isEmpty else { return }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError, userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
}

/// One object of a ``RecordStore``.
final class Record {
    let id: NSManagedObjectID
    let values: [String: Any]
    var version: UInt64
    unowned let store: RecordStore

    init(id: NSManagedObjectID, values: [String: Any], version: UInt64, _ store: RecordStore) {
        self.id = id
        self.values = values
        self.version = version
        self.store = store
    }

    /// The record as predicates see it; it has no slots, and nothing reads them.
    var subject: PredicateSubject { PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self) }
    var identity: PropertyValue { .object(ObjectReference(id)) }

    func related(_ name: String) -> [Record] {
        switch values[name] {
        case let one as NSManagedObjectID: [one].compactMap(store.record)
        case let many as [NSManagedObjectID]: many.compactMap(store.record)
        default: []
        }
    }
}

/// Shows the records of an entity to compiled predicates.
private final class RecordSchema: PredicateSchema {
    private let entity: NSEntityDescription
    private unowned let store: RecordStore

    init(_ entity: NSEntityDescription, _ store: RecordStore) {
        self.entity = entity
        self.store = store
    }

    var schemaName: String { entity.name ?? "A record" }

    func predicateProperty(named name: String) -> PredicateProperty? {
        if entity.attributesByName[name] != nil { return .computed { try PropertyValue(any: Self.record($0).values[name]) } }
        guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity else { return nil }
        let schema = RecordSchema(destination, store)
        guard relationship.isToMany else {
            return .toOne(
                destination: schema, identity: { Self.record($0).related(name).first?.identity ?? .null },
                follow: { Self.record($0).related(name).first?.subject })
        }
        return .toMany(
            destination: schema, count: { Self.record($0).related(name).count },
            forEach: { subject, visit in
                for record in Self.record(subject).related(name) { if try !visit(record.subject) { return } }
            })
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { Self.record(subject).identity }

    func constant(for object: AnyObject) -> PropertyValue? {
        switch object {
        case let object as NSManagedObject: .object(ObjectReference(object.objectID))
        case let objectID as NSManagedObjectID: .object(ObjectReference(objectID))
        default: nil
        }
    }

    func publicObject(of subject: PredicateSubject) -> Any { Self.record(subject).values }

    private static func record(_ subject: PredicateSubject) -> Record { unsafeDowncast(subject.object, to: Record.self) }
}
