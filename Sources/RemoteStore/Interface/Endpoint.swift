public import Predicates

/// A call of a backend that reads resources of an entity: its required parameters, its optional parameters, and its results.
///
/// A backend has any number of endpoints: a search by name, a read by identifier, the list of a parent's children, a dump of everything. The store chooses the
/// endpoints for a fetch by cost, and does in memory whatever an endpoint cannot do.
///
/// ```swift
/// Endpoint("discography", parameters: [Parameter("band", isRequired: true)], paging: .pages(of: 50))
/// Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 25)])
/// ```
public struct Endpoint: Hashable, Sendable {
    /// The backend's name for the endpoint; unique within its resource.
    public var name: String
    /// The parameters, required and optional.
    public var parameters: [Parameter]
    /// How parameters are combined.
    public var logic: Logic
    /// The connectives, besides AND, that predicates of an endpoint with ``Logic/tree`` may contain.
    package var connectives: Set<Connective> = [.or, .not]
    /// Whether the negation of a comparison also matches resources without a value. Most services have two truth values.
    package var negationsFindNil = false
    /// The sort keys.
    public var sorting: Sorting
    /// The number of resources in one answer.
    public var paging: Paging
    /// Whether it can count the matching resources without returning them.
    public var counts: Bool
    /// The functions over attributes that it can compute over all matching resources.
    public var aggregates: Set<Aggregate>
    /// The attributes that it can group resources by, to compute the functions over each group.
    public var groups: Set<String>
    /// The properties that its answers contain; nil for all attributes and to-one relationships. Other properties stay unknown.
    public var properties: Set<String>?
    /// The relationships whose destinations it can embed: those that it always embeds, and those that it embeds on request.
    public var embeddings: [Embedding]
    /// Whether answers include resources of subentities, each with its entity.
    public var includesSubentities: Bool
    /// The time for which an answer stays valid. A complete answer serves further fetches and faults during that time, without a request.
    public var freshness: Duration?
    /// The cost of a request.
    public var cost: Cost
    /// Whether it is used only for missing properties, because it returns a part of what another endpoint returns for the same objects.
    var isForMissingValues = false

    /// Creates an endpoint.
    public init(
        _ name: String, parameters: [Parameter] = [], logic: Logic = .all, sorting: Sorting = .none, paging: Paging = .whole,
        counts: Bool = false, aggregates: Set<Aggregate> = [], groups: Set<String> = [], properties: Set<String>? = nil,
        embeddings: [Embedding] = [],
        includesSubentities: Bool = true, freshness: Duration? = nil, cost: Cost = Cost()
    ) {
        self.name = name
        self.parameters = parameters
        self.logic = logic
        self.sorting = sorting
        self.paging = paging
        self.counts = counts
        self.aggregates = aggregates
        self.groups = groups
        self.properties = properties
        self.embeddings = embeddings
        self.includesSubentities = includesSubentities
        self.freshness = freshness
        self.cost = cost
    }

    /// The logical connectives of a predicate besides a conjunction of comparisons.
    package enum Connective: Hashable, Sendable {
        /// A disjunction of several parts.
        case or
        /// The negation of a part.
        case not
    }

    /// The ways to combine parameters.
    public enum Logic: Hashable, Sendable {
        /// All parameters apply; each is given at most once.
        case all
        /// Any combination by AND, OR and NOT; the backend reads ``BackendRequest/predicate``.
        case tree
    }

    /// A function over an attribute.
    public struct Aggregate: Hashable, Sendable {
        /// The functions.
        public enum Function: String, Hashable, Sendable {
            /// The sum of the values.
            case sum
            /// The smallest value.
            case minimum = "min"
            /// The largest value.
            case maximum = "max"
            /// The average of the values.
            case average
            /// The number of values.
            case count
        }
        /// The function.
        public var function: Function
        /// The attribute.
        public var attribute: String

        /// Creates a function over an attribute.
        public init(_ function: Function, of attribute: String) {
            self.function = function
            self.attribute = attribute
        }
    }

    /// A relationship whose destinations are embedded in an answer.
    public struct Embedding: Hashable, Sendable {
        /// The key path of the relationship.
        public var keyPath: String
        /// Whether every answer embeds it, without a request for it.
        public var isAlwaysThere: Bool

        /// Creates an embedding.
        public init(_ keyPath: String, isAlwaysThere: Bool = false) {
            self.keyPath = keyPath
            self.isAlwaysThere = isAlwaysThere
        }
    }

    /// The cost of a request, relative to others. The default is one request to a resource with a thousand objects.
    public struct Cost: Hashable, Sendable {
        /// The cost of a request, regardless of its results.
        public var request: Double
        /// The cost of each resource in the result.
        public var row: Double
        /// The number of resources to expect if no optional parameter is given.
        public var expectedRows: Int

        /// Creates a cost.
        public init(request: Double = 1, row: Double = 0.01, expectedRows: Int = 1000) {
            self.request = request
            self.row = row
            self.expectedRows = expectedRows
        }
    }
}

/// A parameter of an endpoint: the property that it compares, and how.
///
/// A request may give a parameter once for each of its ``operators``. For example, a predicate with a lower and an upper bound of `year` becomes two
/// ``BackendRequest/filters`` of a parameter that has both operators, and `request["year"]` is only the first of them. If the service has a name for each
/// bound, as most have, declare a parameter for each:
///
/// ```swift
/// Parameter("year", name: "from", operators: [.greaterThanOrEqual])
/// Parameter("year", name: "until", operators: [.lessThanOrEqual])
/// ```
public struct Parameter: Hashable, Sendable {
    /// The backend's name for the parameter.
    public var name: String
    /// The key paths that it compares: attributes, to-one relationships, paths over them, or `SELF` for the identifier. There are several if they mean the
    /// same, such as `SELF` and the attribute `id`.
    public var keyPaths: [String]
    /// The comparisons that it can express.
    public var operators: Set<Operator>
    /// Whether requests without it are refused.
    public var isRequired: Bool
    /// The number of values that it accepts for ``Operator/isIn``. Requests with more values are split.
    public var maximumValues: Int
    /// The options for comparing strings. By default, strings are compared literally.
    public var text: PredicateComparison.Options
    /// Whether the result contains exactly the resources that match in Core Data's sense. If not, it may contain more but never fewer, and is filtered again in
    /// memory.
    public var isExact: Bool
    /// The dates that it accepts; nil for all.
    public var dateSteps: DateSteps?
    /// Characters that have a special meaning in the parameter's value. A text that contains one of them is compared in memory.
    public var reserved: [String] = []

    /// Creates a parameter for one or several key paths.
    ///
    /// - Parameters:
    ///   - keyPaths: The key paths that it compares.
    ///   - name: The backend's name for it; the first key path by default.
    ///   - operators: The comparisons. By default equality, and membership if it accepts several values.
    ///   - isRequired: Whether requests without it are refused.
    ///   - maximumValues: The number of values that it accepts at once.
    ///   - text: The options for comparing strings.
    ///   - isExact: Whether its result is exactly what Core Data would match.
    ///   - dateSteps: The dates that it accepts; nil for all.
    public init(
        _ keyPaths: String..., name: String? = nil, operators: Set<Operator>? = nil, isRequired: Bool = false, maximumValues: Int = 1,
        text: PredicateComparison.Options = [], isExact: Bool = true, dateSteps: DateSteps? = nil
    ) {
        self.keyPaths = keyPaths
        self.name = name ?? keyPaths.first ?? ""
        self.operators = operators ?? (maximumValues > 1 ? [.equal, .isIn] : [.equal])
        self.isRequired = isRequired
        self.maximumValues = max(1, maximumValues)
        self.text = text
        self.isExact = isExact
        self.dateSteps = dateSteps
    }

    /// The comparisons that a parameter may express. Nil compares as in Core Data's stores: it is neither less than, nor greater than, nor different from any
    /// value.
    public enum Operator: String, Hashable, Sendable, CaseIterable {
        /// `==` with a value that is not nil.
        case equal = "=="
        /// `!=` with a value that is not nil; resources without a value do not match.
        case notEqual = "!="
        /// `<`
        case lessThan = "<"
        /// `<=`
        case lessThanOrEqual = "<="
        /// `>`
        case greaterThan = ">"
        /// `>=`
        case greaterThanOrEqual = ">="
        /// `IN`: equality with one of several values.
        case isIn = "IN"
        /// `BEGINSWITH`
        case beginsWith = "BEGINSWITH"
        /// `ENDSWITH`
        case endsWith = "ENDSWITH"
        /// `CONTAINS`, for strings.
        case contains = "CONTAINS"
        /// `LIKE`
        case like = "LIKE"
        /// `== nil`
        case isNil = "== nil"
        /// `!= nil`
        case isNotNil = "!= nil"
    }
}

extension Set<Parameter.Operator> {
    /// Equality and membership.
    public static let equality: Set<Parameter.Operator> = [.equal, .isIn]
    /// Equality and order.
    public static let order: Set<Parameter.Operator> = [.equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual]
    /// Every comparison.
    public static let all = Set(Parameter.Operator.allCases)
}

/// The sort keys of an endpoint.
public struct Sorting: Hashable, Sendable {
    /// A sort key.
    public struct Key: Hashable, Sendable {
        /// The key path.
        public var keyPath: String
        /// Whether it can also be descending.
        public var isReversible: Bool
        /// The order of strings.
        public var order: TextOrder

        /// Creates a sort key.
        public init(_ keyPath: String, isReversible: Bool = true, order: TextOrder = .binary) {
            self.keyPath = keyPath
            self.isReversible = isReversible
            self.order = order
        }
    }

    /// The keys. Nil sorts as in Core Data's stores: before every value.
    public var keys: [Key]
    /// The number of keys that a request may have.
    public var maximumKeys: Int

    /// Creates the sort keys of an endpoint.
    public init(_ keys: [Key], maximumKeys: Int = 1) {
        self.keys = keys
        self.maximumKeys = maximumKeys
    }

    /// No sorting.
    public static let none = Sorting([], maximumKeys: 0)
    /// Sorts by attributes and key paths, any number of them, in both directions.
    public static func by(_ keyPaths: String..., maximumKeys: Int = .max) -> Sorting {
        Sorting(keyPaths.map { Key($0) }, maximumKeys: maximumKeys)
    }
}
