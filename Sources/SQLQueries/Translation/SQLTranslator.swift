internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Translates predicates and expressions to SQL, for the tables of one store in the dialect of its database.
///
/// Each method agrees with the evaluator: an unknown result is NULL, and values of different kinds are never equal. An expression without
/// SQL is an error that names the clause.
final class SQLTranslator {
    let schema: SQLSchema
    let dialect: any SQLDialect
    /// The classes of the request's constants, by number.
    private let constants: [SQLConstantClass]
    private var aliases = 0
    /// The evaluated object.
    var root: SQLOperand
    /// The operands of variables.
    var variables: [String: SQLOperand] = [:]
    /// The grouping of rows, if there is one.
    var grouping: SQLGrouping?
    /// The comparison being translated, for messages.
    private var current: PredicateComparison?
    /// The part being translated outside of comparisons.
    var place = ""

    init(schema: SQLSchema, dialect: any SQLDialect, constants: [SQLConstantClass], entity: SQLEntity, scope: SQLScope) {
        self.schema = schema
        self.dialect = dialect
        self.constants = constants
        let alias = SQLAlias(number: 0)
        aliases = 1
        scope.add("\(entity.table) \(alias)")
        root = .object(SQLObject(entity: entity, key: "\(alias).\(entity.identity.key)", scope: scope, row: alias))
    }

    func nextAlias() -> SQLAlias {
        defer { aliases += 1 }
        return SQLAlias(number: aliases)
    }

    /// Returns the SQL of an operation.
    ///
    /// - Throws: An error that names the clause if the database has no such operation.
    func known<Result>(_ sql: Result?, _ operation: @autoclosure () -> String) throws -> Result {
        if let sql { return sql }
        throw unsupported("\(dialect.name) has no SQL for \(operation()).")
    }

    // MARK: Predicates

    /// Translates a predicate to a condition, which is NULL if the predicate is unknown.
    func predicate(_ tree: PredicateTree) throws -> SQLFragment {
        switch tree {
        case .true: return dialect.trueCondition
        case .false: return dialect.falseCondition
        case .not(let part): return "NOT (\(try predicate(part)))"
        case .and(let parts): return try junction(parts, " AND ", empty: dialect.trueCondition)
        case .or(let parts): return try junction(parts, " OR ", empty: dialect.falseCondition)
        case .comparison(let comparison):
            let outer = current
            current = comparison
            defer { current = outer }
            return try self.comparison(comparison)
        case .block:
            throw unsupported("A predicate with a block runs in memory only.")
        }
    }

    private func junction(_ parts: [PredicateTree], _ word: SQLFragment, empty: SQLFragment) throws -> SQLFragment {
        if parts.isEmpty { return empty }
        return balanced(try parts.map { try predicate($0) }[...], word)
    }

    /// Combines parts in a balanced tree: databases limit the depth of expressions, and a chain of ANDs is as deep as it is long.
    func balanced(_ parts: ArraySlice<SQLFragment>, _ word: SQLFragment) -> SQLFragment {
        if parts.count <= 32 { return "(\(parts.map { "\($0)" as SQLFragment }.joined(by: word)))" }
        let middle = parts.startIndex + parts.count / 2
        return "(\(balanced(parts[..<middle], word))\(word)\(balanced(parts[middle...], word)))"
    }

    private func comparison(_ comparison: PredicateComparison) throws -> SQLFragment {
        switch comparison.operator {
        case .custom(let name): throw invalid(.unsupported, "\(name) cannot be evaluated")
        case .comparator: throw unsupported("A comparator of the program's own runs in memory only.")
        default: break
        }
        let left = try operand(comparison.left)
        let right = try operand(comparison.right)
        if comparison.modifier != .direct { return try each(left, comparison, right) }
        return try compare(left, comparison.operator, right, comparison.options)
    }

    /// Compares two operands without a modifier.
    func compare(
        _ left: SQLOperand, _ operation: PredicateComparison.Operator, _ right: SQLOperand, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        switch operation {
        case .equal: return try equality(term(left), term(right), options, asksForNil: true)
        case .notEqual: return "NOT (\(try equality(term(left), term(right), options, asksForNil: true)))"
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return try order(term(left), operation, term(right), options)
        case .between: return try between(left, right, options)
        case .isIn: return try membership(of: left, in: right, options)
        case .contains: return try membership(of: right, in: left, options)
        case .beginsWith: return try text(left, .beginsWith, right, options)
        case .endsWith: return try text(left, .endsWith, right, options)
        case .like: return try text(left, .like, right, options)
        case .matches: return try text(left, .matches, right, options)
        case .custom(let name): throw invalid(.unsupported, "\(name) cannot be evaluated")
        case .comparator: throw unsupported("A comparator of the program's own runs in memory only.")
        }
    }

    private func between(_ left: SQLOperand, _ right: SQLOperand, _ options: PredicateComparison.Options) throws -> SQLFragment {
        if case .term(let term) = right, term.isNull { return "NULL" }
        guard case .list(let bounds) = right, bounds.count == 2 else {
            throw invalid(.unsupported, "BETWEEN needs a lowest and a highest value")
        }
        let value = try term(left)
        let low = try order(value, .greaterThanOrEqual, term(bounds[0]), options)
        let high = try order(value, .lessThanOrEqual, term(bounds[1]), options)
        return "(\(low) AND \(high))"
    }

    // MARK: Modifiers

    /// Translates ANY and ALL, which are never unknown.
    private func each(_ left: SQLOperand, _ comparison: PredicateComparison, _ right: SQLOperand) throws -> SQLFragment {
        let isAll = comparison.modifier == .all
        func compared(_ element: SQLOperand) throws -> SQLFragment { try compare(element, comparison.operator, right, comparison.options) }
        switch left {
        case .list(let elements):
            if elements.isEmpty { return isAll ? dialect.trueCondition : dialect.falseCondition }
            let tests = try elements.map { dialect.test(try compared($0), isMet: true) }
            return balanced(tests[...], isAll ? " AND " : " OR ")
        case .term(let term) where term.isNull: return isAll ? dialect.trueCondition : dialect.falseCondition
        case .many, .constants:
            var many = try self.many(left)
            let condition = try compared(many.element.operand)
            if isAll {
                many.conditions.append(dialect.test(condition, isMet: false))
                return "NOT EXISTS (SELECT 1\(many.from()))"
            }
            many.conditions.append("(\(condition))")
            return "EXISTS (SELECT 1\(many.from()))"
        case .term, .object:
            throw invalid(.unsupported, "\(isAll ? "ALL" : "ANY") needs a collection on its left side")
        }
    }

    // MARK: Errors

    /// The clause being translated.
    var clause: String {
        if let current { return PredicateTree.comparison(current).description }
        return place
    }

    /// Returns the error of an invalid predicate, which every store reports.
    func invalid(_ kind: InvalidPredicateError.Kind, _ message: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: kind, message: "\(message), in the clause \(clause)")
    }

    /// Returns the error of a valid expression without SQL.
    func unsupported(_ reason: String) -> NSError { SQLQueryError.untranslatable(clause, reason, by: dialect.name) }

    func constantClass(_ number: Int) -> SQLConstantClass { constants[number] }
}

/// The errors of fetches that SQL cannot answer.
package enum SQLQueryError {
    /// Returns the error of a clause without SQL, with a remedy.
    static func untranslatable(_ clause: String, _ reason: String, by database: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError,
            "The \(database) store cannot answer the fetch: there is no SQL for the clause \(clause).",
            reason: reason,
            next: "Rewrite the clause, filter the fetched objects in the program, or set the request's allowsEvaluationInMemory.",
            info: [untranslatableKey: true])
    }

    /// Marks errors of fetches that can be answered in memory.
    private static let untranslatableKey = "CoreDataUntranslatableClause"

    /// Returns whether a fetch failed because a clause has no SQL.
    package static func isUntranslatable(_ error: any Error) -> Bool {
        (error as NSError).userInfo[untranslatableKey] as? Bool ?? false
    }
}
