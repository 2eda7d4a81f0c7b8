public import Foundation
public import Predicates

/// A fetch as a store is asked it: a value that says everything a request says, with its entity found and its columns resolved.
///
/// A store answers it with ``StoreAnswer``. It may be kept, compared part by part, and sent to other threads.
@_spi(Stores)
// Unchecked: predicates, sort descriptors and entities never change once they are in use.
public struct StoreQuery: @unchecked Sendable {
    /// The entity whose objects are wanted.
    public let entity: NSEntityDescription
    /// In which form the answer is wanted.
    public internal(set) var resultType: NSFetchRequestResultType
    /// Whether objects of subentities count.
    public internal(set) var includesSubentities: Bool
    /// Which objects; nil for all. ``predicateTree()`` is the form to read.
    public internal(set) var predicate: NSPredicate?
    /// In which order; empty for any. ``sorts()`` is the form to read.
    public internal(set) var sortDescriptors: [NSSortDescriptor]
    /// How many at most; 0 for all.
    public internal(set) var fetchLimit: Int
    /// How many to leave out at the start.
    public internal(set) var fetchOffset: Int
    /// Whether values are wanted along with the IDs.
    public internal(set) var includesPropertyValues: Bool
    /// Whether objects may come as faults.
    public internal(set) var returnsObjectsAsFaults: Bool
    /// How many rows are read together later on; 0 for the usual number.
    public internal(set) var fetchBatchSize: Int
    /// What to read ahead: key paths of relationships.
    public internal(set) var relationshipKeyPathsForPrefetching: [String]
    /// Whether objects that the context has already take the store's values.
    public internal(set) var shouldRefreshRefetchedObjects: Bool
    /// Whether what is pending in the context counts; the context sees to it.
    var includesPendingChanges: Bool
    /// Whether equal dictionaries are given once.
    public internal(set) var returnsDistinctResults: Bool
    /// The values wanted in dictionaries; empty for other forms.
    public internal(set) var columns: [FetchColumn] = []
    /// Whether the columns were named, rather than all attributes meant.
    public internal(set) var namesColumns = false
    /// What the objects of one dictionary have in common; empty where each object has one of its own.
    public internal(set) var groupedBy: [FetchColumn] = []
    /// Which groups count.
    public internal(set) var havingPredicate: NSPredicate?
    /// Whether a store that answers by queries of its own may finish in memory what its queries cannot say.
    public internal(set) var allowsEvaluationInMemory: Bool
    /// What the request says to stores of particular kinds.
    public internal(set) var options: StoreRequestOptions
    /// The stores that are asked; nil for all that hold the entity.
    var affectedStores: [NSPersistentStore]?
    /// The caller's request, for stores of Apple's interface; nil for a query that no request has made.
    private var request: NSFetchRequest<any NSFetchRequestResult>?
    /// Whether the query says just what the request says, so that a store may be handed that very one.
    private var isAsAsked = true

    /// A query for all objects of an entity.
    public init(_ entity: NSEntityDescription, includesSubentities: Bool = true) {
        self.init(FetchSettings(), entity, affectedStores: nil)
        self.includesSubentities = includesSubentities
    }

    /// A request as a query.
    ///
    /// - Throws: code 134060 for columns that name nothing.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>, of entity: NSEntityDescription) throws {
        self.init(request.settings, entity, affectedStores: request.affectedStores)
        self.request = request
        guard resultType == .dictionaryResultType else { return }
        namesColumns = request.propertiesToFetch != nil
        columns = try FetchColumn.columns(request.propertiesToFetch, of: entity)
        groupedBy = try (request.propertiesToGroupBy ?? []).map { try FetchColumn($0, of: entity, in: "propertiesToGroupBy") }
    }

    private init(_ settings: FetchSettings, _ entity: NSEntityDescription, affectedStores: [NSPersistentStore]?) {
        self.entity = entity
        self.affectedStores = affectedStores
        resultType = settings.resultType
        includesSubentities = settings.includesSubentities
        predicate = settings.predicate
        sortDescriptors = settings.sortDescriptors ?? []
        fetchLimit = settings.fetchLimit
        fetchOffset = settings.fetchOffset
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

    /// The predicate as a tree; nil for none.
    ///
    /// - Throws: the error of a format that did not parse.
    public func predicateTree() throws -> PredicateTree? { try predicate?.tree() }

    /// The same query with another condition.
    public func with(predicate: NSPredicate?) -> StoreQuery { changed { $0.predicate = predicate } }

    /// The same query for another part of the whole.
    public func with(fetchOffset: Int, fetchLimit: Int) -> StoreQuery {
        if fetchOffset == self.fetchOffset, fetchLimit == self.fetchLimit { return self }
        return changed { query in
            query.fetchOffset = fetchOffset
            query.fetchLimit = fetchLimit
        }
    }

    /// The same query in which something is not as the program has asked it.
    private func changed(_ change: (inout StoreQuery) -> Void) -> StoreQuery {
        var query = self
        change(&query)
        query.isAsAsked = false
        return query
    }

    /// Whether several rows become one dictionary.
    public var isGrouped: Bool { !groupedBy.isEmpty || columns.contains { $0.expression.isOverRows } }

    /// The same query with its answer in another form.
    func with(resultType: NSFetchRequestResultType) -> StoreQuery {
        resultType == self.resultType ? self : changed { $0.resultType = resultType }
    }

    /// The query as a request: the caller's own where it says the same, else a copy of it that says what the query says.
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

    /// The query for each of several stores: offset and limit are finished where their answers are joined.
    var forEachOfSeveral: StoreQuery { with(fetchOffset: 0, fetchLimit: fetchLimit > 0 ? fetchOffset + fetchLimit : 0) }

    /// The same query in another order.
    func sorted(by descriptors: [NSSortDescriptor]) -> StoreQuery {
        sortDescriptors.isEmpty && descriptors.isEmpty ? self : changed { $0.sortDescriptors = descriptors }
    }

    /// The part of a complete result that offset and limit leave.
    public func page<Element>(_ elements: [Element]) -> [Element] { elements.page(offset: fetchOffset, limit: fetchLimit) }

    /// The part of all dictionaries that offset and limit leave, equal ones counted once where the query says so.
    func distinctPage(_ dictionaries: [NSDictionary]) -> [NSDictionary] {
        guard returnsDistinctResults else { return page(dictionaries) }
        var seen: Set<NSDictionary> = []
        return page(dictionaries.filter { seen.insert($0).inserted })
    }

    /// The part of a number of results that offset and limit leave.
    func page(count: Int) -> Int {
        let available = max(0, count - fetchOffset)
        return fetchLimit > 0 ? min(available, fetchLimit) : available
    }
}

/// One key of a query's order.
@_spi(Stores) public struct StoreSort: Sendable {
    /// The attribute, or a path over to-one relationships to one.
    public let keyPath: String
    /// Whether the smallest comes first.
    public let ascending: Bool
    /// How text is ordered.
    public let order: TextOrder
}

extension StoreQuery {
    /// The keys of the order, the most important first.
    ///
    /// - Returns: nil where the program compares by code of its own, which ``sortDescriptors`` have.
    /// - Throws: an error for a Swift key path that has no name.
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
    /// The part of a complete result that an offset and a limit leave; 0 is no limit.
    func page(offset: Int, limit: Int) -> [Element] {
        if offset == 0, limit == 0 || count <= limit { return self }
        let rest = dropFirst(offset)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }
}
