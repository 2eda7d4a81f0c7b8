public import Foundation
internal import Predicates

// Optional capabilities of stores. A store conforms to the ones it supports; the coordinator uses no others.

/// A store that executes batch requests.
@_spi(Stores) public protocol BatchStore: StoreInterface {
    /// Executes an ``NSBatchInsertRequest``, ``NSBatchUpdateRequest`` or ``NSBatchDeleteRequest`` completely or not at all.
    ///
    /// - Returns: The outcome of the kind that the request wants.
    /// - Throws: An error for a request that the store does not support; the store is then unchanged.
    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome
}

/// A store that supports query generations.
@_spi(Stores) public protocol GenerationStore: StoreInterface {
    /// Whether the store supports query generations now, which may depend on its options.
    var keepsGenerations: Bool { get }
    /// Returns a read-only view of the current state; nil if the store keeps no states.
    func makeView() throws -> NSPersistentStore?
}

/// A store in files, which can be copied, replaced and removed.
@_spi(Stores) public protocol FileStore: StoreInterface {
    /// Copies the current state of the store to a new place.
    ///
    /// - Throws: The reason of a failure; nothing is left at the place then.
    func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws
    /// Replaces a store at a place by the content of another, or creates it there.
    ///
    /// - Throws: The reason of a failure; the store at the place is unchanged then.
    static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws
    /// Removes all files of a store, if there are any.
    ///
    /// - Throws: The reason of a failure; nothing is removed then.
    static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws
    /// Takes over the state that another store of the class has in memory and not in its files, which are those of this store: the versions of
    /// objects, and the keys that it has assigned to new ones. Called once, when this store is open and before it gets requests; the other store gets
    /// no more requests.
    ///
    /// - Throws: The reason of a failure; the other store continues then.
    func takeOver(stateOf former: any FileStore) throws
}

extension FileStore {
    /// Takes nothing over: the files have everything.
    public func takeOver(stateOf former: any FileStore) throws {}
}

/// A store whose writers can be blocked while it is copied.
@_spi(Stores) public protocol CopyableStore: StoreInterface {
    /// Runs `body` while no other thread writes to the store. `body` reads from it, on this thread.
    func blockingWrites<Result>(_ body: () throws -> Result) rethrows -> Result
}

/// A store that assigns the IDs of some new objects when it saves them, as a server does.
///
/// Such an object keeps its temporary ID until then. Its changes contain that ID, as do those of objects that refer to it; the outcome of the save
/// contains the assigned ID.
@_spi(Stores) public protocol LateIdentityStore: StoreInterface {
    /// Returns the IDs of new objects that are known before the save; one element for each object, in order.
    func knownIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID?]
}

extension LateIdentityStore {
    /// Returns the IDs of new objects.
    ///
    /// - Throws: Code 134070 if an ID is known only after the save.
    public func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try knownIDs(for: new, for: caller).map { id in
            if let id { return id }
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "A new object has no permanent ID yet.",
                reason: "The store assigns it when it saves the object.", next: "Save first.")
        }
    }
}

/// A store that observes the cache of its rows, and decides which rows are newer.
@_spi(Stores) public protocol RowCacheObserver: StoreInterface {
    /// Called when no context has the objects any more.
    func didRelease(_ ids: [NSManagedObjectID])
    /// Called before objects are reloaded, because a context needs their current values.
    func willReload(_ ids: [NSManagedObjectID])
    /// Returns whether a row is older than another row of the same object, whenever they were requested.
    func isOlder(_ row: Row, than other: Row) -> Bool
    /// Returns the time at which a row that the store has just returned was requested, if that was before the call; otherwise nil. The time is in
    /// nanoseconds of the system's uptime, as in `DispatchTime`. Called once for each returned row that is cached.
    func timeOfEarlierQuery(for row: Row) -> UInt64?
    /// Whether ``timeOfEarlierQuery(for:)`` must be called for the rows that the store has just returned.
    var mayHaveEarlierQueries: Bool { get }
}

extension RowCacheObserver {
    /// Nil: the store returns no rows from before a call.
    public func timeOfEarlierQuery(for row: Row) -> UInt64? { nil }
    /// False: the store returns no rows from before a call.
    public var mayHaveEarlierQueries: Bool { false }
}

/// A store that finds the results of some queries page by page, each on demand.
@_spi(Stores) public protocol ScrollingStore: AsynchronousStore {
    /// Returns the pages of a query for objects; nil if all results must be known before the first one is.
    func pages(of query: StoreQuery, for caller: StoreCaller) throws -> (any StorePages)?
}

/// The results of a query, page by page, in the query's order.
@_spi(Stores) public protocol StorePages: AnyObject, Sendable {
    /// Reads on, until about a number of further results have arrived or there are no more. One call at a time; cancelled with the task.
    func next(_ count: Int) async throws -> StorePage
}

/// A part of the results of a query.
@_spi(Stores) public struct StorePage: Sendable {
    /// The results that have arrived, in order.
    public let rows: [Row]
    /// Earlier results that do not match any more, as far as the store has noticed.
    public let gone: [NSManagedObjectID]
    /// Whether there are no more.
    public let isLast: Bool

    /// Creates a part of the results.
    public init(rows: [Row], gone: [NSManagedObjectID] = [], isLast: Bool) {
        (self.rows, self.gone, self.isLast) = (rows, gone, isLast)
    }
}

/// A store of Apple's interface, which receives the requesting context and its objects: it is called on the context's queue, also to
/// save.
protocol ContextReceivingStore: StoreInterface {}

/// A store that can determine whether its content has changed, also between runs of the program.
@_spi(Stores) public protocol ContentsStateProviding: StoreInterface {
    /// The state of the content; nil if the store cannot determine whether others have changed it.
    var contentsState: ContentsState? { get }
}

/// A store that knows how much of the disk its rows take.
package protocol SizedStore: StoreInterface {
    /// The number of bytes that the files of the store use, external files included; 0 for a store in memory.
    ///
    /// - Throws: The errors of reading.
    func usedBytes() throws -> Int64
    /// Returns about how many bytes each row of an inheritance takes, external files included, by its key.
    ///
    /// - Parameter entity: The entity at the top.
    /// - Throws: The errors of reading.
    func sizes(of entity: NSEntityDescription) throws -> [Int64: Int64]
    /// Returns the disk space of deleted rows to the file system.
    ///
    /// - Throws: The errors of writing.
    func giveBackSpace() throws
}

/// A store whose keys can be written in several ways, such as those of several columns.
package protocol KeySpellingStore: NSPersistentStore {
    /// Returns a written key in the store's own spelling; a key that the store does not understand is returned unchanged. Nothing is read from the
    /// store.
    func spelled(_ reference: NSManagedObjectID.Reference, of entity: NSEntityDescription) -> NSManagedObjectID.Reference
}
