internal import Predicates

extension SQLTranslator {
    /// Whether two values are worth the same.
    ///
    /// - Parameter asksForNil: whether a nil that is written asks whether the other has a value.
    func equality(
        _ left: SQLTerm, _ right: SQLTerm, _ options: PredicateComparison.Options, asksForNil: Bool
    ) throws -> SQLFragment {
        if left.isNull || right.isNull {
            let isAsked = (left.isNull && left.constant != nil) || (right.isNull && right.constant != nil)
            guard asksForNil, isAsked else { return "NULL" }
            if left.isNull && right.isNull { return "1" }
            return "\(left.isNull ? right.sql : left.sql) IS NULL"
        }
        guard left.kind.family == right.kind.family, !left.isNotANumber, !right.isNotANumber else { return never(left, right) }
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

    /// False, and unknown where a value is nil: what the values are can never match.
    func never(_ left: SQLTerm, _ right: SQLTerm) -> SQLFragment {
        let tests = [left, right].filter { $0.constant == nil }.map { "\($0.sql) IS NULL" as SQLFragment }
        return tests.isEmpty ? "0" : "((\(tests.joined(by: " OR "))) AND NULL)"
    }

    func areComparable(_ left: SQLTerm, _ right: SQLTerm) -> Bool {
        guard let first = left.number, let second = right.number else { return false }
        return first.isComparable && second.isComparable
    }

    /// Compares by order.
    ///
    /// - Parameters:
    ///   - operation: the operator in SQL.
    ///   - code: the operator as ``SQLFunctions`` numbers them.
    func order(
        _ left: SQLTerm, _ operation: SQLFragment, _ code: Int64, _ right: SQLTerm, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        if left.isNull || right.isNull { return "NULL" }
        guard left.kind.family == right.kind.family, !left.isNotANumber, !right.isNotANumber else { return never(left, right) }
        switch left.kind.family {
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

    /// Decimal numbers that no other number stands for are kept as bytes, which SQLite takes for more than any number: they are looked at one
    /// by one, all others by an index.
    private func numberOrder(_ left: SQLTerm, _ operation: SQLFragment, _ code: Int64, _ right: SQLTerm) -> SQLFragment {
        let exactly: SQLFragment = "CoreDataCompare(\(SQLBinding.integer(code)), \(left.forFunctions), \(right.forFunctions))"
        guard areComparable(left, right), !(left.mayBeLongDecimal && right.mayBeLongDecimal) else { return exactly }
        let plainly: SQLFragment = "\(left.sql) \(operation) \(right.sql)"
        guard left.mayBeLongDecimal || right.mayBeLongDecimal else { return plainly }
        let decimal = left.mayBeLongDecimal ? left.sql : right.sql
        return "((\(plainly) AND \(decimal) < x'') OR (\(decimal) >= x'' AND \(exactly)))"
    }

    /// A count compared with 0: whether there is anything takes less than counting it. Nil for any other comparison.
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

    /// Equal text has equal characters, however it is spelled: bytes decide where there is one spelling, or few.
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

    /// The texts that begin with the same bytes as all spellings of a constant do, which an index finds.
    private func range(
        _ value: SQLTerm, _ constant: SQLConstant, _ first: SQLConstantForm = .prefix, _ end: SQLConstantForm = .afterPrefix
    ) -> SQLFragment {
        let low = SQLBinding.constant(constant.number, first)
        let high = SQLBinding.constant(constant.number, end)
        return "\(value.sql) >= \(low) AND \(value.sql) < \(high)"
    }

    /// Text with case and marks folded.
    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment {
        if let constant = text.constant { return "\(SQLBinding.constant(constant.number, .folded(options)))" }
        return "CoreDataFold(\(text.sql), \(options.binding))"
    }

    /// BEGINSWITH and its like.
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
        if let other = [text, part].first(where: { $0.kind.family != .text && !$0.isNull }) {
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
                // ASCII is what it looks like, unless a mark follows. All marks come after U+0300: few texts need a closer look.
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
    /// Whether it is a constant that is no number, though its type is one.
    fileprivate var isNotANumber: Bool { constant?.shape.kind == .notANumber }

    /// Whether it may be a decimal number that is kept as bytes.
    fileprivate var mayBeLongDecimal: Bool { if case .number(.decimal) = kind { constant == nil } else { false } }
}

extension PredicateComparison.Options {
    /// Whether case or marks count for nothing.
    var folds: Bool { !isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) }
    var binding: SQLBinding { .integer(Int64(rawValue)) }
}

extension TextOperator {
    var keyword: String {
        switch self {
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .contains: "CONTAINS"
        case .like: "LIKE"
        case .matches: "MATCHES"
        }
    }
}
