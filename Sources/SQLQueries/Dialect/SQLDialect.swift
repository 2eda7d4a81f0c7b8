@_spi(Stores) package import ObjectGraph
package import Predicates

/// The spelling of queries in one database's SQL, and the operations that the database has.
///
/// ``SQLTranslator`` resolves paths, joins and types, and composes the parts of statements that are the same in every database: SELECT, joins,
/// EXISTS, CASE, AND. The dialect provides the rest. An extension has standard SQL for most of it.
///
/// Each operation must agree with the evaluator: an unknown result is NULL. A dialect returns nil for an operation that its database cannot express,
/// or that has a different result there. The clause is then an error that names it, or is evaluated in memory if the request allows that.
package protocol SQLDialect: Sendable {
    /// The name of the database, for messages.
    var name: String { get }

    // MARK: Statements

    /// The spelling of parameters.
    var placeholders: SQLPlaceholders { get }
    /// The condition that is always met.
    var trueCondition: SQLFragment { get }
    /// The condition that is never met.
    var falseCondition: SQLFragment { get }
    /// Returns a condition that is never unknown: whether another one is met, or whether it is not met or unknown.
    func test(_ condition: SQLFragment, isMet: Bool) -> SQLFragment
    /// The separator of tables whose rows are all combined. The condition of a later join names any of them.
    var tableSeparator: SQLFragment { get }
    /// The end of a statement that limits its rows to ``SQLBinding/limit`` after skipping ``SQLBinding/offset``.
    var page: SQLFragment { get }
    /// The name after a subquery whose rows are only counted.
    var subqueryName: SQLFragment { get }
    /// Returns a column as a value.
    func column(_ column: SQLFragment, _ storage: SQLStorage) -> SQLTerm
    /// Returns a value in a form that no index contains, for `noindex:`.
    func withoutIndex(_ value: SQLTerm) -> SQLFragment

    // MARK: Order

    /// Returns the value by which rows are sorted.
    ///
    /// - Parameter order: The order of strings.
    func sortKey(_ value: SQLTerm, _ order: TextOrder) -> SQLFragment?
    /// Returns a sort key with its direction: nil comes first in ascending order, last in descending order.
    func sorted(_ key: SQLFragment, ascending: Bool) -> SQLFragment

    // MARK: Comparisons

    /// Returns whether `=` compares numbers of two forms by value, and so does IN.
    func comparesByValue(_ left: SQLNumberForm, _ right: SQLNumberForm) -> Bool
    /// Compares numbers by value, with one of the operators that have ``Predicates/PredicateComparison/Operator/symbol``.
    func compareNumbers(_ left: SQLTerm, _ operation: PredicateComparison.Operator, _ right: SQLTerm) -> SQLFragment?
    /// Returns a string in a form that `<` and the like compare by code points.
    func byCodePoints(_ text: SQLFragment) -> SQLFragment
    /// Returns whether strings are canonically equivalent.
    func equalTexts(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment?
    /// Returns a string with case and diacritics folded.
    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment?
    /// Returns whether a string matches the right side of a string operator.
    ///
    /// - Parameter pattern: The right side. The regular expression of ``TextOperator/matches`` has been validated if it is a constant.
    func match(
        _ text: SQLTerm, _ operation: TextOperator, _ pattern: SQLTerm, _ options: PredicateComparison.Options
    ) -> SQLFragment?

    // MARK: Collections

    /// Returns whether a value equals an element of a list. Strings are compared by their code points.
    func isIn(_ value: SQLFragment, _ list: SQLBinding) -> SQLFragment
    /// Returns whether a string is canonically equivalent to an element of a list.
    func isEquivalent(_ text: SQLFragment, toElementOf list: SQLBinding) -> SQLFragment?
    /// Returns whether a string is canonically equivalent to a selected one.
    ///
    /// - Parameter from: The part of the SELECT after its column.
    func isEquivalent(_ text: SQLFragment, to element: SQLFragment, selectedBy from: SQLFragment) -> SQLFragment?
    /// Returns the elements of a list as a table.
    ///
    /// - Parameter alias: The alias of the table; nil if its rows are only counted.
    func elements(of list: SQLBinding, as alias: SQLAlias?) -> SQLListTable
    /// Returns a value in a form of which DISTINCT keeps one for equal values.
    func distinct(_ value: SQLTerm) -> SQLFragment?
    /// Returns a value in a form of which UNION, INTERSECT and EXCEPT keep one for equal values.
    func member(_ value: SQLTerm, of kind: SQLKind) -> SQLFragment?
    /// Returns a value as one of several that have a kind in common.
    func value(_ value: SQLTerm, as kind: SQLKind) -> SQLFragment

    // MARK: Calculations

    /// Calculates with two numbers.
    func calculate(_ operation: ExpressionTree.ArithmeticOperator, _ left: SQLTerm, _ right: SQLTerm) -> SQLTerm?
    /// Returns a date that seconds are added to, or subtracted from.
    func shift(_ date: SQLTerm, _ operation: ExpressionTree.ArithmeticOperator, _ seconds: SQLTerm) -> SQLFragment?
    /// Returns the seconds from one date to another.
    func seconds(from start: SQLTerm, to end: SQLTerm) -> SQLFragment?
    /// Converts a value of another kind.
    ///
    /// - Parameter type: The name of the type in `CAST`.
    func cast(_ value: SQLTerm, to kind: SQLKind, named type: String) -> SQLFragment?
    /// Calls a function of the predicate language.
    ///
    /// - Parameters:
    ///   - name: The name in lower case, without a colon at its end.
    ///   - written: The name as written.
    func call(_ name: String, written: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment?
    /// Calls a method of a value, which is the first argument.
    func call(method name: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment?
    /// Reads a key of a string, such as `length`.
    func read(_ key: String, of text: SQLTerm) -> SQLFragment?
    /// Reads an element of a composite attribute.
    ///
    /// - Parameters:
    ///   - path: The names of the composite attributes and the element within the column.
    ///   - composite: The column.
    func element(_ element: NSAttributeDescription, at path: [String], in composite: SQLFragment) -> SQLFragment?
    /// Calls an aggregate function, which ignores nil; returns the kind of its result, too.
    func aggregate(_ aggregate: SQLAggregate, of value: SQLTerm) -> (SQLFragment, SQLKind)?
}

/// The elements of a list as a table.
package struct SQLListTable {
    /// The table with its alias.
    let table: SQLFragment
    /// The element.
    let value: SQLFragment
    /// The place of the element in the list, from 0.
    let position: SQLFragment

    package init(table: SQLFragment, value: SQLFragment, position: SQLFragment) {
        self.table = table
        self.value = value
        self.position = position
    }
}

extension PredicateComparison.Operator {
    /// The operator of SQL that compares values by order or equality; empty for others.
    package var symbol: SQLFragment {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .equal: "="
        case .notEqual: "<>"
        case .matches, .like, .beginsWith, .endsWith, .isIn, .contains, .between, .custom, .comparator: ""
        }
    }
}

extension PredicateComparison.Options {
    /// Whether case or diacritics are ignored.
    package var folds: Bool { !isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) }
}
