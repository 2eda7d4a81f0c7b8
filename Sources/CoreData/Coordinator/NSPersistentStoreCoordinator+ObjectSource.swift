internal import Foundation
internal import Predicates

extension NSPersistentStoreCoordinator: ObjectSource {
    var sourceModel: NSManagedObjectModel? { managedObjectModel }

    /// The stores that hold objects of an entity.
    func stores(for entity: NSEntityDescription, among affected: [NSPersistentStore]? = nil) -> [NSPersistentStore] {
        persistentStores.filter { store in
            guard affected?.contains(where: { $0 === store }) ?? true else { return false }
            guard store.configurationName != NSPersistentStore.defaultConfiguration else { return true }
            let held = managedObjectModel.entities(forConfigurationName: store.configurationName) ?? []
            return held.contains { $0 === entity || $0.isKindOf(entity: entity) }
        }
    }

    func noStore(_ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "There is no store for “\(entity)”.",
            reason: persistentStores.isEmpty
                ? "The coordinator has no stores." : "No store's configuration holds the entity, or the request leaves out those that do.",
            next: "Add a store, or check its configuration.")
    }

    func store(of id: NSManagedObjectID) throws -> NSPersistentStore {
        if persistentStores.count == 1, persistentStores[0].token === id.token { return persistentStores[0] }
        guard let store = id.persistentStore, store.persistentStoreCoordinator === self else {
            throw CoreDataError.make(
                NSManagedObjectReferentialIntegrityError, "\(id) cannot be read.",
                reason: id.isTemporaryID ? "It was never saved." : "Its store is not one of this coordinator's.",
                next: "Save the object, or use the coordinator of its store.", info: [NSAffectedObjectsErrorKey: [id]])
        }
        return store
    }

    func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>, for context: NSManagedObjectContext) throws -> FetchAnswer {
        guard let entity = request.entity else { return .ids([]) }
        let stores = try stores(for: entity, among: request.affectedStores).map { try reader($0, for: context) }
        guard !stores.isEmpty else { throw noStore(entity) }
        if stores.count == 1 {
            return try stores[0].exclusively { try stores[0].performFetch(request, for: context) }
        }
        return try merge(request, stores, for: context)
    }

    /// Asks several stores and joins their answers: order, offset and limit are finished here.
    private func merge(
        _ request: NSFetchRequest<any NSFetchRequestResult>, _ stores: [NSPersistentStore], for context: NSManagedObjectContext
    ) throws -> FetchAnswer {
        let each = request.copy() as! NSFetchRequest<any NSFetchRequestResult>
        each.fetchOffset = 0
        if request.fetchLimit > 0 { each.fetchLimit = request.fetchOffset + request.fetchLimit }
        var objects: [NSManagedObject] = []
        var dictionaries: [NSDictionary] = []
        var count = 0
        for store in stores {
            switch try store.exclusively({ try store.performFetch(each, for: context) }) {
            case .rows(let rows): objects += context.materialize(rows)
            case .ids(let ids): objects += context.objects(with: ids)
            case .objects(let found): objects += found
            case .dictionaries(let found): dictionaries += found
            case .count(let found): count += found
            }
        }
        switch request.resultType {
        case .countResultType:
            let available = max(0, count - request.fetchOffset)
            return .count(request.fetchLimit > 0 ? min(available, request.fetchLimit) : available)
        case .dictionaryResultType:
            let isGrouped =
                try !(request.propertiesToGroupBy ?? []).isEmpty
                || FetchColumn.columns(of: request).contains(where: \.expression.isOverRows)
            guard request.sortDescriptors?.isEmpty ?? true, !isGrouped else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError, "Sorted or grouped dictionaries cannot be fetched from several stores at once.",
                    next: "Name one store in affectedStores, or fetch objects.")
            }
            return .dictionaries(request.distinctPage(dictionaries))
        default:
            if let descriptors = request.sortDescriptors, !descriptors.isEmpty {
                let sort = try CompiledSort(descriptors, for: request.entity.unsafelyUnwrapped.frozen!.schema)
                objects = try sort.sorted(objects)
            }
            return .objects(request.page(objects))
        }
    }

    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? {
        let store = try reader(store(of: id), for: context)
        return try store.exclusively { try store.row(for: id, in: context) }
    }

    /// The store of rows, where a context reads from it as it is now: a former state has rows of its own.
    private func presentStore(of origin: RowOrigin, for context: NSManagedObjectContext) -> NSPersistentStore? {
        context.requestingContext.generation.isPinned ? nil : store(with: origin.store.token)
    }

    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, in context: NSManagedObjectContext
    ) -> RelatedNumbers? {
        guard let store = presentStore(of: origin, for: context) else { return nil }
        return store.exclusively { store.relatedNumbers(of: relationship, for: number, of: origin, in: context) }
    }

    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, in context: NSManagedObjectContext
    ) throws -> RelatedNumbers? {
        guard let store = presentStore(of: origin, for: context) else { return nil }
        return try store.exclusively { try store.prepareRelatedNumbers(of: relationship, for: numbers, of: origin, in: context) }
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        let store = try reader(store(of: id), for: context)
        return try store.exclusively { try store.relatedIDs(of: relationship, for: id, in: context) }
    }

    var wantsRegistrations: Bool { persistentStores.contains(where: \.wantsRegistrations) }

    var batchesFaults: Bool { persistentStores.contains(where: \.batchesFaults) }

    func forgetRow(of id: NSManagedObjectID) { id.persistentStore?.forgetRow(of: id) }

    func didRegister(_ ids: [NSManagedObjectID]) { forEachStore(of: ids) { $0.didRegister($1) } }

    func didUnregister(_ ids: [NSManagedObjectID]) { forEachStore(of: ids) { $0.didUnregister($1) } }

    private func forEachStore(of ids: [NSManagedObjectID], _ body: (NSPersistentStore, [NSManagedObjectID]) -> Void) {
        guard let first = ids.first else { return }
        if ids.allSatisfy({ $0.token === first.token }) {
            if let store = first.persistentStore { body(store, ids) }
            return
        }
        let groups = Dictionary(grouping: ids) { $0.token.map(ObjectIdentifier.init) }
        for group in groups.values { if let store = group[0].persistentStore { body(store, group) } }
    }

    // MARK: Saving

    private func store(forNew object: NSManagedObject, in context: NSManagedObjectContext) throws -> NSPersistentStore {
        if let assigned = context.assignedStores[ObjectIdentifier(object)] { return assigned }
        guard let store = stores(for: object.owningEntity).first(where: { !$0.isReadOnly }) ?? stores(for: object.owningEntity).first else {
            throw noStore(object.owningEntity)
        }
        return store
    }

    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        guard !objects.isEmpty else { return [] }
        var ids: [ObjectIdentifier: NSManagedObjectID] = [:]
        for (store, group) in try grouped(objects, { try store(forNew: $0, in: context) }) {
            try refuseIfReadOnly(store)
            let given = try store.exclusively { try store.permanentIDs(for: group) }
            if group.count == objects.count { return given }
            for (object, id) in zip(group, given) { ids[ObjectIdentifier(object)] = id }
        }
        return objects.map { ids[ObjectIdentifier($0)].unsafelyUnwrapped }
    }

    func refuseIfReadOnly(_ store: NSPersistentStore) throws {
        guard store.isReadOnly else { return }
        throw CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(url(for: store)) cannot be saved to.", reason: "It was opened for reading only.",
            next: "Open it without NSReadOnlyPersistentStoreOption.", info: [NSAffectedStoresErrorKey: [store]])
    }

    /// The objects of each store, in the order in which they came.
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

    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        var perStore: [(store: NSPersistentStore, changes: ChangeSet)] = []
        func collect(_ objects: [NSManagedObject], _ part: WritableKeyPath<ChangeSet, [NSManagedObject]>) throws {
            for (store, group) in try grouped(objects, { try store(of: $0.objectID) }) {
                let index = perStore.firstIndex { $0.store === store } ?? perStore.endIndex
                if index == perStore.endIndex { perStore.append((store, ChangeSet(inserted: [], updated: [], deleted: []))) }
                perStore[index].changes[keyPath: part] = group
            }
        }
        try collect(changes.inserted, \.inserted)
        try collect(changes.updated, \.updated)
        try collect(changes.deleted, \.deleted)
        try collect(changes.locked, \.locked)
        for (store, _) in perStore { try refuseIfReadOnly(store) }
        var saved: [NSPersistentStore] = []
        for (store, part) in perStore {
            do {
                try store.exclusively {
                    try findConflicts(part, in: store)
                    try findConstraintConflicts(part, in: store, for: context)
                    do { try store.save(part, in: context) } catch let error as NSError
                        where error.code == NSManagedObjectConstraintMergeError && error.domain == NSCocoaErrorDomain
                    {
                        // Others have saved the same values since they were looked for.
                        try findConstraintConflicts(part, in: store, for: context)
                        throw error
                    }
                }
                saved.append(store)
            } catch  where !saved.isEmpty {
                throw CoreDataError.make(
                    NSPersistentStoreIncompleteSaveError, "Some stores were saved and others were not.",
                    reason: "\(saved.count) of \(perStore.count) stores were written before one failed.",
                    next: "Mend the cause and save again; what was written is written once more.", cause: error,
                    info: [NSAffectedStoresErrorKey: [store]])
            }
        }
    }

    /// Finds the objects that others have saved or deleted since this context read them.
    private func findConflicts(_ changes: ChangeSet, in store: NSPersistentStore) throws {
        if store.findsConflicts { return }
        let conflicts = (changes.updated + changes.deleted + changes.locked).compactMap { object -> NSMergeConflict? in
            guard let version = object.snapshot?.version else { return nil }
            switch store.latestRow(for: object.objectID) {
            case .unknown: return nil
            case .deleted: return NSMergeConflict(object, stored: nil)
            case .row(let row): return row.version == version ? nil : NSMergeConflict(object, stored: row)
            }
        }
        if !conflicts.isEmpty { throw NSMergeConflict.error(conflicts) }
    }
}

extension NSFetchRequest {
    /// The part of all dictionaries that offset and limit leave, equal ones counted once where the request says so.
    func distinctPage(_ dictionaries: [NSDictionary]) -> [NSDictionary] {
        guard returnsDistinctResults else { return page(dictionaries) }
        var seen: Set<NSDictionary> = []
        return page(dictionaries.filter { seen.insert($0).inserted })
    }

    /// The part of a complete result that offset and limit leave.
    func page<Element>(_ elements: [Element]) -> [Element] {
        if fetchOffset == 0, fetchLimit == 0 || elements.count <= fetchLimit { return elements }
        let rest = elements.dropFirst(fetchOffset)
        return Array(fetchLimit > 0 ? rest.prefix(fetchLimit) : rest)
    }
}
