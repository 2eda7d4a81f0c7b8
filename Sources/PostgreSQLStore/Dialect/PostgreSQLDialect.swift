#if PostgreSQL
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// PostgreSQL's SQL. Functions that the store keeps in the database (``ServerFunctions``) do what it lacks; a clause that they cannot serve is
/// refused.
struct PostgreSQLDialect: SQLDialect {
    /// Whether columns may hold NaN, as those of other programs may. A save refuses NaN.
    var mayHoldNaN = false

    var name: String { "PostgreSQL" }
    var placeholders: SQLPlaceholders { .numbered("$") }

    // Numbers are compared and computed with booleans in predicates.
    func column(_ column: SQLFragment, _ storage: SQLStorage) -> SQLTerm {
        if case .boolean = storage { return SQLTerm(column: "CAST(CAST(\(column) AS integer) AS bigint)", storage) }
        return SQLTerm(column: column, storage)
    }

    // MARK: Order

    func sortKey(_ value: SQLTerm, _ order: TextOrder) -> SQLFragment? {
        guard case .text = value.kind else { return value.sql }
        guard order == .binary else { return nil }
        // Columns have the order of code points. If rows are distinct, a sort key must be the column itself.
        return value.isColumn ? value.sql : byCodePoints(value.sql)
    }

    func byCodePoints(_ text: SQLFragment) -> SQLFragment { "\(text) COLLATE \"C\"" }

    // MARK: Numbers

    /// Integers are `bigint` or `numeric`, decimal numbers `numeric`, and all others `double precision`: a decimal number equals a binary one with
    /// the same shortest numeral.
    func comparesByValue(_ left: SQLNumberForm, _ right: SQLNumberForm) -> Bool {
        left.isInteger && right.isInteger || left.isBinary && right.isBinary
    }

    func compareNumbers(_ left: SQLTerm, _ operation: PredicateComparison.Operator, _ right: SQLTerm) -> SQLFragment? {
        guard let first = left.number, let second = right.number else { return nil }
        let isMixed = first == .plain && !second.isBinary || second == .plain && !first.isBinary
        let comparison: SQLFragment =
            isMixed ? "\(left.exact) \(operation.symbol) \(right.exact)" : "\(left.sql) \(operation.symbol) \(right.sql)"
        guard mayHoldNaN else { return comparison }
        // In PostgreSQL, NaN equals itself, and is greater than any number. In predicates it equals nothing, and has no order.
        func isReal(_ term: SQLTerm) -> Bool { term.isColumn && term.number?.isInteger == false }
        let greater: SQLTerm? =
            switch operation {
            case .greaterThan, .greaterThanOrEqual: left
            case .lessThan, .lessThanOrEqual: right
            case .equal where isReal(right): left
            default: nil
            }
        guard let greater, isReal(greater) else { return comparison }
        return "(\(comparison) AND \(greater.sql) <> 'NaN')"
    }

    // MARK: Collections

    func isIn(_ value: SQLFragment, _ list: SQLBinding) -> SQLFragment { "\(value) = ANY(\(list))" }

    func elements(of list: SQLBinding, as alias: SQLAlias?) -> SQLListTable {
        guard let alias else { return SQLListTable(table: "unnest(\(list)) AS value", value: "value", position: "0") }
        return SQLListTable(
            table: "unnest(\(list)) WITH ORDINALITY AS \(alias)(value, position)", value: "\(alias).value",
            position: "(\(alias).position - 1)")
    }

    func distinct(_ value: SQLTerm) -> SQLFragment? {
        if case .text = value.kind { return "normalize(\(value.sql))" }
        return value.sql
    }

    func member(_ value: SQLTerm, of kind: SQLKind) -> SQLFragment? {
        // The elements of an empty list have no type.
        if value.isNull {
            switch kind {
            case .number: return "CAST(NULL AS numeric)"
            case .date: return "CAST(NULL AS timestamptz)"
            case .uuid: return "CAST(NULL AS uuid)"
            case .data: return "CAST(NULL AS bytea)"
            case .object, .anyObject, .entity: return "CAST(NULL AS bigint)"
            case .text, .url, .null, .opaque: return "CAST(NULL AS text)"
            }
        }
        return known(value, kind)
    }

    private func known(_ value: SQLTerm, _ kind: SQLKind) -> SQLFragment {
        switch kind {
        case .text: return "normalize(\(value.sql))"
        case .number: return value.exact
        default: return value.sql
        }
    }

    func value(_ value: SQLTerm, as kind: SQLKind) -> SQLFragment {
        if value.isNull { return "NULL" }
        switch kind {
        case .number(.any), .number(.decimal): return value.exact
        default: return value.sql
        }
    }
}

extension SQLTerm {
    /// A number as `numeric`, exactly: a binary one by its shortest numeral.
    var exact: SQLFragment {
        if number == .decimal { return sql }
        return "coredata_number(\(sql))"
    }

    /// A number as `double precision`.
    var binary: SQLFragment { "CAST(\(sql) AS double precision)" }
}
#endif
