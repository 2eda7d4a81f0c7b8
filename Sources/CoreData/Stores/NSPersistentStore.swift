public import Foundation
internal import Predicates

/// The key of a store's UUID in its metadata.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key of a store's type in its metadata.
public let NSStoreTypeKey = "NSStoreType"
/// The type of the store that lives in memory.
public let NSInMemoryStoreType = "InMemory"
/// The option that opens a store for reading only.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"

/// Where objects are kept: the base of ``NSAtomicStore`` and ``NSIncrementalStore``, which stores of your own inherit from.
///
/// A coordinator makes the instances. It calls a store for one request at a time, on the queue of the context that asks.
///
/// Source: [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
open class NSPersistentStore: NSObject {
    /// A type of store, in the spelling of current SDKs.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The type string.
        public let rawValue: String
        /// Makes a type of the string under which the store class is registered.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The store that lives in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }

    /// The coordinator of the store; nil once it is removed.
    open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The part of the model that the store is limited to; nil for all of it.
    public let configurationName: String
    /// What the store was opened with.
    public let options: [AnyHashable: Any]?
    /// Where the store lies; nil for a store without a place.
    open var url: URL?
    /// Whether the store refuses to save.
    open var isReadOnly = false

    /// What is known about the store: its UUID, its type, and what applications put there.
    ///
    /// Set it in ``loadMetadata()``, with ``NSStoreUUIDKey`` and ``NSStoreTypeKey``.
    open var metadata: [String: Any]! {
        didSet { if let uuid = metadata?[NSStoreUUIDKey] as? String { token.identifier = uuid } }
    }

    /// The UUID of the store, once the metadata are loaded.
    open var identifier: String! { metadata?[NSStoreUUIDKey] as? String }
    /// The type of the store, once the metadata are loaded.
    open var type: String { metadata?[NSStoreTypeKey] as? String ?? "" }

    /// What ties IDs to the store. A view of a store as it was has the one of the store.
    final var token = StoreToken(identifier: "")
    /// One request at a time; recursive, for a store may use the context that asks it.
    let requestLock = NSRecursiveLock()

    /// The place given to stores that are added without one; ``url`` is nil then.
    static let noURL = URL(string: "coredata:no-url")!
    static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    /// Makes a store that is about to be opened. Overrides set up their own state and call super; they touch nothing outside.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        persistentStoreCoordinator = root
        configurationName = name ?? Self.defaultConfiguration
        self.url = url == Self.noURL ? nil : url
        self.options = options
        isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? Bool) ?? false
        super.init()
        token.store = self
    }

    /// Opens the store: checks its place and sets ``metadata``. Called once, when the store is added.
    ///
    /// - Throws: why the store cannot be opened.
    open func loadMetadata() throws {
        throw CoreDataError.contract(
            self, "loadMetadata()", "It is not overridden, so the store has no metadata.",
            next: "Override it and set metadata with NSStoreUUIDKey and NSStoreTypeKey.")
    }

    /// Called when the store has been added to `coordinator`.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    /// Called before the store is removed from `coordinator`, nil when the coordinator is going away.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The metadata of the store at `url`, without opening it. Overridden by stores that can tell.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(self) cannot tell the metadata of \(url).",
            reason: "The class does not override metadataForPersistentStore(with:).", next: "Add the store and read its metadata.")
    }

    /// Sets the metadata of the store at `url`, without opening it. Overridden by stores that can.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(self) cannot set the metadata of \(url).",
            reason: "The class does not override setMetadata(_:forPersistentStoreAt:).", next: "Add the store and set its metadata.")
    }

    // MARK: What the coordinator asks; each kind of store answers in its own way

    /// Asks the store something, one caller at a time unless the store looks after that itself.
    func exclusively<Result>(_ body: () throws -> Result) rethrows -> Result { try requestLock.withLock(body) }
    /// Keeps everybody else from writing to the store until ``resumeWrites()``.
    func stopWrites() { requestLock.lock() }
    func resumeWrites() { requestLock.unlock() }
    /// Called once the metadata have been checked, before the store is asked anything.
    func open() throws {}
    func performFetch(_ request: NSFetchRequest<any NSFetchRequestResult>, for context: NSManagedObjectContext) throws -> FetchAnswer {
        throw unsupported(request)
    }
    /// The row of an object; nil when the store has none.
    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? { nil }
    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] { [] }
    /// What is known of a to-many relationship of a row; nil where it must be read, or has no numbers of one table.
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, in context: NSManagedObjectContext
    ) -> RelatedNumbers? { nil }
    /// Reads a to-many relationship of many rows, as far as it is not known, and answers with all that is at the other ends.
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, in context: NSManagedObjectContext
    ) throws -> RelatedNumbers? { nil }
    /// Reads the rows of many objects into the row cache by one question. False where the store takes none such.
    func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool { false }
    /// Reads a relationship of many objects into the row cache by one question. False where the store takes none such.
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool { false }
    /// The objects of a relationship that the row cache knows; nil where the store must be asked.
    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? { nil }
    func permanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] { [] }
    /// Whether a save itself finds what others have saved meanwhile, so that ``latestRow(for:)`` need not be asked before.
    var findsConflicts: Bool { false }
    /// The row that the store knows of an object without going out of its way, to notice what others have saved. `.unknown` is no conflict.
    func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }
    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {}
    /// Whether a save must not break the uniqueness constraints of the model; for stores that can tell who holds values.
    var enforcesUniqueness: Bool { false }
    /// The objects that hold the values of a uniqueness constraint.
    func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] { [] }
    /// Executes a batch request whole or not at all, taking ``requestLock`` itself.
    func executeBatch(_ request: any BatchRequest, in context: NSManagedObjectContext) throws -> BatchOutcome { throw unsupported(request) }
    /// Whether contexts can hold on to states of the store.
    var keepsGenerations: Bool { false }
    /// The store as it is now, for reading; nil where it keeps no states.
    func makeView() throws -> NSPersistentStore? { nil }
    /// Whether the store keeps a history of what is written to it.
    var keepsHistory: Bool { false }
    /// The number of the last transaction of the history; nil where the store keeps none.
    func lastHistoryNumber() throws -> Int64? { nil }
    /// The part of the history that a request means; its fetch request and kind of result are looked after by the coordinator.
    func history(_ request: NSPersistentHistoryChangeRequest) throws -> [HistoryRecord] { throw unsupported(request) }
    /// Deletes the part of the history that a request means, and answers how many transactions that were.
    func deleteHistory(_ request: NSPersistentHistoryChangeRequest) throws -> Int { throw unsupported(request) }
    /// Whether rows hold the IDs of to-many relationships.
    var keepsLists: Bool { true }
    /// What the store holds now; nil where it cannot tell whether others have changed it.
    var contentsState: ContentsState? { nil }
    /// Whether the store is to be told which objects come to live in contexts, and go.
    var wantsRegistrations: Bool { false }
    /// Whether objects that come together are to be asked for together: for stores whose rows are not in memory.
    var batchesFaults: Bool { wantsRegistrations }
    func forgetRow(of id: NSManagedObjectID) {}
    func didRegister(_ ids: [NSManagedObjectID]) {}
    func didUnregister(_ ids: [NSManagedObjectID]) {}

    func unsupported(_ request: NSPersistentStoreRequest) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "\(Swift.type(of: self)) does not serve \(Swift.type(of: request)).",
            next: "Send the request to a store that does.", info: [NSAffectedStoresErrorKey: [self]])
    }
}

/// What a store knows about an object's row as it is now.
enum LatestRow {
    case unknown
    case deleted
    case row(Row)
}
