public import RemoteStore

/// How lists are filtered.
///
/// In templates `{name}` is replaced by the name of the property in the service, `{value}` by a value and `{values}` by several, joined. Where
/// `{each}` stands, the parameter is given once for each of several values.
public struct FilterStyle: Hashable, Sendable {
    /// The forms of filters.
    public enum Form: Hashable, Sendable {
        /// No filters.
        case none
        /// A parameter for each comparison, all of which apply: `min_{name}={value}`.
        case parameters
        /// One parameter with an expression, of comparisons joined by AND, OR and NOT.
        case expression(Expression)
        /// One JSON object, with `$and`, `$or` and an object of operators for each property: `{"year": {"$gt": 1969}}`.
        case selector(Selector)
    }

    /// An expression, as text.
    public struct Expression: Hashable, Sendable {
        /// The parameter.
        public var parameter: String
        /// What stands between parts that all apply.
        public var and: String
        /// What stands between parts of which one applies; nil where there is no such thing.
        public var or: String?
        /// What stands around a part that must not apply, with `{}` in its place; nil where there is no such thing.
        public var not: String?
        /// What stands around several parts, with `{}` in their place.
        public var group: String

        /// Creates the description of expressions.
        public init(_ parameter: String, and: String, or: String? = nil, not: String? = nil, group: String = "({})") {
            self.parameter = parameter
            self.and = and
            self.or = or
            self.not = not
            self.group = group
        }
    }

    /// An expression, as a JSON object.
    public struct Selector: Hashable, Sendable {
        /// Where the object is sent.
        public var place: Place
        /// What every selector contains besides, as JSON; `{type}` is replaced.
        public var constants: String?
        /// The key of parts that all apply.
        public var and: String
        /// The key of parts of which one applies; nil where there is no such thing.
        public var or: String?
        /// The key of a list of parts none of which may apply; nil where there is no such thing.
        public var nor: String?

        /// The places of a selector.
        public enum Place: Hashable, Sendable {
            /// In a parameter, as text.
            case query(String)
            /// In the body, at a key.
            case body(String)
        }

        /// Creates the description of selectors.
        public init(_ place: Place, constants: String? = nil, and: String = "$and", or: String? = "$or", nor: String? = "$nor") {
            self.place = place
            self.constants = constants
            self.and = and
            self.or = or
            self.nor = nor
        }
    }

    /// How values are written.
    public enum Quoting: Hashable, Sendable {
        /// As they are.
        case bare
        /// As they are; strings that look like other JSON in quotation marks.
        case bareUnlessAmbiguous
        /// As JSON: strings in quotation marks.
        case json
        /// Strings in single quotation marks, which are doubled within.
        case singleQuoted
        /// Strings in single or double quotation marks, with a backslash before those within.
        case backslashed(Character)
    }

    /// The form.
    public var form: Form
    /// How each comparison is written; those that are not here are not supported.
    public var templates: [Parameter.Operator: String]
    /// How comparisons with the members of a list of references are written; nil as all others are.
    public var listTemplates: [Parameter.Operator: String]?
    /// How values are written.
    public var quoting: Quoting
    /// What stands between several values.
    public var separator: String
    /// The number of values of one comparison, and of identifiers.
    public var maximumValues: Int
    /// The comparisons by which more may be found than Core Data would find; what is found is compared again in memory.
    public var inexact: Set<Parameter.Operator>
    /// Whether strings may be compared otherwise than as they are, such as without blanks at their ends: then what is found by a comparison
    /// of strings is compared again in memory.
    public var isInexactForText: Bool
    /// The comparisons of strings that are regardless of case.
    public var caseInsensitive: Set<Parameter.Operator>
    /// The name of the identifier in filters; nil where resources cannot be filtered by it.
    public var identifier: String?
    /// Whether strings have an order in the service that is Core Data's. If not, `<` and its like are not asked of strings.
    public var comparesTextInOrder: Bool
    /// What stands between the keys of a key path over relationships: `__` in `band__name`; nil where they cannot be compared.
    public var pathSeparator: String?
    /// What follows the name of a relationship that is compared with an identifier: `__id`, `.id`.
    public var referenceSuffix: String
    /// The signs in the patterns of `like`, which may not be written without them.
    public var wildcards: Wildcards?
    /// Signs that mean something else than themselves in texts of filters: a text with one of them is compared in memory.
    public var reserved: [String] = []

    /// The signs in patterns.
    public struct Wildcards: Hashable, Sendable {
        /// The sign for any number of characters: `*`, `%`.
        public var any: Character
        /// The sign for any one character: `?`, `_`. Nil where there is none: then more is asked for, and compared again in memory.
        public var one: Character?
        /// The sign before one that is meant as it is, and before itself. Nil where there is none: then more is asked for.
        public var escape: Character?

        /// Creates the signs.
        public init(any: Character, one: Character? = nil, escape: Character? = nil) {
            (self.any, self.one, self.escape) = (any, one, escape)
        }

        /// Whether every pattern can be written as what it is.
        var isExact: Bool { one != nil && escape != nil }
    }

    /// Creates a style of filters.
    public init(
        _ form: Form, _ templates: [Parameter.Operator: String], quoting: Quoting = .bare, separator: String = ",",
        maximumValues: Int = 50, inexact: Set<Parameter.Operator> = [], caseInsensitive: Set<Parameter.Operator> = [],
        identifier: String? = nil, comparesTextInOrder: Bool = true, pathSeparator: String? = nil, referenceSuffix: String = "",
        listTemplates: [Parameter.Operator: String]? = nil, isInexactForText: Bool = false
    ) {
        self.form = form
        self.templates = templates
        self.listTemplates = listTemplates
        self.isInexactForText = isInexactForText
        self.quoting = quoting
        self.separator = separator
        self.maximumValues = maximumValues
        self.inexact = inexact
        self.caseInsensitive = caseInsensitive
        self.identifier = identifier
        self.comparesTextInOrder = comparesTextInOrder
        self.pathSeparator = pathSeparator
        self.referenceSuffix = referenceSuffix
    }

    /// Nothing can be filtered.
    public static let none = FilterStyle(.none, [:])
    /// Equality by the name of the property: `year=1969`.
    public static let byName = FilterStyle(.parameters, [.equal: "{name}={value}"])
}

/// How lists are sorted.
public struct SortStyle: Hashable, Sendable {
    /// The parameter with the order; nil for none, empty where lists have an order without being asked for it.
    public var parameter: String?
    /// How an ascending key is written.
    public var ascending: String
    /// How a descending key is written; nil where there is no such thing.
    public var descending: String?
    /// What stands between keys.
    public var separator: String
    /// The number of keys.
    public var maximumKeys: Int
    /// Whether the order of strings is Core Data's, by their code points. If not, strings are sorted in memory, except those that a call names in
    /// ``WebCall/sorting``.
    public var sortsTextInOrder: Bool
    /// Whether nil comes before every value, as in Core Data. If not, attributes that may be nil are sorted in memory, and no call may name them in
    /// ``WebCall/sorting``. Where this is nil, the service's place for nil is not known: those that a call names are sorted by the service.
    public var sortsNilFirst: Bool?
    /// A second parameter with the direction, which replaces the templates' signs: its name, and the words for ascending and descending. It is that of one
    /// key: orders by several are finished in memory.
    public var direction: Direction?
    /// The parameter with the order where that is descending, of services that have two: `_sort_desc`. Orders by several keys are finished in memory.
    public var descendingParameter: String?
    /// The place of the order.
    public var place: Place
    /// A key that always comes last, such as the identifier: without it pages would be in an order that changes while they are read, such as
    /// that of the latest changes. Nil for none.
    public var last: String?

    /// A parameter with the direction.
    public struct Direction: Hashable, Sendable {
        /// The name of the parameter.
        public var parameter: String
        /// The value for an ascending order.
        public var ascending: String
        /// The value for a descending order.
        public var descending: String

        /// Creates a direction.
        public init(_ parameter: String, ascending: String = "asc", descending: String = "desc") {
            self.parameter = parameter
            self.ascending = ascending
            self.descending = descending
        }
    }

    /// The places of an order.
    public enum Place: String, Hashable, Sendable {
        /// In a parameter.
        case query
        /// In the body, as an array of objects: `[{"name": "asc"}]`.
        case body
    }

    /// Creates a style of orders.
    public init(
        _ parameter: String?, ascending: String = "{name}", descending: String? = "-{name}", separator: String = ",",
        maximumKeys: Int = .max, sortsTextInOrder: Bool = true, sortsNilFirst: Bool? = nil, direction: Direction? = nil,
        place: Place = .query, last: String? = nil
    ) {
        self.parameter = parameter
        self.ascending = ascending
        self.descending = descending
        self.separator = separator
        self.maximumKeys = maximumKeys
        self.sortsTextInOrder = sortsTextInOrder
        self.sortsNilFirst = sortsNilFirst
        self.direction = direction
        self.place = place
        self.last = last
    }

    /// Nothing can be sorted.
    public static let none = SortStyle(nil)
    /// Lists come in the ascending order of the property that their call names in ``WebCall/sorting``, and in no other.
    public static let given = SortStyle("", descending: nil, maximumKeys: 1)
}
