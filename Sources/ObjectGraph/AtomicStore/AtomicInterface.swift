internal import Foundation
internal import Predicates

/// Adapts an atomic store, whose interface consists of nodes and objects, to the values of the coordinator's interface.
// Unchecked: all state is used under the store's `nodesLock`.
final class AtomicInterface: ContextReceivingStore, ContentsStateProviding, @unchecked Sendable {
    private unowned let store: NSAtomicStore

    init(_ store: NSAtomicStore) { self.store = store }

    var hasRowsInMemory: Bool { true }
    var rowsContainLists: Bool { true }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try store.nodesLock.withLock { try RowFetch(table: store.table, query: query).answer() }
    }

    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try store.nodesLock.withLock { try ids.compactMap { try store.nodes[$0].map(store.row(of:)) } }
    }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try store.nodesLock.withLock {
            Dictionary(
                try ids.map { ($0, try store.nodes[$0].map(store.row(of:))?.relatedIDs(relationship) ?? []) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try store.nodesLock.withLock {
            var ids: [NSManagedObjectID] = []
            var given: Set<NSManagedObjectID> = []
            for object in new.objects {
                let key = store.newReferenceObject(for: object)
                guard let reference = NSManagedObjectID.Reference(key) else {
                    throw CoreDataError.contract(
                        store, "newReferenceObject(for:)", "It gave \(key) for \(object.objectID).",
                        next: "Return text, a whole number or a UUID.")
                }
                let id = NSManagedObjectID(entity: object.owningEntity, token: store.token, reference: reference)
                guard store.nodes[id] == nil, given.insert(id).inserted else {
                    throw CoreDataError.contract(
                        store, "newReferenceObject(for:)", "It gave \(key), which another object of “\(object.owningEntity)” has.",
                        next: "Return a key of its own for each object.")
                }
                ids.append(id)
            }
            return ids
        }
    }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        guard let context = caller.context else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "\(Swift.type(of: store)) cannot be saved to.",
                reason: "An atomic store is given the objects of the context that saves, and there is none.",
                next: "Save from a context that lives.")
        }
        return try store.nodesLock.withLock {
            try checkVersions(changes)
            try checkUniqueness(changes)
            try put(changes, context)
            return SaveOutcome()
        }
    }

    /// Updates the nodes and has the file written. On failure, the nodes are restored.
    private func put(_ changes: StoreChangeSet, _ context: NSManagedObjectContext) throws {
        let before = (store.nodes, store.order)
        let written = (changes.inserted + changes.updated + changes.locked).map(\.objectID)
        let touched = (changes.updated + changes.locked).compactMap { store.nodes[$0.objectID] }.map { ($0, $0.copyOfValues) }
        let deleted = changes.deleted.map(\.objectID)
        do {
            for change in changes.inserted { try insertNode(for: context.object(with: change.objectID)) }
            for change in changes.updated {
                guard let node = store.nodes[change.objectID] else { continue }
                store.updateCacheNode(node, from: context.object(with: change.objectID))
                node.version += 1
            }
            for change in changes.locked { store.nodes[change.objectID]?.version += 1 }
            let removed = Set(deleted.compactMap { store.nodes[$0] })
            if !removed.isEmpty { store.willRemoveCacheNodes(removed) }
            for id in deleted { store.nodes[id] = nil }
            if !removed.isEmpty { store.order.removeAll { store.nodes[$0] == nil } }
            for id in written { if let node = store.nodes[id] { _ = try store.row(of: node) } }
            try store.save()
        } catch {
            (store.nodes, store.order) = before
            for (node, values) in touched { node.restore(values) }
            throw error
        }
        store.changeCount &+= 1
        store.file = store.fileText
        if store.uniqueness != nil {
            for id in written { store.uniqueness?.set(try? store.nodes[id].map(store.row(of:)), of: id) }
            for id in deleted { store.uniqueness?.set(nil, of: id) }
        }
    }

    private func insertNode(for object: NSManagedObject) throws {
        let node = store.newCacheNode(for: object)
        guard node.objectID.isSame(as: object.objectID) else {
            throw CoreDataError.contract(
                store, "newCacheNode(for:)", "Asked for \(object.objectID), it gave the node of \(node.objectID).",
                next: "Make the node with the object's ID.")
        }
        if store.nodes.updateValue(node, forKey: node.objectID) == nil { store.order.append(node.objectID) }
    }

    var contentsState: ContentsState? {
        store.nodesLock.withLock {
            ContentsState(
                current: "\(store.identifier ?? "") \(store.instance) \(store.changeCount)",
                lasting: store.file.map { "\(store.identifier ?? "") \($0)" })
        }
    }
}

extension AtomicInterface: ConflictFinding {
    package func latestRow(for id: NSManagedObjectID) throws -> LatestRow {
        guard let node = store.nodes[id] else { return .deleted }
        return (try? node.makeRow()).map { .row($0) } ?? .unknown
    }

    package func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return [] }
        let index = try store.uniqueness ?? UniquenessIndex(store.table, model: model)
        store.uniqueness = index
        return try index.owners(of: constraint, key).compactMap { try store.nodes[$0].map(store.row(of:)) }
    }
}

extension AtomicInterface: RowAccess {
    package func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        store.nodesLock.lock()
        defer { store.nodesLock.unlock() }
        return try store.nodes[id].map(store.row(of:))
    }

    package func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] { try row(for: id, for: caller)?.relatedIDs(relationship) ?? [] }

    package func knownRow(for id: NSManagedObjectID) -> Row? { store.nodesLock.withLock { try? store.nodes[id]?.makeRow() } }

    package func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool { false }
    package func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { false }
}

extension NSAtomicStore {
    /// Returns the node as a row.
    ///
    /// - Throws: Code 134070 for a node with values that the entity cannot hold.
    final func row(of node: NSAtomicStoreCacheNode) throws -> Row {
        do {
            return try node.makeRow()
        } catch let mistake as NodeMistake {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The node of \(node.objectID) is wrong.", reason: mistake.description,
                next: "Give nodes values of the entity's properties, under their names.", info: [NSAffectedStoresErrorKey: [self]])
        }
    }
}

/// The nodes of an atomic store as a row table.
final class AtomicTable: RowTable {
    private unowned let store: NSAtomicStore
    private var schemas: [ObjectIdentifier: RowSchema] = [:]

    init(_ store: NSAtomicStore) { self.store = store }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        for id in store.order where includingSubentities ? id.owningEntity.isKindOf(entity: entity) : id.owningEntity === entity {
            if let node = store.nodes[id] { try body(store.row(of: node)) }
        }
    }

    func row(with id: NSManagedObjectID) throws -> Row? { try store.nodes[id].map(store.row(of:)) }

    func schema(of entity: NSEntityDescription) -> RowSchema {
        if let schema = schemas[ObjectIdentifier(entity)] { return schema }
        let schema = RowSchema(entity: entity, table: self)
        schemas[ObjectIdentifier(entity)] = schema
        return schema
    }
}
