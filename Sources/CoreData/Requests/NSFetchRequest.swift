public import Foundation

/// What a fetch may give: objects, their IDs, dictionaries of values, or a count.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
    /// The bits, as Apple's.
    public let rawValue: UInt
    /// Makes a type of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Managed objects.
    public static let managedObjectResultType: NSFetchRequestResultType = []
    /// Their IDs.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries with the values of `propertiesToFetch`.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// One number: how many there are.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// The types that a fetch can give.
public protocol NSFetchRequestResult: NSObjectProtocol {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// Asks for the objects of an entity: which ones, in which order, how many, and in which form.
///
/// A store is always handed an `NSFetchRequest<NSFetchRequestResult>`, whatever the type the application asked with.
///
/// Source: [NSFetchRequest](https://developer.apple.com/documentation/coredata/nsfetchrequest).
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    final var settings = FetchSettings()

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Makes a request that names no entity yet.
    public required init() { super.init() }

    /// Makes a request for the entity called `entityName`.
    public convenience init(entityName: String) {
        self.init()
        settings.entityName = entityName
    }

    /// The entity whose objects are wanted. A request made by name has one once it is executed.
    open var entity: NSEntityDescription? {
        get { settings.entity }
        set { settings.entity = newValue }
    }
    /// The entity of a request that is being executed.
    final var knownEntity: NSEntityDescription { entity.known("the context has looked it up before the request went further") }
    /// The name of the entity.
    open var entityName: String? { settings.entity?.name ?? settings.entityName }
    /// Which objects; nil for all. A predicate whose format did not parse makes the fetch fail.
    open var predicate: NSPredicate? {
        get { settings.predicate }
        set { settings.predicate = newValue }
    }
    /// In which order; nil for any.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { settings.sortDescriptors }
        set { settings.sortDescriptors = newValue }
    }
    /// How many at most; 0 for all.
    open var fetchLimit: Int {
        get { settings.fetchLimit }
        set { settings.fetchLimit = newValue }
    }
    /// How many to leave out at the start.
    open var fetchOffset: Int {
        get { settings.fetchOffset }
        set { settings.fetchOffset = newValue }
    }
    /// In which form.
    open var resultType: NSFetchRequestResultType {
        get { settings.resultType }
        set { settings.resultType = newValue }
    }
    /// Whether objects of subentities count. True unless set.
    open var includesSubentities: Bool {
        get { settings.includesSubentities }
        set { settings.includesSubentities = newValue }
    }
    /// Whether the store should read the values along with the IDs. True unless set.
    open var includesPropertyValues: Bool {
        get { settings.includesPropertyValues }
        set { settings.includesPropertyValues = newValue }
    }
    /// Whether what is unsaved in the context counts. True unless set. Dictionaries show what is saved only.
    open var includesPendingChanges: Bool {
        get { settings.includesPendingChanges }
        set { settings.includesPendingChanges = newValue }
    }
    /// Whether the objects come as faults. True unless set.
    open var returnsObjectsAsFaults: Bool {
        get { settings.returnsObjectsAsFaults }
        set { settings.returnsObjectsAsFaults = newValue }
    }
    /// How many objects are read together when the first of them is; 0, as it is unless set, for a thousand at a time.
    ///
    /// The fetch itself brings IDs, and the array plain faults: reading one fires it and has the store asked for the others of its batch, which stay
    /// faults until they are read themselves. A batch size outweighs ``returnsObjectsAsFaults``. It bears on stores that answer for many objects at
    /// once, see ``NSIncrementalStore/newValuesForObjects(with:with:)``.
    open var fetchBatchSize: Int {
        get { settings.fetchBatchSize }
        set { settings.fetchBatchSize = newValue }
    }
    /// Key paths of relationships, such as `"band.label"`, whose objects are read along with the fetch: for each relationship of a path all at once.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { settings.relationshipKeyPathsForPrefetching }
        set { settings.relationshipKeyPathsForPrefetching = newValue }
    }
    /// Whether objects that the context has already take the store's values, under what is unsaved. False unless set: they keep theirs.
    open var shouldRefreshRefetchedObjects: Bool {
        get { settings.shouldRefreshRefetchedObjects }
        set { settings.shouldRefreshRefetchedObjects = newValue }
    }
    /// Whether equal dictionaries are given once.
    open var returnsDistinctResults: Bool {
        get { settings.returnsDistinctResults }
        set { settings.returnsDistinctResults = newValue }
    }
    /// The values wanted in dictionaries: attributes, to-one relationships (as IDs), paths over to-one relationships, and
    /// ``NSExpressionDescription``s; by name or as descriptions. Nil for all attributes.
    open var propertiesToFetch: [Any]? {
        get { settings.propertiesToFetch }
        set { settings.propertiesToFetch = newValue }
    }
    /// What the objects of one dictionary have in common, given as ``propertiesToFetch`` is. With it, what is fetched must be grouped by, or
    /// be a function over the group. For dictionaries only.
    open var propertiesToGroupBy: [Any]? {
        get { settings.propertiesToGroupBy }
        set { settings.propertiesToGroupBy = newValue }
    }
    /// Which groups count. It may be about what is grouped by, functions over the group, and columns: by name, or as `$name`.
    open var havingPredicate: NSPredicate? {
        get { settings.havingPredicate }
        set { settings.havingPredicate = newValue }
    }

    /// Whether a store that answers by queries of its own may read more than is asked for and finish in memory what its queries cannot say. False
    /// unless set: the fetch then fails with an error that names the clause.
    ///
    /// The SQLite store has no SQL for block predicates, comparators and transformed values. With this set it reads the rows that the rest of the
    /// predicate leaves, and filters, sorts and cuts these itself: the answer is the same, the cost is that of reading them. Stores in memory
    /// need no leave. This is no property of Apple's.
    final public var allowsEvaluationInMemory: Bool {
        get { settings.allowsEvaluationInMemory }
        set { settings.allowsEvaluationInMemory = newValue }
    }

    /// What the request says to stores of particular kinds, such as how old a cached answer may be. Each kind documents its own. Not in Apple's API.
    final public var storeOptions: StoreRequestOptions {
        get { settings.options }
        set { settings.options = newValue }
    }

    /// The request as the application made it, of its own class and result type, where a store is handed another that says the same: generic
    /// classes of Swift do not convert. Itself otherwise. For incremental stores that know subclasses of requests. Not in Apple's API.
    final public var callersRequest: NSPersistentStoreRequest { settings.original ?? self }

    /// A request like this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSFetchRequest<ResultType>
        copy.settings = settings
        return copy
    }

    /// Executes the request in the context on whose queue the caller is.
    ///
    /// - Throws: as ``NSManagedObjectContext/fetch(_:)``, and code 134060 outside a context's queue.
    open func execute() throws -> [ResultType] {
        guard let context = ContextQueue.current?.context else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch request cannot be executed here.", reason: "The caller is on no context's queue.",
                next: "Call execute() in a perform block, or use context.fetch(_:).")
        }
        return try context.fetch(self)
    }
}

extension NSFetchRequest {
    /// The request as stores see it: this very one if it is of that type, else one that says the same.
    func erased() -> NSFetchRequest<any NSFetchRequestResult> {
        if let erased = self as? NSFetchRequest<any NSFetchRequestResult> { return erased }
        let erased = NSFetchRequest<any NSFetchRequestResult>()
        erased.affectedStores = affectedStores
        erased.settings = settings
        erased.settings.original = settings.original ?? self
        return erased
    }
}

/// Everything a request says, apart from the type of its results.
struct FetchSettings {
    var entity: NSEntityDescription?
    var entityName: String?
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor]?
    var fetchLimit = 0
    var fetchOffset = 0
    var resultType: NSFetchRequestResultType = .managedObjectResultType
    var includesSubentities = true
    var includesPropertyValues = true
    var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    var returnsDistinctResults = false
    var fetchBatchSize = 0
    var relationshipKeyPathsForPrefetching: [String]?
    var shouldRefreshRefetchedObjects = false
    var propertiesToFetch: [Any]?
    var propertiesToGroupBy: [Any]?
    var havingPredicate: NSPredicate?
    var allowsEvaluationInMemory = false
    var options = StoreRequestOptions()
    /// The request of another result type that this one stands for.
    var original: NSPersistentStoreRequest?
}
