import CoreData

/// An incremental store over dictionaries, as an author would write one. It writes down what it is asked, and each of its answers can be
/// replaced by a wrong one.
///
/// The options may hold `"metadata"`, the metadata to load; nil under that key for none at all.
// Used under the coordinator's lock, and by tests while no context works.
class DictionaryStore: NSIncrementalStore {
    class var typeName: String { "DictionaryStore" }

    struct Record {
        var values: [String: Any]
        var version: UInt64
    }

    var records: [NSManagedObjectID: Record] = [:]
    private var order: [NSManagedObjectID] = []
    private var lastKey = 0
    /// What was asked, in order.
    var calls: [String] = []
    var registered: [NSManagedObjectID] = []
    var unregistered: [NSManagedObjectID] = []
    /// Whether nodes hold the IDs of to-one relationships.
    var answersToOneInNodes = true
    /// Whether it answers for many objects by one question.
    var answersMany = false
    /// What it throws when asked for many.
    var manyError: (any Error)?

    // Wrong answers.
    var fetchAnswer: ((NSFetchRequest<any NSFetchRequestResult>, NSManagedObjectContext) throws -> Any)?
    var saveAnswer: ((NSSaveChangesRequest) throws -> Any)?
    var nodeAnswer: ((NSManagedObjectID) throws -> NSIncrementalStoreNode)?
    var relationshipAnswer: ((NSRelationshipDescription, NSManagedObjectID) throws -> Any)?
    var idsAnswer: (([NSManagedObject]) throws -> [NSManagedObjectID])?

    override func loadMetadata() throws {
        calls.append("loadMetadata")
        if let given = options?["metadata"] {
            metadata = given as? [String: Any]
        } else {
            metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.typeName]
        }
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            calls.append("save")
            if let saveAnswer { return try saveAnswer(save) }
            write(save)
            return []
        }
        let fetch = request as! NSFetchRequest<any NSFetchRequestResult>
        calls.append("fetch \(fetch.entityName ?? "?")")
        if let fetchAnswer { return try fetchAnswer(fetch, context!) }
        let ids = order.filter { $0.entity.isKindOf(entity: fetch.entity!) }
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: ids.count)]
        case .managedObjectIDResultType: return ids
        case .dictionaryResultType: return ids.map { NSDictionary(dictionary: records[$0]!.values) }
        default: return ids.map { context!.object(with: $0) }
        }
    }

    private func write(_ save: NSSaveChangesRequest) {
        for object in save.insertedObjects ?? [] {
            records[object.objectID] = Record(values: values(of: object), version: 1)
            order.append(object.objectID)
        }
        for object in save.updatedObjects ?? [] {
            records[object.objectID] = Record(values: values(of: object), version: (records[object.objectID]?.version ?? 0) + 1)
        }
        for object in save.deletedObjects ?? [] {
            records[object.objectID] = nil
            order.removeAll { $0 == object.objectID }
        }
    }

    private func values(of object: NSManagedObject) -> [String: Any] {
        var values: [String: Any] = [:]
        for name in object.entity.attributesByName.keys { values[name] = object.value(forKey: name) }
        for (name, relationship) in object.entity.relationshipsByName {
            let ids = object.objectIDs(forRelationshipNamed: name)
            values[name] = relationship.isToMany ? ids : ids.first ?? NSNull()
        }
        return values
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        calls.append("newValues \(referenceObject(for: objectID))")
        if let nodeAnswer { return try nodeAnswer(objectID) }
        guard let record = records[objectID] else {
            throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError)
        }
        let relationships = objectID.entity.relationshipsByName
        let values = record.values.filter { relationships[$0.key].map { !$0.isToMany && answersToOneInNodes } ?? true }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        calls.append("newValue \(relationship.name)")
        if let relationshipAnswer { return try relationshipAnswer(relationship, objectID) }
        return records[objectID]?.values[relationship.name] ?? (relationship.isToMany ? [NSManagedObjectID]() : NSNull())
    }

    override func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]? {
        guard answersMany else { return nil }
        calls.append("newValues of \(objectIDs.count)")
        if let manyError { throw manyError }
        return objectIDs.compactMap { id in
            guard let record = records[id] else { return nil }
            let relationships = id.entity.relationshipsByName
            let values = record.values.filter { relationships[$0.key].map { !$0.isToMany && answersToOneInNodes } ?? true }
            return NSIncrementalStoreNode(objectID: id, withValues: values, version: record.version)
        }
    }

    override func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]? {
        guard answersMany else { return nil }
        calls.append("newValue \(relationship.name) of \(objectIDs.count)")
        if let manyError { throw manyError }
        return Dictionary(
            uniqueKeysWithValues: objectIDs.map { id in
                (id, records[id]?.values[relationship.name] ?? (relationship.isToMany ? [NSManagedObjectID]() : NSNull()))
            })
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        calls.append("obtainPermanentIDs \(array.count)")
        if let idsAnswer { return try idsAnswer(array) }
        return array.map { object in
            lastKey += 1
            return newObjectID(for: object.entity, referenceObject: lastKey)
        }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) { registered += objectIDs }
    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) { unregistered += objectIDs }

    // MARK: Set-up

    /// A new store of the music model, and its coordinator.
    class func make(model: NSManagedObjectModel = Music.model(), options: [AnyHashable: Any]? = nil) throws -> (
        store: DictionaryStore, coordinator: NSPersistentStoreCoordinator
    ) {
        NSPersistentStoreCoordinator.registerStoreClass(self, forStoreType: typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: typeName, configurationName: nil, at: nil, options: options)
        return (store as! DictionaryStore, coordinator)
    }

    /// Runs `body` in a context of a new store.
    static func run(_ body: (DictionaryStore, NSManagedObjectContext) throws -> Void) throws {
        let (store, coordinator) = try make()
        let context = Music.context(coordinator)
        try context.performAndWait { try body(store, context) }
    }

    func entity(_ name: String) -> NSEntityDescription { persistentStoreCoordinator!.managedObjectModel.entitiesByName[name]! }

    /// Puts a record into the store behind the framework's back.
    @discardableResult
    func put(_ entityName: String, _ key: Int, _ values: [String: Any]) -> NSManagedObjectID {
        let id = newObjectID(for: entity(entityName), referenceObject: key)
        if records[id] == nil { order.append(id) }
        records[id] = Record(values: values, version: (records[id]?.version ?? 0) + 1)
        return id
    }
}
