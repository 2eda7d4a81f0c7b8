internal import Foundation
internal import MappedTables
internal import ObjectGraph
internal import PropertyLists
internal import SQLQueries

/// How SQLite reads and writes the tables of other programs.
enum SQLiteTableDialect: TableDialect {
    typealias ColumnType = SQLiteColumnType
    typealias Form = SQLiteColumnForm
    typealias Parameter = SQLiteRawValue
    typealias Column = CatalogueColumn<SQLiteTableDialect>
    typealias Key = KeyColumns<SQLiteTableDialect>

    // MARK: Types

    static func declared(_ type: SQLiteColumnType) -> String { type.declared.isEmpty ? "no type" : type.declared }
    static func form(of type: SQLiteColumnType) -> SQLiteColumnForm? { SQLiteColumnForm(type) }
    static func form(of type: SQLiteColumnType, for storage: SQLStorage) -> SQLiteColumnForm? { SQLiteColumnForm(type, for: storage) }
    // Every integer column holds 64-bit integers; a value that an attribute cannot hold is an error when it is read.
    static func bits(of form: SQLiteColumnForm) -> Int? { nil }
    static func isUUID(_ form: SQLiteColumnForm) -> Bool { if case .uuid = form.kind { true } else { false } }
    static var enforcesReferences: Bool { false }
    static var transformables: String { "JSON or bytes" }

    static func drafted(_ type: SQLiteColumnType) -> DraftedType? {
        guard let form = SQLiteColumnForm(type) else { return nil }
        switch form.kind {
        case .integer: return DraftedType(.integer64)
        case .boolean: return DraftedType(.boolean)
        case .double: return DraftedType(.double)
        case .decimal: return DraftedType(.decimal)
        case .text:
            let isForeign = type.hasUnknownCollation
            return DraftedType(
                .string,
                note: isForeign
                    ? "compared by its characters: its collation, \(type.collation ?? ""), is that of its program, without which SQLite changes none of its "
                        + "indexes" : nil)
        case .spelled:
            return DraftedType(.string, note: "read and written as text: its type says nothing else, or its values do not keep to it")
        case .uuid:
            let isCertain = ["UUID", "GUID", "UNIQUEIDENTIFIER"].contains(type.word)
            return DraftedType(.uuid, note: isCertain ? nil : "taken for UUIDs; make it a string if it holds something else")
        case .bytes: return DraftedType(.binaryData)
        case .json: return DraftedType(.transformable, note: "transformable: dictionaries, arrays, strings, numbers")
        case .date(.text(let style)):
            return DraftedType(.date, note: style.isDay ? "the date of its midnight in UTC" : "taken for a time in UTC")
        case .date(.number(let unit)): return DraftedType(.date, note: "taken for \(unit) since 1970")
        }
    }

    // MARK: Statements

    static func placeholder(_ number: Int) -> String { "?\(number)" }
    static func literal(_ number: Int64) -> String { "\(number)" }
    static func selected(_ column: String, _ form: SQLiteColumnForm, key: [String]) -> String { form.selected(column, key: key) }
    // Dates are converted row by row, which includes infinite ones.
    static func bounded(_ selected: String, _ form: SQLiteColumnForm) -> String? { nil }
    static func written(_ parameter: String, _ form: SQLiteColumnForm, _ type: SQLiteColumnType) -> String { parameter }

    /// A number that is made of the values themselves: SQLite does not count the versions of rows.
    static func version(of relation: CatalogueRelation<SQLiteTableDialect>, _ columns: [Column], as table: String) -> String {
        folded(columns.map { "\(table).\(TableNames.identifier($0.name))" }, by: "CoreDataVersion")
    }

    /// Returns the call of a function with values. SQLite's functions have at most 127 arguments: the result of the first ones is one of the next call.
    private static func folded(_ values: [String], by function: String) -> String {
        var result = "\(function)(\(values.prefix(100).joined(separator: ", ")))"
        for start in stride(from: 100, to: values.count, by: 100) {
            result = "\(function)(\(result), \(values[start..<min(start + 100, values.count)].joined(separator: ", ")))"
        }
        return result
    }

    /// Returns SQL of values that a column may have for a while, which no row has; best first.
    static func parkingValues(of column: Column, _ table: MappedTable<SQLiteTableDialect>) -> [String] {
        let name = TableNames.identifier(column.name)
        let number = "(SELECT coalesce(min(\(name)), 0) - 1 FROM \(table.sql))"
        let values =
            switch column.type.affinity {
            case .integer, .real, .numeric: [number]
            case .text: ["lower(hex(randomblob(16)))"]
            case .none: ["randomblob(16)", number]
            }
        return (column.isRequired ? [] : ["NULL"]) + values
    }

    // MARK: Rows without a key

    static var digestType: SQLiteColumnType {
        var type = SQLiteColumnType(place: "the digest", declared: "TEXT", affinity: .text, isStrict: true)
        type.collation = "BINARY"
        return type
    }

    static func digest(of columns: [Column], in table: String) -> String {
        folded(columns.map { "\(table).\(TableNames.identifier($0.name))" }, by: "CoreDataDigest")
    }

    static func isComparable(_ type: SQLiteColumnType) -> Bool {
        // Other collations belong to the file's program.
        ["BINARY", "NOCASE", "RTRIM"].contains(type.collation)
    }

    // MARK: Keys

    // Other collations belong to the file's program.
    static func hasSpellings(_ column: Column) -> Bool { ["NOCASE", "RTRIM"].contains(column.type.collation) }

    static func equal(_ name: String, _ column: Column, _ value: String, as target: Column) -> String {
        if let collation = target.type.collation, hasSpellings(target), column.type.collation != collation {
            return "\(name) COLLATE \(collation) = \(value)"
        }
        if column.type.needsCollation || target.type.needsCollation { return "\(name) COLLATE BINARY = \(value)" }
        return "\(name) = \(value)"
    }

    // An expression is compared by its bytes.
    static func compared(_ key: String, _ kind: SQLKeyKind) -> String { key }

    static func kind(of columns: [Column], target: Key?) -> (kind: SQLKeyKind, isPlain: Bool) {
        if let target, target.columns.count == columns.count {
            if target.isPlain { return (target.kind, true) }
            // Values of several columns are compared unchanged.
            let areAlike = zip(columns, target.columns).allSatisfy { $0.type.affinity == $1.type.affinity }
            return (.text, !areAlike)
        }
        guard columns.count == 1 else { return (.text, false) }
        return switch columns[0].type.affinity {
        case .integer: (.integer, true)
        case .text: (.text, true)
        // Each value has a type of its own.
        case .numeric, .real, .none: (.text, false)
        }
    }

    static func selected(_ key: Key, of table: String?) -> String {
        let names = key.columns.map { key.name($0, of: table) }
        guard key.isPlain else { return "CoreDataKey(\(names.joined(separator: ", ")))" }
        // A column may refer to one of another type. A text that is no whole number names no row: the reader refuses it, as in a column of numbers.
        return switch (key.kind, key.columns[0].type.affinity) {
        case (.integer, .text):
            "CASE WHEN \(names[0]) = CAST(CAST(\(names[0]) AS INTEGER) AS TEXT) THEN CAST(\(names[0]) AS INTEGER) ELSE \(names[0]) END"
        case (.integer, _): names[0]
        case (_, .text): key.columns[0].type.isBinary ? names[0] : "\(names[0]) COLLATE BINARY"
        default: "CAST(\(names[0]) AS TEXT)"
        }
    }

    static func key(of parts: [Any], _ columns: [Column]) -> String? {
        guard let json = try? JSONSerialization.data(withJSONObject: parts) else { return nil }
        let values = zip(SQLiteKeys.parts(String(decoding: json, as: UTF8.self)), columns).map { value, column -> SQLiteRawValue in
            // A number that is written as a text, or a text as a number, becomes what the column would make of it.
            switch (value, column.type.affinity) {
            case (.text(let text), .integer): Int64(text).map { .integer($0) } ?? value
            case (.integer(let number), .text): .text(String(number))
            default: value
            }
        }
        return SQLiteKeys.text(values)
    }

    static func written(_ key: Key, _ parameter: String) -> [(column: String, value: String)] {
        if key.isPlain { return [(key.columns[0].name, parameter)] }
        return key.columns.enumerated().map { ($1.name, "CoreDataKeyPart(\(parameter), \($0))") }
    }
}

extension KeyColumns where Dialect == SQLiteTableDialect {
    /// The condition that a row has one of the keys of a parameter, a list. Indexes of the columns serve it.
    func isIn(_ parameter: String, of table: String?) -> String {
        let list = comparisons(with: "value", of: table).map { comparison in
            guard isLookedUp, let collation = comparison.target.type.collation, !comparison.target.type.hasUnknownCollation else {
                let isCollated = comparison.column.type.needsCollation || comparison.target.type.needsCollation
                return isCollated ? "\(comparison.name) COLLATE BINARY" : comparison.name
            }
            return "\(comparison.name) COLLATE \(collation)"
        }.joined(separator: ", ")
        if isPlain {
            // SQLite compares a column of texts with numbers of a list by their kinds.
            let value = kind == .integer && columns[0].type.affinity == .text ? "CAST(value AS TEXT)" : "value"
            return "\(list) IN (SELECT \(value) FROM CoreDataArray(\(parameter)))"
        }
        let values = columns.indices.map { "CoreDataKeyPart(value, \($0))" }.joined(separator: ", ")
        return "(\(list)) IN (SELECT \(values) FROM CoreDataArray(\(parameter)))"
    }
}

extension SQLKeyKind {
    /// Returns a key as a value of a statement; nil for a key of another kind.
    func value(_ reference: NSManagedObjectID.Reference) -> SQLValue? {
        switch (self, reference) {
        case (.integer, .integer(let number)): .integer(number)
        case (.text, .string(let text)): .text(text)
        default: nil
        }
    }
}
