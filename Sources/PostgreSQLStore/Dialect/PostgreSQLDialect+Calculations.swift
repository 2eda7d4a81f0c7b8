#if PostgreSQL
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

extension PostgreSQLDialect {
    // MARK: Arithmetic

    func calculate(_ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm) -> SQLTerm? {
        guard let first = left.number, let second = right.number else { return nil }
        if first.isInteger, second.isInteger { return integers(operation, left, right) }
        if first == .plain && second.isBinary || second == .plain && first.isBinary || (first == .plain) != (second == .plain) {
            return doubles(operation, left, right)
        }
        // Foundation's decimal numbers have 38 digits, and so have its quotients; PostgreSQL's have others.
        let result: SQLFragment
        switch operation {
        case .add: result = "\(left.exact) + \(right.exact)"
        case .subtract: result = "\(left.exact) - \(right.exact)"
        case .multiply: result = "\(left.exact) * \(right.exact)"
        default: return nil
        }
        return SQLTerm(sql: mayHoldNaN ? "NULLIF(\(result), 'NaN')" : "(\(result))", kind: .number(.any))
    }

    /// Integers are computed as `numeric`, which does not overflow.
    private func integers(_ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm) -> SQLTerm? {
        let (first, second) = (left.exact, right.exact)
        let (firstBits, secondBits): (SQLFragment, SQLFragment) = ("CAST(\(left.sql) AS bigint)", "CAST(\(right.sql) AS bigint)")
        let sql: SQLFragment
        switch operation {
        case .add: sql = "(\(first) + \(second))"
        case .subtract: sql = "(\(first) - \(second))"
        case .multiply: sql = "(\(first) * \(second))"
        case .divide: sql = "div(\(first), NULLIF(\(second), 0))"
        case .bitAnd: sql = "(\(firstBits) & \(secondBits))"
        case .bitOr: sql = "(\(firstBits) | \(secondBits))"
        case .bitExclusiveOr: sql = "(\(firstBits) # \(secondBits))"
        // Shifts beyond the width differ, and a power of integers may not be an integer.
        case .power, .shiftLeft, .shiftRight: return nil
        }
        return SQLTerm(sql: sql, kind: .number(.integer))
    }

    /// A result that is not a number becomes nil, as in the evaluator.
    private func doubles(_ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm) -> SQLTerm? {
        let result: SQLFragment
        switch operation {
        case .add: result = "\(left.binary) + \(right.binary)"
        case .subtract: result = "\(left.binary) - \(right.binary)"
        case .multiply: result = "\(left.binary) * \(right.binary)"
        // A conditional value may be an integer for some rows, and then the quotient of integers is one.
        case .divide where left.isCertainlyDouble || right.isCertainlyDouble:
            result = "\(left.binary) / NULLIF(\(right.binary), 0)"
        default: return nil
        }
        return SQLTerm(sql: "NULLIF(\(result), 'NaN')", kind: .number(.plain))
    }

    // MARK: Dates

    // Computed seconds may lead beyond PostgreSQL's range of dates, where all are equal.
    func shift(_ date: SQLTerm, _ operation: ExpressionTree.ArithmeticOperator, _ seconds: SQLTerm) -> SQLFragment? {
        if seconds.constant == nil { return nil }
        let sign: SQLFragment = operation == .add ? "" : "-"
        return "coredata_moved(\(date.sql), \(sign)\(seconds.binary))"
    }

    func seconds(from start: SQLTerm, to end: SQLTerm) -> SQLFragment? {
        "CAST(extract(epoch FROM \(end.sql)) - extract(epoch FROM \(start.sql)) AS double precision)"
    }

    func cast(_ value: SQLTerm, to kind: SQLKind, named type: String) -> SQLFragment? {
        switch (kind, value.kind) {
        case (.number, .date): "CAST(extract(epoch FROM \(value.sql)) - 978307200 AS double precision)"
        case (.date, .number) where value.constant != nil:
            "coredata_moved(TIMESTAMPTZ '2001-01-01 00:00:00+00', \(value.binary))"
        case (.number(.any), .number): value.exact
        default: nil
        }
    }

    // MARK: Functions

    func call(_ name: String, written: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment? {
        guard let first = arguments.first else { return nil }
        if name == "length", first.kind.comparisonClass == .text { return "coredata_length(\(first.sql))" }
        guard let form = first.number else { return nil }
        switch (name, arguments.count) {
        case ("abs", 1): return form.isInteger ? "abs(\(first.sql))" : "abs(\(first.binary))"
        case ("floor", 1): return form.isInteger ? first.sql : "floor(\(first.binary))"
        case ("ceiling", 1): return form.isInteger ? first.sql : "ceil(\(first.binary))"
        case ("trunc", 1): return form.isInteger ? first.sql : "trunc(\(first.binary))"
        case ("sqrt", 1): return "coredata_sqrt(\(first.binary))"
        case ("ln", 1): return "coredata_ln(\(first.binary))"
        case ("log", 1): return "coredata_log(\(first.binary))"
        case ("modulus:by:", 2) where form.isInteger && arguments[1].number?.isInteger == true:
            return "mod(\(first.exact), NULLIF(\(arguments[1].exact), 0))"
        default: return nil
        }
    }

    func call(method name: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment? {
        switch (name, arguments.count) {
        case ("length", 1): "coredata_length(\(arguments[0].sql))"
        case ("stringByAppendingString:", 2): "(\(arguments[0].sql) || \(arguments[1].sql))"
        default: nil
        }
    }

    // MARK: Aggregates

    func aggregate(_ aggregate: SQLAggregate, of value: SQLTerm) -> (SQLFragment, SQLKind)? {
        switch (aggregate, value.kind) {
        case (.count, _): return ("COUNT(\(value.sql))", .number(.integer))
        // PostgreSQL has no smallest UUID and no smallest bytes.
        case (.min, .uuid), (.max, .uuid), (.min, .data), (.max, .data): return nil
        case (.min, .text), (.min, .url): return ("MIN(\(byCodePoints(value.sql)))", value.kind)
        case (.max, .text), (.max, .url): return ("MAX(\(byCodePoints(value.sql)))", value.kind)
        case (.min, _): return ("MIN(\(value.sql))", value.kind)
        case (.max, _): return ("MAX(\(value.sql))", value.kind)
        case (.sum, .number(let form)) where form.isInteger || form == .decimal:
            return ("COALESCE(SUM(\(value.sql)), 0)", .number(form.isInteger ? .integer : .any))
        case (.sum, .number(.plain)): return ("COALESCE(SUM(\(value.binary)), 0)", .number(.plain))
        case (.average, .number(let form)) where form.isInteger:
            return ("(CAST(SUM(\(value.sql)) AS double precision) / NULLIF(COUNT(\(value.sql)), 0))", .number(.plain))
        case (.average, .number(.plain)):
            return ("(SUM(\(value.binary)) / NULLIF(COUNT(\(value.sql)), 0))", .number(.plain))
        case (.sum, _), (.average, _), (.median, _), (.mode, _), (.stddev, _): return nil
        }
    }
}

extension SQLTerm {
    /// Whether the number is a floating-point one for every row.
    fileprivate var isCertainlyDouble: Bool { number == .plain && (isColumn || constant != nil) }
}
#endif
