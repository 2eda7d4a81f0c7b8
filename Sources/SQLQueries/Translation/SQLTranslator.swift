internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates

/// Translates predicates and expressions to SQL, for the tables of one store.
///
/// Each method agrees with the evaluator: an unknown result is NULL, values of different kinds are never equal, and operations that
/// SQLite lacks are performed by functions that call the evaluator (``SQLFunctions``). An expression without SQL is an error that names
/// the clause.
final class SQLTranslator {
    let schema: SQLSchema
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

    init(schema: SQLSchema, constants: [SQLConstantClass], entity: SQLEntity, scope: SQLScope) {
        self.schema = schema
        self.constants = constants
        let alias = SQLAlias(number: 0)
        aliases = 1
        scope.add("\(entity.table) \(alias)")
        root = .object(SQLObject(entity: entity, key: "\(alias).\(SQLIdentifier.primaryKey)", scope: scope, row: alias))
    }

    func nextAlias() -> SQLAlias {
        defer { aliases += 1 }
        return SQLAlias(number: aliases)
    }

    // MARK: Predicates

    /// Translates a predicate to an expression that is 1, 0 or NULL.
    func predicate(_ tree: PredicateTree) throws -> SQLFragment {
        switch tree {
        case .true: return "1"
        case .false: return "0"
        case .not(let part): return "NOT (\(try predicate(part)))"
        case .and(let parts): return try junction(parts, " AND ", empty: "1")
        case .or(let parts): return try junction(parts, " OR ", empty: "0")
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

    /// Combines parts in a balanced tree: SQLite limits the depth of expressions, and a chain of ANDs is as deep as it is long.
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
        case .lessThan: return try order(term(left), "<", 0, term(right), options)
        case .lessThanOrEqual: return try order(term(left), "<=", 1, term(right), options)
        case .greaterThan: return try order(term(left), ">", 2, term(right), options)
        case .greaterThanOrEqual: return try order(term(left), ">=", 3, term(right), options)
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
        let low = try order(value, ">=", 3, term(bounds[0]), options)
        let high = try order(value, "<=", 1, term(bounds[1]), options)
        return "(\(low) AND \(high))"
    }

    // MARK: Modifiers

    /// Translates ANY and ALL, which are never unknown.
    private func each(_ left: SQLOperand, _ comparison: PredicateComparison, _ right: SQLOperand) throws -> SQLFragment {
        let isAll = comparison.modifier == .all
        func compared(_ element: SQLOperand) throws -> SQLFragment { try compare(element, comparison.operator, right, comparison.options) }
        switch left {
        case .list(let elements):
            if elements.isEmpty { return isAll ? "1" : "0" }
            let tests = try elements.map { "(\(try compared($0))) IS 1" as SQLFragment }
            return balanced(tests[...], isAll ? " AND " : " OR ")
        case .term(let term) where term.isNull: return isAll ? "1" : "0"
        case .many, .constants:
            var many = try self.many(left)
            let condition = try compared(many.element.operand)
            if isAll {
                many.conditions.append("(\(condition)) IS NOT 1")
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
    func unsupported(_ reason: String) -> NSError { SQLQueryError.untranslatable(clause, reason) }

    func constantClass(_ number: Int) -> SQLConstantClass { constants[number] }
}

/// The errors of fetches that SQL cannot answer.
package enum SQLQueryError {
    /// Returns the error of a clause without SQL, and what to do about it.
    static func untranslatable(_ clause: String, _ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError,
            "The SQLite store cannot answer the fetch: there is no SQL for the clause \(clause).",
            reason: reason,
            next: "Rewrite the clause, filter the fetched objects in the program, or set the request's allowsEvaluationInMemory.",
            info: [untranslatableKey: true])
    }

    /// Marks errors of statements that SQLite could not prepare.
    package static let unpreparedKey = "CoreDataUnpreparedStatement"

    /// Returns whether SQLite refused to prepare a statement for what it says, and not for the state of the file or the memory.
    ///
    /// A statement that was translated from a request is well-formed. So where the file has the tables and columns of the model, it was beyond one of SQLite's
    /// limits: on the depth of expressions, parameters, joined tables, columns, or terms. SQLite has one code for all of them, and its messages depend on the
    /// installed library.
    package static func isRefused(_ error: any Error) -> Bool {
        let error = error as NSError
        guard error.userInfo[unpreparedKey] as? Bool == true, let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError else {
            return false
        }
        // SQLITE_ERROR, SQLITE_ABORT and SQLITE_TOOBIG; the upper bytes have details.
        return cause.domain == NSSQLiteErrorDomain && [1, 4, 18].contains(cause.code & 0xFF)
    }

    /// Returns the error of a request beyond SQLite's limits.
    package static func tooComplex(_ request: StoreQuery, _ cause: any Error) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError,
            "The SQLite store cannot answer the fetch: its predicate is too large for SQLite.",
            reason: ((cause as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription,
            next: "Nest it less, use IN for many values, or set the request's allowsEvaluationInMemory.", cause: cause)
    }

    /// Marks errors of fetches that can be answered in memory.
    private static let untranslatableKey = "CoreDataUntranslatableClause"

    package static func isUntranslatable(_ error: any Error) -> Bool {
        (error as NSError).userInfo[untranslatableKey] as? Bool ?? false
    }
}
