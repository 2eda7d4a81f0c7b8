public import RemoteStore

/// How lists are filtered.
///
/// In templates, `{name}` is replaced by the name of the property in the service, `{value}` by a value, and `{values}` by several joined values. A
/// parameter with `{each}` is repeated for each of several values.
public struct FilterStyle: Hashable, Sendable {
    /// The forms of filters.
    public enum Form: Hashable, Sendable {
        /// No filters.
        case none
        /// A parameter for each comparison; a resource must match all: `min_{name}={value}`.
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
        /// The text between parts that must all apply.
        public var and: String
        /// The text between parts of which one must apply; nil if the service has no OR.
        public var or: String?
        /// The text around a part that must not apply, with `{}` in its place; nil if the service has no NOT.
        public var not: String?
        /// The text around several parts, with `{}` in their place.
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
        /// The place in the request where the object is sent.
        public var place: Place
        /// Further keys of every selector, as JSON; `{type}` is replaced.
        public var constants: String?
        /// The key of parts that must all apply.
        public var and: String
        /// The key of parts of which one must apply; nil if the service has no OR.
        public var or: String?
        /// The key of a list of parts none of which may apply; nil if the service has no NOT.
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
        /// As they are, except that strings which look like other JSON are in quotation marks.
        case bareUnlessAmbiguous
        /// As JSON: strings in quotation marks.
        case json
        /// Strings in single quotation marks; single quotation marks within them are doubled.
        case singleQuoted
        /// Strings in single or double quotation marks; those within them follow a backslash.
        case backslashed(Character)
    }

    /// The form.
    public var form: Form
    /// The template of each comparison; comparisons without one are not supported.
    public var templates: [Parameter.Operator: String]
    /// The templates of comparisons with the members of a list of references; nil for ``templates``.
    public var listTemplates: [Parameter.Operator: String]?
    /// How values are written.
    public var quoting: Quoting
    /// The text between several values.
    public var separator: String
    /// The maximum number of values of one comparison, and of identifiers.
    public var maximumValues: Int
    /// The comparisons that may find more than Core Data would find. Their results are compared again in memory.
    public var inexact: Set<Parameter.Operator>
    /// Whether the service may compare strings inexactly, such as without blanks at their ends. If so, the results of a comparison of strings are
    /// compared again in memory.
    public var isInexactForText: Bool
    /// The comparisons of strings that ignore case.
    public var caseInsensitive: Set<Parameter.Operator>
    /// The name of the identifier in filters; nil if resources cannot be filtered by it.
    public var identifier: String?
    /// Whether the service's order of strings is Core Data's. If not, `<` and the other ordering comparisons of strings are not sent.
    public var comparesTextInOrder: Bool
    /// The text between the keys of a key path over relationships: `__` in `band__name`; nil if the service cannot compare them.
    public var pathSeparator: String?
    /// The text after the name of a relationship that is compared with an identifier: `__id`, `.id`.
    public var referenceSuffix: String
    /// The wildcards in the patterns of `like`, which is not sent without them.
    public var wildcards: Wildcards?
    /// Characters with a meaning of their own in the texts of filters: a text with one of them is compared in memory.
    public var reserved: [String] = []

    /// The wildcards in patterns.
    public struct Wildcards: Hashable, Sendable {
        /// The character for any number of characters: `*`, `%`.
        public var any: Character
        /// The character for any one character: `?`, `_`; nil if there is none. Then the pattern finds more, and the results are compared again in
        /// memory.
        public var one: Character?
        /// The escape character, which stands before a literal wildcard or itself; nil if there is none. Then the pattern finds more.
        public var escape: Character?

        /// Creates the wildcards.
        public init(any: Character, one: Character? = nil, escape: Character? = nil) {
            (self.any, self.one, self.escape) = (any, one, escape)
        }

        /// Whether every pattern can be written exactly.
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
    /// The parameter with the order; nil for none, empty if lists have an order without one.
    public var parameter: String?
    /// The template of an ascending key.
    public var ascending: String
    /// The template of a descending key; nil if the service has no descending order.
    public var descending: String?
    /// The text between keys.
    public var separator: String
    /// The maximum number of keys.
    public var maximumKeys: Int
    /// Whether the order of strings is Core Data's, by their code points. If not, strings are sorted in memory, except those that a call names in
    /// ``WebCall/sorting``.
    public var sortsTextInOrder: Bool
    /// Whether nil comes before every value, as in Core Data. If false, attributes that may be nil are sorted in memory, and no call may name them in
    /// ``WebCall/sorting``. If nil, the service's place for nil is not known, and the service sorts the attributes that a call names.
    public var sortsNilFirst: Bool?
    /// A second parameter with the direction: its name, and the words for ascending and descending. It replaces the signs of the templates. It applies
    /// to one key: orders by several keys are finished in memory.
    public var direction: Direction?
    /// The parameter with a descending order, for services that have two: `_sort_desc`. Orders by several keys are finished in memory.
    public var descendingParameter: String?
    /// The place of the order in the request.
    public var place: Place
    /// A key that always comes last, such as the identifier; nil for none. Without it, the order may change while pages are read, as an order by the
    /// latest changes does.
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
