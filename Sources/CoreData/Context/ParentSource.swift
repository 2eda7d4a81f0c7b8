internal import Foundation

/// Lets a child context fetch from its parent and save into it.
///
/// Every call waits for the parent's queue. What crosses is IDs and rows, never objects.
final class ParentSource: ObjectSource {
    private let parent: NSManagedObjectContext
    /// The parent's objects of the last fetch or relationship, until the child takes them.
    private var fetched: [NSManagedObject] = []

    init(_ parent: NSManagedObjectContext) { self.parent = parent }

    /// The parent's objects of the last fetch or relationship where its stores are asked object by object: kept, they remember that they came together.
    func takeFetched() -> [NSManagedObject] {
        let objects = fetched
        fetched = []
        return objects
    }

    /// The parent's objects have come by an asynchronous call. On the child's queue.
    func deliver(_ objects: [NSManagedObject]) { fetched = objects }

    var sourceModel: NSManagedObjectModel? { parent.model }

    func fetch(_ query: StoreQuery, for context: NSManagedObjectContext) throws -> StoreAnswer {
        try parent.performForChild {
            try parent.throwPendingFaultError()
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
                try object.fulfillFault()
                for property in properties where object.isUnknown(at: property.slotIndex) { try parent.loadUnknown(property, of: object) }
                return object.hasChanges ? try object.rowForChild() : object.row
            }
        }
    }

    /// Lets the parent ask for a relationship of all that came with an object.
    func prepareRelationship(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) throws {
        try parent.performForChild { try parent.prepareRelationship(relationship, of: parent.object(with: id)) }
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        try parent.performForChild {
            let ids = parent.object(with: id).objectIDs(forRelationshipNamed: relationship.name)
            try parent.throwPendingFaultError()
            if ids.count > 1, parent.persistentStoreCoordinator?.wantsRegistrations ?? false {
                let objects = parent.objects(with: ids)
                parent.noteArrival(of: objects)
                fetched = objects.contains { $0.batchNumber != 0 } ? objects : []
            }
            return ids
        }
    }

    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        // The parent gives them when it saves itself; until then both know the object by its temporary ID.
        objects.map(\.objectID)
    }

    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> [Row] {
        let delivery = try Delivery(changes)
        try parent.performForChild { try parent.receive(delivery, from: context.registry) }
        return []
    }

    var wantsRegistrations: Bool { false }
    var batchesFaults: Bool { false }
    func forgetRow(of id: NSManagedObjectID) {}
    func didRegister(_ ids: [NSManagedObjectID]) {}
    func didUnregister(_ ids: [NSManagedObjectID]) {}

    /// What a child saves, on its way to its parent.
    struct Delivery {
        let written: [Push]
        let deleted: [NSManagedObjectID]
        let locked: [NSManagedObjectID]

        /// On the child's queue.
        init(_ changes: ChangeSet) throws {
            written = try (changes.inserted + changes.updated).map { object in
                Push(
                    entity: object.owningEntity, id: object.objectID,
                    row: try object.rowForSaving(keepsLists: true, keepsTransients: true),
                    changed: object.isInserted ? nil : object.changes.filter(object.differsFromSnapshot), lists: object.listChanges)
            }
            deleted = changes.deleted.filter { !$0.flags.contains(.inserted) }.map(\.objectID)
            locked = changes.locked.map(\.objectID)
        }
    }

    /// One object's values on their way from a child to its parent.
    struct Push {
        let entity: NSEntityDescription
        let id: NSManagedObjectID
        let row: Row
        /// The properties that were changed; nil for a new object.
        let changed: [NSPropertyDescription]?
        /// What was done to the to-many relationships that were changed, by name.
        let lists: [String: ListChange]
    }

    /// What a child has done to a to-many relationship. Sent instead of the list, so that what the parent has added and removed since stays.
    struct ListChange {
        let before: [NSManagedObjectID]
        let after: [NSManagedObjectID]

        /// What comes of the list that the parent has. An order that the parent has not changed is as the child has it; else it is the parent's,
        /// followed by what the child has added.
        ///
        /// - Parameters:
        ///   - current: the list as it is now: the other end of the relationship may have been set already.
        ///   - order: the list as it was when the parent began to take the child's changes over.
        func applied(to current: [NSManagedObjectID], order: [NSManagedObjectID]) -> [NSManagedObjectID] {
            // The parent may have saved them since the child has read them.
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

    /// Whether the object is there to be changed: neither deleted here nor gone from its store.
    fileprivate var isThere: Bool { registry != nil && flags.isDisjoint(with: [.deleted, .inaccessible]) }

    /// A row with the object's values as they are in this context, unsaved ones too, for a child to read. Transient values are for no one else.
    fileprivate func rowForChild() throws -> Row {
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
        try registry?.context?.throwPendingFaultError()
        copy.objectID = objectID
        copy.version = snapshot?.version ?? 0
        return owningEntity.frozen!.hasTransients ? withoutTransients(copy) : copy
    }
}

extension NSManagedObjectContext {
    /// What a child reads of an object, unsaved changes included; nil where the object is gone. On the parent's queue.
    func rowForChild(of object: NSManagedObject) throws -> Row? {
        if object.isFault, object.isInserted { try object.fulfillFault() }
        if object.isFault {
            if object.batchNumber != 0 { try prepareRow(of: object) }
            guard let row = try source.row(for: object.objectID, in: self) else { return nil }
            object.fulfillFault(with: row)
        }
        if object.isDeleted || object.flags.contains(.inaccessible) { return nil }
        if object.hasChanges { return try object.rowForChild() }
        return object.owningEntity.frozen!.hasTransients ? object.row.map(object.withoutTransients) : object.row
    }

    /// Takes over what a child context saves, and tells the other children. On the parent's queue.
    func receive(_ delivery: ParentSource.Delivery, from child: ObjectRegistry) throws {
        try receive(delivery.written, deleted: delivery.deleted)
        for id in delivery.locked { detectConflicts(for: object(with: id)) }
        let saved = SavedIDs(
            inserted: delivery.written.filter { $0.changed == nil }.map(\.id),
            updated: delivery.written.filter { $0.changed != nil }.map(\.id), deleted: delivery.deleted)
        mergeListeners.tell(saved, isRemote: false, except: child)
    }

    /// Takes over what a child context saves.
    ///
    /// - Throws: the error of a store that does not deliver what the change touches; nothing is changed then.
    private func receive(_ pushed: [ParentSource.Push], deleted: [NSManagedObjectID]) throws {
        try prepare(for: pushed, deleted: deleted)
        // New objects first, so that every reference finds its object.
        for push in pushed where push.changed == nil && registeredObject(for: push.id) == nil {
            let object = push.entity.managedObjectClass.init(entity: push.entity, insertInto: nil)
            object.identifier = push.id
            object.registry = registry
            registry.register(object)
            noteInsertion(of: object)
        }
        let orders = pushed.map { push in
            let object = object(with: push.id)
            return Dictionary(uniqueKeysWithValues: push.lists.keys.map { ($0, object.objectIDs(forRelationshipNamed: $0)) })
        }
        for (push, orders) in zip(pushed, orders) {
            let object = object(with: push.id)
            // What was deleted here or by others stays so, and what the child has led to it leads nowhere.
            guard object.isThere else { continue }
            for property in push.changed ?? push.entity.frozen!.properties {
                let slot = object.slot(of: property)
                if let relationship = property as? NSRelationshipDescription {
                    var ids = push.row.relatedIDs(relationship, at: slot)
                    if let change = push.lists[relationship.name] {
                        let current = object.toMany(relationship).objects.map(\.objectID)
                        ids = change.applied(to: current, order: orders[relationship.name] ?? current)
                    }
                    let objects = objects(with: ids).filter(\.isThere)
                    if relationship.isToMany {
                        object.setToMany(objects, relationship)
                    } else {
                        object.setToOne(objects.first, relationship)
                    }
                } else if object.prepareRowForChange(at: property.slotIndex) {
                    object.row?.copyValue(from: push.row, at: slot)
                }
            }
        }
        for id in deleted { delete(object(with: id)) }
        processPendingChanges()
        try throwPendingFaultError()
    }

    /// Asks the stores for everything that the push will touch, so that none can fail half-way.
    private func prepare(for pushed: [ParentSource.Push], deleted: [NSManagedObjectID]) throws {
        try throwPendingFaultError()
        processPendingChanges()
        let new = Set(pushed.filter { $0.changed == nil }.map(\.id))
        /// Both ends of a relationship that is about to change.
        func fire(_ relationship: NSRelationshipDescription, of object: NSManagedObject?, to ids: [NSManagedObjectID]) {
            let before = object.map { $0.related(relationship) } ?? []
            guard let inverse = relationship.keptInverse, !inverse.isToMany else { return }
            for other in before + objects(with: ids.filter { !new.contains($0) }) { _ = other.toOne(inverse) }
        }
        for push in pushed {
            let object = new.contains(push.id) ? registeredObject(for: push.id) : self.object(with: push.id)
            try object?.fulfillFault()
            for property in push.changed ?? push.entity.frozen!.properties {
                guard let relationship = property as? NSRelationshipDescription else { continue }
                let slot = push.entity.frozen!.layout.slots[property.slotIndex]
                fire(relationship, of: object, to: push.row.relatedIDs(relationship, at: slot))
            }
        }
        for id in deleted {
            let object = object(with: id)
            for relationship in object.owningEntity.frozen!.relationships { fire(relationship, of: object, to: []) }
        }
        try throwPendingFaultError()
    }
}

/// Stands in for the source of a context that has neither a coordinator nor a parent.
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
    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> [Row] { throw error }
    var wantsRegistrations: Bool { false }
    var batchesFaults: Bool { false }
    func forgetRow(of id: NSManagedObjectID) {}
    func didRegister(_ ids: [NSManagedObjectID]) {}
    func didUnregister(_ ids: [NSManagedObjectID]) {}
}
