public import RemoteStore
public import WebTransport

/// The description of a call that reads resources of one entity.
///
/// Names in braces, in the path and in the parameters, stand for required values: `{band}` for an object or a value of that property, `{SELF}` for the
/// identifier, `{SELF.0}` for a part of a composite one, `{band.name}` for the value at the end of a key path.
///
/// ```swift
/// WebCall("discography", path: "bands/{band}/albums", sorting: ["title"])
/// WebCall("info", path: "albums/{SELF}", returns: .one)
/// ```
public struct WebCall: Hashable, Sendable {
    /// The name, which is unique within the resource. Plans, logs and errors show it.
    public var name: String
    /// The method.
    public var method: WebRequest.Method
    /// The path after the service's address. `{path}` stands for the resource's path.
    public var path: String
    /// Parameters that are always sent.
    public var query: [String: String]
    /// The body of the request, as JSON, for calls by `POST`.
    public var body: String?
    /// The shape of the answer.
    public var returns: Shape
    /// The path to the resources in the answer; nil for the style's.
    public var items: JSONPath?
    /// Optional parameters.
    public var parameters: [WebParameter]
    /// The properties, and key paths over relationships, that the style's filters can compare. Nil means all attributes and to-one relationships, or
    /// none if the style's own list has none. `SELF` is the identifier.
    public var filters: [String]?
    /// The properties that the service can sort by, in Core Data's order. Nil means all attributes for which the style guarantees that order, or none
    /// if the style's own list has none.
    public var sorting: [String]?
    /// The paging; nil for the style's.
    public var paging: PagingStyle?
    /// The properties in answers; nil for all attributes and to-one relationships.
    public var properties: Set<String>?
    /// The relationships whose destinations are included: always, if the mapping is of embedded objects; otherwise on request.
    public var includes: [String]
    /// Whether answers include resources of subentities.
    public var includesSubentities: Bool
    /// The time for which an answer stays valid, in seconds.
    public var freshness: Double?
    /// The cost of a request.
    public var cost: Endpoint.Cost

    /// The shapes of an answer.
    public enum Shape: String, Hashable, Sendable {
        /// A list of resources.
        case list
        /// One resource, or the status 404 if there is none.
        case one
        /// An object with identifiers as its keys and resources as its values.
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
    /// The key paths that it compares; several if they mean the same.
    public var keyPaths: [String]
    /// The template of each comparison: `min_{name}={value}`. `{values}` stands for several values, joined. A parameter with `{each}` is repeated for
    /// each of them.
    public var templates: [Parameter.Operator: String]
    /// Whether the call needs it.
    public var isRequired: Bool
    /// The maximum number of values that it takes at once.
    public var maximumValues: Int
    /// The service's comparison of strings: `[c]`, `[d]`, `[cd]` or nothing.
    public var text: TextComparison
    /// Whether it finds exactly the resources that Core Data would find. If not, the results are compared again in memory.
    public var isExact: Bool

    /// Creates a parameter.
    ///
    /// - Parameters:
    ///   - keyPaths: The key paths that it compares.
    ///   - templates: The template of each comparison.
    ///   - isRequired: Whether the call needs it.
    ///   - maximumValues: The maximum number of values that it takes at once.
    ///   - text: The service's comparison of strings.
    ///   - isExact: Whether it finds exactly the resources that Core Data would find.
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

/// The ways in which a service compares strings.
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
