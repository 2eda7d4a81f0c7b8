#if PostgreSQL
internal import ObjectGraph
internal import SQLQueries

/// The form in which a column of an existing table is read, compared and written.
///
/// Each value is selected in one of the types that PostgreSQLStore reads, and a parameter is converted to the type of its column.
enum ColumnForm: Sendable, Equatable {
    case integer(bits: Int)
    case boolean
    case double(isShort: Bool)
    case decimal(isMoney: Bool)
    /// Text, unconverted.
    case text
    /// A value in its text form: enums, times and any other type.
    case spelled
    /// A network address, `inet`: text as PostgreSQL shows it, without the number of a host's bits, which a conversion to text would include.
    case address
    case uuid
    case bytes
    /// A moment.
    case moment
    /// A date and a time without a time zone, which is taken for one in UTC.
    case localTime
    /// A day, which is taken for its midnight in UTC.
    case day
    /// JSON text.
    case json
    /// A value that is read and written as JSON: an array, whose elements have a type, or a row.
    case array(element: String)
    case row

    /// The form of a type, as the type itself suggests.
    init(_ type: CatalogueType) {
        if let element = type.element {
            self = .array(element: element)
            return
        }
        if type.kind == "c" {
            self = .row
            return
        }
        guard type.kind == "b", type.isBuiltIn else {
            self = .spelled
            return
        }
        self =
            switch type.name {
            case "int2": .integer(bits: 16)
            case "int4": .integer(bits: 32)
            case "int8": .integer(bits: 64)
            case "bool": .boolean
            case "float4": .double(isShort: true)
            case "float8": .double(isShort: false)
            case "numeric": .decimal(isMoney: false)
            case "money": .decimal(isMoney: true)
            case "text", "varchar": .text
            case "uuid": .uuid
            case "bytea": .bytes
            case "timestamptz": .moment
            case "timestamp": .localTime
            case "date": .day
            case "json", "jsonb": .json
            case "inet": .address
            default: .spelled
            }
    }

    /// Creates the form of a type for an attribute of a storage; nil if the attribute cannot hold the type.
    init?(_ type: CatalogueType, for storage: SQLStorage) {
        let natural = ColumnForm(type)
        switch (storage, natural) {
        case (.integer, .integer), (.boolean, .boolean), (.double, .double), (.decimal, .decimal), (.text, .text), (.uri, .text),
            (.uuid, .uuid), (.data, .bytes), (.externalData, .bytes), (.date, .moment), (.date, .localTime), (.date, .day),
            (.transformable, .json), (.transformable, .array), (.transformable, .row), (.transformable, .bytes), (.composite, .bytes):
            self = natural
        case (.text, .address): self = .address
        // Every type has a form as text.
        case (.text, _): self = .spelled
        default: return nil
        }
    }

    /// The form in messages.
    var name: String {
        switch self {
        case .integer(let bits): "an integer of \(bits) bits"
        case .boolean: "a Boolean"
        case .double: "a floating-point number"
        case .decimal: "a decimal number"
        case .text, .spelled, .address: "text"
        case .uuid: "a UUID"
        case .bytes: "bytes"
        case .moment, .localTime, .day: "a date"
        case .json: "JSON"
        case .array: "an array"
        case .row: "a row"
        }
    }

    /// Returns the SQL that selects a column.
    func selected(_ column: String) -> String {
        switch self {
        case .integer, .boolean, .uuid, .bytes, .moment, .decimal(isMoney: false), .double(isShort: false): column
        case .double(isShort: true): "\(column)::double precision"
        case .decimal(isMoney: true): "\(column)::numeric"
        // By code points, as in memory, whatever the order of the column is.
        case .text, .spelled, .address: "\(text(column)) COLLATE \"C\""
        case .localTime: "\(column) AT TIME ZONE 'UTC'"
        case .day: "\(column)::timestamp AT TIME ZONE 'UTC'"
        case .json: "\(column)::text"
        case .array, .row: "to_jsonb(\(column))::text"
        }
    }

    /// Returns the text of a column's value, as PostgreSQL shows it.
    func text(_ column: String) -> String { self == .address ? "pg_catalog.abbrev(\(column))" : "\(column)::text" }

    /// Returns the value of a column from a parameter, or from the SQL that selects one.
    ///
    /// - Parameters:
    ///   - parameter: Such as `$2`.
    ///   - type: The type of the column.
    func written(_ parameter: String, _ type: CatalogueType) -> String {
        switch self {
        case .integer, .boolean, .uuid, .bytes, .moment, .double, .decimal(isMoney: false), .text: parameter
        case .decimal(isMoney: true): "\(parameter)::numeric::money"
        case .spelled, .address, .json: "\(parameter)::text::\(type.sql)"
        case .localTime: "\(parameter)::timestamptz AT TIME ZONE 'UTC'"
        case .day: "(\(parameter)::timestamptz AT TIME ZONE 'UTC')::date"
        case .array(let element):
            "CASE WHEN \(parameter)::text IS NOT NULL THEN ARRAY(SELECT value::\(element) FROM "
                + "jsonb_array_elements_text(\(parameter)::text::jsonb) WITH ORDINALITY AS e (value, place) ORDER BY place)::\(type.sql) END"
        case .row:
            "CASE WHEN \(parameter)::text IS NOT NULL THEN jsonb_populate_record(NULL::\(type.sql), \(parameter)::text::jsonb) END"
        }
    }

    /// The types whose texts depend on settings of the session.
    private static let elementsOfSettings = ["date", "timestamp", "timestamptz", "interval", "bytea", "money"]

    /// Returns a text of a column's value that does not depend on settings of the session, such as its time zone.
    static func digested(_ column: String, _ type: CatalogueType) -> String {
        switch ColumnForm(type) {
        case .decimal(isMoney: true): "\(column)::numeric::text"
        case .bytes: "encode(\(column), 'hex')"
        case .moment, .localTime, .day: "extract(epoch FROM \(column))::text"
        case .spelled where type.name == "interval" && type.isBuiltIn: "encode(interval_send(\(column)), 'hex')"
        case .spelled where type.kind == "r": "encode(range_send(\(column)), 'hex')"
        case .spelled where type.kind == "m": "encode(multirange_send(\(column)), 'hex')"
        case .array(let element) where elementsOfSettings.contains { element == "pg_catalog.\($0)" }:
            "encode(array_send(\(column)), 'hex')"
        case .array, .row: "to_jsonb(\(column))::text"
        case .integer, .boolean, .double, .decimal, .text, .spelled, .address, .uuid, .json: "\(column)::text"
        }
    }

    /// Whether values are JSON texts.
    var isJSON: Bool {
        switch self {
        case .json, .array, .row: true
        default: false
        }
    }
}

extension ColumnForm {
    /// The type of a drafted attribute.
    var attributeType: NSAttributeDescription.AttributeType {
        switch self {
        case .integer(bits: 16): .integer16
        case .integer(bits: 32): .integer32
        case .integer: .integer64
        case .boolean: .boolean
        case .double(isShort: true): .float
        case .double: .double
        case .decimal: .decimal
        case .text, .spelled, .address: .string
        case .uuid: .uuid
        case .bytes: .binaryData
        case .moment, .localTime, .day: .date
        case .json, .array, .row: .transformable
        }
    }

    /// A remark on a form that may be unexpected; nil for others.
    var note: String? {
        switch self {
        case .spelled, .address: "read and written as text"
        case .localTime: "taken for a time in UTC"
        case .day: "the date of its midnight in UTC"
        case .json: "transformable: dictionaries, arrays, strings, numbers"
        case .array: "transformable: an array"
        case .row: "transformable: a dictionary"
        default: nil
        }
    }
}
#endif
