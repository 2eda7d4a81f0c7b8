@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// SQLite's SQL. Operations that SQLite lacks are performed by functions that call the evaluator (``SQLQueryFunctions``).
struct SQLiteDialect: SQLDialect {
    var name: String { "SQLite" }

    // MARK: Statements

    var placeholders: SQLPlaceholders { .questionMarks }
    var trueCondition: SQLFragment { "1" }
    var falseCondition: SQLFragment { "0" }
    func test(_ condition: SQLFragment, isMet: Bool) -> SQLFragment { isMet ? "(\(condition)) IS 1" : "(\(condition)) IS NOT 1" }
    // SQLite keeps the order of tables that CROSS JOIN combines, and may choose another one after a comma.
    var tableSeparator: SQLFragment { ", " }
    var subqueryName: SQLFragment { "" }
    // A plus sign prevents SQLite from using an index.
    func withoutIndex(_ value: SQLTerm) -> SQLFragment { "+\(value.sql)" }

    // MARK: Order

    func sortKey(_ value: SQLTerm, _ order: TextOrder) -> SQLFragment? {
        switch value.kind {
        case .text: "\(value.sql)\(Self.collation(order))"
        case .number(.any): "CAST(\(value.sql) AS REAL)"
        // Decimal numbers that no other number equals are stored as blobs.
        case .number(.decimal): "CASE WHEN \(value.sql) >= x'' THEN CAST(CAST(\(value.sql) AS TEXT) AS REAL) ELSE \(value.sql) END"
        default: value.sql
        }
    }

    /// The order of bytes needs no collation.
    private static func collation(_ order: TextOrder) -> SQLFragment {
        switch order {
        case .binary: ""
        case .caseInsensitive: " COLLATE CoreDataNoCase"
        case .localized: " COLLATE CoreDataLocalized"
        case .localizedCaseInsensitive: " COLLATE CoreDataLocalizedNoCase"
        case .localizedStandard: " COLLATE CoreDataFinder"
        }
    }

    // NULL comes first in SQLite.
    func sorted(_ key: SQLFragment, ascending: Bool) -> SQLFragment { ascending ? key : "\(key) DESC" }

    // MARK: Numbers

    /// The comparisons by the numbers that `CoreDataCompare` is given.
    static let comparisons: [PredicateComparison.Operator] = [
        .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual,
    ]

    func comparesByValue(_ left: SQLNumberForm, _ right: SQLNumberForm) -> Bool { left != .any && right != .any }

    /// Decimal numbers that no other number equals are stored as blobs, which SQLite orders after all numbers: they are compared one by
    /// one, all others by an index.
    func compareNumbers(_ left: SQLTerm, _ operation: PredicateComparison.Operator, _ right: SQLTerm) -> SQLFragment? {
        guard let code = Self.comparisons.firstIndex(of: operation), let first = left.number, let second = right.number else { return nil }
        let exactly: SQLFragment = "CoreDataCompare(\(SQLBinding.integer(Int64(code))), \(left.forFunctions), \(right.forFunctions))"
        guard comparesByValue(first, second) else { return exactly }
        let plainly: SQLFragment = "\(left.sql) \(operation.symbol) \(right.sql)"
        if operation == .equal { return plainly }
        switch (left.mayBeLongDecimal, right.mayBeLongDecimal) {
        case (false, false): return plainly
        case (true, true): return exactly
        default:
            let decimal = left.mayBeLongDecimal ? left.sql : right.sql
            return "((\(plainly) AND \(decimal) < x'') OR (\(decimal) >= x'' AND \(exactly)))"
        }
    }

    // MARK: Collections

    func isIn(_ value: SQLFragment, _ list: SQLBinding) -> SQLFragment { "\(value) IN (SELECT value FROM CoreDataArray(\(list)))" }

    func elements(of list: SQLBinding, as alias: SQLAlias?) -> SQLListTable {
        guard let alias else { return SQLListTable(table: "CoreDataArray(\(list))", value: "value", position: "rowid") }
        return SQLListTable(table: "CoreDataArray(\(list)) \(alias)", value: "\(alias).value", position: "\(alias).rowid")
    }

    func distinct(_ value: SQLTerm) -> SQLFragment? {
        switch value.kind {
        case .text: "\(value.sql) COLLATE CoreDataText"
        case .number(.any): "CoreDataCanonical(\(value.sql))"
        default: value.sql
        }
    }

    func member(_ value: SQLTerm, of kind: SQLKind) -> SQLFragment? {
        switch kind {
        case .text: "\(value.sql) COLLATE CoreDataText"
        case .number(let form) where !form.isInteger: "CoreDataCanonical(\(value.forFunctions))"
        case .date: value.asReal
        default: value.sql
        }
    }

    func value(_ value: SQLTerm, as kind: SQLKind) -> SQLFragment {
        switch kind {
        case .number(.any): value.forFunctions
        case .date: value.asReal
        default: value.sql
        }
    }
}

extension SQLTerm {
    /// The value in the form of functions: decimal numbers as such.
    var forFunctions: SQLFragment {
        if let constant, case .number(.decimal) = kind { return "\(SQLBinding.constant(constant.number, .number))" }
        if case .number(.decimal) = kind { return "CoreDataDecimal(\(sql))" }
        return sql
    }

    /// The value for arithmetic, in which an integral floating-point number must not be taken for an integer: SQLite may have stored it as
    /// one.
    var asReal: SQLFragment { isStoredDate ? "CAST(\(sql) AS REAL)" : sql }

    /// Whether the value may be a decimal number stored as a blob.
    fileprivate var mayBeLongDecimal: Bool { if case .number(.decimal) = kind { constant == nil } else { false } }
}

extension SQLKind {
    /// The code by which SQL functions receive the kind of an argument.
    var code: String {
        switch self {
        case .null: "-"
        case .number(.boolean): "b"
        case .number(.decimal): "m"
        case .number: "n"
        case .text: "t"
        case .date: "d"
        case .data: "x"
        case .uuid: "u"
        case .url: "l"
        case .object, .anyObject, .entity, .opaque: "?"
        }
    }
}
