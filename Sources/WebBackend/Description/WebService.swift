public import RemoteStore

/// The description of a web service: where its resources are, and how it is asked for them.
///
/// Most services follow a convention, which says nearly everything; what differs is said for the service, a resource or a call.
///
/// ```swift
/// let service = WebService(
///     "https://api.example.com/v1", style: .plain,
///     resources: [
///         WebResource("Band", path: "bands", calls: [.list(filters: ["name"]), .one]),
///         WebResource("Album", calls: [.list("bands/{band}/albums"), .one("albums/{SELF}")]),
///     ])
/// ```
///
/// The description is checked against the model when a ``WebBackend`` is made of it. It can be read from a JSON or YAML file, too.
public struct WebService: Hashable, Sendable {
    /// The absolute address that all paths continue.
    public var address: String
    /// What holds for all resources, unless they say otherwise.
    public var style: ServiceStyle
    /// Headers of every request, without secrets.
    public var headers: [String: String]
    /// Parameters of every request, without secrets.
    public var query: [String: String]
    /// The resources. Entities that are not described here have none, unless ``includesAllEntities``.
    public var resources: [WebResource]
    /// Whether every entity of the model has a resource, described by the style alone where ``resources`` has none for it.
    public var includesAllEntities: Bool

    /// Creates the description of a service.
    ///
    /// - Parameters:
    ///   - address: The absolute address that all paths continue, such as `https://api.example.com/v1`.
    ///   - style: What holds for all resources.
    ///   - headers: Headers of every request, without secrets.
    ///   - query: Parameters of every request, without secrets.
    ///   - resources: The resources; nil for one of every entity of the model, as the style has it.
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
    /// The path of the collection, after the service's address; nil as the style has it. It replaces `{path}` in the paths of calls.
    public var path: String?
    /// What the service calls the type of the resources; nil as the style has it. It replaces `{type}` in templates.
    public var type: String?
    /// The paths to the identifier in a resource; nil as the style has it. Several make a composite identifier. `@band` stands for the
    /// identifier of the object that a call was given for its parameter `band`, for resources that are unique only within a parent, and
    /// `@band.0` for a part of it.
    public var identity: [String]?
    /// The kind of a single identifier; nil for a number where JSON has one, otherwise a string.
    public var identifier: IdentifierKind?
    /// Where the version is; nil as the style has it.
    public var version: VersionSource?
    /// How properties are named and written, by their names; those that are not here follow the style.
    public var properties: [String: PropertyMapping]
    /// The properties that no answer has and that are never sent.
    public var ignored: Set<String>
    /// Which subentity a resource is of.
    public var kinds: Kinds?
    /// The calls that read; nil for those of the style.
    public var calls: [WebCall]?
    /// How changes are saved; nil as the style has it.
    public var saving: SavingStyle?
    /// Whether nothing can be saved.
    public var isReadOnly: Bool
    /// What becomes of resources that cannot be read: a value that its attribute cannot hold, or no identifier.
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

    /// Which subentity a resource is of, by the value of a field.
    public struct Kinds: Hashable, Sendable {
        /// The path to the value.
        public var path: JSONPath
        /// The names of the entities, by values.
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

/// Where the version of a resource is.
public enum VersionSource: Hashable, Sendable {
    /// Nowhere.
    case none
    /// In the header `ETag`, of answers with one resource.
    case eTag
    /// In a number of the resource, which every change increases.
    case number(JSONPath)
    /// In a text or number of the resource, which every change replaces.
    case tag(JSONPath)
}
