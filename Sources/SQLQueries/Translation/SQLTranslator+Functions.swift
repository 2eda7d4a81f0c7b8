internal import Foundation
internal import Predicates

/// The aggregates of collections.
enum SQLAggregate: String {
    case sum, count, min, max, average, median, mode, stddev

    /// The collection operators whose result is a collection.
    static let collections: Set<String> = [
        "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays", "@distinctUnionOfArrays", "@unionOfSets", "@distinctUnionOfSets",
    ]

    /// Creates the aggregate of a collection operator.
    init?(operator name: String) {
        switch name {
        case "@sum": self = .sum
        case "@avg": self = .average
        case "@min": self = .min
        case "@max": self = .max
        default: return nil
        }
    }

    /// Creates the aggregate of Apple's function name.
    init?(function name: String) {
        self.init(rawValue: name.lowercased().hasSuffix(":") ? String(name.lowercased().dropLast()) : name.lowercased())
    }
}

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
            // A plus sign prevents SQLite from using an index.
            var term = terms[0]
            (term.sql, term.isColumn) = ("+\(term.sql)", false)
            return term
        default: break
        }
        if terms.count == 2, let operation = ExpressionTree.ArithmeticOperator(functionName: plain) {
            return try calculation(operation, terms[0], terms[1])
        }
        try ValueOperations.check(function: name, argumentCount: arguments.count, clause: clause)
        return try call("CoreDataCall", name, terms, kind: Self.kind(of: plain, terms))
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
        return try call("CoreDataCallMethod", name, terms, kind: kind)
    }

    /// Returns a call of the evaluator's function.
    private func call(_ function: SQLFragment, _ name: String, _ terms: [SQLTerm], kind: SQLKind) throws -> SQLTerm {
        for term in terms where term.kind.code == "?" { throw unsupported("\(name) cannot be given \(term.kind.name).") }
        let codes = terms.map(\.kind.code).joined()
        let arguments = terms.map { ", \($0.forFunctions)" as SQLFragment }.joined(by: "")
        return SQLTerm(sql: "\(function)(\(SQLBinding.text(name)), \(SQLBinding.text(codes))\(arguments))", kind: kind)
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
            sql: "(SELECT \(call)\(many.from()))", kind: kind,
            mayBeStoredAsInteger: many.value.mayBeStoredAsInteger && kind.comparisonClass == .date
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
            case .number(.any), .number(.decimal): return collected(aggregate, value, .number(.any))
            case .object, .anyObject, .entity: throw invalid(.unsupported, "\(value.kind.name) and \(value.kind.name) have no order")
            case .opaque: throw unsupported("What a transformer made of a value has no order.")
            default: return (aggregate == .min ? "MIN(\(value.sql))" : "MAX(\(value.sql))", value.kind)
            }
        case .sum, .average:
            guard let form = value.number else { throw invalid(.unsupported, "\(value.kind.name) cannot be added up") }
            guard form.isCalculable else { return collected(aggregate, value, .number(.any)) }
            return (aggregate == .sum ? "CoreDataSum(\(value.sql))" : "CoreDataAverage(\(value.sql))", .number(.plain))
        case .median, .stddev:
            guard value.number != nil else { throw invalid(.unsupported, "A number cannot be made from \(value.kind.name)") }
            return collected(aggregate, value, .number(.plain))
        case .mode:
            if value.kind.code == "?" { throw unsupported("The most frequent of objects is not known to SQL.") }
            if let form = value.number { return collected(aggregate, value, .number(form == .decimal ? .any : form)) }
            return collected(aggregate, value, value.kind)
        }
    }

    /// Returns an aggregate that the evaluator computes from all values at once.
    private func collected(_ aggregate: SQLAggregate, _ value: SQLTerm, _ kind: SQLKind) -> (SQLFragment, SQLKind) {
        let name = SQLBinding.text(aggregate == .average ? "@avg" : aggregate.rawValue)
        let call: SQLFragment = "CoreDataAggregate(\(name), \(SQLBinding.text(value.kind.code)), \(value.forFunctions))"
        // The sum of no values is 0; other aggregates of none are nil.
        return (aggregate == .sum ? "COALESCE(\(call), 0)" : call, kind)
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
