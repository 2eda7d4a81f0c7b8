internal import Foundation
internal import Platform
internal import Predicates

/// A store that reads and writes its whole file: the base class of stores for CSV, JSON or XML files.
///
/// Override ``NSPersistentStore/loadMetadata()``, ``load()``, ``newReferenceObject(for:)``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)`` and
/// ``save()``. The framework keeps the nodes, answers fetches from them, and calls the store on the queue of the requesting context, one
/// request at a time.
///
/// A save calls ``newReferenceObject(for:)`` and ``newCacheNode(for:)`` for new objects, ``updateCacheNode(_:from:)`` for changed ones,
/// ``willRemoveCacheNodes(_:)`` for deleted ones, and then ``save()``. If that throws, the nodes are restored.
///
/// Source: [NSAtomicStore](https://developer.apple.com/documentation/coredata/nsatomicstore) and the Atomic Store Programming Topics.
// `nodesLock` guards the nodes and all derived state. It is not a `LockedBox`, because it is recursive: the store's own methods are called under it,
// one at a time, and they call methods that take it.
open class NSAtomicStore: NSPersistentStore {
    final var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    /// The IDs of the nodes in the order of their addition.
    final var order: [NSManagedObjectID] = []
    final lazy var table = AtomicTable(self)
    /// Created on demand.
    final var uniqueness: UniquenessIndex?
    /// The number of additions and saves, and the file that the nodes were read from or written to.
    final var changeCount = 0
    final let instance = UUID()
    /// The state of the file. Nil if there is no file, or if it was written so recently that another write may have the same stamp.
    final var file: String?
    final let nodesLock = NSRecursiveLock()

    /// Reads the file and adds a node for each object with ``addCacheNodes(_:)``. Called once, when the store is added.
    ///
    /// - Throws: The error of reading the file; the store is not added then.
    open func load() throws {
        throw CoreDataError.contract(
            self, "load()", "It is not overridden, so the store has no objects.", next: "Override it and add a node for each object.")
    }

    /// Writes the file. Called at the end of a save.
    ///
    /// - Throws: The error of writing the file; the context keeps its changes then.
    open func save() throws {
        throw CoreDataError.contract(
            self, "save()", "It is not overridden, so nothing can be saved.", next: "Override it and write the file.")
    }

    /// Returns the reference object of a new object: a string, an integer or a UUID that is unique within its entity.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID() }

    /// Returns a node for a new object and its ``NSManagedObject/objectID``, with the object's values and relationships.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Updates a node from a changed object. The default implementation copies every property.
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

    /// Adds nodes; a node replaces an existing one with the same ID.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        nodesLock.withLock {
            // Sets are unordered; the IDs provide an order that is the same in every run.
            uniqueness = nil
            changeCount &+= 1
            for node in cacheNodes.sorted(by: { $0.objectID.isOrderedBefore($1.objectID) }) {
                if nodes.updateValue(node, forKey: node.objectID) == nil { order.append(node.objectID) }
            }
        }
    }

    /// Returns all nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { nodesLock.withLock { Set(nodes.values) } }

    /// Returns the node with an ID; nil if there is none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodesLock.withLock { nodes[objectID.current] } }

    /// Returns the object ID for a reference object: a string, an integer or a UUID. Another value stops the program with a message.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: data)
    }

    /// Returns the reference object of an ID: a `String`, an `NSNumber` or a `UUID`.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { objectID.reference.object }

    // MARK: Calls from the coordinator

    override func makeInterface() -> (any StoreInterface)? { AtomicInterface(self) }

    /// The state that the file is in now.
    final var fileText: String? { url.flatMap { $0.isFileURL ? FileStamp($0.path)?.lastingText : nil } }

    @_spi(Stores) override open func open() throws {
        // No other code knows the store yet: the lock satisfies tools that detect data races.
        try nodesLock.withLock {
            let before = fileText
            try load()
            file = fileText == before ? before : nil
            for node in nodes.values { _ = try row(of: node) }
        }
    }
}

extension NSManagedObjectID {
    /// Returns whether this ID precedes another, by entity and then by key: the order is the same in every run.
    fileprivate func isOrderedBefore(_ other: NSManagedObjectID) -> Bool {
        if owningEntity !== other.owningEntity { return (owningEntity.name ?? "") < (other.owningEntity.name ?? "") }
        switch (reference, other.reference) {
        case (.integer(let left), .integer(let right)): return left < right
        default: return "\(reference.object)" < "\(other.reference.object)"
        }
    }
}
