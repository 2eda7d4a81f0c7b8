import CoreData

/// A disk that the atomic store of the tests writes to: one record for each object.
// `lock` guards `records`.
final class FakeDisk: NSObject, @unchecked Sendable {
    struct Record {
        var entity: String
        var key: String
        var values: [String: any Sendable]
        /// Keys of related objects, with their entities: `"Band/1"`.
        var related: [String: [String]]
    }

    private let lock = NSLock()
    private var stored: [Record] = []
    private var isFull = false
    private var count = 0

    var records: [Record] {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
    /// Whether writing fails.
    var full: Bool {
        get { lock.withLock { isFull } }
        set { lock.withLock { isFull = newValue } }
    }
    /// How often it was written.
    var writes: Int { lock.withLock { count } }

    func write(_ records: [Record]) throws {
        try lock.withLock {
            if isFull { throw NSError(domain: "disk", code: 28) }
            stored = records
            count += 1
        }
    }
}

/// An atomic store over a ``FakeDisk``, as an author would write one.
final class ListStore: NSAtomicStore {
    static let typeName = "ListStore"
    private var nextKey = 1000
    private(set) var removed = 0

    private var disk: FakeDisk { options!["disk"] as! FakeDisk }

    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "list", NSStoreTypeKey: Self.typeName] }

    override func load() throws {
        let entities = persistentStoreCoordinator!.managedObjectModel.entitiesByName
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for record in disk.records {
            let id = objectID(for: entities[record.entity]!, withReferenceObject: record.key)
            nodes["\(record.entity)/\(record.key)"] = NSAtomicStoreCacheNode(objectID: id)
        }
        for record in disk.records {
            let node = nodes["\(record.entity)/\(record.key)"]!
            for (key, value) in record.values { node.setValue(value, forKey: key) }
            for (key, targets) in record.related {
                let isToMany = entities[record.entity]!.relationshipsByName[key]!.isToMany
                let found = targets.compactMap { nodes[$0] }
                if isToMany { node.setValue(found, forKey: key) } else { node.setValue(found.first, forKey: key) }
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        nextKey += 1
        return "k\(nextKey)"
    }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { removed += cacheNodes.count }

    override func save() throws {
        func name(_ id: NSManagedObjectID) -> String { "\(id.entity.name!)/\(referenceObject(for: id))" }
        let records = cacheNodes().map { node in
            var record = FakeDisk.Record(
                entity: node.objectID.entity.name!, key: referenceObject(for: node.objectID) as! String, values: [:], related: [:])
            for (key, attribute) in node.objectID.entity.attributesByName {
                guard let value = node.value(forKey: key) else { continue }
                record.values[key] = attribute.attributeType == .stringAttributeType ? value as? String : (value as? NSNumber)?.intValue
            }
            for key in node.objectID.entity.relationshipsByName.keys {
                switch node.value(forKey: key) {
                case let one as NSAtomicStoreCacheNode: record.related[key] = [name(one.objectID)]
                case let one as NSManagedObjectID: record.related[key] = [name(one)]
                case let many as [NSAtomicStoreCacheNode]: record.related[key] = many.map { name($0.objectID) }
                case let many as [NSManagedObjectID]: record.related[key] = many.map(name)
                default: break
                }
            }
            return record
        }
        try disk.write(records.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) })
    }

    /// A coordinator with a store over `disk`.
    static func coordinator(_ disk: FakeDisk) throws -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator.registerStoreClass(self, forStoreType: typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(ofType: typeName, configurationName: nil, at: nil, options: ["disk": disk])
        return coordinator
    }
}
