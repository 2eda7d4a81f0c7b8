internal import CSQLite
internal import Foundation
internal import Predicates
internal import SQLQueries

extension SQLQueryFunctions {

    func addNumberFunctions(to connection: OpaquePointer) throws {
        // operator, number, number
        try add("CoreDataCompare", 3, to: connection) { context, _, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let operation = SQLiteDialect.comparisons[Int(sqlite3_value_int(values[0]))]
                SQLFunctionValue.write(
                    try ValueOperations.compare(
                        SQLFunctionValue.read(values[1]), operation, SQLFunctionValue.read(values[2]), clause: "a comparison"), context)
            }
        }
        // operator, number, number
        try add("CoreDataCalculate", 3, to: connection) { context, _, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let name = SQLFunctionValue.text(values[0])
                guard let operation = ExpressionTree.ArithmeticOperator(rawValue: name) else { return }
                SQLFunctionValue.write(
                    try ValueOperations.calculate(
                        SQLFunctionValue.read(values[1]), operation, SQLFunctionValue.read(values[2]), clause: "a calculation by \(name)"),
                    context)
            }
        }
        // number
        try add("CoreDataDecimal", 1, to: connection) { context, _, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let value = SQLFunctionValue.read(values[0])
                SQLFunctionValue.write(try ValueOperations.cast(value, to: "NSDecimalNumber", clause: "a decimal number"), context)
            }
        }
        // number
        try add("CoreDataCanonical", 1, to: connection) { context, _, values in
            guard let values else { return }
            SQLFunctionValue.write(ValueOperations.canonical(SQLFunctionValue.read(values[0])), context)
        }
        // type, kind, value
        try add("CoreDataCast", 3, to: connection) { context, _, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let type = SQLFunctionValue.text(values[0])
                let value = SQLFunctionValue.read(values[2], SQLQueryFunctions.code(values[1], 0))
                SQLFunctionValue.write(try ValueOperations.cast(value, to: type, clause: "CAST(…, \"\(type)\")"), context)
            }
        }
        // name, kinds, arguments
        try add("CoreDataCall", -1, isPure: false, to: connection) { context, count, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let name = SQLFunctionValue.text(values[0])
                SQLFunctionValue.write(try ValueOperations.call(name, SQLQueryFunctions.arguments(count, values), clause: name), context)
            }
        }
        try add("CoreDataCallMethod", -1, to: connection) { context, count, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let name = SQLFunctionValue.text(values[0])
                SQLFunctionValue.write(
                    try ValueOperations.call(method: name, SQLQueryFunctions.arguments(count, values), clause: name), context)
            }
        }
        // key, kind, value
        try add("CoreDataRead", 3, to: connection) { context, _, values in
            guard let values else { return }
            SQLQueryFunctions.call(context) {
                let key = SQLFunctionValue.text(values[0])
                let value = SQLFunctionValue.read(values[2], SQLQueryFunctions.code(values[1], 0))
                SQLFunctionValue.write(try ValueOperations.read(key, of: value, clause: key), context)
            }
        }
    }

    private static func arguments(_ count: Int32, _ values: Arguments) -> [PropertyValue] {
        (2..<max(2, Int(count))).map { SQLFunctionValue.read(values[$0], code(values[1], $0 - 2)) }
    }

    /// Returns the code for the kind of an argument.
    static func code(_ codes: OpaquePointer?, _ index: Int) -> UInt8 {
        guard let bytes = sqlite3_value_text(codes), index < Int(sqlite3_value_bytes(codes)) else { return UInt8(ascii: "n") }
        return bytes[index]
    }
}
