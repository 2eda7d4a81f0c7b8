internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

extension SQLiteDialect {
    // MARK: Arithmetic

    func calculate(_ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm) -> SQLTerm? {
        guard let first = left.number, let second = right.number else { return nil }
        let isBinary = first.isBinary && second.isBinary
        let areIntegers = first.isInteger && second.isInteger
        switch operation {
        case .add where isBinary: return SQLTerm(sql: "(\(left.sql) + \(right.sql))", kind: .number(.plain))
        case .subtract where isBinary: return SQLTerm(sql: "(\(left.sql) - \(right.sql))", kind: .number(.plain))
        case .multiply where isBinary: return SQLTerm(sql: "(\(left.sql) * \(right.sql))", kind: .number(.plain))
        case .divide where isBinary: return SQLTerm(sql: "(\(left.sql) / \(right.sql))", kind: .number(.plain))
        case .bitAnd where areIntegers: return SQLTerm(sql: "(\(left.sql) & \(right.sql))", kind: .number(.integer))
        case .bitOr where areIntegers: return SQLTerm(sql: "(\(left.sql) | \(right.sql))", kind: .number(.integer))
        case .shiftLeft where areIntegers: return SQLTerm(sql: "(\(left.sql) << \(right.sql))", kind: .number(.integer))
        case .shiftRight where areIntegers: return SQLTerm(sql: "(\(left.sql) >> \(right.sql))", kind: .number(.integer))
        default: break
        }
        let code = SQLBinding.text(operation.rawValue)
        let isDecimal = [.add, .subtract, .multiply, .divide].contains(operation) && !isBinary
        return SQLTerm(
            sql: "CoreDataCalculate(\(code), \(left.forFunctions), \(right.forFunctions))", kind: .number(isDecimal ? .any : .plain))
    }

    func shift(_ date: SQLTerm, _ operation: ExpressionTree.ArithmeticOperator, _ seconds: SQLTerm) -> SQLFragment? {
        if let form = seconds.number, form != .any {
            let sign: SQLFragment = operation == .add ? "+" : "-"
            return "(\(date.asReal) \(sign) \(seconds.sql))"
        }
        return "CoreDataCalculate(\(SQLBinding.text(operation.rawValue)), \(date.asReal), \(seconds.sql))"
    }

    func seconds(from start: SQLTerm, to end: SQLTerm) -> SQLFragment? { "(\(end.asReal) - \(start.asReal))" }

    // MARK: Functions

    func cast(_ value: SQLTerm, to kind: SQLKind, named type: String) -> SQLFragment? {
        if case (.number(.plain), .date) = (kind, value.kind) { return value.asReal }
        return "CoreDataCast(\(SQLBinding.text(type)), \(SQLBinding.text(value.kind.code)), \(value.forFunctions))"
    }

    func call(_ name: String, written: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment? {
        call("CoreDataCall", written, arguments)
    }

    func call(method name: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment? { call("CoreDataCallMethod", name, arguments) }

    /// Returns a call of the evaluator's function.
    private func call(_ function: SQLFragment, _ name: String, _ terms: [SQLTerm]) -> SQLFragment {
        let codes = terms.map(\.kind.code).joined()
        let arguments = terms.map { ", \($0.forFunctions)" as SQLFragment }.joined(by: "")
        return "\(function)(\(SQLBinding.text(name)), \(SQLBinding.text(codes))\(arguments))"
    }

    func read(_ key: String, of text: SQLTerm) -> SQLFragment? {
        "CoreDataRead(\(SQLBinding.text(key)), \(SQLBinding.text(text.kind.code)), \(text.sql))"
    }

    /// A function reads it from the archive in each row: indexes are not used.
    func element(_ element: NSAttributeDescription, at path: [String], in composite: SQLFragment) -> SQLFragment? {
        let type = SQLBinding.integer(Int64(element.attributeType.rawValue))
        return "CoreDataElement(\(SQLBinding.text(path.joined(separator: "."))), \(type), \(composite))"
    }

    // MARK: Aggregates

    func aggregate(_ aggregate: SQLAggregate, of value: SQLTerm) -> (SQLFragment, SQLKind)? {
        switch (aggregate, value.kind) {
        case (.count, _): return ("COUNT(\(value.sql))", .number(.integer))
        case (.min, .number(.any)), (.min, .number(.decimal)), (.max, .number(.any)), (.max, .number(.decimal)):
            return collected(aggregate, value, .number(.any))
        case (.min, _): return ("MIN(\(value.sql))", value.kind)
        case (.max, _): return ("MAX(\(value.sql))", value.kind)
        case (.sum, .number(let form)) where form.isBinary: return ("CoreDataSum(\(value.sql))", .number(.plain))
        case (.average, .number(let form)) where form.isBinary: return ("CoreDataAverage(\(value.sql))", .number(.plain))
        case (.sum, _), (.average, _): return collected(aggregate, value, .number(.any))
        case (.median, _), (.stddev, _): return collected(aggregate, value, .number(.plain))
        case (.mode, .number(let form)): return collected(aggregate, value, .number(form == .decimal ? .any : form))
        case (.mode, _): return collected(aggregate, value, value.kind)
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
