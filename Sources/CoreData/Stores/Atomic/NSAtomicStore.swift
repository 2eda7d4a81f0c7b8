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
// `nodesLock` guards the nodes and all that is known of them. The store's own methods are called under it, for they are called one at a time.
open class NSAtomicStore: NSPersistentStore {
    final var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    /// The nodes in the order in which they came.
    final var order: [NSManagedObjectID] = []
    final lazy var table = AtomicTable(self)
    /// Made when it is first asked for.
    final var uniqueness: UniquenessIndex?
    /// How often nodes have been added or saved, and which file they were read from or written to.
    final var changeCount = 0
    final let instance = UUID()
    final var file: FileState?
    final let nodesLock = NSRecursiveLock()

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
        nodesLock.withLock {
            // Sets have no order; the IDs give one that does not change from run to run.
            uniqueness = nil
            changeCount &+= 1
            for node in cacheNodes.sorted(by: { $0.objectID.isOrderedBefore($1.objectID) }) {
                if nodes.updateValue(node, forKey: node.objectID) == nil { order.append(node.objectID) }
            }
        }
    }

    /// Every node.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { nodesLock.withLock { Set(nodes.values) } }

    /// The node of an ID; nil if there is none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodesLock.withLock { nodes[objectID.current] } }

    /// The ID of the object with a key: text, a whole number or a UUID. Anything else stops the program with a message.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: data)
    }

    /// The key of an object: a `String`, an `NSNumber` or a `UUID`.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { objectID.reference.object }

    // MARK: What the coordinator asks

    override func makeInterface() -> (any StoreInterface)? { AtomicInterface(self) }

    override func open() throws {
        // Nobody else knows the store yet: the lock is for the eyes of tools that look for races.
        try nodesLock.withLock {
            let before = url.flatMap(FileState.init)
            try load()
            file = url.flatMap(FileState.init) == before ? before : nil
            for node in nodes.values { _ = try row(of: node) }
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
