internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// An object in SQL: its key, and its row if it is needed.
struct SQLObject {
    let entity: SQLEntity
    let key: SQLFragment
    /// The scope in which the row is joined when it is needed.
    let scope: SQLScope
    /// The row, if it is joined already.
    let row: SQLAlias?
}

/// A collection of values or objects in SQL: the result of a SELECT.
struct SQLCollection {
    enum Element {
        case object(SQLObject)
        case term(SQLTerm)
    }
    let scope: SQLScope
    var conditions: [SQLFragment]
    var element: Element
    /// The order of the elements; nil for an unordered collection.
    var order: SQLFragment?
    /// Whether nil is excluded from the elements.
    var leavesOutNil = false

    /// Returns the part of a SELECT after its columns.
    func from() -> SQLFragment {
        var all = conditions
        if leavesOutNil { all.append("\(value.sql) IS NOT NULL") }
        let tables = scope.tables
        if all.isEmpty { return " FROM \(tables)" }
        return " FROM \(tables) WHERE \(all.joined(by: " AND "))"
    }

    /// The elements as values: objects by their keys.
    var value: SQLTerm {
        switch element {
        case .term(let term): term
        case .object(let object): object.term
        }
    }

    /// Returns the number of elements.
    func count() -> SQLFragment { "(SELECT COUNT(*)\(from()))" }
}

extension SQLObject {
    /// The object as a value: its key.
    var term: SQLTerm { SQLTerm(sql: key, kind: .object(entity.entity), isColumn: true) }
}

/// One side of a comparison in SQL.
enum SQLOperand {
    case term(SQLTerm)
    case object(SQLObject)
    case many(SQLCollection)
    /// A collection in the predicate whose elements are not constants.
    case list([SQLOperand])
    /// A collection of constants.
    case constants(SQLConstant)
}

/// The tables of one SELECT.
final class SQLScope {
    private(set) var tables: SQLFragment = ""
    private let separator: SQLFragment
    private var joined: [String: SQLAlias] = [:]

    init(_ dialect: any SQLDialect) { separator = dialect.tableSeparator }

    /// Adds a table whose rows are combined with the existing ones.
    func add(_ table: SQLFragment) {
        if !tables.isEmpty { tables += separator }
        tables += table
    }

    /// Returns the row with a key, which may be missing; the row is joined once.
    func row(of entity: SQLEntity, key: SQLFragment, _ next: () -> SQLAlias) -> SQLAlias {
        if let alias = joined[key.sql] { return alias }
        let alias = next()
        joined[key.sql] = alias
        tables += " LEFT JOIN \(entity.table) \(alias) ON \(alias).\(entity.identity.key) = \(key)"
        return alias
    }
}
