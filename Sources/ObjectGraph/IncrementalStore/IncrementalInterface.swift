internal import Foundation
internal import Predicates

/// Adapts an incremental store, whose interface consists of contexts and objects, to the values of the coordinator's interface.
// Unchecked: the store receives one request at a time, unless it accepts several; its cache has its own lock.
final class IncrementalInterface: ContextReceivingStore, BatchStore, @unchecked Sendable {
    private unowned let store: NSIncrementalStore

    init(_ store: NSIncrementalStore) { self.store = store }

    /// Returns the context for a call.
    private func context(of caller: StoreCaller) throws -> NSManagedObjectContext {
        if let context = caller.context { return context }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(Swift.type(of: store)) cannot be asked.",
            reason: "An incremental store is given the context that asks, and there is none.", next: "Ask from a context that lives.")
    }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        let context = try context(of: caller)
        let request = query.asRequest()
        return try store.serially {
            try IncrementalContract(store).storeAnswer(try store.execute(request, with: context), to: request, in: context)
        }
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try store.serially { try IncrementalContract(store).permanentIDs(try store.obtainPermanentIDs(for: new.objects), for: new.objects) }
    }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        let context = try context(of: caller)
        return try store.serially {
            try checkVersions(changes)
            do {
                try IncrementalContract(store).saveAnswer(try store.execute(changes.asRequest(in: context), with: context))
            } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError {
                // The store knows newer rows than the cache; the merge policy uses those, and the cache must agree with them afterwards.
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
                for conflict in conflicts { store.cache.forget(conflict.sourceObject.objectID) }
                throw error
            } catch let incomplete as IncompleteSave {
                didSave(changes, incomplete.isAccepted)
                throw incomplete
            }
            didSave(changes) { _ in true }
            return SaveOutcome()
        }
    }

    private func didSave(_ changes: StoreChangeSet, _ isSaved: (NSManagedObjectID) -> Bool) {
        func keep(_ part: [StoreChange], areNew: Bool) {
            for change in part {
                let id = change.objectID
                guard isSaved(id), let row = change.row else { continue }
                let related = areNew ? nil : change.changedProperties.compactMap { ($0 as? NSRelationshipDescription)?.name }
                store.cache.didSave(row, of: id, changed: related, makesNode: true)
            }
        }
        keep(changes.inserted, areNew: true)
        keep(changes.updated, areNew: false)
        keep(changes.locked, areNew: false)
        for change in changes.deleted where isSaved(change.objectID) { store.cache.didDelete(change.objectID) }
    }

    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        let context = try context(of: caller)
        return try store.serially {
            // The cached rows may be stale afterwards, even when the store fails halfway.
            defer { store.cache.forgetAll() }
            return try IncrementalContract(store).batchOutcome(try store.execute(request, with: context), of: request)
        }
    }
}

extension StoreChangeSet {
    /// Returns the request of Apple's interface, with the objects of the saving context.
    fileprivate func asRequest(in context: NSManagedObjectContext) -> NSSaveChangesRequest {
        func objects(_ part: [StoreChange]) -> Set<NSManagedObject>? {
            part.isEmpty ? nil : Set(part.map { context.object(with: $0.objectID) })
        }
        return NSSaveChangesRequest(
            inserted: objects(inserted), updated: objects(updated), deleted: objects(deleted), locked: objects(locked))
    }
}

extension IncrementalInterface: ConflictFinding {
    package func latestRow(for id: NSManagedObjectID) throws -> LatestRow {
        if let row = try? store.cache.node(for: id)?.makeRow() { return .row(row) }
        return store.cache.isDeleted(id) ? .deleted : .unknown
    }

    /// Returns no rows, because the store itself checks uniqueness.
    package func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] { [] }
}

extension IncrementalInterface: RowAccess {
    package func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        let contract = IncrementalContract(store)
        if let node = store.cache.node(for: id, maximumAge: caller.stalenessInterval) { return try contract.row(of: node, for: id) }
        let context = try context(of: caller)
        return try store.serially {
            // Another context may have loaded it meanwhile.
            if let node = store.cache.node(for: id, maximumAge: caller.stalenessInterval) { return try contract.row(of: node, for: id) }
            let node: NSIncrementalStoreNode
            do {
                node = try store.newValuesForObject(with: id, with: context)
            } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
            {
                return nil
            }
            let row = try contract.row(of: node, for: id)
            store.cache.setNode(node)
            return row
        }
    }

    package func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        if let known = store.cache.related(relationship.name, of: id, maximumAge: caller.stalenessInterval) { return known }
        let context = try context(of: caller)
        return try store.serially {
            let answer: Any
            do {
                answer = try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
            } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
            {
                // A deleted object has no related objects, in every kind of store; its deletion is found when it is read or saved.
                return []
            }
            let ids = try IncrementalContract(store).relatedIDs(answer, of: relationship, for: id)
            store.cache.setRelated(ids, relationship.name, of: id)
            return ids
        }
    }

    package func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool {
        // Rows that must not be cached are read one at a time.
        if caller.stalenessInterval == 0 { return false }
        let missing = store.cache.withoutRow(ids, maximumAge: caller.stalenessInterval)
        if missing.isEmpty { return true }
        let context = try context(of: caller)
        return try store.serially {
            guard let nodes = try store.newValuesForObjects(with: missing, with: context) else { return false }
            let contract = IncrementalContract(store)
            try contract.check(nodes, among: missing)
            for node in nodes { store.cache.setNode(node) }
            return true
        }
    }

    package func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool {
        if caller.stalenessInterval == 0 { return false }
        let context = try context(of: caller)
        return try store.serially {
            guard let answers = try store.newValues(forRelationship: relationship, forObjectsWith: ids, with: context) else { return false }
            let contract = IncrementalContract(store)
            for id in ids {
                guard let answer = answers[id] else { continue }
                store.cache.setRelated(try contract.relatedIDs(answer, of: relationship, for: id), relationship.name, of: id)
            }
            return true
        }
    }

    package func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? {
        store.cache.related(relationship.name, of: id)
    }

    package func knownRow(for id: NSManagedObjectID) -> Row? { try? store.cache.node(for: id)?.makeRow() }

    package func forgetRow(of id: NSManagedObjectID) { store.cache.forget(id) }

    package var wantsRegistrations: Bool { true }

    package func didRegister(_ ids: [NSManagedObjectID]) {
        store.cache.retain(ids)
        store.tell(ofRegistered: ids, isRegistered: true)
    }

    package func didUnregister(_ ids: [NSManagedObjectID]) {
        store.cache.release(ids)
        store.tell(ofRegistered: ids, isRegistered: false)
    }
}
