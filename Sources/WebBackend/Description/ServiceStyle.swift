/// What the resources of a service have in common: the convention that it follows.
///
/// Ready ones are ``plain``, ``jsonAPI``, ``djangoREST``, ``kinto``, ``gitHub``, ``couchDB`` and ``parse``; change what differs:
///
/// ```swift
/// var style = ServiceStyle.plain
/// style.names = .snakeCase
/// style.paging = .pages("page", size: "per_page", of: 50, next: .link("next"))
/// ```
public struct ServiceStyle: Hashable, Sendable {
    /// How the names of properties become keys in JSON.
    public var names: NameStyle
    /// How the name of an entity becomes the path of its collection: `{path}` is replaced by it.
    public var collection: CollectionStyle
    /// The paths to the identifier.
    public var identity: [String]
    /// Where versions are.
    public var version: VersionSource
    /// The path to an object with the attributes; empty for the resource itself.
    public var attributes: JSONPath
    /// The path to an object with the relationships; empty for the resource itself.
    public var relationships: JSONPath
    /// How references are written.
    public var references: ReferenceStyle
    /// What follows the name of a to-one relationship in JSON, such as `_id`.
    public var referenceSuffix: String
    /// Whether resources have lists of the destinations of to-many relationships. If not, they are asked for by the inverse relationship.
    public var hasLists: Bool
    /// Whether of a relationship that is to many at both ends one end is a list: that whose entity and name come first, and the other is asked
    /// for by it.
    public var hasListsAtOneEnd: Bool
    /// Whether resources lack what is nil, and lists that are empty, as documents do. If not, what an answer lacks is unknown.
    public var omitsNil: Bool
    /// Where resources of an entity with subentities say which they are of, by its name; nil where each resource describes it.
    public var kind: JSONPath?
    /// Whether dates that are written as text are compared as text: then no service's order of them is taken for Core Data's.
    public var comparesDatesAsText: Bool
    /// How dates are written.
    public var dates: DateForm
    /// What wraps dates: a key, and constants beside it; nil for nothing.
    public var dateWrapping: Wrapping?
    /// Where resources are in an answer.
    public var envelope: Envelope
    /// How lists are filtered.
    public var filters: FilterStyle
    /// How lists are sorted.
    public var sorting: SortStyle
    /// How lists are divided.
    public var paging: PagingStyle
    /// How answers are limited to some properties; nil for not at all.
    public var fields: FieldsStyle?
    /// How the destinations of relationships are made to come along; nil for not at all.
    public var includes: IncludeStyle?
    /// The calls of a resource that describes none: a list and one by identifier, unless set.
    public var calls: [WebCall]
    /// How changes are saved; nil where nothing can be saved.
    public var saving: SavingStyle?
    /// How errors are written.
    public var errors: ErrorStyle
    /// The media type of answers and, unless ``contentType`` is set, of requests.
    public var accept: String
    /// The media type of requests; nil for the one of answers.
    public var contentType: String?
    /// The feed of changes; nil for none.
    public var changeFeed: ChangeFeedStyle?
    /// What says at once that the feed of changes has something to tell; nil for nothing: then it is asked from time to time.
    public var changeSignals: ChangeSignalStyle?

    /// A key with the value, and constants beside it.
    public struct Wrapping: Hashable, Sendable {
        /// The key with the value.
        public var key: String
        /// What is beside it.
        public var constants: [String: String]

        /// Creates a wrapping.
        public init(_ key: String, constants: [String: String] = [:]) {
            self.key = key
            self.constants = constants
        }
    }

    /// Creates a style; everything that is not given is as plain JSON over HTTP has it: objects with `id`, lists at the name of the
    /// collection, no filters, no order, everything at once.
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

/// How names of properties become keys in JSON.
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

/// How the name of an entity becomes the path of its collection, and its type.
public struct CollectionStyle: Hashable, Sendable {
    /// How the name is written.
    public var names: NameStyle
    /// Whether it is in the plural: `albums` for `Album`.
    public var isPlural: Bool
    /// The path; `{name}` is replaced by the name.
    public var template: String
    /// Whether `{type}` is the name of the entity as it is, not that of the collection.
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

/// Where resources are in an answer.
public struct Envelope: Hashable, Sendable {
    /// The path to a list of resources; empty where the answer is the list.
    public var items: JSONPath
    /// The path to one resource, in answers with one.
    public var item: JSONPath
    /// The path to a resource within an element of the list, such as `doc` or `_source`.
    public var element: JSONPath
    /// The path to a list of resources of any type that came along; nil for none.
    public var included: JSONPath?
    /// The path to the type of a resource, where it has one.
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

/// How answers are limited to some properties.
public struct FieldsStyle: Hashable, Sendable {
    /// The parameter: `fields[{type}]={names}`.
    public var template: String
    /// What stands between names.
    public var separator: String

    /// Creates a style.
    public init(_ template: String, separator: String = ",") {
        self.template = template
        self.separator = separator
    }
}

/// How the destinations of relationships are made to come along.
public struct IncludeStyle: Hashable, Sendable {
    /// The parameter: `include={paths}`.
    public var template: String
    /// What stands between paths.
    public var separator: String
    /// Whether paths over several relationships are understood: `albums.tracks`.
    public var isDeep: Bool

    /// Creates a style.
    public init(_ template: String, separator: String = ",", isDeep: Bool = false) {
        self.template = template
        self.separator = separator
        self.isDeep = isDeep
    }
}
