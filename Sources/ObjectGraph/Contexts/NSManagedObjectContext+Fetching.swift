internal import Foundation
internal import Predicates

extension NSManagedObjectContext {
    /// Fetches the objects that match `request`, unsaved changes in this context included. Call it on the context's queue.
    ///
    /// - Returns: Objects (faults unless the request specifies otherwise), IDs, dictionaries or a single count, according to the request's result
    ///   type.
    /// - Throws: An error for an unknown entity, for a predicate that did not parse or names an unknown key, and for results that are not
    ///   of `ResultType`; the store's error.
    public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
        checkQueue("fetch(_:) is called")
        let query = try query(for: request)
        switch query.resultType {
        case .managedObjectResultType:
            return try cast(fetchObjects(query), for: query.entity)
        case .managedObjectIDResultType:
            return try cast(fetchIDs(query))
        case .countResultType:
            return try cast([NSNumber(value: countObjects(query))])
        default:
            return try cast(fetchDictionaries(query).elements)
        }
    }

    /// Converts a request to a query for stores: validated, with its entity resolved and context-only values replaced.
    func query<ResultType>(for request: NSFetchRequest<ResultType>) throws -> StoreQuery {
        try resolve(request)
        try checkGroups(request)
        let erased = request.erased()
        return try resolvingContextValues(in: StoreQuery(erased, of: request.knownEntity))
    }

    /// Returns a request as stores receive it. Call it on the context's queue.
    ///
    /// - Throws: The errors of ``fetch(_:)`` that are detected before a store is queried.
    @_spi(Stores) public func storeQuery<ResultType>(for request: NSFetchRequest<ResultType>) throws -> StoreQuery {
        checkQueue("storeQuery(for:) is called")
        return try query(for: request)
    }

    /// Counts the objects that match `request`, unsaved changes in this context included. Call it on the context's queue.
    ///
    /// - Throws: The errors of ``fetch(_:)``.
    public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
        checkQueue("count(for:) is called")
        let entity = try resolveEntity(request.entity, named: request.entityName)
        try checkGroups(request)
        let query = try resolvingContextValues(in: StoreQuery(request.erased(), of: entity))
        // Groups and distinct values count as results.
        if query.resultType == .dictionaryResultType { return try fetchDictionaries(query).elements.count }
        return try countObjects(query)
    }

    /// Replaces the parts of a query's predicate that only a context knows.
    func resolvingContextValues(in query: StoreQuery) throws -> StoreQuery {
        if query.havingPredicate != nil, query.groupedBy.isEmpty {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: it has a havingPredicate and no groups.",
                next: "Set propertiesToGroupBy, or use predicate.")
        }
        let predicate = try resolvingContextValues(in: query.predicate, of: query.entity)
        return predicate === query.predicate ? query : query.with(predicate: predicate)
    }

    private func checkGroups<ResultType>(_ request: NSFetchRequest<ResultType>) throws {
        guard request.resultType != .dictionaryResultType, !(request.propertiesToGroupBy ?? []).isEmpty else { return }
        throw CoreDataError.make(
            NSCoreDataError, "The fetch cannot be executed: it groups, but asks for no dictionaries.",
            next: "Set its resultType to .dictionaryResultType.")
    }

    /// Resolves the entity of a request by its name or by the class of its results.
    func resolve<ResultType>(_ request: NSFetchRequest<ResultType>) throws {
        if request.entity == nil, request.entityName == nil, let objectClass = ResultType.self as? NSManagedObject.Type {
            request.entity = model?.entity(for: objectClass)
        }
        request.entity = try resolveEntity(request.entity, named: request.entityName)
    }

    /// Returns the entity of a request in this context's model.
    private func resolveEntity(_ entity: NSEntityDescription?, named name: String?) throws -> NSEntityDescription {
        guard let model else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed.", reason: "The context has no persistent store coordinator.",
                next: "Set persistentStoreCoordinator or parent first.")
        }
        guard let name else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch request names no entity.", next: "Make it with entityName: or set its entity.")
        }
        // An entity of another copy of the model is equivalent to the one with the same name in this model.
        if let entity, model.entitiesByName[name] === entity { return entity }
        guard let found = model.entitiesByName[name] else {
            throw CoreDataError.make(
                NSCoreDataError, "There is no entity “\(name)” in the model.",
                reason: "Its entities are: \(model.entitiesByName.keys.sorted().joined(separator: ", ")).", next: "Check the name.")
        }
        return found
    }

    // MARK: The four kinds of result

    func fetchObjects(_ query: StoreQuery) throws -> [NSManagedObject] {
        processPendingChanges()
        let pending = try PendingChanges(in: self, for: query)
        let answer = try source.fetch(pending?.widened(query) ?? query, for: self)
        var objects = try managedObjects(in: answer, for: query)
        if let pending { objects = try pending.apply(to: objects, of: query) }
        if !query.relationshipKeyPathsForPrefetching.isEmpty { try prefetch(query, for: objects) }
        return objects
    }

    private func fetchIDs(_ query: StoreQuery) throws -> [NSManagedObjectID] {
        processPendingChanges()
        if try PendingChanges(in: self, for: query) != nil {
            return try fetchObjects(query.with(resultType: .managedObjectResultType)).map(\.objectID)
        }
        switch try source.fetch(query, for: self) {
        case .ids(let ids): return ids
        case .rows(let rows): return rows.map { $0.knownObjectID }
        case .objects(let objects): return objects.objects.map(\.objectID)
        case .dictionaries, .count: throw unexpectedAnswer(query, wanted: "object IDs")
        }
    }

    func countObjects(_ query: StoreQuery) throws -> Int {
        processPendingChanges()
        if try PendingChanges(in: self, for: query) != nil {
            return try fetchObjects(query.with(resultType: .managedObjectResultType).sorted(by: [])).count
        }
        switch try source.fetch(query.with(resultType: .countResultType), for: self) {
        case .count(let count): return count
        case .ids(let ids): return ids.count
        case .rows(let rows): return rows.count
        case .objects(let objects): return objects.elements.count
        case .dictionaries: throw unexpectedAnswer(query, wanted: "a count")
        }
    }

    func fetchDictionaries(_ query: StoreQuery) throws -> StoreDictionaries {
        processPendingChanges()
        guard case .dictionaries(let dictionaries) = try source.fetch(query, for: self) else {
            throw unexpectedAnswer(query, wanted: "dictionaries")
        }
        return dictionaries
    }

    func managedObjects(in answer: StoreAnswer, for query: StoreQuery) throws -> [NSManagedObject] {
        switch answer {
        case .objects(let objects):
            try applyFaultingOptions(to: objects.objects, of: query)
            return objects.objects
        case .ids(let ids):
            let objects = objects(with: ids)
            try applyFaultingOptions(to: objects, of: query)
            return objects
        case .rows(let rows):
            let objects = materialize(rows, fulfills: !query.returnsObjectsAsFaults)
            if query.shouldRefreshRefetchedObjects || source.batchesFaults { try applyFaultingOptions(to: objects, of: query) }
            return objects
        case .dictionaries, .count: throw unexpectedAnswer(query, wanted: "managed objects")
        }
    }

    func unexpectedAnswer(_ query: StoreQuery, wanted: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The store did not answer a fetch of “\(query.entity)” with \(wanted).",
            next: "Make the store serve every resultType, or throw for those it does not.")
    }

    // MARK: Casting

    func cast<ResultType>(_ objects: [NSManagedObject], for entity: NSEntityDescription) throws -> [ResultType] {
        // If the entity's class guarantees the type, no object is checked.
        if let wanted = ResultType.self as? NSManagedObject.Type,
            entity.allKinds.allSatisfy({ $0.managedObjectClass.isSubclass(of: wanted) })
        {
            return uncheckedArray(objects, of: ResultType.self)
        }
        return try cast(objects)
    }

    func cast<Element, ResultType>(_ elements: [Element]) throws -> [ResultType] {
        try elements.map { element in
            if let result = element as? ResultType { return result }
            throw CoreDataError.make(
                NSCoreDataError, "The fetched \(Swift.type(of: element)) is no \(ResultType.self).",
                reason: "The request's resultType or the class of its entity gives another type.",
                next: "Check the entity's managedObjectClassName, or ask with NSFetchRequest<NSFetchRequestResult>.")
        }
    }
}

extension NSManagedObject {
    class func isSubclass(of other: NSManagedObject.Type) -> Bool {
        var candidate: AnyClass? = self
        while let current = candidate {
            if current == other { return true }
            candidate = _getSuperclass(current)
        }
        return false
    }
}
