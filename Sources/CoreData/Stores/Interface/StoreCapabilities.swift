public import Foundation
internal import Predicates

// What a store may do besides keeping objects. A store conforms to what it can do; the coordinator asks for nothing else.

/// A store that executes batch requests.
@_spi(Stores) public protocol BatchStore: StoreInterface {
    /// Executes an ``NSBatchInsertRequest``, ``NSBatchUpdateRequest`` or ``NSBatchDeleteRequest`` wholly or not at all.
    ///
    /// - Returns: what the request's `resultType` says.
    /// - Throws: an error for a request that the store does not serve; the store is as it was.
    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome
}

/// A store that keeps a history of what is written to it.
protocol HistoryStore: StoreInterface {
    /// Whether it keeps one now: it depends on what the store was opened with.
    var keepsHistory: Bool { get }
    /// The number of the last transaction of the history; nil where the store keeps none.
    func lastHistoryNumber() throws -> Int64?
    /// The part of the history that a request means; its fetch request and kind of result are looked after by the coordinator.
    func history(_ request: NSPersistentHistoryChangeRequest) throws -> [HistoryRecord]
    /// Deletes the part of the history that a request means, and answers how many transactions that were.
    func deleteHistory(_ request: NSPersistentHistoryChangeRequest) throws -> Int
}

/// A store whose states contexts can hold on to while others go on writing.
@_spi(Stores) public protocol GenerationStore: StoreInterface {
    /// Whether it keeps states now: it may depend on what the store was opened with.
    var keepsGenerations: Bool { get }
    /// The store as it is now, for reading; nil where it keeps no states.
    func makeView() throws -> NSPersistentStore?
}

/// A store whose content lies in files, which can be copied, replaced and removed.
@_spi(Stores) public protocol FileStore: StoreInterface {
    /// Copies the store as it is now to a place where there is none.
    ///
    /// - Throws: why that cannot be done; nothing is left at the place.
    func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws
    /// Puts the content of one store into the place of another, or where there is none.
    ///
    /// - Throws: why that cannot be done; the store at the place is as it was.
    static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws
    /// Removes all files of a store. There need be none.
    ///
    /// - Throws: why that cannot be done; nothing is removed then.
    static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws
}

/// A store whose writers can be held while it is copied.
@_spi(Stores) public protocol CopyableStore: StoreInterface {
    /// Runs `body` while nobody writes to the store. `body` reads from it, on this thread.
    func holdingWrites<Result>(_ body: () throws -> Result) rethrows -> Result
}

/// A store of Apple's interface, which is given the context that asks and its objects: it is asked on the context's queue, and saves there.
protocol ContextTaking: StoreInterface {}

/// A store that can tell whether its content has changed, also from one run of the program to the next.
@_spi(Stores) public protocol ContentsTelling: StoreInterface {
    /// What the store holds now; nil where it cannot tell whether others have changed it.
    var contentsState: ContentsState? { get }
}
