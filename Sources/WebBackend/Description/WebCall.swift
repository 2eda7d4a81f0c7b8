public import RemoteStore
public import WebTransport

/// The description of a call that reads resources of one entity.
///
/// Parts of the path and of the parameters in braces are what the call must be given: `{band}` an object or a value of that property,
/// `{SELF}` the identifier, `{SELF.0}` a part of a composite one, `{band.name}` what is at the end of a key path.
///
/// ```swift
/// WebCall("discography", path: "bands/{band}/albums", sorting: ["title"])
/// WebCall("info", path: "albums/{SELF}", returns: .one)
/// ```
public struct WebCall: Hashable, Sendable {
    /// The name, unique within the resource; it stands in plans, logs and errors.
    public var name: String
    /// The method.
    public var method: WebRequest.Method
    /// The path after the service's address. `{path}` is the resource's.
    public var path: String
    /// Parameters that are always sent.
    public var query: [String: String]
    /// The body that is sent, as JSON, for calls that are asked by `POST`.
    public var body: String?
    /// What is answered.
    public var returns: Shape
    /// The path to the resources in the answer; nil as the style has it.
    public var items: JSONPath?
    /// Further parameters, which may be given.
    public var parameters: [WebParameter]
    /// The properties, and key paths over relationships, that can be compared as the style's filters say; nil for all attributes and to-one
    /// relationships, or for none where the style's own list has none. `SELF` is the identifier.
    public var filters: [String]?
    /// The properties that can be sorted by as the style says, in Core Data's order; nil for all attributes of which the style knows that, or for none
    /// where the style's own list has none.
    public var sorting: [String]?
    /// The paging; nil as the style has it.
    public var paging: PagingStyle?
    /// The properties that answers bring; nil for all attributes and to-one relationships.
    public var properties: Set<String>?
    /// The relationships whose destinations come along: always, where the mapping is of embedded objects, or when asked for.
    public var includes: [String]
    /// Whether answers include resources of subentities.
    public var includesSubentities: Bool
    /// For how long an answer stays valid, in seconds.
    public var freshness: Double?
    /// What a request costs.
    public var cost: Endpoint.Cost

    /// What a call answers.
    public enum Shape: String, Hashable, Sendable {
        /// A list of resources.
        case list
        /// One resource, or the status 404 for none.
        case one
        /// An object whose keys are identifiers and whose values are resources.
        case map
    }

    /// Creates the description of a call.
    public init(
        _ name: String, _ method: WebRequest.Method = .get, path: String, query: [String: String] = [:], body: String? = nil,
        returns: Shape = .list, items: JSONPath? = nil, parameters: [WebParameter] = [], filters: [String]? = nil,
        sorting: [String]? = nil, paging: PagingStyle? = nil, properties: Set<String>? = nil, includes: [String] = [],
        includesSubentities: Bool = true, freshness: Double? = nil, cost: Endpoint.Cost = .init()
    ) {
        self.name = name
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.returns = returns
        self.items = items
        self.parameters = parameters
        self.filters = filters
        self.sorting = sorting
        self.paging = paging
        self.properties = properties
        self.includes = includes
        self.includesSubentities = includesSubentities
        self.freshness = freshness
        self.cost = cost
    }

    /// Returns a call for a list, at the resource's path unless another is given.
    public static func list(
        _ path: String = "{path}", name: String = "list", filters: [String]? = nil, sorting: [String]? = nil,
        properties: Set<String>? = nil, cost: Endpoint.Cost = .init()
    ) -> WebCall { WebCall(name, path: path, filters: filters, sorting: sorting, properties: properties, cost: cost) }

    /// Returns a call for one resource, at the resource's path with the identifier unless another is given.
    public static func one(_ path: String = "{path}/{SELF}", name: String = "one") -> WebCall {
        WebCall(name, path: path, returns: .one, filters: [], sorting: [], paging: PagingStyle.none)
    }

    /// A call for one resource, at the resource's path with the identifier.
    public static let one = WebCall.one()
}

/// A parameter of a call that the style's filters do not describe.
public struct WebParameter: Hashable, Sendable {
    /// The key paths that it compares: several where they mean the same.
    public var keyPaths: [String]
    /// How each comparison is written: `min_{name}={value}`. `{values}` are several values, joined; with `{each}` the parameter is given for
    /// each of them.
    public var templates: [Parameter.Operator: String]
    /// Whether the call must be given it.
    public var isRequired: Bool
    /// The number of values that it takes at once.
    public var maximumValues: Int
    /// How the service compares strings: `[c]`, `[d]`, `[cd]` or nothing.
    public var text: TextComparison
    /// Whether exactly those resources are found that Core Data would find. If not, what is found is compared again in memory.
    public var isExact: Bool

    /// Creates a parameter.
    ///
    /// - Parameters:
    ///   - keyPaths: The key paths that it compares.
    ///   - templates: How each comparison is written.
    ///   - isRequired: Whether the call must be given it.
    ///   - maximumValues: The number of values that it takes at once.
    ///   - text: How the service compares strings.
    ///   - isExact: Whether exactly those resources are found that Core Data would find.
    public init(
        _ keyPaths: String..., templates: [Parameter.Operator: String], isRequired: Bool = false, maximumValues: Int = 1,
        text: TextComparison = .exact, isExact: Bool = true
    ) {
        self.init(
            keyPaths: keyPaths, templates: templates, isRequired: isRequired, maximumValues: maximumValues, text: text, isExact: isExact)
    }

    /// Creates a parameter from a list of key paths.
    public init(
        keyPaths: [String], templates: [Parameter.Operator: String], isRequired: Bool = false, maximumValues: Int = 1,
        text: TextComparison = .exact, isExact: Bool = true
    ) {
        self.keyPaths = keyPaths
        self.templates = templates
        self.isRequired = isRequired
        self.maximumValues = maximumValues
        self.text = text
        self.isExact = isExact
    }

    /// Creates a parameter for equality by its name in the query: `q`.
    public init(_ keyPath: String, named name: String, isRequired: Bool = false, text: TextComparison = .exact) {
        self.init(keyPath, templates: [.equal: name + "={value}"], isRequired: isRequired, text: text)
    }
}

/// How a service compares strings.
public enum TextComparison: String, Hashable, Sendable {
    /// As they are.
    case exact = ""
    /// Regardless of case.
    case caseInsensitive = "c"
    /// Regardless of diacritics.
    case diacriticInsensitive = "d"
    /// Regardless of case and diacritics.
    case caseAndDiacriticInsensitive = "cd"
}
