internal import Foundation
internal import Predicates

extension NSPersistentStoreCoordinator: ObjectSource {
    var sourceModel: NSManagedObjectModel? { managedObjectModel }

    /// Returns the stores that hold objects of an entity.
    func stores(for entity: NSEntityDescription, among affected: [NSPersistentStore]? = nil) -> [NSPersistentStore] {
        persistentStores.filter { store in
            guard affected?.contains(where: { $0 === store }) ?? true else { return false }
            guard store.configurationName != NSPersistentStore.defaultConfiguration else { return true }
            let held = managedObjectModel.entities(forConfigurationName: store.configurationName) ?? []
            return held.contains { $0 === entity || $0.isKindOf(entity: entity) }
        }
    }

    /// Returns the stores that answer a query.
    @_spi(Stores) public func stores(answering query: StoreQuery) -> [NSPersistentStore] {
        stores(for: query.entity, among: query.affectedStores)
    }

    func noStore(_ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "There is no store for “\(entity)”.",
            reason: persistentStores.isEmpty
                ? "The coordinator has no stores." : "No store's configuration holds the entity, or the request leaves out those that do.",
            next: "Add a store, or check its configuration.")
    }

    func store(of id: NSManagedObjectID) throws -> NSPersistentStore {
        if let token = id.token, let store = store(with: token) { return store }
        guard let store = id.persistentStore, store.persistentStoreCoordinator === self else {
            throw CoreDataError.make(
                NSManagedObjectReferentialIntegrityError, "\(id) cannot be read.",
                reason: id.isTemporaryID ? "It was never saved." : "Its store is not one of this coordinator's.",
                next: "Save the object, or use the coordinator of its store.", info: [NSAffectedObjectsErrorKey: [id]])
        }
        return store
    }

    /// Returns the stores that execute a query, each as the context reads it.
    func readers(for query: StoreQuery, in context: NSManagedObjectContext) throws -> [NSPersistentStore] {
        let stores = try stores(for: query.entity, among: query.affectedStores).map { try reader($0, for: context) }
        guard !stores.isEmpty else { throw noStore(query.entity) }
        return stores
    }

    func fetch(_ query: StoreQuery, for context: NSManagedObjectContext) throws -> StoreAnswer {
        let stores = try readers(for: query, in: context)
        if stores.count == 1 { return try answer(query, of: stores[0], for: context) }
        let each = query.forEachOfSeveral
        return try join(try stores.map { try answer(each, of: $0, for: context) }, to: query, in: context)
    }

    private func answer(_ query: StoreQuery, of store: NSPersistentStore, for context: NSManagedObjectContext) throws -> StoreAnswer {
        let queryTime = RowCache.now
        let answer = try store.interface.answer(query, for: context.caller)
        // The objects of the rows are registered with the context next.
        if query.resultType == .managedObjectResultType, case .rows(let rows) = answer, let access = store.rowAccess as? CachedAccess {
            access.file(rows, queryTime: queryTime)
        }
        return answer
    }

    /// Combines the answers of several stores, and applies the query's order, offset and limit to the result.
    func join(_ answers: [StoreAnswer], to query: StoreQuery, in context: NSManagedObjectContext) throws -> StoreAnswer {
        var objects: [NSManagedObject] = []
        var dictionaries: [NSDictionary] = []
        var count = 0
        for answer in answers {
            switch answer {
            case .rows(let rows): objects += context.materialize(rows)
            case .ids(let ids): objects += context.objects(with: ids)
            case .objects(let found): objects += found.objects
            case .dictionaries(let found): dictionaries += found.elements
            case .count(let found): count += found
            }
        }
        switch query.resultType {
        case .countResultType: return .count(query.page(count: count))
        case .dictionaryResultType:
            guard query.sortDescriptors.isEmpty, !query.isGrouped else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError, "Sorted or grouped dictionaries cannot be fetched from several stores at once.",
                    next: "Name one store in affectedStores, or fetch objects.")
            }
            return .dictionaries(StoreDictionaries(query.distinctPage(dictionaries)))
        default:
            if !query.sortDescriptors.isEmpty {
                objects = try CompiledSort(query.sortDescriptors, for: query.entity.frozen!.schema).sorted(objects)
            }
            return .objects(LiveObjects(elements: query.page(objects)))
        }
    }

    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? {
        try reader(store(of: id), for: context).withRowAccess { access in
            try context.reading(of: id, isKnown: access.knownRow(for: id) != nil) { try access.row(for: id, for: context.caller) }
        }
    }

    /// Returns the store of rows if a context reads its current state; a past state has its own rows.
    private func presentStore(of origin: RowOrigin, for context: NSManagedObjectContext) -> NSPersistentStore? {
        context.requestingContext.generation.isPinned ? nil : store(with: origin.store.token)
    }

    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, in context: NSManagedObjectContext
    ) -> RelatedNumbers? {
        guard let store = presentStore(of: origin, for: context) else { return nil }
        return store.withRowAccess { $0.relatedNumbers(of: relationship, for: number, of: origin, for: context.caller) }
    }

    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, in context: NSManagedObjectContext
    ) throws -> RelatedNumbers? {
        guard let store = presentStore(of: origin, for: context) else { return nil }
        return try store.withRowAccess { try $0.prepareRelatedNumbers(of: relationship, for: numbers, of: origin, for: context.caller) }
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        if relationship.isTransient { return [] }
        return try reader(store(of: id), for: context).withRowAccess { access in
            try context.reading(relationship.name, of: id, isKnown: access.knownRelatedIDs(of: relationship, for: id) != nil) {
                try access.relatedIDs(of: relationship, for: id, for: context.caller)
            }
        }
    }

    func forgetRow(of id: NSManagedObjectID) {
        // A store that is being removed may have no row access any more.
        guard let store = id.persistentStore, store.rowAccess != nil else { return }
        store.withRowAccess { $0.forgetRow(of: id) }
    }

    func didRegister(_ ids: [NSManagedObjectID]) { forEachStore(of: ids) { store, ids in store.withRowAccess { $0.didRegister(ids) } } }

    func releaseUnusedRows() {
        // A store that is being removed may have no row access any more.
        for store in persistentStores where store.rowAccess != nil { store.withRowAccess { $0.releaseUnusedRows() } }
    }

    func didUnregister(_ ids: [NSManagedObjectID]) { forEachStore(of: ids) { store, ids in store.withRowAccess { $0.didUnregister(ids) } } }

    private func forEachStore(of ids: [NSManagedObjectID], _ body: (NSPersistentStore, [NSManagedObjectID]) -> Void) {
        guard let first = ids.first else { return }
        if ids.allSatisfyUncounted({ $0.token === first.token }) {
            if let store = first.persistentStore { body(store, ids) }
            return
        }
        let groups = Dictionary(grouping: ids) { $0.token.map(ObjectIdentifier.init) }
        for group in groups.values { if let store = group[0].persistentStore { body(store, group) } }
    }
}
