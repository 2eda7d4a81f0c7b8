@_spi(Stores) package import ObjectGraph
package import Predicates

/// Standard SQL.
extension SQLDialect {
    package var trueCondition: SQLFragment { "TRUE" }
    package var falseCondition: SQLFragment { "FALSE" }
    package func test(_ condition: SQLFragment, isMet: Bool) -> SQLFragment {
        isMet ? "(\(condition)) IS TRUE" : "(\(condition)) IS NOT TRUE"
    }
    // After a comma, the condition of a join would know only the last table.
    package var tableSeparator: SQLFragment { " CROSS JOIN " }
    package var page: SQLFragment { " LIMIT \(SQLBinding.limit) OFFSET \(SQLBinding.offset)" }
    package var subqueryName: SQLFragment { " AS found" }
    package func column(_ column: SQLFragment, _ storage: SQLStorage) -> SQLTerm { SQLTerm(column: column, storage) }
    package func withoutIndex(_ value: SQLTerm) -> SQLFragment { value.sql }

    package func sortKey(_ value: SQLTerm, _ order: TextOrder) -> SQLFragment? {
        if case .text = value.kind { return order == .binary ? byCodePoints(value.sql) : nil }
        return value.sql
    }
    package func sorted(_ key: SQLFragment, ascending: Bool) -> SQLFragment {
        ascending ? "\(key) ASC NULLS FIRST" : "\(key) DESC NULLS LAST"
    }

    package func comparesByValue(_ left: SQLNumberForm, _ right: SQLNumberForm) -> Bool { true }
    package func compareNumbers(_ left: SQLTerm, _ operation: PredicateComparison.Operator, _ right: SQLTerm) -> SQLFragment? {
        "\(left.sql) \(operation.symbol) \(right.sql)"
    }
    package func byCodePoints(_ text: SQLFragment) -> SQLFragment { text }
    /// Returns the range of strings with the prefix of all spellings of a constant, for which an index is used.
    package func range(
        _ text: SQLTerm, _ constant: SQLConstant, _ first: SQLConstantForm = .prefix, _ end: SQLConstantForm = .afterPrefix
    ) -> SQLFragment {
        let low = SQLBinding.constant(constant.number, first)
        let high = SQLBinding.constant(constant.number, end)
        let value = byCodePoints(text.sql)
        return "\(value) >= \(low) AND \(value) < \(high)"
    }

    package func distinct(_ value: SQLTerm) -> SQLFragment? { member(value, of: value.kind) }
    package func member(_ value: SQLTerm, of kind: SQLKind) -> SQLFragment? { value.sql }
    package func value(_ value: SQLTerm, as kind: SQLKind) -> SQLFragment { value.sql }

    package func calculate(_ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm) -> SQLTerm? {
        guard let first = left.number, let second = right.number else { return nil }
        let kind = SQLKind.number(first.isBinary && second.isBinary ? .plain : .decimal)
        switch operation {
        case .add: return SQLTerm(sql: "(\(left.sql) + \(right.sql))", kind: kind)
        case .subtract: return SQLTerm(sql: "(\(left.sql) - \(right.sql))", kind: kind)
        case .multiply: return SQLTerm(sql: "(\(left.sql) * \(right.sql))", kind: kind)
        case .divide: return SQLTerm(sql: "(\(left.sql) / \(right.sql))", kind: kind)
        default: return nil
        }
    }
    package func element(_ element: NSAttributeDescription, at path: [String], in composite: SQLFragment) -> SQLFragment? { nil }
}

extension SQLTerm {
    /// Creates the value of a column.
    package init(column: SQLFragment, _ storage: SQLStorage) {
        let kind: SQLKind =
            switch storage {
            case .integer: .number(.integer)
            case .boolean: .number(.boolean)
            case .double: .number(.plain)
            case .decimal: .number(.decimal)
            case .date: .date
            case .text: .text
            case .data: .data
            case .uuid: .uuid
            case .uri: .url
            case .externalData, .transformable, .composite: .opaque
            }
        self.init(sql: column, kind: kind, isColumn: true, isStoredDate: kind.comparisonClass == .date)
    }
}
