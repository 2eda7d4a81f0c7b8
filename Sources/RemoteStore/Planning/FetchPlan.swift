@_spi(Stores) internal import ObjectGraph
public import Predicates

/// The way in which a remote store answers a fetch: the requests that it makes, and the work that it does in memory.
///
/// `request.explain(in: context)` returns it; ``description`` is for people.
public struct FetchPlan: Sendable {
    /// The first requests, each for the first page of its answer. Together they find all results.
    public internal(set) var requests: [BackendRequest] = []
    /// The part of the predicate that is evaluated in memory; nil for none.
    public internal(set) var predicateInMemory: PredicateTree?
    /// The key paths of the sort keys that are applied in memory.
    public internal(set) var sortsInMemory: [String] = []
    /// Whether limit and offset are applied in memory. Pages are still read only as far as necessary, unless the results are sorted in memory.
    public internal(set) var pagesInMemory = false
    /// Whether the backend counts the results.
    public internal(set) var isCountedByBackend = false
    /// Whether the backend computes the values of the result.
    public internal(set) var isAggregatedByBackend = false
    /// The expected number of requests.
    public internal(set) var estimatedRequests = 0
    /// The expected number of resources.
    public internal(set) var estimatedRows = 0
    /// Whether a fresh kept answer is used instead of the requests.
    public internal(set) var usesKeptAnswer = false
    /// Whether a fetched results controller reads the pages as they are scrolled; nil for a request without a batch size. If not, everything is read first,
    /// because the results are sorted in memory or come from several requests, or because there is only one page.
    public internal(set) var scrolling: Bool?
    /// The relationships that are loaded for the evaluation in memory, as key paths.
    public internal(set) var relationshipsInMemory: [String] = []

    /// The reasons why the results may be incomplete without an error: limitations of the backend's answers, and findings of the last read of the same pages.
    public internal(set) var caveats: [String] = []

    /// The fetches that are made first: the destinations of a relationship that match a part of the predicate. The ``requests`` are made with their
    /// identifiers, and show `IN {…}` for them. If more are found than expected, the fetch is planned again.
    public internal(set) var joins: [SemiJoin] = []

    /// A fetch of the destinations of a relationship, before the fetch of the objects that refer to them.
    public struct SemiJoin: Sendable {
        /// The name of the relationship.
        public let relationship: String
        /// The entity of its destinations.
        public let entity: String
        /// The predicate of the destinations.
        public let predicate: PredicateTree
        /// The plan that finds them.
        public let plan: FetchPlan
        /// The part of the predicate that is answered this way.
        let part: RelationshipPart
    }

    /// The endpoint of each request.
    var endpoints: [Endpoint] = []
    /// The properties that the evaluation in memory reads.
    var needs = Needs()
    /// Whether resources of other entities are filtered out in memory.
    var filtersKinds = false
    /// The estimated cost.
    var cost = 0.0
    /// The clause that is named if too much is read.
    var costlyClause: String?

    /// Whether the answers are the results, in order.
    var isExact: Bool { predicateInMemory == nil && sortsInMemory.isEmpty && !filtersKinds }
    /// Whether the rows of all answers are the results of a query, unchanged.
    func rowsAreResults(of query: StoreQuery) -> Bool {
        isExact && isOrdered && requests.count == 1 && needs.isEmpty && query.resultType == .managedObjectResultType
            && query.fetchLimit == 0
            && (query.fetchOffset == 0 || requests[0].offset > 0)
    }
    /// Whether the answers are in the order of the results, so that reading may stop early.
    var isOrdered: Bool { sortsInMemory.isEmpty && (requests.count == 1 || !hasSort) }
    /// Whether the fetch has an order.
    var hasSort = false
}

extension FetchPlan: CustomStringConvertible {
    /// The plan as lines of text.
    public var description: String {
        var lines: [String] = []
        for join in joins {
            lines.append("first find “\(join.entity)” where \(join.predicate), for \(join.relationship):")
            lines += join.plan.description.split(separator: "\n").map { "  \($0)" }
        }
        lines += requests.prefix(3).map { joins.isEmpty ? "ask \($0)" : "then ask \($0)" }
        if requests.count > 3 { lines.append("… \(requests.count) requests in all") }
        if requests.isEmpty { lines.append("ask nothing: no resource can match") }
        if usesKeptAnswer { lines.append("take an answer that is still fresh: no request") }
        if let predicateInMemory { lines.append("in memory: where \(predicateInMemory)") }
        if !relationshipsInMemory.isEmpty { lines.append("in memory: load \(relationshipsInMemory.joined(separator: ", "))") }
        if filtersKinds { lines.append("in memory: leave other entities out") }
        if !sortsInMemory.isEmpty { lines.append("in memory: sort by \(sortsInMemory.joined(separator: ", "))") }
        if pagesInMemory { lines.append(isOrdered ? "in memory: limit; pages are read until it is reached" : "in memory: limit") }
        if isCountedByBackend { lines.append("the backend counts") }
        if isAggregatedByBackend {
            lines.append(
                requests.first?.groups.isEmpty ?? true ? "the backend computes the values" : "the backend groups and computes the values")
        }
        if let scrolling {
            lines.append(
                "a fetched results controller reads \(scrolling ? "page by page, as it is scrolled" : "everything first"); fetch(_:) reads everything"
            )
        }
        lines += caveats.map { "beware: \($0)" }
        lines.append("about \(estimatedRequests) requests, \(estimatedRows) rows")
        return lines.joined(separator: "\n")
    }
}
