public import Foundation

/// Connects contexts with the stores that hold their objects.
///
/// Contexts of any queue may use one coordinator at once; stores guard what is theirs.
///
/// Source: [NSPersistentStoreCoordinator](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator).
// The name, the stores and the places that are reserved lie in a box with their lock, and nothing else: stores have locks of their own.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    /// The model of the objects. It cannot be changed any more.
    public let managedObjectModel: NSManagedObjectModel
    /// A name for logs.
    open var name: String? {
        get { state.withLock { $0.label } }
        set { state.withLock { $0.label = newValue } }
    }

    private struct State {
        var label: String?
        var stores: [NSPersistentStore] = []
        /// Where stores are being opened.
        var reservedURLs: Set<URL> = []
    }
    private let state = LockedBox(State())
    let workQueue = ContextQueue.makePrivate("NSPersistentStoreCoordinator")
    /// The contexts that merge by themselves what others save.
    let mergeListeners = MergeListeners()

    /// Makes a coordinator of `model`, which cannot be changed from then on.
    ///
    /// A model with mistakes stops the program with a message that lists them; ``init(checking:)`` throws it instead.
    public init(managedObjectModel model: NSManagedObjectModel) {
        do { try model.freeze() } catch { preconditionFailure(error.localizedDescription) }
        managedObjectModel = model
        super.init()
        LoadedModels.shared.add(model)
    }

    /// Makes a coordinator of `model`, which cannot be changed from then on.
    ///
    /// - Throws: code 134020 with every mistake of the model.
    public init(checking model: NSManagedObjectModel) throws {
        try model.freeze()
        managedObjectModel = model
        super.init()
        LoadedModels.shared.add(model)
    }

    deinit { for store in persistentStores { store.willRemove(from: nil) } }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { state.withLock { $0.stores } }

    /// The store of IDs.
    final func store(with token: StoreToken) -> NSPersistentStore? {
        state.withLock { $0.stores.first { $0.token === token } }
    }

    /// The store at `url`; nil if there is none.
    open func persistentStore(for url: URL) -> NSPersistentStore? { persistentStores.first { $0.url == url } }

    /// The place of a store; a store without one has a URL of the scheme `coredata`.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? NSPersistentStore.noURL }

    /// Gives a store another place: an atomic store is written there by the next save. False where there is another store.
    ///
    /// - Returns: whether the store has the place now.
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard persistentStores.contains(where: { $0 === store }), persistentStore(for: url).map({ $0 === store }) ?? true else {
            return false
        }
        store.url = url
        return true
    }

    /// The metadata of a store.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

    /// Sets the metadata of a store; they are written with the next save.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

    /// Keeps a place for the store that is about to be opened there; nil is no place.
    ///
    /// - Throws: code 134080 where a store has it, or is being opened there on another thread.
    func reserve(_ url: URL?) throws {
        guard let url else { return }
        guard persistentStore(for: url) == nil, state.withLock({ $0.reservedURLs.insert(url).inserted }) else { throw placeTaken(url) }
        // It may have been added and its reservation given up in between.
        if persistentStore(for: url) != nil {
            giveUpReservation(of: url)
            throw placeTaken(url)
        }
    }

    func giveUpReservation(of url: URL?) {
        guard let url else { return }
        state.withLock { _ = $0.reservedURLs.remove(url) }
    }

    private func placeTaken(_ url: URL) -> NSError {
        CoreDataError.make(NSPersistentStoreOpenError, "The store at \(url) cannot be added twice.", next: "Use the store that is there.")
    }

    /// Adds a store.
    ///
    /// - Throws: code 134080 where one with its UUID is there.
    func append(_ store: NSPersistentStore) throws {
        var known = persistentStores
        while true {
            // Stores may override what they tell about themselves: they are not asked under the lock.
            try refuseTwin(of: store, among: known)
            let (isAdded, now) = state.withLock { state in
                let isSame = state.stores.elementsEqual(known, by: ===)
                if isSame { state.stores.append(store) }
                return (isSame, state.stores)
            }
            if isAdded { return }
            known = now
        }
    }

    func refuseTwin(of store: NSPersistentStore, among known: [NSPersistentStore]) throws {
        guard let uuid = store.identifier, let twin = known.first(where: { $0.identifier == uuid }) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOpenError, "The store at \(url(for: store)) has the UUID of one that is open, \(uuid).",
            reason: "That one lies at \(url(for: twin)).", next: "Give every place a UUID of its own.")
    }

    /// Takes a store away. Objects of it that live in contexts can no longer be read or saved.
    ///
    /// - Throws: code 134070 if the store is not one of the coordinator's.
    open func remove(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(where: { $0 === store }) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store \(store.identifier ?? "?") cannot be removed.",
                reason: "It does not belong to this coordinator.", next: "Remove it from the coordinator it was added to.")
        }
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        store.willRemove(from: self)
        state.withLock { $0.stores.removeAll { $0 === store } }
        store.persistentStoreCoordinator = nil
        postStoresChange(NSRemovedPersistentStoresKey, store)
    }

    /// The ID of the object that a URI stands for; nil when no store of the coordinator has its UUID, or the model not its entity.
    ///
    /// It does not ask the store whether the object exists.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let uri = ObjectURI(url), let entity = managedObjectModel.entitiesByName[uri.entityName],
            let store = persistentStores.first(where: { $0.identifier == uri.storeIdentifier })
        else { return nil }
        return NSManagedObjectID(entity: entity, token: store.token, reference: uri.reference)
    }

    /// Executes a fetch, save or batch request as `context` would, without what is pending there. Call it on the context's queue.
    ///
    /// - Returns: an array of objects, IDs or dictionaries, or of one number for a count; an empty array for a save; the result of a batch
    ///   request.
    /// - Throws: the store's error.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            try saveWhole(
                ChangeSet(
                    inserted: Array(save.insertedObjects ?? []), updated: Array(save.updatedObjects ?? []),
                    deleted: Array(save.deletedObjects ?? []), locked: Array(save.lockedObjects ?? [])), in: context)
            return [Any]()
        }
        if let batch = request as? any ExecutableBatchRequest { return try executeBatch(batch, in: context) }
        if let history = request as? NSPersistentHistoryChangeRequest { return try executeHistory(history, in: context) }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The coordinator cannot execute \(Swift.type(of: request)).",
                next: "Use context.execute(_:) or context.fetch(_:).")
        }
        fetch.entity = fetch.entity ?? fetch.entityName.flatMap { managedObjectModel.entitiesByName[$0] }
        guard let entity = fetch.entity else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch request names no entity.", next: "Make it with entityName: or set its entity.")
        }
        switch try self.fetch(StoreQuery(fetch, of: entity), for: context) {
        case .rows(let rows): return context.materialize(rows)
        case .ids(let ids): return ids
        case .objects(let objects): return objects.elements
        case .dictionaries(let dictionaries): return dictionaries.elements
        case .count(let count): return [NSNumber(value: count)]
        }
    }
}

/// Remembers the models in use, so that a class can tell its entity without a context.
final class LoadedModels: Sendable {
    static let shared = LoadedModels()
    private struct Weak { weak var model: NSManagedObjectModel? }
    private let models = LockedBox<[Weak]>([])

    func add(_ model: NSManagedObjectModel) {
        models.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(Weak(model: model))
        }
    }

    /// The entity of a class in the model that was loaded last.
    func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        withEntity(for: objectClass) { $0 }
    }

    /// Works with the entity of a class in the model that was loaded last, which stays as long as `body` runs: an entity does not own its
    /// model, and another thread may give up the model at any time.
    func withEntity<Result>(
        for objectClass: NSManagedObject.Type, _ body: (NSEntityDescription?) throws -> Result
    ) rethrows -> Result {
        let models = self.models.withLock { $0.reversed().compactMap(\.model) }
        return try withExtendedLifetime(models) { try body(models.lazy.compactMap { $0.entity(for: objectClass) }.first) }
    }
}
