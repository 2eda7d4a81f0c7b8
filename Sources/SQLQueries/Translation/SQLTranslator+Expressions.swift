internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension SQLTranslator {
    /// Translates an expression to an operand.
    func operand(_ expression: ExpressionTree) throws -> SQLOperand {
        if let grouped = try grouping?.operand(for: expression, self) { return grouped }
        switch expression {
        case .constant: throw unsupported("A constant has no number.")
        case .numberedConstant(_, let number): return try constant(number)
        case .evaluatedObject: return root
        case .variable(let name):
            if let operand = variables[name] { return operand }
            throw invalid(.unboundVariable, "The variable $\(name) has no value")
        case .keyPath(let keys): return try translate(path: keys[...], from: root)
        case .navigation(let base, let keys): return try translate(path: keys[...], from: operand(base))
        case .aggregate(let elements): return .list(try elements.map { try operand($0) })
        case .arithmetic(let operation, let left, let right):
            return .term(try calculation(operation, term(operand(left)), term(operand(right))))
        case .negated(let part): return .term(try calculation(.subtract, .zero, term(operand(part))))
        case .complement(let part):
            let term = try term(operand(part))
            if term.number?.isInteger == true { return .term(SQLTerm(sql: "(~\(term.sql))", kind: .number(.integer))) }
            return .term(try calculation(.bitExclusiveOr, .allBits, term))
        case .function(let name, let arguments): return .term(try function(name, arguments))
        case .method(let operand, let name, let arguments): return .term(try method(name, [operand] + arguments))
        case .element(let collection, let index): return .term(try element(operand(collection), index))
        case .subquery(let collection, let variable, let condition): return .many(try subquery(collection, variable, condition))
        case .setOperation(let operation, let left, let right):
            return .many(try setOperation(operation, many(operand(left)), many(operand(right))))
        case .conditional(let condition, let value, let otherwise):
            return .term(try conditional(condition, term(operand(value)), term(operand(otherwise))))
        case .cast(let value, let type): return .term(try cast(term(operand(value)), type))
        case .assignment(let name, _): throw invalid(.unsupported, "The variable $\(name) cannot be assigned")
        case .anyKey: throw invalid(.unsupported, "ANYKEY stands for keys that only Spotlight knows")
        case .fetch: throw unsupported("A fetch within a fetch is executed by the context, which was not asked.")
        case .block: throw unsupported("An expression with a block runs in memory only.")
        }
    }

    private func constant(_ number: Int) throws -> SQLOperand {
        let shape = constantClass(number)
        let constant = SQLConstant(number: number, shape: shape)
        if shape.kind == .list { return .constants(constant) }
        var term = SQLTerm(sql: "\(SQLBinding.constant(number, .stored))", kind: .null, constant: constant)
        switch shape.kind {
        case .null, .list: term.sql = "NULL"
        case .integer: term.kind = .number(.integer)
        case .real, .notANumber: term.kind = .number(.plain)
        case .decimal: term.kind = .number(.decimal)
        case .longDecimal:
            term.kind = .number(.any)
            term.sql = "\(SQLBinding.constant(number, .number))"
        case .text: term.kind = .text
        case .date: term.kind = .date
        case .data: term.kind = .data
        case .uuid: term.kind = .uuid
        case .url: term.kind = .url
        case .object:
            term.kind = .anyObject
            term.sql = "\(SQLBinding.constant(number, .number))"
        case .entity:
            term.kind = .entity
            term.sql = "\(SQLBinding.constant(number, .entityNumber))"
        }
        return .term(term)
    }

    /// Returns an operand as one value.
    func term(_ operand: SQLOperand) throws -> SQLTerm {
        switch operand {
        case .term(let term): return term
        case .object(let object): return object.term
        case .many: throw invalid(.unsupported, "A path over a to-many relationship needs ANY, ALL, NONE or @count")
        case .list, .constants: throw unsupported("A collection is given where one value is needed.")
        }
    }

    // MARK: Arithmetic

    /// Translates arithmetic on two numbers, or on dates and numbers.
    func calculation(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm
    ) throws -> SQLTerm {
        if left.isNull || right.isNull { return .unknown }
        switch (left.kind, right.kind) {
        case (.number(let first), .number(let second)): return numbers(operation, left, first, right, second)
        case (.date, .number) where operation == .add || operation == .subtract: return try moved(left, operation, right)
        case (.number, .date) where operation == .add: return try moved(right, operation, left)
        case (.date, .date) where operation == .subtract:
            return SQLTerm(sql: "(\(left.asReal) - \(right.asReal))", kind: .number(.plain))
        default: throw invalid(.unsupported, "\(operation.rawValue) cannot combine \(left.kind.name) and \(right.kind.name)")
        }
    }

    private func numbers(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ first: SQLNumberForm, _ right: SQLTerm,
        _ second: SQLNumberForm
    ) -> SQLTerm {
        let isNative = first.isCalculable && second.isCalculable
        let areIntegers = first.isInteger && second.isInteger
        switch operation {
        case .add where isNative: return SQLTerm(sql: "(\(left.sql) + \(right.sql))", kind: .number(.plain))
        case .subtract where isNative: return SQLTerm(sql: "(\(left.sql) - \(right.sql))", kind: .number(.plain))
        case .multiply where isNative: return SQLTerm(sql: "(\(left.sql) * \(right.sql))", kind: .number(.plain))
        case .divide where isNative: return SQLTerm(sql: "(\(left.sql) / \(right.sql))", kind: .number(.plain))
        case .bitAnd where areIntegers: return SQLTerm(sql: "(\(left.sql) & \(right.sql))", kind: .number(.integer))
        case .bitOr where areIntegers: return SQLTerm(sql: "(\(left.sql) | \(right.sql))", kind: .number(.integer))
        case .shiftLeft where areIntegers: return SQLTerm(sql: "(\(left.sql) << \(right.sql))", kind: .number(.integer))
        case .shiftRight where areIntegers: return SQLTerm(sql: "(\(left.sql) >> \(right.sql))", kind: .number(.integer))
        default: break
        }
        let code = SQLBinding.text(operation.rawValue)
        let isDecimal = [.add, .subtract, .multiply, .divide].contains(operation) && !isNative
        return SQLTerm(
            sql: "CoreDataCalculate(\(code), \(left.forFunctions), \(right.forFunctions))", kind: .number(isDecimal ? .any : .plain))
    }

    /// Returns a date shifted by seconds.
    private func moved(_ date: SQLTerm, _ operation: ExpressionTree.ArithmeticOperator, _ seconds: SQLTerm) throws -> SQLTerm {
        if seconds.number?.isComparable ?? false {
            let sign: SQLFragment = operation == .add ? "+" : "-"
            return SQLTerm(sql: "(\(date.asReal) \(sign) \(seconds.sql))", kind: .date)
        }
        let code = SQLBinding.text(operation.rawValue)
        return SQLTerm(sql: "CoreDataCalculate(\(code), \(date.asReal), \(seconds.sql))", kind: .date)
    }

    // MARK: Conditionals

    private func conditional(_ condition: PredicateTree, _ value: SQLTerm, _ otherwise: SQLTerm) throws -> SQLTerm {
        let test = try predicate(condition)
        let (terms, kind) = try unified([value, otherwise])
        return SQLTerm(sql: "(CASE WHEN \(test) THEN \(terms[0]) ELSE \(terms[1]) END)", kind: kind)
    }

    /// Returns several values as values of one kind.
    func unified(_ terms: [SQLTerm]) throws -> ([SQLFragment], SQLKind) {
        let known = terms.filter { !$0.isNull }
        guard let first = known.first else { return (terms.map { _ in "NULL" }, .null) }
        guard known.allSatisfy({ $0.kind.comparisonClass == first.kind.comparisonClass }) else {
            throw unsupported("Values of several kinds (\(known.map(\.kind.name).joined(separator: ", "))) stand for one.")
        }
        switch first.kind {
        case .number(let form):
            let joined = known.reduce(form) { $0.joined(with: $1.number ?? .any) }
            return (terms.map { joined == .any ? $0.forFunctions : $0.sql }, .number(joined))
        case .date: return (terms.map(\.asReal), .date)
        case .object(let entity):
            guard known.allSatisfy({ if case .object(let other) = $0.kind { other.rootEntity === entity.rootEntity } else { false } })
            else { throw unsupported("Objects of several entities stand for one.") }
            return (terms.map(\.sql), .object(entity.rootEntity))
        case .anyObject: throw unsupported("An object that the program holds stands for a value.")
        default: return (terms.map(\.sql), first.kind)
        }
    }

    private func cast(_ value: SQLTerm, _ type: String) throws -> SQLTerm {
        let kind: SQLKind
        switch type {
        case "NSDate", "Date": kind = .date
        case "NSNumber", "double", "Double", "float": kind = .number(value.number ?? .plain)
        case "NSString", "String": kind = .text
        case "NSDecimalNumber", "Decimal": kind = .number(.any)
        default: throw invalid(.unsupported, "Nothing can be cast to \"\(type)\"")
        }
        if value.isNull { return .unknown }
        switch (kind, value.kind) {
        case (.date, .date), (.text, .text), (.number(.integer), .number), (.number(.plain), .number), (.number(.boolean), .number),
            (.number(.decimal), .number):
            return value
        case (.number(.plain), .date): return SQLTerm(sql: value.asReal, kind: kind)
        case (_, .object), (_, .anyObject), (_, .entity), (_, .opaque):
            throw invalid(.unsupported, "\(value.kind.name) cannot be cast")
        default:
            let call: SQLFragment =
                "CoreDataCast(\(SQLBinding.text(type)), \(SQLBinding.text(value.kind.code)), \(value.forFunctions))"
            return SQLTerm(sql: call, kind: kind)
        }
    }
}

extension SQLTerm {
    /// Nil as the result of an operation.
    static let unknown = SQLTerm(sql: "NULL", kind: .null)
    static let zero = SQLTerm(sql: "0", kind: .number(.integer))
    static let allBits = SQLTerm(sql: "-1", kind: .number(.integer))
}
