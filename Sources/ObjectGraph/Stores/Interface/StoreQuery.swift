public import Foundation
public import Predicates

/// A fetch as a value for stores: it represents the whole request, with its entity and columns resolved.
///
/// A store returns a ``StoreAnswer`` for it. It may be kept, compared part by part, and sent to other threads.
@_spi(Stores)
// Unchecked: predicates, sort descriptors and entities never change once they are in use.
public struct StoreQuery: @unchecked Sendable {
    /// The entity to fetch.
    public private(set) var entity: NSEntityDescription
    /// The kind of result.
    public package(set) var resultType: NSFetchRequestResultType
    /// Whether objects of subentities are included.
    public package(set) var includesSubentities: Bool
    /// The predicate; nil for all objects. Stores read ``predicateTree()``.
    public package(set) var predicate: NSPredicate?
    /// The sort descriptors; empty for any order. Stores read ``sorts()``.
    public package(set) var sortDescriptors: [NSSortDescriptor]
    /// The maximum number of results; 0 for no limit.
    public package(set) var fetchLimit: Int
    /// The number of results to skip.
    public package(set) var fetchOffset: Int
    /// Whether values are requested along with the IDs.
    public package(set) var includesPropertyValues: Bool
    /// Whether objects may be faults.
    public package(set) var returnsObjectsAsFaults: Bool
    /// The number of rows to load together later; 0 for the default.
    public package(set) var fetchBatchSize: Int
    /// The key paths of relationships to prefetch.
    public package(set) var relationshipKeyPathsForPrefetching: [String]
    /// Whether registered objects take the store's values.
    public package(set) var shouldRefreshRefetchedObjects: Bool
    /// Whether the fetch follows a change that contexts have merged. The cache of a store already has that change: the store answers from the cache,
    /// and queries no one else.
    public package(set) var isFollowing = false
    /// Whether the context includes its pending changes.
    var includesPendingChanges: Bool
    /// Whether equal dictionaries are returned once.
    public package(set) var returnsDistinctResults: Bool
    /// The values in dictionaries; empty for other result types.
    public package(set) var columns: [FetchColumn] = []
    /// Whether the request names the columns instead of fetching all attributes.
    public package(set) var namesColumns = false
    /// The columns to group by; empty for a dictionary for each object.
    public package(set) var groupedBy: [FetchColumn] = []
    /// The predicate of the groups.
    public package(set) var havingPredicate: NSPredicate?
    /// Whether a store with its own query language may evaluate in memory the clauses that its queries cannot express.
    public package(set) var allowsEvaluationInMemory: Bool
    /// The request's options for particular kinds of store.
    public package(set) var options: StoreRequestOptions
    /// The stores to query; nil for all that hold the entity.
    var affectedStores: [NSPersistentStore]?
    /// The caller's request, for stores of Apple's interface; nil for a query without one.
    private var request: NSFetchRequest<any NSFetchRequestResult>?
    /// Whether the query equals the request, so that a store may receive the request itself.
    private var isAsAsked = true

    /// Creates a query for all objects of an entity.
    public init(_ entity: NSEntityDescription, includesSubentities: Bool = true) {
        self.init(FetchSettings(), entity, affectedStores: nil)
        self.includesSubentities = includesSubentities
    }

    /// Creates a query from a request.
    ///
    /// - Throws: Code 134060 for columns with unknown names.
    package init(_ request: NSFetchRequest<any NSFetchRequestResult>, of entity: NSEntityDescription) throws {
        self.init(request.settings, entity, affectedStores: request.affectedStores)
        self.request = request
        guard resultType == .dictionaryResultType else { return }
        namesColumns = request.propertiesToFetch != nil
        columns = try FetchColumn.columns(request.propertiesToFetch, of: entity)
        groupedBy = try (request.propertiesToGroupBy ?? []).map { try FetchColumn($0, of: entity, in: "propertiesToGroupBy") }
        // The whole result is one dictionary, which needs no order; its columns may lack the sorted ones.
        if groupedBy.isEmpty, isGrouped { sortDescriptors = [] }
    }

    private init(_ settings: FetchSettings, _ entity: NSEntityDescription, affectedStores: [NSPersistentStore]?) {
        self.entity = entity
        self.affectedStores = affectedStores
        resultType = settings.resultType
        includesSubentities = settings.includesSubentities
        predicate = settings.predicate
        sortDescriptors = settings.sortDescriptors ?? []
        fetchLimit = Self.limit(settings.fetchLimit)
        fetchOffset = Self.offset(settings.fetchOffset)
        includesPropertyValues = settings.includesPropertyValues
        includesPendingChanges = settings.includesPendingChanges
        returnsObjectsAsFaults = settings.returnsObjectsAsFaults
        fetchBatchSize = settings.fetchBatchSize
        relationshipKeyPathsForPrefetching = settings.relationshipKeyPathsForPrefetching ?? []
        shouldRefreshRefetchedObjects = settings.shouldRefreshRefetchedObjects
        returnsDistinctResults = settings.returnsDistinctResults
        havingPredicate = settings.havingPredicate
        allowsEvaluationInMemory = settings.allowsEvaluationInMemory
        options = settings.options
    }

    /// Returns the predicate as a tree; nil for none.
    ///
    /// - Throws: The error of a format that did not parse.
    public func predicateTree() throws -> PredicateTree? { try predicate?.tree() }

    /// Returns the query with another predicate.
    public func with(predicate: NSPredicate?) -> StoreQuery { changed { $0.predicate = predicate } }

    /// Returns the query with another offset and limit.
    public func with(fetchOffset: Int, fetchLimit: Int) -> StoreQuery {
        let (fetchOffset, fetchLimit) = (Self.offset(fetchOffset), Self.limit(fetchLimit))
        if fetchOffset == self.fetchOffset, fetchLimit == self.fetchLimit { return self }
        return changed { query in
            query.fetchOffset = fetchOffset
            query.fetchLimit = fetchLimit
        }
    }

    /// Returns the query with a modification of the program's request.
    private func changed(_ change: (inout StoreQuery) -> Void) -> StoreQuery {
        var query = self
        change(&query)
        query.isAsAsked = false
        return query
    }

    /// Whether several rows are combined in one dictionary.
    public var isGrouped: Bool { !groupedBy.isEmpty || columns.contains { $0.expression.isOverRows } }

    /// Returns the query for the entity of another model that has the same properties, and more.
    package func moved(to entity: NSEntityDescription, predicate: NSPredicate?) -> StoreQuery {
        changed { query in
            query.entity = entity
            query.predicate = predicate
            query.request = nil
            query.affectedStores = nil
        }
    }

    /// Returns the query with another result type.
    package func with(resultType: NSFetchRequestResultType) -> StoreQuery {
        resultType == self.resultType ? self : changed { $0.resultType = resultType }
    }

    /// Returns the query without prefetched relationships.
    func withoutPrefetching() -> StoreQuery {
        relationshipKeyPathsForPrefetching.isEmpty ? self : changed { $0.relationshipKeyPathsForPrefetching = [] }
    }

    /// Returns the query as one that follows a change: registered objects are already up to date.
    func following() -> StoreQuery {
        var query = shouldRefreshRefetchedObjects ? changed { $0.shouldRefreshRefetchedObjects = false } : self
        query.isFollowing = true
        return query
    }

    /// Returns the query as a request: the caller's own if it is equivalent, otherwise a converted copy.
    func asRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        if isAsAsked, let request, request.entity === entity { return request }
        let copy = request.map { $0.copy() as! NSFetchRequest<any NSFetchRequestResult> } ?? NSFetchRequest<any NSFetchRequestResult>()
        if request == nil {
            copy.sortDescriptors = sortDescriptors.isEmpty ? nil : sortDescriptors
            copy.includesSubentities = includesSubentities
            copy.storeOptions = options
        }
        copy.entity = entity
        copy.predicate = predicate
        if sortDescriptors.isEmpty { copy.sortDescriptors = nil }
        copy.fetchLimit = fetchLimit
        copy.fetchOffset = fetchOffset
        copy.resultType = resultType
        return copy
    }

    /// A number greater than any number of objects. Sums of a limit, an offset and some numbers of objects stay within the range of integers.
    private static let countLimit = 1 << 60

    /// Returns the limit that a program means: zero, a negative number and a number that no store reaches mean none.
    private static func limit(_ given: Int) -> Int { 0..<countLimit ~= given ? given : 0 }

    /// Returns the offset that a program means: a negative number means none.
    private static func offset(_ given: Int) -> Int { min(max(0, given), countLimit) }

    /// The query for each of several stores: offset and limit are applied when their answers are combined.
    var forEachOfSeveral: StoreQuery { with(fetchOffset: 0, fetchLimit: fetchLimit > 0 ? fetchOffset + fetchLimit : 0) }

    /// Returns the query with another order.
    package func sorted(by descriptors: [NSSortDescriptor]) -> StoreQuery {
        sortDescriptors.isEmpty && descriptors.isEmpty ? self : changed { $0.sortDescriptors = descriptors }
    }

    /// Returns the part of a complete result within offset and limit.
    public func page<Element>(_ elements: [Element]) -> [Element] { elements.page(offset: fetchOffset, limit: fetchLimit) }

    /// Returns the part of all dictionaries within offset and limit, without repeated ones if the query is distinct.
    func distinctPage(_ dictionaries: [NSDictionary]) -> [NSDictionary] {
        guard returnsDistinctResults else { return page(dictionaries) }
        var seen: Set<NSDictionary> = []
        return page(dictionaries.filter { seen.insert($0).inserted })
    }

    /// Returns the number of results within offset and limit.
    func page(count: Int) -> Int {
        let available = max(0, count - fetchOffset)
        return fetchLimit > 0 ? min(available, fetchLimit) : available
    }
}

/// One sort key of a query.
@_spi(Stores) public struct StoreSort: Sendable {
    /// The attribute, or a path over to-one relationships to one.
    public let keyPath: String
    /// Whether the order is ascending.
    public let ascending: Bool
    /// The order of strings.
    public let order: TextOrder
}

extension StoreQuery {
    /// Returns the sort keys, the most significant first.
    ///
    /// - Returns: Nil if ``sortDescriptors`` contain comparators.
    /// - Throws: An error for a Swift key path without a name.
    public func sorts() throws -> [StoreSort]? {
        var sorts: [StoreSort] = []
        for descriptor in sortDescriptors {
            guard let order = try descriptor.storeOrder() else { return nil }
            sorts.append(StoreSort(keyPath: order.keyPath, ascending: order.ascending, order: order.order))
        }
        return sorts
    }
}

extension Array {
    /// Returns the part of a complete result within an offset and a limit; 0 is no limit.
    func page(offset: Int, limit: Int) -> [Element] {
        if offset <= 0, limit <= 0 || count <= limit { return self }
        let rest = dropFirst(Swift.max(0, offset))
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }
}
