public import Foundation

/// Connects contexts with the stores that hold their objects.
///
/// Contexts of any queue may use one coordinator at once; each store says how many of them it serves side by side.
///
/// Source: [NSPersistentStoreCoordinator](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator).
// `lock` guards `stores`; the locks of a store are its own, see `exclusively`.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    /// The model of the objects. It cannot be changed any more.
    public let managedObjectModel: NSManagedObjectModel
    /// A name for logs.
    open var name: String? {
        get { lock.withLock { label } }
        set { lock.withLock { label = newValue } }
    }

    private let lock = NSRecursiveLock()
    private var label: String?
    private var stores: [NSPersistentStore] = []
    let workQueue = CoordinatorQueue()
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

    deinit { for store in stores { store.willRemove(from: nil) } }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { lock.withLock { stores } }

    /// The store of IDs.
    final func store(with token: StoreToken) -> NSPersistentStore? {
        lock.lock()
        defer { lock.unlock() }
        return stores.first { $0.token === token }
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
        store.requestLock.withLock { store.url = url }
        return true
    }

    /// The metadata of a store.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

    /// Sets the metadata of a store; they are written with the next save.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

    func append(_ store: NSPersistentStore) { lock.withLock { stores.append(store) } }

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
        lock.withLock { stores.removeAll { $0 === store } }
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
            try self.save(
                ChangeSet(
                    inserted: Array(save.insertedObjects ?? []), updated: Array(save.updatedObjects ?? []),
                    deleted: Array(save.deletedObjects ?? []), locked: Array(save.lockedObjects ?? [])), in: context)
            return [Any]()
        }
        if let batch = request as? any BatchRequest { return try executeBatch(batch, in: context) }
        if let history = request as? NSPersistentHistoryChangeRequest { return try executeHistory(history, in: context) }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The coordinator cannot execute \(Swift.type(of: request)).",
                next: "Use context.execute(_:) or context.fetch(_:).")
        }
        fetch.entity = fetch.entity ?? fetch.entityName.flatMap { managedObjectModel.entitiesByName[$0] }
        switch try self.fetch(fetch, for: context) {
        case .rows(let rows): return context.materialize(rows)
        case .ids(let ids): return ids
        case .objects(let objects): return objects
        case .dictionaries(let dictionaries): return dictionaries
        case .count(let count): return [NSNumber(value: count)]
        }
    }
}

/// Remembers the models in use, so that a class can tell its entity without a context.
// `lock` guards `models`.
final class LoadedModels: @unchecked Sendable {
    static let shared = LoadedModels()
    private struct Weak { weak var model: NSManagedObjectModel? }
    private let lock = NSLock()
    private var models: [Weak] = []

    func add(_ model: NSManagedObjectModel) {
        lock.withLock {
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
        let models = lock.withLock { self.models.reversed().compactMap(\.model) }
        return try withExtendedLifetime(models) { try body(models.lazy.compactMap { $0.entity(for: objectClass) }.first) }
    }
}
