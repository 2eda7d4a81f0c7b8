internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Resolves expressions in a grouped dictionary fetch: the grouped values, aggregates, and columns by name.
final class SQLGrouping {
    /// The grouped expressions, with their SQL.
    private let keys: [(expression: ExpressionTree, operand: SQLOperand)]
    /// The translated columns by name.
    var columns: [String: SQLTerm] = [:]
    /// Whether names of columns are resolved, as in a having predicate.
    var readsColumns = false
    /// The part being translated, for messages.
    var place = ""
    /// Whether the arguments of an aggregate are being translated, which are evaluated for rows.
    private var isWithin = false

    init(keys: [(expression: ExpressionTree, operand: SQLOperand)]) { self.keys = keys }

    /// Returns the operand for a grouped expression or aggregate; nil to translate its parts.
    func operand(for expression: ExpressionTree, _ translator: SQLTranslator) throws -> SQLOperand? {
        if isWithin { return nil }
        if readsColumns {
            switch expression {
            case .variable(let name): if let column = columns[name] { return .term(column) }
            case .keyPath(let path) where path.count == 1: if let column = columns[path[0]] { return .term(column) }
            default: break
            }
        }
        let plain = expression.withoutNumbers
        if let key = keys.first(where: { $0.expression == plain }) { return key.operand }
        if let (function, argument) = expression.overRows, let aggregate = SQLAggregate(rawValue: function) {
            isWithin = true
            defer { isWithin = false }
            let (call, kind) = try translator.aggregate(aggregate, of: translator.term(translator.operand(argument)))
            return .term(SQLTerm(sql: call, kind: kind, isStoredDate: kind.comparisonClass == .date))
        }
        switch expression {
        case .keyPath, .evaluatedObject:
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: “\(place)” asks for \(plain), which differs within a group.",
                next: "Group by it in propertiesToGroupBy, or take sum:, count:, min:, max: or average: of it.")
        default: return nil
        }
    }
}
