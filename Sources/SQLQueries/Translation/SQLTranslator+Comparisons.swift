@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension SQLTranslator {
    /// Translates the equality of two values.
    ///
    /// - Parameter asksForNil: Whether a literal nil tests whether the other side has a value.
    func equality(
        _ left: SQLTerm, _ right: SQLTerm, _ options: PredicateComparison.Options, asksForNil: Bool
    ) throws -> SQLFragment {
        if left.isNull || right.isNull {
            let isAsked = (left.isNull && left.constant != nil) || (right.isNull && right.constant != nil)
            guard asksForNil, isAsked else { return "NULL" }
            if left.isNull && right.isNull { return dialect.trueCondition }
            return "\(left.isNull ? right.sql : left.sql) IS NULL"
        }
        guard left.kind.comparisonClass == right.kind.comparisonClass, !left.isNotANumber, !right.isNotANumber else {
            return never(left, right)
        }
        switch (left.kind, right.kind) {
        case (.number, _):
            if let test = emptiness(left, .equal, right) { return test }
            return try known(dialect.compareNumbers(left, .equal, right), "the equality of such numbers")
        case (.text, _): return try equalText(left, right, options)
        case (.object(let first), .object(let second)):
            return first.rootEntity === second.rootEntity ? "\(left.sql) = \(right.sql)" : never(left, right)
        case (.object(let entity), .anyObject): return "\(left.sql) = \(key(right, of: entity))"
        case (.anyObject, .object(let entity)): return "\(key(left, of: entity)) = \(right.sql)"
        case (.anyObject, .anyObject): throw unsupported("Both sides are objects that the program holds.")
        case (.opaque, _): throw unsupported("What a transformer made of a value cannot be compared.")
        default: return "\(left.sql) = \(right.sql)"
        }
    }

    private func key(_ constant: SQLTerm, of entity: NSEntityDescription) -> SQLFragment {
        guard let number = constant.constant?.number else { return constant.sql }
        return "\(SQLBinding.constant(number, .key(root: ObjectIdentifier(entity.rootEntity))))"
    }

    /// Returns false, or unknown if a value is nil, for values that can never match.
    func never(_ left: SQLTerm, _ right: SQLTerm) -> SQLFragment {
        let tests = [left, right].filter { $0.constant == nil }.map { "\($0.sql) IS NULL" as SQLFragment }
        return tests.isEmpty ? dialect.falseCondition : "((\(tests.joined(by: " OR "))) AND NULL)"
    }

    /// Returns whether `=` and IN compare two values by value.
    func comparesByValue(_ left: SQLTerm, _ right: SQLTerm) -> Bool {
        guard let first = left.number, let second = right.number else { return false }
        return dialect.comparesByValue(first, second)
    }

    /// Translates a comparison by order.
    func order(
        _ left: SQLTerm, _ operation: PredicateComparison.Operator, _ right: SQLTerm, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        if left.isNull || right.isNull { return "NULL" }
        guard left.kind.comparisonClass == right.kind.comparisonClass, !left.isNotANumber, !right.isNotANumber else {
            return never(left, right)
        }
        let symbol = operation.symbol
        switch left.kind.comparisonClass {
        case .number:
            if let test = emptiness(left, operation, right) { return test }
            return try known(dialect.compareNumbers(left, operation, right), "the order of such numbers")
        case .text:
            if !options.folds { return "\(dialect.byCodePoints(left.sql)) \(symbol) \(dialect.byCodePoints(right.sql))" }
            return "\(dialect.byCodePoints(try folded(left, options))) \(symbol) \(dialect.byCodePoints(try folded(right, options)))"
        case .object, .entity: return never(left, right)
        case .opaque: throw unsupported("What a transformer made of a value cannot be compared.")
        case .null, .date, .data, .uuid, .url: return "\(left.sql) \(symbol) \(right.sql)"
        }
    }

    /// Translates the comparison of a count with 0: testing existence costs less than counting. Returns nil for any other comparison.
    private func emptiness(_ left: SQLTerm, _ operation: PredicateComparison.Operator, _ right: SQLTerm) -> SQLFragment? {
        let from: SQLFragment
        var operation = operation
        if let counted = left.counted, right.constant?.shape.isZero == true {
            from = counted
        } else if let counted = right.counted, left.constant?.shape.isZero == true {
            from = counted
            switch operation {
            case .lessThan: operation = .greaterThan
            case .lessThanOrEqual: operation = .greaterThanOrEqual
            case .greaterThan: operation = .lessThan
            case .greaterThanOrEqual: operation = .lessThanOrEqual
            default: break
            }
        } else {
            return nil
        }
        switch operation {
        case .equal, .lessThanOrEqual: return "NOT EXISTS (SELECT 1\(from))"
        case .greaterThan: return "EXISTS (SELECT 1\(from))"
        case .lessThan: return dialect.falseCondition
        case .greaterThanOrEqual: return dialect.trueCondition
        default: return nil
        }
    }

    // MARK: Text

    /// Translates the equality of strings by their characters, in any spelling: bytes are compared if there are few spellings.
    private func equalText(_ left: SQLTerm, _ right: SQLTerm, _ options: PredicateComparison.Options) throws -> SQLFragment {
        if options.folds { return "\(try folded(left, options)) = \(try folded(right, options))" }
        let (value, constant) = left.constant == nil ? (left, right) : (right, left)
        guard let known = constant.constant, value.constant == nil else { return try equivalent(left, right) }
        switch known.shape.spellings {
        case 1: return "\(value.sql) = \(constant.sql)"
        case 0:
            let exactly = try equivalent(value, constant)
            return known.shape.hasPrefix ? "(\(dialect.range(value, known)) AND \(exactly))" : exactly
        case let count:
            let spellings = (0..<Int(count)).map { "\(SQLBinding.constant(known.number, .spelling($0)))" as SQLFragment }
            return "\(value.sql) IN (\(spellings.joined(by: ", ")))"
        }
    }

    private func equivalent(_ left: SQLTerm, _ right: SQLTerm) throws -> SQLFragment {
        try known(dialect.equalTexts(left.sql, right.sql), "the equivalence of strings in several spellings")
    }

    /// Returns a string with case and diacritics folded.
    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) throws -> SQLFragment {
        try known(dialect.folded(text, options), "the equality of text regardless of case or diacritics")
    }

    /// Translates a string operator such as BEGINSWITH.
    func text(
        _ left: SQLOperand, _ operation: TextOperator, _ right: SQLOperand, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        let text = try term(left)
        let part = try term(right)
        return try self.text(text, operation, part, options)
    }

    func text(
        _ text: SQLTerm, _ operation: TextOperator, _ part: SQLTerm, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        if let other = [text, part].first(where: { $0.kind.comparisonClass != .text && !$0.isNull }) {
            throw invalid(.unsupported, "\(operation.keyword) compares text, found \(other.kind.name)")
        }
        if text.isNull || part.isNull { return "NULL" }
        var pattern = part
        if operation == .matches, let constant = part.constant {
            pattern.sql = "\(SQLBinding.constant(constant.number, .regularExpression(options)))"
        }
        return try known(dialect.match(text, operation, pattern, options), operation.keyword)
    }
}

extension SQLTerm {
    /// Whether the value is the constant NaN.
    fileprivate var isNotANumber: Bool { constant?.shape.kind == .notANumber }
}

extension TextOperator {
    /// The operator in the predicate language.
    package var keyword: String {
        switch self {
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .contains: "CONTAINS"
        case .like: "LIKE"
        case .matches: "MATCHES"
        }
    }
}
