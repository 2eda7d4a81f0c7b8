#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import MappedTables
internal import SQLQueries

typealias Catalogue = MappedTables.Catalogue<PostgreSQLTableDialect>
typealias CatalogueRelation = MappedTables.CatalogueRelation<PostgreSQLTableDialect>
typealias CatalogueColumn = MappedTables.CatalogueColumn<PostgreSQLTableDialect>
typealias KeyColumns = MappedTables.KeyColumns<PostgreSQLTableDialect>
typealias Mapping = MappedTables.Mapping<PostgreSQLTableDialect>
typealias MappedTable = MappedTables.MappedTable<PostgreSQLTableDialect>
typealias MappedJoin = MappedTables.MappedJoin<PostgreSQLTableDialect>
typealias MappedValues = MappedTables.MappedValues<PostgreSQLTableDialect>
typealias DraftedEntities = MappedTables.DraftedEntities<PostgreSQLTableDialect>

/// How PostgreSQL reads and writes the tables of other programs.
enum PostgreSQLTableDialect: TableDialect {
    typealias ColumnType = CatalogueType
    typealias Form = ColumnForm
    typealias Parameter = BinaryValue

    // MARK: Types

    static func declared(_ type: CatalogueType) -> String { type.declared }
    static func form(of type: CatalogueType) -> ColumnForm? { ColumnForm(type) }
    static func form(of type: CatalogueType, for storage: SQLStorage) -> ColumnForm? { ColumnForm(type, for: storage) }
    static func bits(of form: ColumnForm) -> Int? { if case .integer(let bits) = form { bits } else { nil } }
    static func isUUID(_ form: ColumnForm) -> Bool { form == .uuid }
    static var enforcesReferences: Bool { true }
    static var transformables: String { "JSON, an array, a row or bytes" }
    static func drafted(_ type: CatalogueType) -> DraftedType? {
        let form = ColumnForm(type)
        // An enum is read as text, like other types, and additionally has its labels.
        let labels = type.kind == "e" ? type.labels : []
        return DraftedType(form.attributeType, note: form.note, labels: labels)
    }

    // MARK: Statements

    static func placeholder(_ number: Int) -> String { "$\(number)" }
    static func literal(_ number: Int64) -> String { "\(number)::bigint" }
    static func selected(_ column: String, _ form: ColumnForm, key: [String]) -> String { form.selected(column) }
    static func bounded(_ selected: String, _ form: ColumnForm) -> String? {
        switch form {
        case .moment, .localTime, .day: InfiniteDates.bounded(selected)
        default: nil
        }
    }
    static func written(_ parameter: String, _ form: ColumnForm, _ type: CatalogueType) -> String { form.written(parameter, type) }

    /// Returns the number of the transaction that wrote the row. Rows of a relation that is not a table have none; a digest of their content shows
    /// whether they have changed.
    static func version(of relation: CatalogueRelation, _ columns: [CatalogueColumn], as table: String) -> String {
        relation.kind == .table ? "\(table).xmin::text::bigint" : "hashtextextended(\(table)::text, 0)"
    }

    // MARK: Rows without a key

    static var digestType: CatalogueType {
        CatalogueType(
            name: "text", sql: "pg_catalog.text", declared: "text", kind: "b", element: nil, labels: [], isBuiltIn: true)
    }

    static func digest(of columns: [CatalogueColumn], in table: String) -> String {
        let texts = columns.map { ColumnForm.digested("\(table).\(TableNames.identifier($0.name))", $0.type) }.joined(separator: ", ")
        // The text of an array quotes its elements, and distinguishes NULL from a text.
        return "encode(substring(sha256(convert_to(ARRAY[\(texts)]::text[]::text, 'UTF8')) FROM 1 FOR 16), 'hex')"
    }

    static func isComparable(_ type: CatalogueType) -> Bool {
        switch ColumnForm(type) {
        case .spelled: type.kind == "e"
        case .address: false
        case .json, .array, .row: false
        default: true
        }
    }

    // MARK: Keys

    static func hasSpellings(_ column: CatalogueColumn) -> Bool {
        column.type.collation != nil || ["citext", "numeric", "interval", "float4", "float8"].contains(column.type.name)
    }

    static func equal(_ name: String, _ column: CatalogueColumn, _ value: String, as target: CatalogueColumn) -> String {
        if target.type.name == "citext", !target.type.isBuiltIn {
            // Without its schema, a text's operator is only found if the schema is in the search path.
            let schema = target.type.sql.split(separator: ".").dropLast().joined(separator: ".")
            return "(\(name))::\(target.type.sql) OPERATOR(\(schema).=) (\(value))::\(target.type.sql)"
        }
        if let collation = target.type.collation { return "\(name) COLLATE \(collation) = \(value)" }
        return "\(name) = \(value)"
    }

    static func compared(_ key: String, _ kind: SQLKeyKind) -> String { kind == .text ? "(\(key) COLLATE \"C\")" : key }

    static func kind(of columns: [CatalogueColumn], target: KeyColumns?) -> (kind: SQLKeyKind, isPlain: Bool) {
        switch (columns.count, columns.first.map { ColumnForm($0.type) }) {
        case (1, .integer): (.integer, true)
        case (1, .uuid): (.uuid, true)
        case (1, .text): (.text, true)
        default: (.text, false)
        }
    }

    static func selected(_ key: KeyColumns, of table: String?) -> String {
        if key.isPlain {
            let name = key.name(key.columns[0], of: table)
            // Keys that were looked up are compared by their bytes, and so are these with them.
            return key.kind == .text ? name + "::text" + (key.columns[0].type.collation == nil ? "" : " COLLATE \"C\"") : name
        }
        let names = key.columns.map { key.name($0, of: table) }
        let texts = zip(names, key.columns).map { text($0, $1) }.joined(separator: ", ")
        let conditions = names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return "CASE WHEN \(conditions) THEN jsonb_build_array(\(texts))::text END"
    }

    static func key(of parts: [Any], _ columns: [CatalogueColumn]) -> String? {
        var texts: [String] = []
        for (part, column) in zip(parts, columns) {
            let text: String
            switch (part, ColumnForm(column.type)) {
            case (let flag as Bool, .boolean): text = flag ? "true" : "false"
            case (let given as String, .integer): text = Int64(given).map(String.init) ?? given
            case (let given as String, .uuid): text = UUID(uuidString: given)?.uuidString.lowercased() ?? given
            case (let given as String, _): text = given
            case (let number as NSNumber, _): text = "\(number)"
            default: return nil
            }
            texts.append(Self.quoted(text))
        }
        // As PostgreSQL writes an array.
        return "[\(texts.joined(separator: ", "))]"
    }

    /// Returns a string as PostgreSQL writes it in JSON.
    private static func quoted(_ text: String) -> String {
        let escapes: [UInt8: String] = [8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 0x22: "\\\"", 0x5C: "\\\\"]
        let characters = text.unicodeScalars.map { scalar -> String in
            guard scalar.isASCII, let byte = UInt8(exactly: scalar.value) else { return String(scalar) }
            if let escape = escapes[byte] { return escape }
            return byte < 0x20 ? "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16) : String(scalar)
        }
        return "\"\(characters.joined())\""
    }

    static func written(_ key: KeyColumns, _ parameter: String) -> [(column: String, value: String)] {
        if key.isPlain { return [(key.columns[0].name, parameter)] }
        return key.columns.enumerated().map { index, column in
            (column.name, value("(\(parameter)::text::jsonb ->> \(index))", column))
        }
    }

    private static func text(_ name: String, _ column: CatalogueColumn) -> String {
        // The text of a moment would depend on the time zone of the connection.
        ColumnForm(column.type) == .moment ? "(\(name) AT TIME ZONE 'UTC')::text" : ColumnForm(column.type).text(name)
    }

    static func value(_ text: String, _ column: CatalogueColumn) -> String {
        ColumnForm(column.type) == .moment ? "(\(text)::timestamp AT TIME ZONE 'UTC')" : "\(text)::\(column.type.sql)"
    }
}

/// The type of a column, without its domains.
struct CatalogueType: Sendable {
    /// The name in the catalogue, such as `int4`.
    let name: String
    /// The name in SQL, with its schema.
    let sql: String
    /// The declared type of the column, such as `character varying(20)`.
    let declared: String
    /// The kind of the type: `b` for a base type, `e` for an enum, `c` for a row, `r` for a range and `m` for a multirange.
    let kind: String
    /// The name in SQL of the type of the elements, for an array.
    let element: String?
    /// The labels of an enum, in order.
    let labels: [String]
    /// Whether it is one of PostgreSQL's own.
    let isBuiltIn: Bool
    /// The collation of the column in SQL, if it treats different texts as equal.
    var collation: String?
}
#endif
