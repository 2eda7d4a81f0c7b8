@_spi(Stores) package import ObjectGraph
public import Predicates

/// A request to an endpoint: a value that a backend translates to its own language.
///
/// Equal requests that are in flight at the same time are sent once.
public struct BackendRequest: Hashable, Sendable {
    /// A comparison that the endpoint is to apply.
    public struct Filter: Hashable, Sendable {
        /// The name of the parameter.
        public let parameter: String
        /// The key path that is compared, one of the parameter's.
        public let keyPath: String
        /// The comparison.
        public let comparison: Parameter.Operator
        /// The values: one, or several for ``Parameter/Operator/isIn``; none for a comparison with nil. Objects are in ``ids`` instead.
        public let values: [PropertyValue]
        /// The identifiers of the objects to compare with.
        public let ids: [ResourceID]
    }

    /// A sort key that the endpoint is to apply.
    public struct Sort: Hashable, Sendable {
        /// The key path.
        public let keyPath: String
        /// Whether the order is ascending.
        public let isAscending: Bool
    }

    /// The entity of the resource.
    public let entity: String
    /// The name of the endpoint.
    public let endpoint: String
    /// The comparisons, all of which apply.
    public var filters: [Filter] = []
    /// The whole predicate, for an endpoint with ``Endpoint/Logic/tree``; nil for none.
    public var predicate: PredicateTree?
    /// The order, the most significant key first; empty for any.
    public var sorts: [Sort] = []
    /// The maximum number of resources; nil for all that one answer contains.
    public var limit: Int?
    /// The number of resources to skip.
    public var offset = 0
    /// The token of the page, from the previous answer; nil for the first page.
    public var page: PageToken?
    /// Whether only the number of resources is requested, as ``BackendAnswer/total``.
    public var wantsCount = false
    /// The functions whose values are requested instead of resources, as ``BackendAnswer/aggregates``.
    public var aggregates: [Endpoint.Aggregate] = []
    /// The attributes to group the resources by. If set, ``BackendAnswer/groups`` are requested, with the functions over each group.
    public var groups: [String] = []
    /// The requested properties; nil for those that the endpoint returns by default.
    public var properties: Set<String>?
    /// The key paths of relationships whose destinations are to be embedded.
    public var embeddings: [String] = []
    /// A counter that distinguishes otherwise equal requests before and after a save.
    var epoch: UInt64 = 0
    /// The context for decoding the answer.
    let decoding: AnswerDecoding

    init(entity: String, endpoint: String, decoding: AnswerDecoding) {
        self.entity = entity
        self.endpoint = endpoint
        self.decoding = decoding
    }

    /// Creates a request without a store, whose answer belongs to no store, for trying out a backend on its own.
    package init(entity: String, endpoint: String, of backend: some Backend, model: NSManagedObjectModel) {
        self.init(
            entity: entity, endpoint: endpoint,
            decoding: AnswerDecoding(model, backend.resources, token: StoreToken(identifier: "trial")))
    }

    /// Returns the filter of a parameter, or the first one if several of its comparisons are given; nil if it is not given.
    public func filter(_ parameter: String) -> Filter? { filters.first { $0.parameter == parameter } }

    /// The value of a parameter, from its first filter; nil if the parameter is not given or has no value.
    public subscript(parameter: String) -> PropertyValue? { filter(parameter)?.values.first }

    /// Returns the identifiers of a parameter; empty if it is not given.
    public func ids(_ parameter: String) -> [ResourceID] { filter(parameter)?.ids ?? [] }

    /// Returns an empty answer to this request, for the backend to fill.
    public func answer() -> BackendAnswer { BackendAnswer(entity: entity, decoding: decoding) }
}

/// The position where the next page begins, in the backend's own terms: a cursor, a number, an address.
public struct PageToken: Hashable, Sendable, CustomStringConvertible {
    /// The token.
    public let text: String

    /// The displayed form of the token, if it differs.
    private let shown: String?

    /// Creates a token.
    public init(_ text: String) { (self.text, shown) = (text, nil) }

    /// Creates a token with a displayed form that is shorter than the token.
    package init(_ text: String, shown: String) { (self.text, self.shown) = (text, shown) }

    /// The token.
    public var description: String { shown ?? text }
}

extension BackendRequest: CustomStringConvertible {
    /// The request as one line, for logs.
    public var description: String {
        var parts = filters.map(\.description)
        if let predicate { parts = ["\(predicate)"] }
        if !sorts.isEmpty {
            parts.append("by " + sorts.map { $0.isAscending ? $0.keyPath : $0.keyPath + " descending" }.joined(separator: ", "))
        }
        if wantsCount { parts.append("count") }
        if !aggregates.isEmpty { parts.append(aggregates.map { "\($0.function.rawValue)(\($0.attribute))" }.joined(separator: ", ")) }
        if !groups.isEmpty { parts.append("grouped by " + groups.joined(separator: ", ")) }
        if let limit { parts.append("limit \(limit)") }
        if offset > 0 { parts.append("from \(offset)") }
        if let page { parts.append("page \(page)") }
        if !embeddings.isEmpty { parts.append("with " + embeddings.joined(separator: ", ")) }
        return "\(entity).\(endpoint)(\(parts.joined(separator: "; ")))"
    }
}

extension BackendRequest.Filter: CustomStringConvertible {
    /// The comparison as text; of many values, only the first.
    public var description: String {
        let all = values.map { "\(ExpressionTree.constant($0))" } + ids.map(\.description)
        switch comparison {
        case .isNil, .isNotNil: return "\(keyPath) \(comparison.rawValue)"
        case .isIn where all.isEmpty: return "\(keyPath) IN {…}"
        case .isIn:
            let shown = all.prefix(4).joined(separator: ", ") + (all.count > 4 ? ", … \(all.count) in all" : "")
            return "\(keyPath) IN {\(shown)}"
        default: return "\(keyPath) \(comparison.rawValue) \(all.first ?? "nil")"
        }
    }
}
