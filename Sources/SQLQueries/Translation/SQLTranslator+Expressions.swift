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
        var term = SQLTerm(constant)
        term.sql = "\(SQLBinding.constant(number, .stored))"
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
        case (.number, .number): return try known(dialect.calculate(operation, left, right), "\(operation.rawValue) with such numbers")
        case (.date, .number) where operation == .add || operation == .subtract: return try moved(left, operation, right)
        case (.number, .date) where operation == .add: return try moved(right, operation, left)
        case (.date, .date) where operation == .subtract:
            return SQLTerm(sql: try known(dialect.seconds(from: right, to: left), "the time between dates"), kind: .number(.plain))
        default: throw invalid(.unsupported, "\(operation.rawValue) cannot combine \(left.kind.name) and \(right.kind.name)")
        }
    }

    /// Returns a date shifted by seconds.
    private func moved(_ date: SQLTerm, _ operation: ExpressionTree.ArithmeticOperator, _ seconds: SQLTerm) throws -> SQLTerm {
        SQLTerm(sql: try known(dialect.shift(date, operation, seconds), "a date and seconds"), kind: .date)
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
            return (terms.map { dialect.value($0, as: .number(joined)) }, .number(joined))
        case .date: return (terms.map { dialect.value($0, as: .date) }, .date)
        case .object(let entity):
            guard known.allSatisfy({ if case .object(let other) = $0.kind { other.rootEntity === entity.rootEntity } else { false } })
            else { throw unsupported("Objects of several entities stand for one.") }
            return (terms.map { $0.isNull ? "NULL" : $0.sql }, .object(entity.rootEntity))
        case .anyObject: throw unsupported("An object that the program holds stands for a value.")
        // A nil from elsewhere has no type, or another one.
        default: return (terms.map { $0.isNull ? "NULL" : $0.sql }, first.kind)
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
        case (_, .object), (_, .anyObject), (_, .entity), (_, .opaque):
            throw invalid(.unsupported, "\(value.kind.name) cannot be cast")
        default:
            let what = "a cast of \(value.kind.name) to “\(type)”"
            return SQLTerm(sql: try known(dialect.cast(value, to: kind, named: type), what), kind: kind)
        }
    }
}
