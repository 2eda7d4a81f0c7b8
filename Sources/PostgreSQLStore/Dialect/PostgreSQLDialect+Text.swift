#if PostgreSQL
internal import Predicates
internal import SQLQueries

extension PostgreSQLDialect {
    func equalTexts(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment? { "normalize(\(left)) = normalize(\(right))" }

    func isEquivalent(_ text: SQLFragment, toElementOf list: SQLBinding) -> SQLFragment? {
        "normalize(\(text)) IN (SELECT normalize(value) FROM unnest(\(list)) AS value)"
    }

    func isEquivalent(_ text: SQLFragment, to element: SQLFragment, selectedBy from: SQLFragment) -> SQLFragment? {
        "normalize(\(text)) IN (SELECT normalize(\(element))\(from))"
    }

    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment? {
        // The server does not know the program's locale.
        if options.contains(.localeSensitive) { return nil }
        if let constant = text.constant { return "\(SQLBinding.constant(constant.number, .folded(options)))" }
        return "coredata_fold(\(text.sql), \(options.foldings))"
    }

    /// Returns a string in composed form, folded according to the options.
    private func operand(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment? {
        if options.folds { return folded(text, options) }
        if let constant = text.constant { return "\(SQLBinding.constant(constant.number, .folded([])))" }
        return "normalize(\(text.sql))"
    }

    func match(
        _ text: SQLTerm, _ operation: TextOperator, _ pattern: SQLTerm, _ options: PredicateComparison.Options
    ) -> SQLFragment? {
        guard let value = operand(text, options), let part = operand(pattern, options) else { return nil }
        let call: SQLFragment
        switch operation {
        case .beginsWith: call = "coredata_begins(\(value), \(part))"
        case .endsWith: call = "coredata_ends(\(value), \(part))"
        case .contains: call = "coredata_contains(\(value), \(part))"
        // As a subquery, so that the pattern of a constant is made once.
        case .like: call = "\(value) ~ (SELECT coredata_like_pattern(\(part)))"
        // PostgreSQL has other regular expressions.
        case .matches: return nil
        }
        // An index finds the strings that have the common prefix of all matches.
        guard !options.folds, text.isColumn, let constant = pattern.constant, constant.shape.hasPrefix else { return call }
        switch operation {
        case .beginsWith: return "(\(range(text, constant)) AND \(call))"
        case .like: return "(\(range(text, constant, .patternPrefix, .afterPatternPrefix)) AND \(call))"
        case .endsWith, .contains, .matches: return call
        }
    }

    func read(_ key: String, of text: SQLTerm) -> SQLFragment? { key == "length" ? "coredata_length(\(text.sql))" : nil }
}

extension PredicateComparison.Options {
    /// The foldings that the server applies: 1 for case, 2 for diacritics.
    fileprivate var foldings: SQLBinding {
        .integer((contains(.caseInsensitive) ? 1 : 0) + (contains(.diacriticInsensitive) ? 2 : 0))
    }
}
#endif
