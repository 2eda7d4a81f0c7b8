public import Foundation

extension NSManagedObjectContext {
    /// Merges a save notification on the context's queue; implements the public ``mergeChanges(fromContextDidSave:)``.
    func performMerge(_ notification: Notification) {
        checkQueue("mergeChanges(fromContextDidSave:) is called")
        let other = notification.object as? NSManagedObjectContext
        if other === self { return }
        // Without a context the notification comes from a store's history, which other processes may have written.
        let isForeign = other.map { $0.persistentStoreCoordinator !== persistentStoreCoordinator } ?? true
        merge(SavedIDs(notification.userInfo ?? [:], for: self), isRemote: isForeign)
    }

    /// Merges changes that others have written to the stores, such as another process, a service or a batch request, into contexts.
    ///
    /// Stores are read again for the objects. Parents merge before their children. The call waits for the queues of the contexts.
    ///
    /// - Parameters:
    ///   - changeNotificationData: `NSManagedObjectID`s or their URIs, in arrays or sets, under ``NSInsertedObjectsKey``,
    ///     ``NSUpdatedObjectsKey``, ``NSDeletedObjectsKey``, ``NSRefreshedObjectsKey`` or the ID keys of ``NotificationKey``. With
    ///     ``NSInvalidatedAllObjectsKey`` every object counts as refreshed.
    ///   - contexts: The contexts to merge into.
    public static func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        for context in contexts.sorted(by: { $0.depth < $1.depth }) {
            context.performAndWait { context.merge(SavedIDs(changeNotificationData, for: context), isRemote: true) }
        }
    }

    /// The number of ancestors of this context.
    private var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// Merges saves made elsewhere.
    ///
    /// - Parameter isRemote: Whether cached rows are older than the save.
    func merge(_ saved: SavedIDs, isRemote: Bool) {
        if saved.isEmpty { return }
        if let work = asynchronousWork {
            // The running save would be taken for newer than these changes.
            if work.save != nil { return work.merges.append((saved, isRemote)) }
            work.noteDeletions(saved.deleted)
        }
        generation.advance()
        processPendingChanges()
        isMerging = true
        defer { isMerging = false }
        // Includes objects not registered here: a relationship may refer to them.
        if isRemote { for id in saved.inserted + saved.updated + saved.deleted + saved.refreshed { forgetRow(of: id) } }
        var changes = ObjectChanges()
        var merged = saved
        let back = saved.deleted.filter { isReinserted($0, isRemote: isRemote) }
        changes.deleted = Set(saved.deleted.filter { !back.contains($0) }.compactMap(registeredObject(for:)))
        for object in changes.deleted { removeMerged(object) }

        let known = Set(saved.inserted.filter { registeredObject(for: $0) != nil })
        merged.inserted = saved.inserted.filter { !known.contains($0) }
        changes.inserted = Set(objects(with: merged.inserted))
        let stale = findRegisteredObjects(for: saved.updated + saved.refreshed + back + known)
        refreshMerged(stale, isRemote: isRemote, &changes)

        // The objects changed here are the inverse ends of relationships to deleted objects.
        var further = Set(processEvent(posting: false))
        further.subtract(changes.inserted)
        further.subtract(changes.deleted)
        changes.updated.formUnion(further.filter { !$0.flags.contains(.deleted) })
        changes.deleted.formUnion(further.filter { $0.flags.contains(.deleted) })
        changes.refreshed.subtract(changes.updated)
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
        isMerging = false
        postMergedIDs(merged)
        // Reinserted objects were not deleted for child contexts either.
        var told = saved
        told.deleted.removeAll(where: back.contains)
        told.updated += back
        mergeListeners.notify(of: told, isRemote: false, except: nil)
    }

    /// Returns whether an object that others deleted was inserted again here and still exists.
    private func isReinserted(_ id: NSManagedObjectID, isRemote: Bool) -> Bool {
        guard insertedAgain.contains(id) else { return false }
        if isRemote { forgetRow(of: id) }
        do {
            return try source.row(for: id, in: self) != nil
        } catch {
            registeredObject(for: id).map { noteFaultError(error, of: $0) }
            return true
        }
    }

    /// Refreshes objects that others have saved.
    func refreshMerged(_ objects: [NSManagedObject], isRemote: Bool, _ changes: inout ObjectChanges) {
        // In one pass, to load each object into the processor's cache once.
        var shown: [NSManagedObject] = []
        shown.reserveCapacity(objects.count)
        changes.refreshed.reserveCapacity(changes.refreshed.count + objects.count)
        objects.forEachUncounted { object in
            if object.flags.contains(.inserted) { return }
            if isRemote { forgetRow(of: object.objectID) }
            if object.batchNumber != 0 { faultBatches[object.batchNumber]?.reset() }
            if !object.isFault || object.hasChanges { return shown.append(object) }
            // A fault reads the new row when it fires, and the new relationships when they are read.
            object.relationships = []
            changes.refreshed.insert(object)
        }
        do {
            if shown.count > 1, source.batchesFaults { _ = try source.prepareRows(for: shown.map(\.objectID), in: self) }
        } catch {
            // Each object is loaded separately below, which keeps the error.
        }
        shown.forEachUncounted { object in
            guard object.registry === registry else { return }
            object.extras?.fetched = [:]
            do {
                guard let row = try source.row(for: object.objectID, in: self) else { return }
                if object.flags.contains(.deleted) {
                    object.rebase(onto: row)
                    // Its delete rules apply to links that others have added since.
                    repeatDeletion(of: object)
                } else if object.hasChanges {
                    object.rebase(onto: row)
                    changes.updated.insert(object)
                } else {
                    let transient = object.transientRelationships
                    object.turnIntoFault()
                    object.fulfillFault(with: row)
                    object.restore(transient)
                    changes.refreshed.insert(object)
                }
            } catch {
                noteFaultError(error, of: object)
            }
        }
    }

    /// Removes an object that others have deleted, and unsaved references to it.
    private func removeMerged(_ object: NSManagedObject) {
        if object.flags.contains(.inserted) { return forgetInserted(object) }
        object.flags.subtract([.inEvent, .insertedInEvent])
        mergeDeletion(of: object)
        object.saveUndoState()
        object.flags.subtract([.inEvent, .preparedForDeletion])
        object.relationships = []
    }

    private func forgetInserted(_ object: NSManagedObject) {
        object.removeFromInverses()
        object.flags.subtract(.inEvent)
        forget(object)
    }

    private func postMergedIDs(_ saved: SavedIDs) {
        NotificationCenter.postInTurn(name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: saved.userInfo)
    }
}

/// The IDs of saved objects, by kind of change.
struct SavedIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
    var refreshed: [NSManagedObjectID] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    init(_ changes: ChangeSet) {
        inserted = changes.inserted.mapUncounted(\.objectID)
        updated = changes.updated.mapUncounted(\.objectID)
        deleted = changes.deleted.mapUncounted(\.objectID)
    }

    init(inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    /// Reads the user info of a notification, or a similar dictionary, for a context.
    init(_ info: [AnyHashable: Any], for context: NSManagedObjectContext) {
        let coordinator = context.persistentStoreCoordinator
        // Most objects come from one store.
        var knownToken: StoreToken?
        func own(_ id: NSManagedObjectID) -> NSManagedObjectID? {
            let id = id.current
            if let knownToken, id.token === knownToken { return id }
            guard let own = Self.id(id, for: context) else { return nil }
            if own === id, !id.isTemporaryID, coordinator != nil { knownToken = id.token }
            return own
        }
        func ids(_ keys: String...) -> [NSManagedObjectID] {
            let values = keys.compactMap { info[$0] }
            // A set contains each object once.
            if values.count == 1, let objects = values[0] as? Set<NSManagedObject> { return objects.compactMap { own($0.objectID) } }
            if values.count == 1, let ids = values[0] as? Set<NSManagedObjectID> { return ids.compactMap(own) }
            var seen: Set<NSManagedObjectID> = []
            return keys.flatMap { Self.elements(of: info[$0]) }.compactMap { Self.id($0, for: context) }.filter { seen.insert($0).inserted }
        }
        typealias Key = NSManagedObjectContext.NotificationKey
        inserted = ids(NSInsertedObjectsKey, Key.insertedObjectIDs.rawValue)
        updated = ids(NSUpdatedObjectsKey, Key.updatedObjectIDs.rawValue)
        deleted = ids(NSDeletedObjectsKey, Key.deletedObjectIDs.rawValue)
        refreshed = ids(
            NSRefreshedObjectsKey, Key.refreshedObjectIDs.rawValue, Key.invalidatedObjects.rawValue, Key.invalidatedObjectIDs.rawValue)
        if info[NSInvalidatedAllObjectsKey] != nil { refreshed = context.registry.all.map(\.objectID).filter { !$0.isTemporaryID } }
    }

    private static func elements(of value: Any?) -> [Any] {
        switch value {
        case let objects as Set<NSManagedObject>: Array(objects)
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let set as Set<AnyHashable>: set.map(\.base)
        case let set as NSSet: set.allObjects
        case let array as NSArray: array.compactMap { $0 }
        case let array as [Any]: array
        default: []
        }
    }

    private static func id(_ element: Any, for context: NSManagedObjectContext) -> NSManagedObjectID? {
        let coordinator = context.persistentStoreCoordinator
        switch element {
        case let object as NSManagedObject: return id(object.objectID, for: context)
        case let uri as URL: return coordinator?.managedObjectID(forURIRepresentation: uri)
        case let uri as NSURL: return coordinator?.managedObjectID(forURIRepresentation: uri as URL)
        case let id as NSManagedObjectID:
            // The same store may be open in another coordinator.
            let id = id.current
            guard !id.isTemporaryID, let coordinator, id.persistentStore?.persistentStoreCoordinator !== coordinator else { return id }
            return coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())
        default: return nil
        }
    }

    /// The sets of IDs under the notification keys.
    var userInfo: [AnyHashable: Any] {
        typealias Key = NSManagedObjectContext.NotificationKey
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[Key.insertedObjectIDs.rawValue] = inserted.idSet }
        if !updated.isEmpty { info[Key.updatedObjectIDs.rawValue] = updated.idSet }
        if !deleted.isEmpty { info[Key.deletedObjectIDs.rawValue] = deleted.idSet }
        if !refreshed.isEmpty { info[Key.refreshedObjectIDs.rawValue] = refreshed.idSet }
        return info
    }
}

extension Notification.Name {
    /// Posted when a context has merged changes; the user info holds IDs, which may cross to other queues.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
        "_NSManagingContextDidMergeChangesObjectIDsNotification")
}

extension NSManagedObjectContext {
    /// Posted when a context has merged changes; the user info holds sets of IDs.
    public static let didMergeChangesObjectIDsNotification = Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs
}
