internal import Predicates
internal import SQLQueries

extension SQLiteDialect {
    // SQLite compares strings by their bytes.
    func byCodePoints(_ text: SQLFragment) -> SQLFragment { text }

    func equalTexts(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment? { "\(left) = \(right) COLLATE CoreDataText" }

    func isEquivalent(_ text: SQLFragment, toElementOf list: SQLBinding) -> SQLFragment? { isIn("\(text) COLLATE CoreDataText", list) }

    func isEquivalent(_ text: SQLFragment, to element: SQLFragment, selectedBy from: SQLFragment) -> SQLFragment? {
        "\(text) COLLATE CoreDataText IN (SELECT \(element)\(from))"
    }

    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment? {
        if let constant = text.constant { return "\(SQLBinding.constant(constant.number, .folded(options)))" }
        return "CoreDataFold(\(text.sql), \(options.binding))"
    }

    func match(
        _ text: SQLTerm, _ operation: TextOperator, _ pattern: SQLTerm, _ options: PredicateComparison.Options
    ) -> SQLFragment? {
        let call: SQLFragment =
            switch operation {
            case .beginsWith: "CoreDataBeginsWith(\(text.sql), \(pattern.sql), \(options.binding))"
            case .endsWith: "CoreDataEndsWith(\(text.sql), \(pattern.sql), \(options.binding))"
            case .contains: "CoreDataContains(\(text.sql), \(pattern.sql), \(options.binding))"
            case .like: "CoreDataLike(\(text.sql), \(pattern.sql), \(options.binding))"
            case .matches: "CoreDataMatches(\(text.sql), \(pattern.sql), \(options.binding))"
            }
        // An index finds the strings that have the common prefix of all matches.
        guard !options.folds, text.isColumn, let constant = pattern.constant, constant.shape.hasPrefix else { return call }
        switch operation {
        case .beginsWith:
            if constant.shape.spellings != 1 { return "(\(range(text, constant)) AND \(call))" }
            // ASCII matches by bytes, unless a mark follows. All marks are at least U+0300: few strings need further comparison.
            let mark = SQLBinding.constant(constant.number, .withMark)
            return "(\(range(text, constant)) AND (\(text.sql) < \(mark) OR \(call)))"
        case .like: return "(\(range(text, constant, .patternPrefix, .afterPatternPrefix)) AND \(call))"
        case .endsWith, .contains, .matches: return call
        }
    }
}

extension PredicateComparison.Options {
    fileprivate var binding: SQLBinding { .integer(Int64(rawValue)) }
}
