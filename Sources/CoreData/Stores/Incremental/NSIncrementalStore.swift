public import Foundation

/// A store that reads and writes object by object: the base for stores over a web service, a database or a large file.
///
/// Override ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and, to save new objects, ``obtainPermanentIDs(for:)``. The framework calls them on
/// the queue of the context that asks, one request at a time. What a store answers is checked; an answer that breaks the contract is an
/// error (code 134070) that names the method and the mistake.
///
/// The framework keeps the nodes of objects that live in a context: a second context is answered without asking the store again.
/// ``NSManagedObjectContext/refresh(_:mergeChanges:)`` makes it ask again.
///
/// Source: [NSIncrementalStore](https://developer.apple.com/documentation/coredata/nsincrementalstore) and the
/// Incremental Store Programming Guide.
open class NSIncrementalStore: NSPersistentStore {
    private let cache = RowCache()

    /// Executes a request.
    ///
    /// - Parameters:
    ///   - request: an `NSFetchRequest<NSFetchRequestResult>`, an ``NSSaveChangesRequest``, or a batch request; throw for kinds that the store
    ///     does not serve.
    ///   - context: the context that asks. Its queue is the current one.
    /// - Returns: for a fetch, an array of what its `resultType` says: objects got by `context.object(with:)` (or their IDs), IDs,
    ///   dictionaries, or one `NSNumber` for a count (the number itself does too). For a save, an empty array. For a batch request, what its
    ///   `resultType` says: whether it was done, the IDs, or how many rows.
    /// - Throws: any error; it reaches the caller of fetch or save as it is.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw unsupported(request)
    }

    /// The values of an object whose fault fires.
    ///
    /// - Returns: a node for `objectID`.
    /// - Throws: any error; code 133000 (or 134070 with no row) says that there is no such object.
    open func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        throw CoreDataError.contract(
            self, "newValuesForObject(with:with:)", "It is not overridden, so no object of the store can be read.",
            next: "Override it and answer with a node.")
    }

    /// The objects of a relationship whose fault fires.
    ///
    /// - Returns: an array of IDs for a to-many relationship; an ID or `NSNull` for a to-one.
    /// - Throws: any error; code 133000 says that there is no such object, which leads nowhere then.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CoreDataError.contract(
            self, "newValue(forRelationship:forObjectWith:with:)", "It is not overridden, so “\(relationship)” cannot be read.",
            next: "Override it and answer with IDs.")
    }

    /// The values of many objects, where the store can read them by one question. Not in Apple's API.
    ///
    /// Objects that came together, by a fetch or a relationship, are asked for together when the first of them is read: up to a thousand, or
    /// the request's ``NSFetchRequest/fetchBatchSize``. Override it wherever a question costs more than its answer.
    ///
    /// - Returns: a node for each object, in any order; one that is left out is asked for by itself when it is read. Nil, unless overridden: the
    ///   store reads one object at a time, by ``newValuesForObject(with:with:)``.
    /// - Throws: any error; it reaches the reader of the first object, and the question is repeated at the next read.
    open func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]? { nil }

    /// A relationship of many objects, where the store can read it by one question. Not in Apple's API.
    ///
    /// - Returns: for each object what ``newValue(forRelationship:forObjectWith:with:)`` answers: an array of IDs for a to-many relationship, an
    ///   ID or `NSNull` for a to-one. An object that is left out is asked for by itself. Nil, unless overridden: one at a time.
    /// - Throws: any error.
    open func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]? { nil }

    /// A UUID for a new store at a place.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Permanent IDs for new objects, made by ``newObjectID(for:referenceObject:)``. Called before the save request.
    ///
    /// - Returns: one ID for each object, in the same order.
    /// - Throws: any error; nothing is saved then.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw CoreDataError.contract(
            self, "obtainPermanentIDs(for:)", "It is not overridden, so the store cannot take new objects.",
            next: "Override it and answer with an ID for each object.")
    }

    /// Called when objects of the store come to live in a context.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
    /// Called when objects of the store no longer live in a context.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// The ID of the object that the store knows under a key.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object.
    ///   - data: the key: text, a whole number or a UUID. Anything else stops the program with a message.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: data)
    }

    /// The key under which the store knows an object: a `String`, an `NSNumber` or a `UUID`.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { objectID.reference.object }

    /// The version of the node that an object's changes start from; nil for an object that is new or whose values were never read.
    ///
    /// For stores whose rows others write too: compare it, while saving, with the version that the row has now. Where they differ, throw
    /// code 133020 with an ``NSMergeConflict`` for each such object under ``NSPersistentStoreSaveConflictsErrorKey``; the context's merge
    /// policy settles it and the save is repeated. Call it on the context's queue. Not in Apple's API, which has no way to tell.
    public final func baseVersion(of object: NSManagedObject) -> UInt64? {
        object.snapshot.map { UInt64(clamping: $0.version) }
    }

    // MARK: What the coordinator asks

    override var keepsLists: Bool { false }

    override func performFetch(
        _ request: NSFetchRequest<any NSFetchRequestResult>, for context: NSManagedObjectContext
    ) throws -> FetchAnswer {
        try IncrementalContract(self).fetchAnswer(try execute(request, with: context), to: request, in: context)
    }

    override func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? {
        let contract = IncrementalContract(self)
        if let node = cache.node(for: id, notOlderThan: context.stalenessInterval) { return try contract.row(of: node, for: id) }
        let node: NSIncrementalStoreNode
        do {
            node = try newValuesForObject(with: id, with: context)
        } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError {
            return nil
        }
        let row = try contract.row(of: node, for: id)
        cache.setNode(node)
        return row
    }

    override func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        if let known = cache.related(relationship.name, of: id, notOlderThan: context.stalenessInterval) { return known }
        let answer: Any
        do {
            answer = try newValue(forRelationship: relationship, forObjectWith: id, with: context)
        } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError {
            // What is gone leads nowhere, in every kind of store; that it is gone shows when it is read or saved.
            return []
        }
        let ids = try IncrementalContract(self).relatedIDs(answer, of: relationship, for: id)
        cache.setRelated(ids, relationship.name, of: id)
        return ids
    }

    override func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool {
        // Rows that serve no later reader are read one at a time.
        if context.stalenessInterval == 0 { return false }
        let missing = cache.withoutNode(ids, notOlderThan: context.stalenessInterval)
        if missing.isEmpty { return true }
        guard let nodes = try newValuesForObjects(with: missing, with: context) else { return false }
        let contract = IncrementalContract(self)
        try contract.check(nodes, among: missing)
        for node in nodes { cache.setNode(node) }
        return true
    }

    override func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool {
        if context.stalenessInterval == 0 { return false }
        guard let answers = try newValues(forRelationship: relationship, forObjectsWith: ids, with: context) else { return false }
        let contract = IncrementalContract(self)
        for id in ids {
            guard let answer = answers[id] else { continue }
            cache.setRelated(try contract.relatedIDs(answer, of: relationship, for: id), relationship.name, of: id)
        }
        return true
    }

    override func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? {
        cache.related(relationship.name, of: id)
    }

    override func permanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        try IncrementalContract(self).permanentIDs(try obtainPermanentIDs(for: objects), for: objects)
    }

    override func latestRow(for id: NSManagedObjectID) -> LatestRow {
        if let row = try? cache.node(for: id)?.makeRow() { return .row(row) }
        return cache.isDeleted(id) ? .deleted : .unknown
    }

    override func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        let written = changes.inserted + changes.updated + changes.locked
        let rows = try written.map { try $0.rowForSaving(keepsLists: false) }
        func set(_ objects: [NSManagedObject]) -> Set<NSManagedObject>? { objects.isEmpty ? nil : Set(objects) }
        let request = NSSaveChangesRequest(
            inserted: set(changes.inserted), updated: set(changes.updated), deleted: set(changes.deleted), locked: set(changes.locked))
        do {
            try IncrementalContract(self).saveAnswer(try execute(request, with: context))
        } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError {
            // The store knows newer rows than the cache; a policy settles with those, and the cache must not dispute it afterwards.
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
            for conflict in conflicts { cache.forget(conflict.sourceObject.objectID) }
            throw error
        }
        for (object, row) in zip(written, rows) {
            let related = object.changes.compactMap { ($0 as? NSRelationshipDescription)?.name }
            cache.didSave(row, of: object.objectID, changed: object.isInserted ? [] : related)
        }
        for object in changes.deleted { cache.didDelete(object.objectID) }
    }

    override func executeBatch(_ request: any BatchRequest, in context: NSManagedObjectContext) throws -> BatchOutcome {
        try requestLock.withLock {
            // What is kept of the store's rows may be out of date afterwards, also when the store fails half way.
            defer { cache.forgetAll() }
            return try IncrementalContract(self).batchOutcome(try execute(request, with: context), of: request)
        }
    }

    override var wantsRegistrations: Bool { true }

    override func forgetRow(of id: NSManagedObjectID) { cache.forget(id) }

    override func didRegister(_ ids: [NSManagedObjectID]) {
        cache.retain(ids)
        managedObjectContextDidRegisterObjects(with: ids)
    }

    override func didUnregister(_ ids: [NSManagedObjectID]) {
        cache.release(ids)
        managedObjectContextDidUnregisterObjects(with: ids)
    }
}

extension NSManagedObjectID {
    /// The ID of the object that a store knows under a key.
    convenience init(entity: NSEntityDescription, token: StoreToken, referenceObject: Any) {
        guard let reference = Reference(referenceObject) else {
            preconditionFailure(
                "\(referenceObject) (\(Swift.type(of: referenceObject))) cannot be the reference object of an ID of “\(entity)”: "
                    + "use text, a whole number or a UUID.")
        }
        self.init(entity: entity, token: token, reference: reference)
    }
}
