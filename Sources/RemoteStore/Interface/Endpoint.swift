public import Predicates

/// One call of a backend that reads resources of an entity: what it must be given, what it may be given, and what it answers.
///
/// A backend has any number of them: a search by name, a read by identifier, the list of a parent's children, a dump of everything. Those
/// that are needed for a fetch are chosen by cost; whatever an endpoint does not do is finished in memory.
///
/// ```swift
/// Endpoint("discography", parameters: [Parameter("band", isRequired: true)], paging: .pages(of: 50))
/// Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 25)])
/// ```
public struct Endpoint: Hashable, Sendable {
    /// The name that the backend knows the endpoint by; unique within its resource.
    public var name: String
    /// What may be asked for, and what must be.
    public var parameters: [Parameter]
    /// How parameters are combined.
    public var logic: Logic
    /// The connectives that predicates of an endpoint with ``Logic/tree`` may have besides AND.
    package var connectives: Set<Connective> = [.or, .not]
    /// Whether the negation of a comparison finds what has no value, too: most services know two truth values.
    package var negationsFindNil = false
    /// The sort keys.
    public var sorting: Sorting
    /// How much one answer brings.
    public var paging: Paging
    /// Whether it can count what it finds, without bringing it.
    public var counts: Bool
    /// The functions over attributes that it can compute over all that it finds.
    public var aggregates: Set<Aggregate>
    /// The attributes that it can group resources by, to compute the functions over each group.
    public var groups: Set<String>
    /// The properties that its answers bring; nil for all attributes and to-one relationships. Other properties stay unknown.
    public var properties: Set<String>?
    /// The relationships whose destinations it can bring along: those that it always brings, and those that it brings when asked to.
    public var embeddings: [Embedding]
    /// Whether answers include resources of subentities, each with its entity.
    public var includesSubentities: Bool
    /// For how long an answer stays valid. A complete answer serves further fetches and faults meanwhile, without a request.
    public var freshness: Duration?
    /// What a request costs.
    public var cost: Cost
    /// Whether it is asked only where some of its properties are missing: it brings a part of what another endpoint brings of the same objects.
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

    /// What a predicate is made of besides comparisons that all apply.
    package enum Connective: Hashable, Sendable {
        /// One of several parts applies.
        case or
        /// A part does not apply.
        case not
    }

    /// The ways to combine parameters.
    public enum Logic: Hashable, Sendable {
        /// All parameters apply, each given once at most.
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

    /// A relationship whose destinations come along with an answer.
    public struct Embedding: Hashable, Sendable {
        /// The key path of the relationship.
        public var keyPath: String
        /// Whether every answer brings it, unasked.
        public var isAlwaysThere: Bool

        /// Creates an embedding.
        public init(_ keyPath: String, isAlwaysThere: Bool = false) {
            self.keyPath = keyPath
            self.isAlwaysThere = isAlwaysThere
        }
    }

    /// What a request costs, in comparison with others. The default is one request among resources of which there are a thousand.
    public struct Cost: Hashable, Sendable {
        /// The cost of a request, whatever it brings.
        public var request: Double
        /// The cost of each resource that it brings.
        public var row: Double
        /// The number of resources to expect without any optional parameter.
        public var expectedRows: Int

        /// Creates a cost.
        public init(request: Double = 1, row: Double = 0.01, expectedRows: Int = 1000) {
            self.request = request
            self.row = row
            self.expectedRows = expectedRows
        }
    }
}

/// A parameter of an endpoint: which comparisons of which property it stands for.
///
/// A request may give a parameter once for each of its ``operators``: a predicate with a lower and an upper bound of `year` becomes two
/// ``BackendRequest/filters`` of a parameter that has both, and `request["year"]` is the first of them only. Where the service has a name for each
/// bound, as most have, declare a parameter for each:
///
/// ```swift
/// Parameter("year", name: "from", operators: [.greaterThanOrEqual])
/// Parameter("year", name: "until", operators: [.lessThanOrEqual])
/// ```
public struct Parameter: Hashable, Sendable {
    /// The name that the backend knows the parameter by.
    public var name: String
    /// The key paths that it compares: attributes, to-one relationships, paths over them, `SELF` for the identifier. Several where they
    /// mean the same, such as `SELF` and the attribute `id`.
    public var keyPaths: [String]
    /// The comparisons that it can express.
    public var operators: Set<Operator>
    /// Whether requests without it are refused.
    public var isRequired: Bool
    /// The number of values that it takes for ``Operator/isIn``; with more, the request is split.
    public var maximumValues: Int
    /// How strings are compared. The default is as they are.
    public var text: PredicateComparison.Options
    /// Whether exactly those resources are found that compare so in Core Data's sense. If not, it may find more, never less, and what it
    /// finds is compared again in memory.
    public var isExact: Bool
    /// The dates that it can be given; nil for all.
    public var dateSteps: DateSteps?
    /// Signs that mean something else than themselves in what it is given: a text with one of them is compared in memory.
    public var reserved: [String] = []

    /// Creates a parameter for one or several key paths.
    ///
    /// - Parameters:
    ///   - keyPaths: The key paths that it compares.
    ///   - name: The name that the backend knows it by; the first key path unless given.
    ///   - operators: The comparisons. By default equality, and membership where it takes several values.
    ///   - isRequired: Whether requests without it are refused.
    ///   - maximumValues: The number of values that it takes at once.
    ///   - text: How strings are compared.
    ///   - isExact: Whether it finds exactly what Core Data would find.
    ///   - dateSteps: The dates that it can be given; nil for all.
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

    /// The comparisons that a parameter may express. Nil compares as in Core Data's stores: it is less than, greater than and different
    /// from nothing.
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
        /// Whether it can be descending too.
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

    /// No order that a request could ask for.
    public static let none = Sorting([], maximumKeys: 0)
    /// Attributes and key paths by their names, any number of them, in both directions.
    public static func by(_ keyPaths: String..., maximumKeys: Int = .max) -> Sorting {
        Sorting(keyPaths.map { Key($0) }, maximumKeys: maximumKeys)
    }
}
