internal import Foundation
internal import Logging
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

// Unchecked: the parts are set once, before the store is shared, and guard themselves.
/// A store that caches the answers of a ``Backend``, answers from the cache, and asks the backend according to a ``CachePolicy``.
///
/// Coordinators create it: see `addCachedStore(_:at:options:)`. Its objects have IDs of their own, which never change, neither when the backend assigns an
/// identifier, nor when the object is read again.
public class CachedStore: NSPersistentStore, @unchecked Sendable {
    static let typeName = "CachedStore"
    static let backendOption = "CachedStoreBackend"
    static let log = Logger(label: "coredata.cache")

    /// A backend as the value of an option.
    // Immutable.
    final class Reference: NSObject, Sendable {
        let backend: any Backend
        let options: CachedStoreOptions

        init(_ backend: any Backend, _ options: CachedStoreOptions) {
            self.backend = backend
            self.options = options
        }
    }

    private(set) var backend: (any Backend)!
    private(set) var cacheOptions = CachedStoreOptions()
    private(set) var file: CacheFile!
    /// The reader of the backend. Its rows have IDs with another token, whose keys are the backend's identifiers.
    private(set) var reader: RemoteReader!
    private(set) var importer: Importer!
    private(set) var freshness: Freshness!
    /// The changes that the backend does not have yet, and their sender.
    var outbox: Outbox!
    var sender: OutboxSender!
    let watchers = StatusWatchers()
    let waiting = AwaitedOutcomes()
    /// The embedded rows of answers that are not stored yet.
    let alongside = Alongside()
    let refreshes = Refreshes()
    let coverages = Coverages()
    let feed = CacheFeed()

    /// Opens the cache, and checks the backend's description against the model.
    ///
    /// - Throws: Code 134080 for a store without a backend, and for a description that does not fit the model; the errors of opening the file.
    public override func loadMetadata() throws {
        guard let reference = options?[Self.backendOption] as? Reference, let model = persistentStoreCoordinator?.managedObjectModel else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "A cached store cannot be opened.", reason: "It has no backend.",
                next:
                    "Add it by addCachedStore(_:at:options:), or by a description made with NSPersistentStoreDescription(backend:cachedAt:)."
            )
        }
        let options = reference.options
        (backend, cacheOptions) = (reference.backend, options)
        // The policies determine how long an answer is valid.
        let resources = backend.resources.map { resource in
            var resource = resource
            for index in resource.endpoints.indices { resource.endpoints[index].freshness = nil }
            return resource
        }
        let catalog = try Catalog(backend, resources, model)
        file = try CacheFile(
            at: url, model, clock: options.clock,
            hooks: .init(willCommit: options.willCommit, didCommit: options.didCommit, switchedOff: options.switchedOff),
            options: options.fileOptions, carrying: { try CarriedChanges($0, $1) })
        // The IDs of the backend's own space never leave the store.
        let decoding = AnswerDecoding(model, backend.resources, token: StoreToken(identifier: "backend of \(file.identifier)"))
        reader = RemoteReader(
            backend, catalog, decoding, options.remote,
            didReceive: { [alongside, order = file.order] in alongside.add($0.embedded, askedAt: order.oldestOpen) },
            didComplete: { [alongside, order = file.order] in alongside.add($0, askedAt: order.oldestOpen) })
        freshness = Freshness()
        try file.noteModel()
        try coverages.load(from: file)
        try prepareOutbox()
        importer = Importer(file: file, decoding: decoding, versions: reader.versions, catalog: catalog, folding: folding) {
            [weak self] key, askedAt, transaction in
            try self?.end([key], askedAt: askedAt, isTold: true, in: transaction)
        }
        metadata = [NSStoreUUIDKey: file.identifier, NSStoreTypeKey: Self.typeName]
    }

    /// Begins to send the changes that an earlier run has left.
    public override func didAdd(to coordinator: NSPersistentStoreCoordinator) { beginSending() }

    /// Ends work in the background, and closes the file. If changes are in flight, the file is closed once they are answered.
    public override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        refreshes.cancelAll()
        closeFile()
    }

    @_spi(Stores) public override class func isSingleStoreURL(_ url: URL) -> Bool { true }
    @_spi(Stores) public override class var checksModelVersion: Bool { true }

    // MARK: Identities

    /// Returns the backend's identifier of an object; nil if the backend does not have it yet, or if it belongs to another store.
    ///
    /// Call it on any thread.
    public func resourceID(for id: NSManagedObjectID) throws -> ResourceID? {
        let id = id.current
        // Another process may have sent the object since its row was read.
        guard id.token === token, let key = file.key(ofOuter: id), let row = try file.row(key, isFresh: true) else { return nil }
        return file.entity(inner: row.knownObjectID.owningEntity).resource(of: row)
    }

    /// Returns the ID of the object of a resource; nil if the cache does not have it.
    ///
    /// Call it on any thread.
    public func objectID(for resource: ResourceID, entityName: String) throws -> NSManagedObjectID? {
        guard let entity = file.entity(named: entityName), entity.outer != nil,
            let key = try file.keys(of: [resource], in: entity)[resource]
        else { return nil }
        return key.entity.outerID(key.number, token)
    }

    /// The policy for an entity, regardless of a request's policy.
    func policy(of entity: NSEntityDescription) -> CachePolicy {
        var current: NSEntityDescription? = entity
        while let entity = current {
            if let policy = entity.name.flatMap({ cacheOptions.policies[$0] }) { return policy }
            current = entity.superentity
        }
        return cacheOptions.defaultPolicy
    }

    /// Reports an error that the program would not see otherwise, because the cache has answered.
    func report(_ error: any Error) {
        Self.log.info("The backend at \(backend.location) could not be asked: \(error)")
        cacheOptions.didFail?(error)
    }
}

/// The embedded rows of answers, until they are stored.
// Everything is in a `LockedBox`.
final class Alongside: Sendable {
    private let state = LockedBox<(rows: [Row], askedAt: UInt64)>(([], .max))

    /// - Parameter time: A time before which they were not requested.
    func add(_ more: some Collection<Row>, askedAt time: UInt64) {
        if more.isEmpty { return }
        state.withLock { state in
            state.rows += Array(more)
            state.askedAt = min(state.askedAt, time)
        }
    }

    /// Returns the rows, which the caller stores, and the earliest possible time of their request.
    func take() -> (rows: [Row], askedAt: UInt64) {
        state.withLock { state in
            defer { state = ([], .max) }
            return state
        }
    }
}

/// The times at which the backend has last confirmed unchanged rows and lists in this run, which are not written to the file.
// Everything is in a `LockedBox`.
final class Freshness: Sendable {
    private struct State {
        var rows = KeyTable<Double>()
        var lists: [ListKey: Double] = [:]
        /// The objects whose current values are requested.
        var wanted: Set<CacheKey> = []
        /// The times at which all contexts have last released objects.
        var used: [CacheKey: Double] = [:]
    }
    private struct ListKey: Hashable {
        let owner: CacheKey
        let name: String
    }
    private let state = LockedBox(State())
    private static let limit = 200_000
    private static let pageLimit = 40_000

    func use(_ keys: [CacheKey], at time: Double) {
        state.withLock { state in
            if state.used.count > Self.limit { state.used = [:] }
            for key in keys { state.used[key] = time }
        }
    }

    /// Returns the times of the last uses of objects since the last call.
    func takeUses() -> [CacheKey: Double] {
        state.withLock { state in
            defer { state.used = [:] }
            return state.used
        }
    }

    func forgetAll() { state.withLock { $0 = State() } }

    func confirm(_ keys: some Collection<CacheKey>, at time: Double) {
        state.withLock { state in
            if state.rows.pageCount > Self.pageLimit { state.rows = KeyTable() }
            for key in keys { state.rows[key] = time }
            if !state.wanted.isEmpty { for key in keys { state.wanted.remove(key) } }
        }
    }

    func confirm(_ name: String, of owners: some Sequence<CacheKey>, at time: Double) {
        state.withLock { state in
            if state.lists.count > Self.limit { state.lists = [:] }
            for owner in owners { state.lists[ListKey(owner: owner, name: name)] = time }
        }
    }

    func time(of key: CacheKey) -> Double? { state.withLock { $0.rows[key] } }
    func time(of name: String, _ owner: CacheKey) -> Double? { state.withLock { $0.lists[ListKey(owner: owner, name: name)] } }

    /// Notes that the next read of objects must ask the backend.
    func want(_ keys: some Sequence<CacheKey>) { state.withLock { $0.wanted.formUnion(keys) } }
    func isWanted(_ key: CacheKey) -> Bool { state.withLock { $0.wanted.contains(key) } }
    func unwant(_ keys: some Sequence<CacheKey>) { state.withLock { $0.wanted.subtract(keys) } }
}

/// The reads in the background: equal reads are combined.
// Everything is in a `LockedBox`.
final class Refreshes: Sendable {
    private let tasks = LockedBox<[String: Task<Void, Never>]>([:])

    /// Begins a read, unless an equal one is in progress.
    func begin(_ name: String, _ body: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            if tasks[name] != nil { return }
            tasks[name] = Task(executorPreference: BlockingCall.executor) { [weak self] in
                await body()
                self?.end(name)
            }
        }
    }

    private func end(_ name: String) { tasks.withLock { _ = $0.removeValue(forKey: name) } }

    /// Suspends until no read is in progress.
    func waitForAll() async {
        while let task = tasks.withLock({ $0.values.first }) { await task.value }
    }

    func cancelAll() { for task in tasks.withLock({ $0.values.map { $0 } }) { task.cancel() } }
}
