/// The common description of a service's resources: the convention that the service follows.
///
/// The package has ``plain``, ``jsonAPI``, ``djangoREST``, ``kinto``, ``gitHub``, ``couchDB`` and ``parse``. Change the parts that differ:
///
/// ```swift
/// var style = ServiceStyle.plain
/// style.names = .snakeCase
/// style.paging = .pages("page", size: "per_page", of: 50, next: .link("next"))
/// ```
public struct ServiceStyle: Hashable, Sendable {
    /// The conversion of the names of properties to keys in JSON.
    public var names: NameStyle
    /// The conversion of the name of an entity to the path of its collection, which replaces `{path}`.
    public var collection: CollectionStyle
    /// The paths to the identifier.
    public var identity: [String]
    /// The place of versions.
    public var version: VersionSource
    /// The path to an object with the attributes; empty for the resource itself.
    public var attributes: JSONPath
    /// The path to an object with the relationships; empty for the resource itself.
    public var relationships: JSONPath
    /// The form of references.
    public var references: ReferenceStyle
    /// The text after the name of a to-one relationship in JSON, such as `_id`.
    public var referenceSuffix: String
    /// Whether resources have lists of the destinations of to-many relationships. If not, the destinations are found by the inverse relationship.
    public var hasLists: Bool
    /// Whether only one end of a many-to-many relationship is a list: the end whose entity and name come first. The destinations of the other end are
    /// found by that list.
    public var hasListsAtOneEnd: Bool
    /// Whether resources lack nil values and empty lists, as documents do. If not, values that an answer lacks are unknown.
    public var omitsNil: Bool
    /// The path to the name of the entity, in resources of an entity with subentities; nil if each resource describes it.
    public var kind: JSONPath?
    /// Whether the service compares dates that are text as text. If so, its order of them is never taken for Core Data's.
    public var comparesDatesAsText: Bool
    /// The form of dates.
    public var dates: DateForm
    /// The object around a date: a key, and constants beside it; nil for none.
    public var dateWrapping: Wrapping?
    /// The places of resources in an answer.
    public var envelope: Envelope
    /// The filters of lists.
    public var filters: FilterStyle
    /// The orders of lists.
    public var sorting: SortStyle
    /// The division of lists into pages.
    public var paging: PagingStyle
    /// The parameter that limits answers to some properties; nil if there is none.
    public var fields: FieldsStyle?
    /// The parameter that includes the destinations of relationships; nil if there is none.
    public var includes: IncludeStyle?
    /// The calls of a resource that describes none; a list and one by identifier unless set.
    public var calls: [WebCall]
    /// The way in which changes are saved; nil if nothing can be saved.
    public var saving: SavingStyle?
    /// The form of errors.
    public var errors: ErrorStyle
    /// The media type of answers and, unless ``contentType`` is set, of requests.
    public var accept: String
    /// The media type of requests; nil for the one of answers.
    public var contentType: String?
    /// The feed of changes; nil for none.
    public var changeFeed: ChangeFeedStyle?
    /// The signals that the feed of changes has news; nil if there are none, and the feed is polled.
    public var changeSignals: ChangeSignalStyle?

    /// A key with the value, and constants beside it.
    public struct Wrapping: Hashable, Sendable {
        /// The key with the value.
        public var key: String
        /// The constants beside it.
        public var constants: [String: String]

        /// Creates a wrapping.
        public init(_ key: String, constants: [String: String] = [:]) {
            self.key = key
            self.constants = constants
        }
    }

    /// Creates a style. The defaults are those of plain JSON over HTTP: objects with `id`, lists at the name of the collection, no filters, no order,
    /// and no pages.
    public init(
        names: NameStyle = .asTheyAre, collection: CollectionStyle = .init(), identity: [String] = ["id"], version: VersionSource = .none,
        attributes: JSONPath = "", relationships: JSONPath = "", references: ReferenceStyle = .identifier, referenceSuffix: String = "",
        hasLists: Bool = false, hasListsAtOneEnd: Bool = false, omitsNil: Bool = false, kind: JSONPath? = nil,
        comparesDatesAsText: Bool = false, dates: DateForm = .iso8601, dateWrapping: Wrapping? = nil, envelope: Envelope = Envelope(),
        filters: FilterStyle = .none, sorting: SortStyle = .none, paging: PagingStyle = .none, fields: FieldsStyle? = nil,
        includes: IncludeStyle? = nil, calls: [WebCall] = [.list(), .one], saving: SavingStyle? = SavingStyle(),
        errors: ErrorStyle = ErrorStyle(), accept: String = "application/json", contentType: String? = nil,
        changeFeed: ChangeFeedStyle? = nil, changeSignals: ChangeSignalStyle? = nil
    ) {
        self.names = names
        self.collection = collection
        self.identity = identity
        self.version = version
        self.attributes = attributes
        self.relationships = relationships
        self.references = references
        self.referenceSuffix = referenceSuffix
        self.hasLists = hasLists
        self.hasListsAtOneEnd = hasListsAtOneEnd
        self.omitsNil = omitsNil
        self.kind = kind
        self.comparesDatesAsText = comparesDatesAsText
        self.dates = dates
        self.dateWrapping = dateWrapping
        self.envelope = envelope
        self.filters = filters
        self.sorting = sorting
        self.paging = paging
        self.fields = fields
        self.includes = includes
        self.calls = calls
        self.saving = saving
        self.errors = errors
        self.accept = accept
        self.contentType = contentType
        self.changeFeed = changeFeed
        self.changeSignals = changeSignals
    }

    /// Objects with `id`, lists at the name of the collection, `POST`, `PATCH` and `DELETE`.
    public static let plain = ServiceStyle()
}

/// The conversion of the names of properties to keys in JSON.
public enum NameStyle: String, Hashable, Sendable {
    /// `releaseDate`
    case asTheyAre
    /// `release_date`
    case snakeCase
    /// `release-date`
    case kebabCase
    /// `ReleaseDate`
    case pascalCase

    /// Returns the key of a name.
    func key(_ name: String) -> String {
        func separated(_ separator: String) -> String {
            var result = ""
            var previous: Character = "_"
            let letters = Array(name)
            for (index, letter) in letters.enumerated() {
                let next = index + 1 < letters.count ? letters[index + 1] : "_"
                if letter.isUppercase, previous.isLetter || previous.isNumber, !previous.isUppercase || next.isLowercase {
                    result += separator
                }
                result += letter == "_" ? separator : letter.lowercased()
                previous = letter
            }
            return result
        }
        switch self {
        case .asTheyAre: return name
        case .snakeCase: return separated("_")
        case .kebabCase: return separated("-")
        case .pascalCase: return name.prefix(1).uppercased() + name.dropFirst()
        }
    }
}

/// The conversion of the name of an entity to the path of its collection, and to its type.
public struct CollectionStyle: Hashable, Sendable {
    /// The conversion of the name.
    public var names: NameStyle
    /// Whether the name is in the plural: `albums` for `Album`.
    public var isPlural: Bool
    /// The path; `{name}` is replaced by the name.
    public var template: String
    /// Whether `{type}` is the unchanged name of the entity, and not that of the collection.
    public var typeIsEntity: Bool

    /// Creates a style.
    public init(_ template: String = "{name}", names: NameStyle = .snakeCase, isPlural: Bool = true, typeIsEntity: Bool = false) {
        self.template = template
        self.names = names
        self.isPlural = isPlural
        self.typeIsEntity = typeIsEntity
    }

    /// Returns the name of an entity's collection.
    func name(_ entity: String) -> String {
        let name = names.key(names == .asTheyAre ? entity : entity.prefix(1).lowercased() + entity.dropFirst())
        guard isPlural else { return name }
        if name.hasSuffix("y"), let before = name.dropLast().last, !"aeiou".contains(before) { return name.dropLast() + "ies" }
        return ["s", "x", "z", "ch", "sh"].contains { name.hasSuffix($0) } ? name + "es" : name + "s"
    }
}

/// The places of resources in an answer.
public struct Envelope: Hashable, Sendable {
    /// The path to a list of resources; empty if the answer is the list.
    public var items: JSONPath
    /// The path to one resource, in answers with one.
    public var item: JSONPath
    /// The path to a resource within an element of the list, such as `doc` or `_source`.
    public var element: JSONPath
    /// The path to a list of included resources of any type; nil for none.
    public var included: JSONPath?
    /// The path to the type of a resource, if it has one.
    public var type: JSONPath?

    /// Creates an envelope.
    public init(
        items: JSONPath = "", item: JSONPath = "", element: JSONPath = "", included: JSONPath? = nil, type: JSONPath? = nil
    ) {
        self.items = items
        self.item = item
        self.element = element
        self.included = included
        self.type = type
    }
}

/// The parameter that limits answers to some properties.
public struct FieldsStyle: Hashable, Sendable {
    /// The parameter: `fields[{type}]={names}`.
    public var template: String
    /// The text between names.
    public var separator: String

    /// Creates a style.
    public init(_ template: String, separator: String = ",") {
        self.template = template
        self.separator = separator
    }
}

/// The parameter that includes the destinations of relationships.
public struct IncludeStyle: Hashable, Sendable {
    /// The parameter: `include={paths}`.
    public var template: String
    /// The text between paths.
    public var separator: String
    /// Whether the service understands paths over several relationships: `albums.tracks`.
    public var isDeep: Bool

    /// Creates a style.
    public init(_ template: String, separator: String = ",", isDeep: Bool = false) {
        self.template = template
        self.separator = separator
        self.isDeep = isDeep
    }
}
