internal import Foundation
internal import Predicates

extension NSPersistentStoreCoordinator {
    private func store(forNew object: NSManagedObject, in context: NSManagedObjectContext) throws -> NSPersistentStore {
        if let assigned = context.assignedStores[ObjectIdentifier(object)] { return assigned.store }
        guard let store = stores(for: object.owningEntity).first(where: { !$0.isReadOnly }) ?? stores(for: object.owningEntity).first else {
            throw noStore(object.owningEntity)
        }
        return store
    }

    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        guard !objects.isEmpty else { return [] }
        var ids: [ObjectIdentifier: NSManagedObjectID] = [:]
        for (store, group) in try grouped(objects, { try store(forNew: $0, in: context) }) {
            try checkWritable(store)
            let given = try givenIDs(for: group, from: store, context)
            try check(given, for: group, of: store)
            if group.count == objects.count { return given }
            for (object, id) in zip(group, given) { ids[ObjectIdentifier(object)] = id }
        }
        return objects.map { ids[ObjectIdentifier($0)].known("each object is in one group, and each group has got its IDs") }
    }

    /// Returns a store's IDs for new objects; an object whose ID the store assigns later keeps its own.
    private func givenIDs(
        for group: [NSManagedObject], from store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        let new = NewObjects(objects: group)
        guard let late = store.interface as? any LateIdentityStore else {
            return try store.interface.permanentIDs(for: new, for: context.caller)
        }
        let known = try late.knownIDs(for: new, for: context.caller)
        guard known.count == group.count else { return known.compactMap { $0 } }
        return zip(known, group).map { $0 ?? $1.objectID }
    }

    private func check(_ ids: [NSManagedObjectID], for objects: [NSManagedObject], of store: NSPersistentStore) throws {
        if ids.count == objects.count { return }
        throw CoreDataError.contract(
            store, "permanentIDs(for:for:)", "It gave \(ids.count) IDs for \(objects.count) objects.",
            next: "Return one ID for each object, in order.")
    }

    func checkWritable(_ store: NSPersistentStore) throws {
        guard store.isReadOnly else { return }
        throw CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(url(for: store)) cannot be saved to.", reason: "It was opened for reading only.",
            next: "Open it without NSReadOnlyPersistentStoreOption.", info: [NSAffectedStoresErrorKey: [store]])
    }

    /// Groups objects by their store, in their original order.
    private func grouped(
        _ objects: [NSManagedObject], _ store: (NSManagedObject) throws -> NSPersistentStore
    ) rethrows -> [(NSPersistentStore, [NSManagedObject])] {
        if persistentStores.count == 1, let first = objects.first { return [(try store(first), objects)] }
        var groups: [(NSPersistentStore, [NSManagedObject])] = []
        for object in objects {
            let store = try store(object)
            if let index = groups.firstIndex(where: { $0.0 === store }) {
                groups[index].1.append(object)
            } else {
                groups.append((store, [object]))
            }
        }
        return groups
    }

    /// Splits the changes of a save by store.
    func parts(of changes: ChangeSet, in context: NSManagedObjectContext) throws -> [(store: NSPersistentStore, changes: ChangeSet)] {
        var parts: [(store: NSPersistentStore, changes: ChangeSet)] = []
        func collect(_ objects: [NSManagedObject], _ part: WritableKeyPath<ChangeSet, [NSManagedObject]>) throws {
            if objects.isEmpty { return }
            func store(_ object: NSManagedObject) throws -> NSPersistentStore {
                let id = object.objectID
                // The store assigns the ID when it saves.
                return id.isTemporaryID && object.flags.contains(.inserted)
                    ? try self.store(forNew: object, in: context) : try self.store(of: id)
            }
            for (store, group) in try grouped(objects, store) {
                let index = parts.firstIndex { $0.store === store } ?? parts.endIndex
                if index == parts.endIndex { parts.append((store, ChangeSet(inserted: [], updated: [], deleted: []))) }
                parts[index].changes[keyPath: part] = group
            }
        }
        try collect(changes.inserted, \.inserted)
        try collect(changes.updated, \.updated)
        try collect(changes.deleted, \.deleted)
        try collect(changes.locked, \.locked)
        for (store, _) in parts { try checkWritable(store) }
        return parts
    }

    /// Saves changes; a partial save is an error here.
    func saveWhole(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        do { _ = try save(changes, in: context) } catch let partial as PartialSave { throw partial.error }
    }

    /// Splits the changes of a save by store, as values. All rows are created before the first store saves, because creating a row may
    /// read others. Other stores with new metadata follow with no changes.
    func storeParts(
        of changes: ChangeSet, in context: NSManagedObjectContext
    ) throws -> [(store: NSPersistentStore, changes: StoreChangeSet)] {
        var parts = try parts(of: changes, in: context).map {
            (store: $0.store, changes: try StoreChangeSet($0.changes, keepsLists: $0.store.interface.rowsContainLists))
        }
        for store in storesWithNewMetadata where !parts.contains(where: { $0.store === store }) { parts.append((store, StoreChangeSet())) }
        return parts
    }

    /// Saves changes to their stores.
    ///
    /// - Returns: The values that stores changed and assigned during the save.
    /// - Throws: ``PartialSave`` if only a part was saved.
    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> SavedValues {
        var parts = try storeParts(of: changes, in: context)
        var report = SaveReport(changeCount: changes.count, storeCount: parts.count)
        var areRegistered = false
        for index in parts.indices {
            let store = parts[index].store
            let registers = parts.count == 1 && changes.areInsertedNew
            let work = (store.rowAccess as? CachedAccess)?.prepare(parts[index].changes.inserted, registers: registers)
            let outcome = Result { try store.interface.save(parts[index].changes, for: context.caller) }
            let prepared = work?.value
            SaveReport.keep(outcome, of: parts[index].changes, prepared, in: store)
            try report.note(outcome, of: parts[index].changes, in: store, context)
            parts[index].changes.releaseElements()
            if registers, prepared != nil { areRegistered = true }
        }
        var values = report.values
        values.areInsertedRegistered = areRegistered
        return values
    }
}
