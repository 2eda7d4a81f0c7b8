public import Foundation

/// The kinds of result of a fetch: objects, their IDs, dictionaries of values, or a count.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
    /// The raw value, with Apple's bits.
    public let rawValue: UInt
    /// Creates a result type from its raw value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Managed objects.
    public static let managedObjectResultType: NSFetchRequestResultType = []
    /// Object IDs.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries with the values of `propertiesToFetch`.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// The number of objects.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// The types that a fetch can return.
public protocol NSFetchRequestResult: NSObjectProtocol {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// Describes a fetch of an entity's objects: the predicate, the order, the range and the kind of result.
///
/// Stores always receive an `NSFetchRequest<NSFetchRequestResult>`, regardless of the application's result type.
///
/// Source: [NSFetchRequest](https://developer.apple.com/documentation/coredata/nsfetchrequest).
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    package final var settings = FetchSettings()

    /// The type of the request.
    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request without an entity.
    public required init() { super.init() }

    /// Creates a request for the entity called `entityName`.
    public convenience init(entityName: String) {
        self.init()
        settings.entityName = entityName
    }

    /// The entity to fetch. A request created with a name has its entity once it is executed.
    open var entity: NSEntityDescription? {
        get { settings.entity }
        set { settings.entity = newValue }
    }
    /// The entity of a request that is being executed.
    package final var knownEntity: NSEntityDescription { entity.known("the context has looked it up before the request went further") }
    /// The name of the entity.
    open var entityName: String? { settings.entity?.name ?? settings.entityName }
    /// The predicate of the objects; nil for all. A predicate whose format did not parse makes the fetch fail.
    open var predicate: NSPredicate? {
        get { settings.predicate }
        set { settings.predicate = newValue }
    }
    /// The sort descriptors; nil for any order.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { settings.sortDescriptors }
        set { settings.sortDescriptors = newValue }
    }
    /// The maximum number of results; 0 for no limit.
    open var fetchLimit: Int {
        get { settings.fetchLimit }
        set { settings.fetchLimit = newValue }
    }
    /// The number of results to skip.
    open var fetchOffset: Int {
        get { settings.fetchOffset }
        set { settings.fetchOffset = newValue }
    }
    /// The kind of result.
    open var resultType: NSFetchRequestResultType {
        get { settings.resultType }
        set { settings.resultType = newValue }
    }
    /// Whether objects of subentities are included. The default is true.
    open var includesSubentities: Bool {
        get { settings.includesSubentities }
        set { settings.includesSubentities = newValue }
    }
    /// Whether the store reads the values along with the IDs. The default is true.
    open var includesPropertyValues: Bool {
        get { settings.includesPropertyValues }
        set { settings.includesPropertyValues = newValue }
    }
    /// Whether unsaved changes of the context are included. The default is true. Dictionaries contain saved values only.
    open var includesPendingChanges: Bool {
        get { settings.includesPendingChanges }
        set { settings.includesPendingChanges = newValue }
    }
    /// Whether the objects are returned as faults. The default is true.
    open var returnsObjectsAsFaults: Bool {
        get { settings.returnsObjectsAsFaults }
        set { settings.returnsObjectsAsFaults = newValue }
    }
    /// The number of objects that are loaded together when one of them is read. The default is 0, for a thousand at a time.
    ///
    /// The fetch itself loads IDs and returns an array of ordinary faults. Reading one fires it and loads the rows of its batch; the
    /// other objects stay faults until they are read. A batch size takes precedence over ``returnsObjectsAsFaults``. It affects stores
    /// that load many objects at once, see ``NSIncrementalStore/newValuesForObjects(with:with:)``. With a remote store, a fetched results
    /// controller reads only as many results at a time: see ``NSFetchedResultsController/mayHaveMoreObjects``.
    open var fetchBatchSize: Int {
        get { settings.fetchBatchSize }
        set { settings.fetchBatchSize = newValue }
    }
    /// The key paths of relationships, such as `"band.label"`, whose objects are loaded along with the fetch, each relationship by one
    /// query.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { settings.relationshipKeyPathsForPrefetching }
        set { settings.relationshipKeyPathsForPrefetching = newValue }
    }
    /// Whether registered objects take the store's current values, below their unsaved changes. The default is false.
    open var shouldRefreshRefetchedObjects: Bool {
        get { settings.shouldRefreshRefetchedObjects }
        set { settings.shouldRefreshRefetchedObjects = newValue }
    }
    /// Whether equal dictionaries are returned once.
    open var returnsDistinctResults: Bool {
        get { settings.returnsDistinctResults }
        set { settings.returnsDistinctResults = newValue }
    }
    /// The values to return in dictionaries: attributes, to-one relationships (as IDs), paths over to-one relationships, and
    /// ``NSExpressionDescription``s; by name or as descriptions. Nil for all attributes.
    open var propertiesToFetch: [Any]? {
        get { settings.propertiesToFetch }
        set { settings.propertiesToFetch = newValue }
    }
    /// The properties to group dictionaries by, in the form of ``propertiesToFetch``. Every fetched property must then be grouped by or
    /// be an aggregate. For dictionaries only.
    open var propertiesToGroupBy: [Any]? {
        get { settings.propertiesToGroupBy }
        set { settings.propertiesToGroupBy = newValue }
    }
    /// The predicate of the groups. It may use the grouped properties, aggregates, and columns by name or as `$name`.
    open var havingPredicate: NSPredicate? {
        get { settings.havingPredicate }
        set { settings.havingPredicate = newValue }
    }

    /// Whether a store with its own query language may load more rows and evaluate in memory the clauses that its queries cannot express. The default
    /// is false: the fetch then fails with an error that names the clause.
    ///
    /// The SQLite store has no SQL for block predicates, comparators and transformed values. With this property set, it loads the rows
    /// that match the rest of the predicate, and filters, sorts and limits them in memory: the result is the same, at the cost of loading
    /// them. In-memory stores do not need it. Not in Apple's API.
    final public var allowsEvaluationInMemory: Bool {
        get { settings.allowsEvaluationInMemory }
        set { settings.allowsEvaluationInMemory = newValue }
    }

    /// Options for particular kinds of store, such as the allowed age of a cached answer; each kind documents its options. Not in Apple's
    /// API.
    final public var storeOptions: StoreRequestOptions {
        get { settings.options }
        set { settings.options = newValue }
    }

    /// The application's original request, of its own class and result type, if a store receives a converted one; otherwise the request itself. For
    /// incremental stores that support subclasses of requests. Not in Apple's API.
    final public var callersRequest: NSPersistentStoreRequest { settings.original ?? self }

    /// Returns a copy of the request.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSFetchRequest<ResultType>
        copy.settings = settings
        return copy
    }
}

/// A fetch request, whatever its result type.
private protocol AnyFetchRequest: NSPersistentStoreRequest {
    var settings: FetchSettings { get }
}

extension NSFetchRequest: AnyFetchRequest {}

extension NSFetchRequest {
    /// Converts a fetch request to one with this result type.
    ///
    /// On Apple's platforms a fetch request can be cast to any result type (`request as! NSFetchRequest<Album>`), because generic parameters
    /// of Objective-C classes do not exist at run time. In Swift they do, and such a cast fails: write
    /// `NSFetchRequest<Album>.converted(from: request)` instead. As with the cast, nothing checks that the request fetches such objects.
    /// Not in Apple's API.
    ///
    /// - Parameter value: A fetch request.
    /// - Returns: The request itself if it has the result type, otherwise an equivalent request whose ``callersRequest`` is `value`; nil for a
    ///   value that is not a fetch request.
    public static func converted(from value: Any?) -> NSFetchRequest<ResultType>? {
        guard let value else { return nil }
        if let request = value as? NSFetchRequest<ResultType> { return request }
        guard let request = value as? any AnyFetchRequest else { return nil }
        return NSFetchRequest(equivalentTo: request)
    }

    private convenience init(equivalentTo request: any AnyFetchRequest) {
        self.init()
        stores = request.stores
        settings = request.settings
        settings.original = request.settings.original ?? request
    }

    /// Returns the request with the result type that stores expect: itself, or an equivalent request.
    func erased() -> NSFetchRequest<any NSFetchRequestResult> {
        if let erased = self as? NSFetchRequest<any NSFetchRequestResult> { return erased }
        return NSFetchRequest<any NSFetchRequestResult>(equivalentTo: self)
    }
}

/// The settings of a request, independent of its result type.
package struct FetchSettings {
    package var entity: NSEntityDescription?
    package var entityName: String?
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
    /// The original request that this one was converted from.
    var original: NSPersistentStoreRequest?
}
