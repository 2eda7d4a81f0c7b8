internal import Foundation

/// Lets a child context fetch from its parent and save into it.
///
/// Every call waits for the parent's queue. IDs and rows are passed, never objects.
final class ParentSource: ObjectSource {
    private let parent: NSManagedObjectContext
    /// The parent's objects of the last fetch or relationship, until the child takes them.
    private var fetched: [NSManagedObject] = []

    init(_ parent: NSManagedObjectContext) { self.parent = parent }

    /// Returns the parent's objects of the last fetch or relationship if its stores load object by object; the child retains them to keep their
    /// batch.
    func takeFetched() -> [NSManagedObject] {
        let objects = fetched
        fetched = []
        return objects
    }

    /// Delivers the parent's objects of an asynchronous call. Call it on the child's queue.
    func deliver(_ objects: [NSManagedObject]) { fetched = objects }

    var sourceModel: NSManagedObjectModel? { parent.model }

    func fetch(_ query: StoreQuery, for context: NSManagedObjectContext) throws -> StoreAnswer {
        try parent.performForChild {
            switch query.resultType {
            case .countResultType: return .count(try parent.countObjects(query))
            case .dictionaryResultType: return .dictionaries(try parent.fetchDictionaries(query))
            default:
                let objects = try parent.fetchObjects(query.with(resultType: .managedObjectResultType))
                fetched = objects.contains { $0.batchNumber != 0 } ? objects : []
                return .ids(objects.map(\.objectID))
            }
        }
    }

    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? {
        try parent.performForChild { try parent.rowForChild(of: parent.object(with: id)) }
    }

    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> [Row] {
        try parent.performForChild {
            try ids.compactMap { id in
                let object = parent.object(with: id)
                try object.loadRow()
                for property in properties where object.isUnknown(at: property.slotIndex) { try parent.loadUnknown(property, of: object) }
                return object.hasChanges ? try object.rowForChild() : object.row
            }
        }
    }

    /// Lets the parent load a relationship of all objects in a batch.
    func prepareRelationship(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) throws {
        try parent.performForChild { try parent.prepareRelationship(relationship, of: parent.object(with: id)) }
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        try parent.performForChild {
            let ids = try parent.throwingReadErrors { parent.object(with: id).objectIDs(forRelationshipNamed: relationship.name) }
            if ids.count > 1, parent.persistentStoreCoordinator?.wantsRegistrations ?? false {
                let objects = parent.objects(with: ids)
                parent.makeBatch(of: objects)
                fetched = objects.contains { $0.batchNumber != 0 } ? objects : []
            }
            return ids
        }
    }

    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        // The parent assigns permanent IDs when it saves; until then both contexts use the temporary ID.
        objects.map(\.objectID)
    }

    /// Returns permanent IDs from the store that the root context saves to. Objects that an ancestor has already get their IDs there.
    func obtainPermanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let temporary = objects.map(\.objectID)
        let source = try parent.performForChild {
            try parent.performObtainPermanentIDs(for: temporary.compactMap { parent.registeredObject(for: $0) })
            return parent.source
        }
        let missing = objects.indices.filter { temporary[$0].current.isTemporaryID }
        let given = try source.obtainPermanentIDs(for: missing.map { objects[$0] }, in: context)
        var ids = temporary.map(\.current)
        for (index, id) in zip(missing, given) { ids[index] = id }
        return ids
    }

    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> SavedValues {
        let childSave = try ChildSave(changes)
        try parent.performForChild { try parent.throwingReadErrors { try parent.apply(childSave, from: context.registry) } }
        return SavedValues()
    }

    var wantsRegistrations: Bool { false }
    var batchesFaults: Bool { false }
    func forgetRow(of id: NSManagedObjectID) {}
    func didRegister(_ ids: [NSManagedObjectID]) {}
    func didUnregister(_ ids: [NSManagedObjectID]) {}

    /// The changes of a child's save, for its parent.
    struct ChildSave {
        let written: [ChildChange]
        let deleted: [NSManagedObjectID]
        let locked: [NSManagedObjectID]

        /// Collects the changes. Call it on the child's queue.
        init(_ changes: ChangeSet) throws {
            written = try (changes.inserted + changes.updated).map { object in
                ChildChange(
                    entity: object.owningEntity, id: object.objectID,
                    row: try object.rowForSaving(keepsLists: true, keepsTransients: true),
                    changed: object.isInserted ? nil : object.changes.filter(object.differsFromSnapshot), set: object.changed,
                    lists: object.listChanges)
            }
            deleted = changes.deleted.filter { !$0.flags.contains(.inserted) }.map(\.objectID)
            locked = changes.locked.map(\.objectID)
        }
    }

    /// The values of one object in a child's save.
    struct ChildChange {
        let entity: NSEntityDescription
        let id: NSManagedObjectID
        let row: Row
        /// The changed properties; nil for a new object.
        let changed: [NSPropertyDescription]?
        /// The properties that were set, for a new object, too: a parent, and the store, must know which values are mere defaults.
        let set: PropertySet
        /// The changes of to-many relationships, by name.
        let lists: [String: ListChange]
    }

    /// The change of a to-many relationship by a child. Unlike the list itself, it keeps the parent's own additions and removals.
    struct ListChange {
        let before: [NSManagedObjectID]
        let after: [NSManagedObjectID]

        /// Applies the change to the parent's list. If the parent has not changed the order, the child's order is used; otherwise the
        /// parent's, followed by the child's additions.
        ///
        /// - Parameters:
        ///   - current: The current list; the inverse relationships may have been set already.
        ///   - order: The list before the child's changes were applied.
        func applied(to current: [NSManagedObjectID], order: [NSManagedObjectID]) -> [NSManagedObjectID] {
            // The parent may have saved the objects since the child read them.
            let (before, after) = (before.map(\.current), after.map(\.current))
            let (known, kept) = (Set(before), Set(after))
            let members = Set(current.filter { kept.contains($0) || !known.contains($0) }).union(after.filter { !known.contains($0) })
            var seen: Set<NSManagedObjectID> = []
            return (order == before ? after + current : order + after + current).filter { members.contains($0) && seen.insert($0).inserted }
        }
    }
}

extension NSManagedObject {
    fileprivate var listChanges: [String: ParentSource.ListChange] {
        if flags.contains(.inserted) { return [:] }
        var changes: [String: ParentSource.ListChange] = [:]
        for relationship in owningEntity.frozen!.relationships where relationship.isToMany && changed.contains(relationship.slotIndex) {
            let storage = toMany(relationship)
            changes[relationship.name] = ParentSource.ListChange(
                before: storage.storedObjects.map(\.objectID), after: storage.objects.map(\.objectID))
        }
        return changes
    }

    /// Whether the object can be changed: it is neither deleted in the context nor from its store.
    fileprivate var isThere: Bool { registry != nil && flags.isDisjoint(with: [.deleted, .inaccessible]) }

    /// Takes a value that was never set in a child's new object: the default, or one that was stored without a notification. An upsert leaves the
    /// stored value of a property that was not set, so it must not mistake this value for a set one.
    fileprivate func takeUnsetValue(of property: NSPropertyDescription, from row: Row) {
        let slot = slot(of: property)
        guard !changed.contains(property.slotIndex), let own = self.row, !own.hasEqualValue(as: row, at: slot), makeRowExclusive() else {
            return
        }
        self.row?.copyValue(from: row, at: slot)
    }

    /// Returns a copy of the row with the current destinations of all relationships.
    private func currentRow() -> Row {
        let copy = readableRow.copy()
        for relationship in owningEntity.frozen!.relationships {
            let slot = slot(of: relationship)
            if relationship.isToMany {
                let ids = toMany(relationship).objects.map(\.objectID)
                copy.setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: slot)
            } else {
                copy.setObjectID(toOne(relationship)?.objectID, at: slot)
            }
        }
        return copy
    }

    /// Returns a row with the object's current values for a child, unsaved ones included and transient ones excluded.
    fileprivate func rowForChild() throws -> Row {
        let copy = try registry?.context?.throwingReadErrors { currentRow() } ?? currentRow()
        copy.objectID = objectID
        copy.version = snapshot?.version ?? 0
        return owningEntity.frozen!.hasTransients ? withoutTransients(copy) : copy
    }
}

extension NSManagedObjectContext {
    /// Returns the values of an object for a child, unsaved changes included; nil if the object was deleted. Call it on the parent's queue.
    func rowForChild(of object: NSManagedObject) throws -> Row? {
        if object.isFault, object.isInserted { try object.loadRow() }
        if object.isFault {
            if object.batchNumber != 0 { try prepareRow(of: object) }
            guard let row = try source.row(for: object.objectID, in: self) else { return nil }
            object.fulfillFault(with: row)
        }
        if object.isDeleted || object.flags.contains(.inaccessible) { return nil }
        if object.hasChanges { return try object.rowForChild() }
        return object.owningEntity.frozen!.hasTransients ? object.row.map(object.withoutTransients) : object.row
    }

    /// Applies a child's save and notifies the other children. Call it on the parent's queue.
    func apply(_ childSave: ParentSource.ChildSave, from child: ObjectRegistry) throws {
        try apply(childSave.written, deleted: childSave.deleted)
        for id in childSave.locked { detectConflicts(for: object(with: id)) }
        let saved = SavedIDs(
            inserted: childSave.written.filter { $0.changed == nil }.map(\.id),
            updated: childSave.written.filter { $0.changed != nil }.map(\.id), deleted: childSave.deleted)
        mergeListeners.notify(of: saved, isRemote: false, except: child)
    }

    /// Applies a child's save.
    ///
    /// - Throws: The error of a store that fails to load an affected object; nothing is changed then.
    private func apply(_ changes: [ParentSource.ChildChange], deleted: [NSManagedObjectID]) throws {
        // A save requests the values that it needs again.
        forgetAllFaultErrors()
        try throwingReadErrors { try prepare(for: changes, deleted: deleted) }
        // New objects first, so that every reference finds its object.
        for change in changes where change.changed == nil && registeredObject(for: change.id) == nil {
            let object = change.entity.managedObjectClass.init(entity: change.entity, insertInto: nil)
            object.identifier = change.id
            object.registry = registry
            registry.register(object)
            noteInsertion(of: object)
        }
        let orders = changes.map { change in
            let object = object(with: change.id)
            // Bounded: the keys of a dictionary.
            return Dictionary(uniqueKeysWithValues: change.lists.keys.map { ($0, object.objectIDs(forRelationshipNamed: $0)) })
        }
        for (change, orders) in zip(changes, orders) {
            let object = object(with: change.id)
            // A deleted object stays deleted, and the child's references to it are cleared.
            guard object.isThere else { continue }
            for property in change.changed ?? change.entity.frozen!.properties {
                let slot = object.slot(of: property)
                if let relationship = property as? NSRelationshipDescription {
                    var ids = change.row.relatedIDs(relationship, at: slot)
                    if let change = change.lists[relationship.name] {
                        let current = object.toMany(relationship).objects.map(\.objectID)
                        ids = change.applied(to: current, order: orders[relationship.name] ?? current)
                    }
                    let objects = objects(with: ids).filter(\.isThere)
                    if relationship.isToMany {
                        object.setToMany(objects, relationship)
                    } else {
                        object.setToOne(objects.first, relationship)
                    }
                } else if change.changed == nil, !change.set.contains(property.slotIndex) {
                    object.takeUnsetValue(of: property, from: change.row)
                } else if object.prepareRowForChange(at: property.slotIndex) {
                    object.row?.copyValue(from: change.row, at: slot)
                }
            }
        }
        for id in deleted { delete(object(with: id)) }
        processPendingChanges()
    }

    /// Loads all objects that the save affects, so that no step fails halfway.
    private func prepare(for changes: [ParentSource.ChildChange], deleted: [NSManagedObjectID]) throws {
        processPendingChanges()
        let new = Set(changes.filter { $0.changed == nil }.map(\.id))
        /// Loads both ends of a relationship that is about to change.
        func fire(_ relationship: NSRelationshipDescription, of object: NSManagedObject?, to ids: [NSManagedObjectID]) {
            let before = object.map { $0.related(relationship) } ?? []
            guard let inverse = relationship.mutualInverse, !inverse.isToMany else { return }
            for other in before + objects(with: ids.filter { !new.contains($0) }) { _ = other.toOne(inverse) }
        }
        for change in changes {
            let object = new.contains(change.id) ? registeredObject(for: change.id) : self.object(with: change.id)
            try object?.loadRow()
            for property in change.changed ?? change.entity.frozen!.properties {
                guard let relationship = property as? NSRelationshipDescription else { continue }
                let slot = change.entity.frozen!.layout.slots[property.slotIndex]
                fire(relationship, of: object, to: change.row.relatedIDs(relationship, at: slot))
            }
        }
        for id in deleted {
            let object = object(with: id)
            for relationship in object.owningEntity.frozen!.relationships { fire(relationship, of: object, to: []) }
        }
    }
}

/// The source of a context that has neither a coordinator nor a parent.
final class NoSource: ObjectSource, Sendable {
    static let shared = NoSource()

    var error: NSError {
        CoreDataError.make(
            NSCoreDataError, "The context cannot reach a store.", reason: "It has no persistent store coordinator and no parent.",
            next: "Set persistentStoreCoordinator before using the context.")
    }

    var sourceModel: NSManagedObjectModel? { nil }
    func fetch(_ query: StoreQuery, for context: NSManagedObjectContext) throws -> StoreAnswer {
        throw error
    }
    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? { throw error }
    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> [Row] {
        throw error
    }
    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] { throw error }
    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] { throw error }
    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> SavedValues { throw error }
    var wantsRegistrations: Bool { false }
    var batchesFaults: Bool { false }
    func forgetRow(of id: NSManagedObjectID) {}
    func didRegister(_ ids: [NSManagedObjectID]) {}
    func didUnregister(_ ids: [NSManagedObjectID]) {}
}
