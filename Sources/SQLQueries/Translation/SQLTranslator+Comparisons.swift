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
            if left.isNull && right.isNull { return "1" }
            return "\(left.isNull ? right.sql : left.sql) IS NULL"
        }
        guard left.kind.comparisonClass == right.kind.comparisonClass, !left.isNotANumber, !right.isNotANumber else {
            return never(left, right)
        }
        switch (left.kind, right.kind) {
        case (.number, _):
            if let test = emptiness(left, .equal, right) { return test }
            if areComparable(left, right) { return "\(left.sql) = \(right.sql)" }
            return "CoreDataCompare(\(SQLBinding.integer(4)), \(left.forFunctions), \(right.forFunctions))"
        case (.text, _): return equalText(left, right, options)
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

    /// Returns false, or unknown where a value is nil, for values that can never match.
    func never(_ left: SQLTerm, _ right: SQLTerm) -> SQLFragment {
        let tests = [left, right].filter { $0.constant == nil }.map { "\($0.sql) IS NULL" as SQLFragment }
        return tests.isEmpty ? "0" : "((\(tests.joined(by: " OR "))) AND NULL)"
    }

    func areComparable(_ left: SQLTerm, _ right: SQLTerm) -> Bool {
        guard let first = left.number, let second = right.number else { return false }
        return first.isComparable && second.isComparable
    }

    /// Translates a comparison by order.
    ///
    /// - Parameters:
    ///   - operation: The operator in SQL.
    ///   - code: The number of the operator in ``SQLQueryFunctions``.
    func order(
        _ left: SQLTerm, _ operation: SQLFragment, _ code: Int64, _ right: SQLTerm, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        if left.isNull || right.isNull { return "NULL" }
        guard left.kind.comparisonClass == right.kind.comparisonClass, !left.isNotANumber, !right.isNotANumber else {
            return never(left, right)
        }
        switch left.kind.comparisonClass {
        case .number:
            return emptiness(left, SQLFunctionNames.comparisons[Int(code)], right) ?? numberOrder(left, operation, code, right)
        case .text:
            if !options.folds { return "\(left.sql) \(operation) \(right.sql)" }
            return "\(folded(left, options)) \(operation) \(folded(right, options))"
        case .object, .entity: return never(left, right)
        case .opaque: throw unsupported("What a transformer made of a value cannot be compared.")
        case .null, .date, .data, .uuid, .url: return "\(left.sql) \(operation) \(right.sql)"
        }
    }

    /// Decimal numbers that no other number equals are stored as blobs, which SQLite orders after all numbers: they are compared one by
    /// one, all others by an index.
    private func numberOrder(_ left: SQLTerm, _ operation: SQLFragment, _ code: Int64, _ right: SQLTerm) -> SQLFragment {
        let exactly: SQLFragment = "CoreDataCompare(\(SQLBinding.integer(code)), \(left.forFunctions), \(right.forFunctions))"
        guard areComparable(left, right), !(left.mayBeLongDecimal && right.mayBeLongDecimal) else { return exactly }
        let plainly: SQLFragment = "\(left.sql) \(operation) \(right.sql)"
        guard left.mayBeLongDecimal || right.mayBeLongDecimal else { return plainly }
        let decimal = left.mayBeLongDecimal ? left.sql : right.sql
        return "((\(plainly) AND \(decimal) < x'') OR (\(decimal) >= x'' AND \(exactly)))"
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
        case .lessThan: return "0"
        case .greaterThanOrEqual: return "1"
        default: return nil
        }
    }

    // MARK: Text

    /// Translates the equality of strings by their characters, in any spelling: bytes are compared where there are few spellings.
    private func equalText(_ left: SQLTerm, _ right: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment {
        if options.folds { return "\(folded(left, options)) = \(folded(right, options))" }
        let (value, constant) = left.constant == nil ? (left, right) : (right, left)
        guard let known = constant.constant, value.constant == nil else { return "\(left.sql) = \(right.sql) COLLATE CoreDataText" }
        switch known.shape.spellings {
        case 1: return "\(value.sql) = \(constant.sql)"
        case 0:
            let exactly: SQLFragment = "\(value.sql) = \(constant.sql) COLLATE CoreDataText"
            return known.shape.hasPrefix ? "(\(range(value, known)) AND \(exactly))" : exactly
        case let count:
            let spellings = (0..<Int(count)).map { "\(SQLBinding.constant(known.number, .spelling($0)))" as SQLFragment }
            return "\(value.sql) IN (\(spellings.joined(by: ", ")))"
        }
    }

    /// Returns the range of strings with the prefix of all spellings of a constant, for which an index is used.
    private func range(
        _ value: SQLTerm, _ constant: SQLConstant, _ first: SQLConstantForm = .prefix, _ end: SQLConstantForm = .afterPrefix
    ) -> SQLFragment {
        let low = SQLBinding.constant(constant.number, first)
        let high = SQLBinding.constant(constant.number, end)
        return "\(value.sql) >= \(low) AND \(value.sql) < \(high)"
    }

    /// Returns a string with case and diacritics folded.
    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment {
        if let constant = text.constant { return "\(SQLBinding.constant(constant.number, .folded(options)))" }
        return "CoreDataFold(\(text.sql), \(options.binding))"
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
        var pattern = part.sql
        if operation == .matches, let constant = part.constant {
            pattern = "\(SQLBinding.constant(constant.number, .regularExpression(options)))"
        }
        let call: SQLFragment =
            switch operation {
            case .beginsWith: "CoreDataBeginsWith(\(text.sql), \(pattern), \(options.binding))"
            case .endsWith: "CoreDataEndsWith(\(text.sql), \(pattern), \(options.binding))"
            case .contains: "CoreDataContains(\(text.sql), \(pattern), \(options.binding))"
            case .like: "CoreDataLike(\(text.sql), \(pattern), \(options.binding))"
            case .matches: "CoreDataMatches(\(text.sql), \(pattern), \(options.binding))"
            }
        if !options.folds, text.isColumn, let constant = part.constant, constant.shape.hasPrefix {
            switch operation {
            case .beginsWith:
                if constant.shape.spellings != 1 { return "(\(range(text, constant)) AND \(call))" }
                // ASCII matches by bytes, unless a mark follows. All marks are at least U+0300: few strings need further comparison.
                let mark = SQLBinding.constant(constant.number, .withMark)
                return "(\(range(text, constant)) AND (\(text.sql) < \(mark) OR \(call)))"
            case .like: return "(\(range(text, constant, .patternPrefix, .afterPatternPrefix)) AND \(call))"
            case .endsWith, .contains, .matches: break
            }
        }
        return call
    }
}

extension SQLTerm {
    /// Whether the value is the constant NaN.
    fileprivate var isNotANumber: Bool { constant?.shape.kind == .notANumber }

    /// Whether the value may be a decimal number stored as a blob.
    fileprivate var mayBeLongDecimal: Bool { if case .number(.decimal) = kind { constant == nil } else { false } }
}

extension PredicateComparison.Options {
    /// Whether case or diacritics are ignored.
    var folds: Bool { !isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) }
    var binding: SQLBinding { .integer(Int64(rawValue)) }
}

extension TextOperator {
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
