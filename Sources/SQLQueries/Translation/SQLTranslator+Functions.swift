internal import Foundation
internal import Predicates

extension SQLTranslator {
    /// Translates a function of the expression language.
    func function(_ name: String, _ arguments: [ExpressionTree]) throws -> SQLTerm {
        if let aggregate = SQLAggregate(function: name) {
            return try self.aggregate(aggregate, of: gathered(arguments.map { try operand($0) }))
        }
        let plain =
            name.lowercased().hasSuffix(":") && name.filter { $0 == ":" }.count == 1
            ? String(name.lowercased().dropLast()) : name.lowercased()
        let terms = try arguments.map { try term(operand($0)) }
        switch (plain, terms.count) {
        case ("now", 0): return SQLTerm(sql: "\(SQLBinding.now)", kind: .date)
        case ("noindex", 1):
            var term = terms[0]
            (term.sql, term.isColumn) = (dialect.withoutIndex(term), false)
            return term
        default: break
        }
        if terms.count == 2, let operation = ExpressionTree.ArithmeticOperator(functionName: plain) {
            return try calculation(operation, terms[0], terms[1])
        }
        try ValueOperations.check(function: name, argumentCount: arguments.count, clause: clause)
        try check(terms, givenTo: name)
        let kind = Self.kind(of: plain, terms)
        return SQLTerm(sql: try known(dialect.call(plain, written: name, terms, kind: kind), "the function \(name)"), kind: kind)
    }

    /// Translates a method called with `FUNCTION`; the operand is the first argument.
    func method(_ name: String, _ arguments: [ExpressionTree]) throws -> SQLTerm {
        try ValueOperations.check(method: name, argumentCount: arguments.count - 1, clause: clause)
        let terms = try arguments.map { try term(operand($0)) }
        let kind: SQLKind
        switch name {
        case "length": kind = .number(.integer)
        case "substringFromIndex:", "substringToIndex:", "stringByAppendingString:", "uppercaseString", "lowercaseString",
            "capitalizedString", "lastPathComponent", "pathExtension":
            kind = .text
        default: return try function(name, arguments)
        }
        try check(terms, givenTo: name)
        return SQLTerm(sql: try known(dialect.call(method: name, terms, kind: kind), "the method \(name)"), kind: kind)
    }

    private func check(_ terms: [SQLTerm], givenTo name: String) throws {
        for term in terms where !term.kind.isPlain { throw unsupported("\(name) cannot be given \(term.kind.name).") }
    }

    private static func kind(of name: String, _ terms: [SQLTerm]) -> SQLKind {
        switch name {
        case "uppercase", "lowercase", "canonical": return .text
        case "length", "random", "onescomplement": return .number(.integer)
        case "abs", "floor", "ceiling", "trunc": return .number(terms.first?.number?.isInteger == true && name != "abs" ? .integer : .plain)
        default: return .number(.plain)
        }
    }

    // MARK: Aggregates

    /// Returns the arguments of a function as one collection.
    private func gathered(_ operands: [SQLOperand]) throws -> SQLCollection {
        func isMany(_ operand: SQLOperand) -> Bool {
            switch operand {
            case .many, .list, .constants: true
            case .term, .object: false
            }
        }
        if operands.count == 1, isMany(operands[0]) { return try many(operands[0]) }
        if !operands.contains(where: isMany) { return try many(operands.map { try term($0) }) }
        throw unsupported("A function takes either one collection or single values.")
    }

    /// Returns an aggregate of a collection's elements.
    func aggregate(_ aggregate: SQLAggregate, of many: SQLCollection) throws -> SQLTerm {
        let (call, kind) = try self.aggregate(aggregate, of: many.value)
        return SQLTerm(
            sql: "(SELECT \(call)\(many.from()))", kind: kind, isStoredDate: many.value.isStoredDate && kind.comparisonClass == .date
        )
    }

    /// Returns the call of an aggregate function in SQL, which ignores nil.
    func aggregate(_ aggregate: SQLAggregate, of value: SQLTerm) throws -> (SQLFragment, SQLKind) {
        if value.isNull {
            switch aggregate {
            case .count, .sum: return ("COUNT(\(value.sql))", .number(.integer))
            default: return ("MAX(NULL)", .null)
            }
        }
        switch aggregate {
        case .count: return ("COUNT(\(value.sql))", .number(.integer))
        case .min, .max:
            switch value.kind {
            case .object, .anyObject, .entity: throw invalid(.unsupported, "\(value.kind.name) and \(value.kind.name) have no order")
            case .opaque: throw unsupported("What a transformer made of a value has no order.")
            default: break
            }
        case .sum, .average: if value.number == nil { throw invalid(.unsupported, "\(value.kind.name) cannot be added up") }
        case .median, .stddev:
            if value.number == nil { throw invalid(.unsupported, "A number cannot be made from \(value.kind.name)") }
        case .mode: if !value.kind.isPlain { throw unsupported("The most frequent of objects is not known to SQL.") }
        }
        return try known(dialect.aggregate(aggregate, of: value), "the aggregate \(aggregate) of \(value.kind.name)")
    }
}

extension ExpressionTree.ArithmeticOperator {
    /// Creates the operator of Apple's function name, in lower case.
    init?(functionName name: String) {
        switch name {
        case "add:to:": self = .add
        case "from:subtract:": self = .subtract
        case "multiply:by:": self = .multiply
        case "divide:by:": self = .divide
        case "raise:topower:": self = .power
        case "bitwiseand:with:": self = .bitAnd
        case "bitwiseor:with:": self = .bitOr
        case "bitwisexor:with:": self = .bitExclusiveOr
        case "leftshift:by:": self = .shiftLeft
        case "rightshift:by:": self = .shiftRight
        default: return nil
        }
    }
}
