public import Foundation
internal import Platform
internal import Predicates
internal import Synchronization

/// Connects contexts with the stores that hold their objects.
///
/// Contexts on any queue may use a coordinator at the same time; stores guard their own state.
///
/// Source: [NSPersistentStoreCoordinator](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator).
// A `LockedBox` contains only the name, the stores and the reserved places: stores have locks of their own.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    /// The model of the objects, which is immutable.
    public let managedObjectModel: NSManagedObjectModel
    /// The name of the coordinator in logs.
    open var name: String? {
        get { state.withLock { $0.label } }
        set { state.withLock { $0.label = newValue } }
    }

    private struct State {
        var label: String?
        var stores: [NSPersistentStore] = []
        /// The URLs at which stores are being opened.
        var reservedURLs: Set<URL> = []
        /// The stores whose metadata was set since they were last saved.
        var storesWithNewMetadata: Set<ObjectIdentifier> = []
    }
    private let state = LockedBox(State())
    /// Whether a store wants registrations: each object that is registered in a context, and each fault, checks this. Set under the lock of the
    /// state.
    private let registrationsAreWanted = Atomic<Bool>(false)
    private let faultsAreBatched = Atomic<Bool>(false)
    let workQueue = ContextQueue.makePrivate("NSPersistentStoreCoordinator")
    /// The contexts that merge saves automatically.
    let mergeListeners = MergeListeners()
    /// The contexts without a parent.
    let contexts = ContextList()

    /// Creates a coordinator with `model`, which becomes immutable.
    ///
    /// An invalid model stops the program with a message that lists the errors; ``init(checking:)`` throws instead. It is required so that
    /// `type.init(managedObjectModel:)` compiles, as for imported classes on Apple's platforms.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        do { try model.freeze() } catch { stopProgram(error.localizedDescription) }
        managedObjectModel = model
        super.init()
        LoadedModels.shared.add(model)
    }

    /// Creates a coordinator with `model`, which becomes immutable.
    ///
    /// - Throws: Code 134020 with every error of the model.
    public init(checking model: NSManagedObjectModel) throws {
        try model.freeze()
        managedObjectModel = model
        super.init()
        LoadedModels.shared.add(model)
    }

    /// Runs `block` on the coordinator's queue, and waits for it. May be called from that queue; subclasses may override it.
    open func performAndWait(_ block: () -> Void) { workQueue.sync(block) }

    deinit { for store in persistentStores { store.willRemove(from: nil) } }

    /// The stores, in the order of their addition.
    open var persistentStores: [NSPersistentStore] { state.withLock { $0.stores } }

    /// Returns the store of a token, which object IDs contain.
    final func store(with token: StoreToken) -> NSPersistentStore? {
        state.withLock {
            for store in $0.stores where store.token === token { return store }
            return nil
        }
    }

    /// Whether a store must be notified of objects that are registered in contexts, and released.
    final var wantsRegistrations: Bool { registrationsAreWanted.load(ordering: .acquiring) }
    /// Whether a store is queried once for all objects of a batch.
    final var batchesFaults: Bool { faultsAreBatched.load(ordering: .acquiring) }

    /// Determines what the stores want. Call it under the lock.
    private func noteWishes(of stores: [NSPersistentStore]) {
        registrationsAreWanted.store(stores.contains(where: \.rowAccess.wantsRegistrations), ordering: .releasing)
        faultsAreBatched.store(stores.contains(where: \.rowAccess.batchesFaults), ordering: .releasing)
    }

    /// Returns the store at a URL; nil if there is none.
    open func persistentStore(for url: URL) -> NSPersistentStore? { persistentStores.first { $0.url == url } }

    /// Returns the URL of a store; for a store without one, a URL of the scheme `coredata`.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? NSPersistentStore.noURL }

    /// Changes the URL of a store; an atomic store writes its file there at the next save.
    ///
    /// - Returns: Whether the URL was changed; false if another store is open at it, or being opened.
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard persistentStores.contains(where: { $0 === store }) else { return false }
        if persistentStore(for: url) === store { return true }
        // Reserved, for a store may be added or moved there meanwhile.
        do { try reserve(url) } catch { return false }
        defer { giveUpReservation(of: url) }
        store.url = url
        return true
    }

    /// Returns the metadata of a store.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

    /// Sets the metadata of a store. The next save of a context writes it, also if the context has no changes.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        store.metadata = metadata
        // A class may override the property without calling super.
        noteNewMetadata(of: store)
    }

    /// Records that metadata were set in a store. A store that is being opened has no unsaved metadata.
    final func noteNewMetadata(of store: NSPersistentStore) {
        state.withLock { state in
            guard state.stores.contains(where: { $0 === store }) else { return }
            state.storesWithNewMetadata.insert(ObjectIdentifier(store))
        }
    }

    /// The stores whose metadata was set since they were last saved, apart from read-only ones.
    final var storesWithNewMetadata: [NSPersistentStore] {
        state.withLock { state in
            if state.storesWithNewMetadata.isEmpty { return [] }
            return state.stores.filter { !$0.isReadOnly && state.storesWithNewMetadata.contains(ObjectIdentifier($0)) }
        }
    }

    /// Records that a store has written its metadata.
    final func didSaveMetadata(of store: NSPersistentStore) {
        state.withLock { state in
            if !state.storesWithNewMetadata.isEmpty { state.storesWithNewMetadata.remove(ObjectIdentifier(store)) }
        }
    }

    /// Reserves a URL for a store that is about to be opened; does nothing for nil.
    ///
    /// - Throws: Code 134080 if a store is open at the URL or being opened there on another thread.
    func reserve(_ url: URL?) throws {
        guard let url else { return }
        guard persistentStore(for: url) == nil, state.withLock({ $0.reservedURLs.insert(url).inserted }) else { throw placeTaken(url) }
        // The store may have been added and its reservation released in between.
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
    /// - Throws: Code 134080 if a store with the same UUID is open.
    func append(_ store: NSPersistentStore) throws {
        var known = persistentStores
        while true {
            // Stores may override the properties read here: they are not called under the lock.
            try checkUUID(of: store, among: known)
            let (isAdded, now) = state.withLock { state in
                let isSame = state.stores.elementsEqual(known, by: ===)
                if isSame {
                    state.stores.append(store)
                    noteWishes(of: state.stores)
                }
                return (isSame, state.stores)
            }
            if isAdded { return }
            known = now
        }
    }

    func checkUUID(of store: NSPersistentStore, among known: [NSPersistentStore]) throws {
        guard let uuid = store.identifier, let twin = known.first(where: { $0.identifier == uuid }) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOpenError, "The store at \(url(for: store)) has the UUID of one that is open, \(uuid).",
            reason: "That one is at \(url(for: twin)).", next: "Give each store a UUID of its own.")
    }

    /// Removes a store. Registered objects of the store can no longer be loaded or saved.
    ///
    /// - Throws: Code 134070 if the store does not belong to the coordinator.
    open func remove(_ store: NSPersistentStore) throws { try take(store, replacement: nil) }

    /// Replaces a store with an open one that has its token: the IDs of its objects lead to the new store from now on.
    ///
    /// - Throws: Code 134070 if the former store does not belong to the coordinator.
    func exchange(_ former: NSPersistentStore, for store: NSPersistentStore) throws { try take(former, replacement: store) }

    private func take(_ store: NSPersistentStore, replacement: NSPersistentStore?) throws {
        guard persistentStores.contains(where: { $0 === store }) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store \(store.identifier ?? "?") cannot be removed.",
                reason: "It does not belong to this coordinator.", next: "Remove it from the coordinator it was added to.")
        }
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        let metadata = store.metadata
        store.willRemove(from: self)
        let hasNewMetadata = state.withLock { state in
            if let replacement {
                // Together with the token's target, so that no thread finds neither store.
                replacement.token.store = replacement
                state.stores = state.stores.map { $0 === store ? replacement : $0 }
            } else {
                state.stores.removeAll { $0 === store }
            }
            noteWishes(of: state.stores)
            return state.storesWithNewMetadata.remove(ObjectIdentifier(store)) != nil
        }
        store.persistentStoreCoordinator = nil
        // The metadata that the program has set since the last save are not in the files.
        if let replacement, hasNewMetadata { setMetadata(metadata, for: replacement) }
        postStoresChange(NSRemovedPersistentStoresKey, store)
    }

    /// Returns the object ID for a URI; nil when no store of the coordinator has its UUID or the model does not have its entity.
    ///
    /// The store is not queried for the object.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let uri = ObjectURI(url), let entity = managedObjectModel.entitiesByName[uri.entityName],
            let store = persistentStores.first(where: { $0.identifier == uri.storeIdentifier })
        else { return nil }
        let reference = (store as? any KeySpellingStore)?.spelled(uri.reference, of: entity) ?? uri.reference
        return NSManagedObjectID(entity: entity, token: store.token, reference: reference)
    }

    /// Works like ``managedObjectID(forURIRepresentation:)`` for a URI as a string.
    public func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }
}
