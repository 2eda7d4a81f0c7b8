internal import Foundation
package import Predicates

extension ExpressionTree {
    private static let functions: Set<String> = ["sum", "count", "min", "max", "average", "median", "mode", "stddev"]
    private static let operators = ["@sum": "sum", "@count": "count", "@min": "min", "@max": "max", "@avg": "average"]

    /// The aggregate function and its argument, if the expression is evaluated over all rows.
    package var overRows: (function: String, argument: ExpressionTree)? {
        switch self {
        case .function(let name, let arguments):
            let plain = name.hasSuffix(":") ? String(name.dropLast()) : name
            guard Self.functions.contains(plain), arguments.count == 1, arguments[0].isOneValue else { return nil }
            return (plain, arguments[0])
        case .keyPath(let keys):
            guard let first = keys.first, let function = Self.operators[first] else { return nil }
            return (function, keys.count == 1 ? .evaluatedObject : .keyPath(Array(keys.dropFirst())))
        default: return nil
        }
    }

    /// Whether the expression is a single value and not a collection, as in `sum({1, 2})` and `count(SUBQUERY(…))`.
    private var isOneValue: Bool {
        switch self {
        case .aggregate, .subquery, .setOperation: false
        case .constant(.array), .constant(.set): false
        default: true
        }
    }

    /// Whether any part of the expression is an aggregate.
    package var isOverRows: Bool {
        var found = false
        _ = replacing { part in
            if part.overRows != nil { found = true }
            return found ? part : nil
        }
        return found
    }
}
