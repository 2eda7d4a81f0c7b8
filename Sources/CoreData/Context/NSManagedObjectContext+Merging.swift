public import Foundation

extension NSManagedObjectContext {
    /// Brings into this context what another has saved. Call it on this context's queue.
    ///
    /// Inserted objects become faults here, updated ones that live here take the stored values under what is unsaved here, deleted ones go. It
    /// does not make the context dirty, but for relationships whose other end has gone. Observers get one objects-did-change notification
    /// (objects that have unsaved changes stand under ``NSUpdatedObjectsKey``, the others under ``NSRefreshedObjectsKey``) and one with the IDs,
    /// ``didMergeChangesObjectIDsNotification``. A store that fails in this is reported as for every read, see ``pendingFaultError``.
    ///
    /// - Parameter notification: a did-save notification, with objects or with IDs; its objects may belong to another queue.
    ///
    /// Source: [mergeChanges(fromContextDidSave:)](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromcontextdidsave:)).
    public func mergeChanges(fromContextDidSave notification: Notification) {
        let other = notification.object as? NSManagedObjectContext
        if other === self { return }
        let isForeign = other.map { $0.persistentStoreCoordinator !== persistentStoreCoordinator } ?? false
        merge(SavedIDs(notification.userInfo ?? [:], for: self), isRemote: isForeign)
    }

    /// Brings into contexts what someone else has written to their stores: another process, a service, a batch request.
    ///
    /// Stores are asked anew for the objects. Parents come before their children. It waits for the contexts' queues.
    ///
    /// - Parameters:
    ///   - changeNotificationData: `NSManagedObjectID`s or their URIs, in arrays or sets, under ``NSInsertedObjectsKey``,
    ///     ``NSUpdatedObjectsKey``, ``NSDeletedObjectsKey``, ``NSRefreshedObjectsKey`` or the keys of IDs of ``NotificationKey``.
    ///   - contexts: the contexts.
    public static func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        for context in contexts.sorted(by: { $0.depth < $1.depth }) {
            context.performAndWait { context.merge(SavedIDs(changeNotificationData, for: context), isRemote: true) }
        }
    }

    /// How many contexts stand above this one.
    private var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// Takes over what has been saved elsewhere.
    ///
    /// - Parameter isRemote: whether rows that are kept in memory are older than the save.
    func merge(_ saved: SavedIDs, isRemote: Bool) {
        if saved.isEmpty { return }
        processPendingChanges()
        var changes = ObjectChanges()
        var merged = saved
        let back = saved.deleted.filter { isBack($0, isRemote: isRemote) }
        changes.deleted = Set(saved.deleted.filter { !back.contains($0) }.compactMap(registeredObject(for:)))
        for object in changes.deleted { removeMerged(object) }

        let known = Set(saved.inserted.filter { registeredObject(for: $0) != nil })
        merged.inserted = saved.inserted.filter { !known.contains($0) }
        changes.inserted = Set(objects(with: merged.inserted))
        let touched = saved.updated + saved.refreshed + back + known
        let stale = touched.compactMap(registeredObject(for:)).filter { !$0.flags.contains(.inserted) }
        refreshMerged(stale, isRemote: isRemote, &changes)

        // What was changed on the way are the other ends of relationships that have gone.
        var further = Set(processEvent(posting: false))
        further.subtract(changes.inserted)
        further.subtract(changes.deleted)
        changes.updated.formUnion(further.filter { !$0.flags.contains(.deleted) })
        changes.deleted.formUnion(further.filter { $0.flags.contains(.deleted) })
        changes.refreshed.subtract(changes.updated)
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
        postMergedIDs(merged)
        mergeListeners.tell(saved, isRemote: false, except: nil)
    }

    /// Whether an object that others have deleted was inserted again here after that, and is there.
    private func isBack(_ id: NSManagedObjectID, isRemote: Bool) -> Bool {
        guard insertedAgain.contains(id) else { return false }
        if isRemote { source.forgetRow(of: id) }
        do {
            return try source.row(for: id, in: self) != nil
        } catch {
            registeredObject(for: id).map { noteFaultError(error, of: $0) }
            return true
        }
    }

    /// Refreshes objects that others have saved.
    func refreshMerged(_ objects: [NSManagedObject], isRemote: Bool, _ changes: inout ObjectChanges) {
        for object in objects {
            if isRemote { source.forgetRow(of: object.objectID) }
            faultBatches[object.batchNumber]?.reset()
        }
        let shown = objects.filter { !$0.isFault || $0.hasChanges }
        // The others show the new row when they fire, and the new relationships when they are asked.
        for object in objects where object.isFault && !object.hasChanges {
            object.relationships = []
            changes.refreshed.insert(object)
        }
        do {
            if shown.count > 1 { _ = try source.prepareRows(for: shown.map(\.objectID), in: self) }
        } catch {
            // Each object is asked for by itself below, and the error kept there.
        }
        for object in shown where object.registry === registry {
            object.rarities?.fetched = [:]
            do {
                guard let row = try source.row(for: object.objectID, in: self) else { continue }
                if object.flags.contains(.deleted) {
                    object.rebase(onto: row)
                    // Its delete rules hold for what others have related to it since.
                    eventDeletions.append(object)
                    if !object.flags.contains(.noted) { noteInEvent(object) }
                } else if object.hasChanges {
                    object.rebase(onto: row)
                    changes.updated.insert(object)
                } else {
                    object.turnIntoFault()
                    object.fulfillFault(with: row)
                    changes.refreshed.insert(object)
                }
            } catch {
                noteFaultError(error, of: object)
            }
        }
    }

    /// Others have deleted the object: it goes from here, and from what leads to it by unsaved changes.
    private func removeMerged(_ object: NSManagedObject) {
        if object.flags.contains(.inserted) { return forgetInserted(object) }
        object.flags.subtract([.noted, .insertedInEvent])
        acceptDeletion(of: object)
        object.leaveRemains()
        object.flags.subtract([.noted, .preparedForDeletion])
        object.relationships = []
    }

    private func forgetInserted(_ object: NSManagedObject) {
        object.undoInverses()
        object.flags.subtract(.noted)
        forget(object)
    }

    private func postMergedIDs(_ saved: SavedIDs) {
        NotificationCenter.default.post(name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: saved.userInfo)
    }
}

/// The IDs of what has been saved, by what was done.
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

    /// Reads the user info of a notification, or a dictionary like it, for a context.
    init(_ info: [AnyHashable: Any], for context: NSManagedObjectContext) {
        func ids(_ keys: String...) -> [NSManagedObjectID] {
            var seen: Set<NSManagedObjectID> = []
            return keys.flatMap { Self.elements(of: info[$0]) }.compactMap { Self.id($0, for: context) }.filter { seen.insert($0).inserted }
        }
        typealias Key = NSManagedObjectContext.NotificationKey
        inserted = ids(NSInsertedObjectsKey, Key.insertedObjectIDs.rawValue)
        updated = ids(NSUpdatedObjectsKey, Key.updatedObjectIDs.rawValue)
        deleted = ids(NSDeletedObjectsKey, Key.deletedObjectIDs.rawValue)
        refreshed = ids(
            NSRefreshedObjectsKey, Key.refreshedObjectIDs.rawValue, Key.invalidatedObjects.rawValue, Key.invalidatedObjectIDs.rawValue)
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

    /// Sets of IDs under their keys.
    var userInfo: [AnyHashable: Any] {
        typealias Key = NSManagedObjectContext.NotificationKey
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[Key.insertedObjectIDs.rawValue] = Set(inserted) }
        if !updated.isEmpty { info[Key.updatedObjectIDs.rawValue] = Set(updated) }
        if !deleted.isEmpty { info[Key.deletedObjectIDs.rawValue] = Set(deleted) }
        if !refreshed.isEmpty { info[Key.refreshedObjectIDs.rawValue] = Set(refreshed) }
        return info
    }
}

extension Notification.Name {
    /// A context has merged what others have saved; the notification carries IDs, which may cross to other queues.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
        "_NSManagingContextDidMergeChangesObjectIDsNotification")
}

extension NSManagedObjectContext {
    /// A context has merged what others have saved; the user info holds sets of IDs.
    public static let didMergeChangesObjectIDsNotification = Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs
}
