public import RemoteStore

/// The description of a web service: the places of its resources, and the requests for them.
///
/// Most services follow a convention, which covers nearly everything. Describe the differences for the service, a resource or a call.
///
/// ```swift
/// let service = WebService(
///     "https://api.example.com/v1", style: .plain,
///     resources: [
///         WebResource("Band", path: "bands", calls: [.list(filters: ["name"]), .one]),
///         WebResource("Album", calls: [.list("bands/{band}/albums"), .one("albums/{SELF}")]),
///     ])
///     ```
///
/// The description is checked against the model when a ``WebBackend`` is made from it. It can be read from a JSON or YAML file, too.
public struct WebService: Hashable, Sendable {
    /// The absolute address that all paths are appended to.
    public var address: String
    /// The style of all resources, unless they describe something else.
    public var style: ServiceStyle
    /// Headers of every request, without secrets.
    public var headers: [String: String]
    /// Parameters of every request, without secrets.
    public var query: [String: String]
    /// The resources. Entities without a description here have no resource, unless ``includesAllEntities``.
    public var resources: [WebResource]
    /// Whether every entity of the model has a resource. The style alone describes those that are not in ``resources``.
    public var includesAllEntities: Bool

    /// Creates the description of a service.
    ///
    /// - Parameters:
    ///   - address: The absolute address that all paths are appended to, such as `https://api.example.com/v1`.
    ///   - style: The style of all resources.
    ///   - headers: Headers of every request, without secrets.
    ///   - query: Parameters of every request, without secrets.
    ///   - resources: The resources; nil for a resource of every entity of the model, as the style describes it.
    public init(
        _ address: String, style: ServiceStyle = .plain, headers: [String: String] = [:], query: [String: String] = [:],
        resources: [WebResource]? = nil
    ) {
        self.address = address
        self.style = style
        self.headers = headers
        self.query = query
        self.resources = resources ?? []
        includesAllEntities = resources == nil
    }

    /// Returns the description of an entity's resource.
    public func resource(_ entity: String) -> WebResource? { resources.first { $0.entity == entity } }
}

/// The description of the resources of one entity.
public struct WebResource: Hashable, Sendable {
    /// The name of the entity.
    public var entity: String
    /// The path of the collection, after the service's address; nil for the style's. It replaces `{path}` in the paths of calls.
    public var path: String?
    /// The service's name for the type of the resources; nil for the style's. It replaces `{type}` in templates.
    public var type: String?
    /// The paths to the identifier in a resource; nil for the style's. Several make a composite identifier. `@band` stands for the identifier of the
    /// object that is the call's parameter `band`, for resources that are unique only within a parent, and `@band.0` for a part of it.
    public var identity: [String]?
    /// The kind of a single identifier; nil for a number if JSON has one, otherwise a string.
    public var identifier: IdentifierKind?
    /// The place of the version; nil for the style's.
    public var version: VersionSource?
    /// The mappings of properties, by their names; properties without one follow the style.
    public var properties: [String: PropertyMapping]
    /// The properties that are in no answer and are never sent.
    public var ignored: Set<String>
    /// The rule that determines the subentity of a resource.
    public var kinds: Kinds?
    /// The calls that read; nil for those of the style.
    public var calls: [WebCall]?
    /// The way in which changes are saved; nil for the style's.
    public var saving: SavingStyle?
    /// Whether the resource is only read, and never saved.
    public var isReadOnly: Bool
    /// The policy for unreadable resources: those with a value that the attribute cannot hold, or without an identifier.
    public var unreadable: Resource.UnreadablePolicy

    /// The kinds of identifiers.
    public enum IdentifierKind: String, Hashable, Sendable {
        /// A number.
        case integer
        /// A string.
        case string
        /// A UUID.
        case uuid
    }

    /// The rule that determines the subentity of a resource by the value of a field.
    public struct Kinds: Hashable, Sendable {
        /// The path to the value.
        public var path: JSONPath
        /// The names of the entities, by the values.
        public var entities: [String: String]

        /// Creates the description of kinds.
        public init(_ path: JSONPath, _ entities: [String: String]) {
            self.path = path
            self.entities = entities
        }
    }

    /// Creates the description of a resource.
    public init(
        _ entity: String, path: String? = nil, type: String? = nil, identity: [String]? = nil, identifier: IdentifierKind? = nil,
        version: VersionSource? = nil, properties: [String: PropertyMapping] = [:], ignored: Set<String> = [], kinds: Kinds? = nil,
        calls: [WebCall]? = nil, saving: SavingStyle? = nil, isReadOnly: Bool = false,
        unreadable: Resource.UnreadablePolicy = .ownError
    ) {
        self.entity = entity
        self.path = path
        self.type = type
        self.identity = identity
        self.identifier = identifier
        self.version = version
        self.properties = properties
        self.ignored = ignored
        self.kinds = kinds
        self.calls = calls
        self.saving = saving
        self.isReadOnly = isReadOnly
        self.unreadable = unreadable
    }
}

/// The place of a resource's version.
public enum VersionSource: Hashable, Sendable {
    /// Nowhere.
    case none
    /// In the header `ETag` of answers with one resource.
    case eTag
    /// In a number of the resource, which every change increases.
    case number(JSONPath)
    /// In a text or number of the resource, which every change replaces.
    case tag(JSONPath)
}
