internal import Foundation
internal import Predicates

extension NSManagedObjectContext {
    /// Fetches the objects that `request` asks for, what is unsaved in this context included. Call it on the context's queue.
    ///
    /// - Returns: the objects (faults unless the request says otherwise), IDs, dictionaries or the one count, as its result type says.
    /// - Throws: an error for an unknown entity, a predicate that did not parse or names an unknown key, results that are not of
    ///   `ResultType`; the store's error; a ``pendingFaultError``.
    public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
        checkQueue("fetch(_:) is called")
        try throwPendingFaultError()
        try resolve(request)
        let erased = try settled(request.erased())
        switch request.resultType {
        case .managedObjectResultType:
            return try cast(fetchObjects(erased), for: request.entity.unsafelyUnwrapped)
        case .managedObjectIDResultType:
            return try cast(fetchIDs(erased))
        case .countResultType:
            return try cast([NSNumber(value: countObjects(erased))])
        default:
            return try cast(fetchDictionaries(erased))
        }
    }

    /// Counts the objects that `request` asks for, what is unsaved in this context included. Call it on the context's queue.
    ///
    /// - Throws: as ``fetch(_:)-swift.method``.
    public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
        checkQueue("count(for:) is called")
        try throwPendingFaultError()
        var erased = request.erased().copy() as! NSFetchRequest<any NSFetchRequestResult>
        erased.entity = try resolveEntity(request.entity, named: request.entityName)
        erased = try settled(erased)
        // Groups and distinct values are counted as such.
        if request.resultType == .dictionaryResultType { return try fetchDictionaries(erased).count }
        return try countObjects(erased)
    }

    /// A request as stores are to see it: what it asks for goes together, and its predicate has nothing in it that only a context knows.
    func settled(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> NSFetchRequest<any NSFetchRequestResult> {
        try checkGrouping(request)
        let predicate = try settled(request.predicate)
        if predicate === request.predicate { return request }
        let settled = request.copy() as! NSFetchRequest<any NSFetchRequestResult>
        settled.predicate = predicate
        return settled
    }

    private func checkGrouping(_ request: NSFetchRequest<any NSFetchRequestResult>) throws {
        let isGrouped = !(request.propertiesToGroupBy ?? []).isEmpty
        if isGrouped, request.resultType != .dictionaryResultType {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: it groups, but asks for no dictionaries.",
                next: "Set its resultType to .dictionaryResultType.")
        }
        if request.havingPredicate != nil, !isGrouped {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: it has a havingPredicate and no groups.",
                next: "Set propertiesToGroupBy, or use predicate.")
        }
    }

    /// Gives a request its entity: by its name, or by the class of its results.
    func resolve<ResultType>(_ request: NSFetchRequest<ResultType>) throws {
        if request.entity == nil, request.entityName == nil, let objectClass = ResultType.self as? NSManagedObject.Type {
            request.entity = model?.entity(for: objectClass)
        }
        request.entity = try resolveEntity(request.entity, named: request.entityName)
    }

    /// The entity of a request, in this context's model.
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
        // An entity of another copy of the model stands for the one of the same name here.
        if let entity, model.entitiesByName[name] === entity { return entity }
        guard let found = model.entitiesByName[name] else {
            throw CoreDataError.make(
                NSCoreDataError, "There is no entity “\(name)” in the model.",
                reason: "Its entities are: \(model.entitiesByName.keys.sorted().joined(separator: ", ")).", next: "Check the name.")
        }
        return found
    }

    // MARK: The four kinds of result

    func fetchObjects(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSManagedObject] {
        processPendingChanges()
        let pending = try PendingChanges(in: self, for: request)
        let answer = try source.fetch(pending?.widened(request) ?? request, for: self)
        var objects = try managedObjects(in: answer, for: request)
        if let pending { objects = try pending.apply(to: objects, of: request) }
        if request.relationshipKeyPathsForPrefetching != nil { try prefetch(request, for: objects) }
        return objects
    }

    private func fetchIDs(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSManagedObjectID] {
        processPendingChanges()
        if try PendingChanges(in: self, for: request) != nil {
            let objects = request.copy() as! NSFetchRequest<any NSFetchRequestResult>
            objects.resultType = .managedObjectResultType
            return try fetchObjects(objects).map(\.objectID)
        }
        switch try source.fetch(request, for: self) {
        case .ids(let ids): return ids
        case .rows(let rows): return rows.map { $0.objectID.unsafelyUnwrapped }
        case .objects(let objects): return objects.map(\.objectID)
        case .dictionaries, .count: throw unexpectedAnswer(request, wanted: "object IDs")
        }
    }

    private func countObjects(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        processPendingChanges()
        let counting = request.copy() as! NSFetchRequest<any NSFetchRequestResult>
        if try PendingChanges(in: self, for: request) != nil {
            counting.resultType = .managedObjectResultType
            counting.sortDescriptors = nil
            return try fetchObjects(counting).count
        }
        counting.resultType = .countResultType
        switch try source.fetch(counting, for: self) {
        case .count(let count): return count
        case .ids(let ids): return ids.count
        case .rows(let rows): return rows.count
        case .objects(let objects): return objects.count
        case .dictionaries: throw unexpectedAnswer(request, wanted: "a count")
        }
    }

    private func fetchDictionaries(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSDictionary] {
        processPendingChanges()
        guard case .dictionaries(let dictionaries) = try source.fetch(request, for: self) else {
            throw unexpectedAnswer(request, wanted: "dictionaries")
        }
        return dictionaries
    }

    func managedObjects(
        in answer: FetchAnswer, for request: NSFetchRequest<any NSFetchRequestResult>
    ) throws -> [NSManagedObject] {
        switch answer {
        case .objects(let objects):
            try settleFaults(objects, of: request)
            return objects
        case .ids(let ids):
            let objects = objects(with: ids)
            try settleFaults(objects, of: request)
            return objects
        case .rows(let rows):
            let objects = materialize(rows, fulfills: !request.returnsObjectsAsFaults)
            if request.shouldRefreshRefetchedObjects || source.batchesFaults { try settleFaults(objects, of: request) }
            return objects
        case .dictionaries, .count: throw unexpectedAnswer(request, wanted: "managed objects")
        }
    }

    private func unexpectedAnswer(_ request: NSFetchRequest<any NSFetchRequestResult>, wanted: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The store did not answer a fetch of “\(request.entityName ?? "?")” with \(wanted).",
            next: "Make the store serve every resultType, or throw for those it does not.")
    }

    // MARK: Casting

    func cast<ResultType>(_ objects: [NSManagedObject], for entity: NSEntityDescription) throws -> [ResultType] {
        // Where the entity's class says that every object is of the type, no object needs to be asked.
        if let wanted = ResultType.self as? NSManagedObject.Type,
            entity.allKinds.allSatisfy({ $0.managedObjectClass.isSubclass(of: wanted) })
        {
            return unsafeBitCast(objects, to: [ResultType].self)
        }
        return try cast(objects)
    }

    private func cast<Element, ResultType>(_ elements: [Element]) throws -> [ResultType] {
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
