internal import Foundation
internal import Logging

/// The content of a store in another store, which has taken its place.
struct MovedContent {
    /// The way in which the objects are identified in the destination.
    enum Identity {
        /// By the same IDs, which now refer to the destination.
        case same
        /// By new IDs, here by the old ones.
        case new([NSManagedObjectID: NSManagedObjectID])
    }

    /// The store that was replaced.
    let source: NSPersistentStore
    let destination: NSPersistentStore
    var identity: Identity
}

extension ContextList {
    /// The contexts and their descendants, except those that are being deallocated. Children come before their parents, which they may wait for.
    fileprivate var childrenFirst: [NSManagedObjectContext] {
        all.compactMap { unsafeDowncast($0, to: ObjectRegistry.self).livingContext }.flatMap { $0.children.childrenFirst + [$0] }
    }
}

extension NSPersistentStoreCoordinator {
    /// Exchanges a store while all contexts' queues are held, and gives the objects of all contexts their IDs in the new store.
    ///
    /// - Parameter exchange: Replaces the old store by the new one.
    func moveObjects(_ exchange: () throws -> MovedContent) rethrows -> NSPersistentStore {
        // Evaluated once: the main thread, which may wait for this one, may have added objects to its context meanwhile.
        let held = contexts.childrenFirst.filter(\.isToBeWaitedFor)
        return try hold(held[...]) {
            var content = try exchange()
            // Includes the contexts that were made meanwhile. A child queries its parent, which must know the objects already.
            for context in contexts.childrenFirst.reversed() {
                if context.canBeWaitedFor || held.contains(where: { $0 === context }) {
                    context.performAndWait { context.moveObjects(of: &content) }
                } else {
                    // The stores are only compared, and read for their tokens, which never change.
                    nonisolated(unsafe) let known = content
                    context.contextQueue.async { [weak context] in
                        var content = known
                        context?.moveObjects(of: &content)
                    }
                }
            }
            return content.destination
        }
    }

    /// Runs `body` on the queues of all of these contexts.
    private func hold<Result>(_ contexts: ArraySlice<NSManagedObjectContext>, _ body: () throws -> Result) rethrows -> Result {
        guard let context = contexts.first else { return try body() }
        return try context.performAndWait {
            context.waitForSaveInFlight()
            return try hold(contexts.dropFirst(), body)
        }
    }
}

extension NSManagedObjectContext {
    /// Enters the list of the coordinator or the parent, and leaves the one before.
    func joinList() {
        leaveList()
        memberOf = parent?.children ?? persistentStoreCoordinator?.contexts
        memberOf?.add(registry)
    }

    func leaveList() {
        memberOf?.remove(registry)
        memberOf = nil
    }

    /// Whether a move of a store waits for this context. A context of the main queue that has no objects, such as an unused `viewContext`, is
    /// informed of the move later: the main thread may be waiting for it.
    fileprivate final var isToBeWaitedFor: Bool {
        canBeWaitedFor || !registry.isEmpty || !children.all.isEmpty
    }

    /// Whether no work on the queue of this context can be waiting for the calling thread.
    fileprivate final var canBeWaitedFor: Bool { contextQueue !== ContextQueue.main || contextQueue.isCurrent }

    /// Moves the objects of a store to its replacement, together with the changes of this context.
    ///
    /// - Parameter content: Receives the IDs of new objects that had permanent IDs before they were saved, for the children.
    fileprivate func moveObjects(of content: inout MovedContent) {
        // A context pinned to a state of the old store would otherwise continue to read that state.
        generation.advance()
        assignedStores = assignedStores.mapValues {
            $0.store === content.source ? AssignedStore(object: $0.object, store: content.destination) : $0
        }
        switch content.identity {
        case .same: registerAnew(with: content.destination)
        case .new(var ids):
            giveIDs(&ids, of: content)
            content.identity = .new(ids)
        }
    }

    /// Registers the objects that this context has of a store with the store, which has replaced a former one.
    private func registerAnew(with store: NSPersistentStore) {
        let objects = registry.all
        // The former store knew the released objects.
        source.didUnregister(registry.takeReleasedIDs().filter { $0.token !== store.token })
        let ids = objects.compactMap(\.identifier).filter { $0.token === store.token }
        if !ids.isEmpty { notifySourceOfRegistration(ids) }
    }

    /// Gives the objects of a store new IDs, and the values of the destination.
    private func giveIDs(_ ids: inout [NSManagedObjectID: NSManagedObjectID], of content: MovedContent) {
        processPendingChanges()
        adoptPermanentIDs()
        // They know the objects by their IDs.
        faultBatches.removeAll()
        forgetAllFaultErrors()
        insertedAgain = Set(insertedAgain.map { ids[$0] ?? $0 })
        var moved: [NSManagedObject] = []
        var early: [(object: NSManagedObject, id: NSManagedObjectID)] = []
        for object in registry.all {
            object.batchNumber = 0
            guard let id = object.identifier, id.token === content.source.token else { continue }
            if let new = ids[id] {
                // A context that was created meanwhile may have both: one object has the ID, and the other one is gone with its store.
                if registry.object(with: new) != nil { continue }
                assign(permanentID: new, to: object)
                moved.append(object)
            } else if object.flags.contains(.inserted) {
                // It got its ID before it was saved.
                assign(permanentID: NSManagedObjectID(temporaryFor: object.owningEntity), to: object)
                early.append((object, id))
            }
        }
        for object in moved where object.hasChanges { object.moveReferences(to: ids) }
        if !early.isEmpty {
            do {
                try performObtainPermanentIDs(for: early.map(\.object))
            } catch {
                Log.context.error("New objects get their permanent IDs when they are saved: the copy of their store gave none. \(error)")
            }
            for (object, id) in early where !object.objectID.isTemporaryID { ids[id] = object.objectID }
        }
        notifySourceOfRegistration(moved.map(\.objectID))
        var changes = ObjectChanges()
        refreshMerged(moved, isRemote: false, &changes)
        postUnregistered(changes)
    }
}

extension NSManagedObject {
    /// Replaces the IDs in the rows of a changed object, so that its changes are still computed against its stored values.
    fileprivate func moveReferences(to ids: [NSManagedObjectID: NSManagedObjectID]) {
        let isOwn = snapshot != nil && row === snapshot
        if let known = snapshot { snapshot = moved(known, to: ids) }
        if isOwn {
            row = snapshot
        } else if let known = row {
            row = moved(known, to: ids)
            flags.insert(.hasExclusiveRow)
        }
    }

    private func moved(_ row: Row, to ids: [NSManagedObjectID: NSManagedObjectID]) -> Row {
        let copy = row.copy()
        copy.objectID = objectID
        for relationship in owningEntity.frozen!.relationships {
            let slot = slot(of: relationship)
            if relationship.isToMany {
                guard let list = row.objectIDs(at: slot), !list.ids.isEmpty else { continue }
                copy.setObjectIDs(ObjectIDList(list.ids.map { ids[$0] ?? $0 }), at: slot)
            } else if let id = row.objectID(at: slot), let new = ids[id] {
                copy.setObjectID(new, at: slot)
            }
        }
        return copy
    }
}
