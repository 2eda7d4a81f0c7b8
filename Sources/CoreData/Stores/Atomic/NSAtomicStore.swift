internal import Foundation
internal import Predicates

/// A store that reads its file whole and writes it whole: the base for stores over a CSV, JSON or XML file.
///
/// Override ``loadMetadata()``, ``load()``, ``newReferenceObject(for:)``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)`` and
/// ``save()``. The framework keeps the nodes, answers fetches from them, and calls the store on the queue of the context that asks, one
/// request at a time.
///
/// A save calls ``newReferenceObject(for:)`` and ``newCacheNode(for:)`` for new objects, ``updateCacheNode(_:from:)`` for changed ones,
/// ``willRemoveCacheNodes(_:)`` for deleted ones, then ``save()``. When that throws, the nodes are as they were before.
///
/// Source: [NSAtomicStore](https://developer.apple.com/documentation/coredata/nsatomicstore) and the Atomic Store Programming Topics.
open class NSAtomicStore: NSPersistentStore {
    private var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    /// The nodes in the order in which they came.
    private var order: [NSManagedObjectID] = []
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    private lazy var table = AtomicTable(self)
    /// Made when it is first asked for.
    private var uniqueness: UniquenessIndex?
    /// How often nodes have been added or saved, and which file they were read from or written to.
    private var changeCount = 0
    private let instance = UUID()
    private var file: FileState?

    /// Reads the file and adds a node for each object by ``addCacheNodes(_:)``. Called once, when the store is added.
    ///
    /// - Throws: why the file cannot be read; the store is not added then.
    open func load() throws {
        throw CoreDataError.contract(
            self, "load()", "It is not overridden, so the store has no objects.", next: "Override it and add a node for each object.")
    }

    /// Writes the file. Called at the end of a save.
    ///
    /// - Throws: why the file cannot be written; the context stays as it was.
    open func save() throws {
        throw CoreDataError.contract(
            self, "save()", "It is not overridden, so nothing can be saved.", next: "Override it and write the file.")
    }

    /// The key of a new object: text, a whole number or a UUID that no other object of its entity has.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID() }

    /// The node of a new object, made for its ``NSManagedObject/objectID``; its values and relationships taken from the object.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Brings a node up to date with a changed object. Copies every property unless overridden.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for property in managedObject.owningEntity.frozen!.properties where !property.isTransient {
            let value = managedObject.value(forKey: property.name)
            switch value {
            case let object as NSManagedObject: node.setValue(cacheNode(for: object.objectID) ?? object.objectID, forKey: property.name)
            case let objects as Set<NSManagedObject>:
                node.setValue(objects.map { cacheNode(for: $0.objectID)?.objectID ?? $0.objectID }, forKey: property.name)
            case let objects as NSOrderedSet:
                node.setValue(objects.array.compactMap { ($0 as? NSManagedObject)?.objectID }, forKey: property.name)
            default: node.setValue(value, forKey: property.name)
            }
        }
    }

    /// Called before nodes are removed, while they still have their values.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// Adds nodes; a node of an ID that is there already replaces the old one.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        // Sets have no order; the IDs give one that does not change from run to run.
        uniqueness = nil
        changeCount &+= 1
        for node in cacheNodes.sorted(by: { $0.objectID.isOrderedBefore($1.objectID) }) {
            if nodes.updateValue(node, forKey: node.objectID) == nil { order.append(node.objectID) }
        }
    }

    /// Every node.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

    /// The node of an ID; nil if there is none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID.current] }

    /// The ID of the object with a key: text, a whole number or a UUID. Anything else stops the program with a message.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: data)
    }

    /// The key of an object: a `String`, an `NSNumber` or a `UUID`.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { objectID.reference.object }

    // MARK: What the coordinator asks

    override func open() throws {
        let before = url.flatMap(FileState.init)
        try load()
        file = url.flatMap(FileState.init) == before ? before : nil
        for node in nodes.values { _ = try row(of: node) }
    }

    override func performFetch(
        _ request: NSFetchRequest<any NSFetchRequestResult>, for context: NSManagedObjectContext
    ) throws -> FetchAnswer {
        try RowFetch(table: table, request: request).answer()
    }

    override func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? {
        try nodes[id].map(row(of:))
    }

    override func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        guard let row = try nodes[id].map(row(of:)) else { return [] }
        let slot = row.layout.slots[relationship.slotIndex]
        return relationship.isToMany ? row.objectIDs(at: slot)?.ids ?? [] : row.objectID(at: slot).map { [$0] } ?? []
    }

    override func latestRow(for id: NSManagedObjectID) -> LatestRow {
        guard let node = nodes[id] else { return .deleted }
        return (try? node.makeRow()).map { .row($0) } ?? .unknown
    }

    override func permanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        var given: Set<NSManagedObjectID> = []
        for object in objects {
            let key = newReferenceObject(for: object)
            guard let reference = NSManagedObjectID.Reference(key) else {
                throw CoreDataError.contract(
                    self, "newReferenceObject(for:)", "It gave \(key) for \(object.objectID).",
                    next: "Return text, a whole number or a UUID.")
            }
            let id = NSManagedObjectID(entity: object.owningEntity, token: token, reference: reference)
            guard nodes[id] == nil, given.insert(id).inserted else {
                throw CoreDataError.contract(
                    self, "newReferenceObject(for:)", "It gave \(key), which another object of “\(object.owningEntity)” has.",
                    next: "Return a key of its own for each object.")
            }
            ids.append(id)
        }
        return ids
    }

    override func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        let before = (nodes, order)
        let written = changes.inserted + changes.updated + changes.locked
        _ = try written.map { try $0.rowForSaving(keepsLists: true) }
        let touched = (changes.updated + changes.locked).compactMap { nodes[$0.objectID] }.map { ($0, $0.copyOfValues) }
        do {
            for object in changes.inserted { try insertNode(for: object) }
            for object in changes.updated {
                guard let node = nodes[object.objectID] else { continue }
                updateCacheNode(node, from: object)
                node.version += 1
            }
            for object in changes.locked { nodes[object.objectID]?.version += 1 }
            let removed = Set(changes.deleted.compactMap { nodes[$0.objectID] })
            if !removed.isEmpty { willRemoveCacheNodes(removed) }
            for object in changes.deleted { nodes[object.objectID] = nil }
            if !removed.isEmpty { order.removeAll { nodes[$0] == nil } }
            for object in written { if let node = nodes[object.objectID] { _ = try row(of: node) } }
            try save()
        } catch {
            (nodes, order) = before
            for (node, values) in touched { node.restore(values) }
            throw error
        }
        changeCount &+= 1
        file = url.flatMap(FileState.init)
        if uniqueness != nil {
            for object in written { uniqueness?.set(try? nodes[object.objectID].map(row(of:)), of: object.objectID) }
            for object in changes.deleted { uniqueness?.set(nil, of: object.objectID) }
        }
    }

    override var contentsState: ContentsState? {
        ContentsState(
            current: "\(identifier ?? "") \(instance) \(changeCount)", lasting: file.map { "\(identifier ?? "") \($0.text)" })
    }

    override var enforcesUniqueness: Bool { true }

    override func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
        let index = try uniqueness ?? UniquenessIndex(table, model: model)
        uniqueness = index
        return index.holders(of: constraint, key)
    }

    private func insertNode(for object: NSManagedObject) throws {
        let node = newCacheNode(for: object)
        guard node.objectID.isSame(as: object.objectID) else {
            throw CoreDataError.contract(
                self, "newCacheNode(for:)", "Asked for \(object.objectID), it gave the node of \(node.objectID).",
                next: "Make the node with the object's ID.")
        }
        if nodes.updateValue(node, forKey: node.objectID) == nil { order.append(node.objectID) }
    }

    fileprivate func row(of node: NSAtomicStoreCacheNode) throws -> Row {
        do {
            return try node.makeRow()
        } catch let mistake as NodeMistake {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The node of \(node.objectID) is wrong.", reason: mistake.description,
                next: "Give nodes values of the entity's properties, under their names.", info: [NSAffectedStoresErrorKey: [self]])
        }
    }

    /// The nodes as rows.
    private final class AtomicTable: RowTable {
        unowned let store: NSAtomicStore
        init(_ store: NSAtomicStore) { self.store = store }

        func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
            for id in store.order where includingSubentities ? id.owningEntity.isKindOf(entity: entity) : id.owningEntity === entity {
                if let node = store.nodes[id] { try body(store.row(of: node)) }
            }
        }

        func row(with id: NSManagedObjectID) throws -> Row? { try store.nodes[id].map(store.row(of:)) }

        func schema(of entity: NSEntityDescription) -> RowSchema {
            if let schema = store.schemas[ObjectIdentifier(entity)] { return schema }
            let schema = RowSchema(entity: entity, table: self)
            store.schemas[ObjectIdentifier(entity)] = schema
            return schema
        }
    }
}

extension NSManagedObjectID {
    /// An order of IDs that is the same in every run: by entity, then by key.
    fileprivate func isOrderedBefore(_ other: NSManagedObjectID) -> Bool {
        if owningEntity !== other.owningEntity { return (owningEntity.name ?? "") < (other.owningEntity.name ?? "") }
        switch (reference, other.reference) {
        case (.integer(let left), .integer(let right)): return left < right
        default: return "\(reference.object)" < "\(other.reference.object)"
        }
    }
}
