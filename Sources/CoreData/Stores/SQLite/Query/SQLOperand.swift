internal import Foundation
internal import Predicates

/// What is known of a value's kind when SQL is written.
enum SQLKind {
    /// Nil, as it is written in the predicate.
    case null
    case number(SQLNumberForm)
    case text
    case date
    case data
    case uuid
    case url
    /// An object of an entity, or of one that inherits from it: its key.
    case object(NSEntityDescription)
    /// An object given as a constant, of whatever entity.
    case anyObject
    /// An entity: its number.
    case entity
    /// Bytes that only a transformer or an archive can read.
    case opaque

    /// What SQL can compare directly with what.
    enum Family {
        case null, number, text, date, data, uuid, url, object, entity, opaque
    }

    var family: Family {
        switch self {
        case .null: .null
        case .number: .number
        case .text: .text
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .url: .url
        case .object, .anyObject: .object
        case .entity: .entity
        case .opaque: .opaque
        }
    }

    /// The letter by which SQL functions are told how to read an argument.
    var code: String {
        switch self {
        case .null: "-"
        case .number(.boolean): "b"
        case .number(.decimal): "m"
        case .number: "n"
        case .text: "t"
        case .date: "d"
        case .data: "x"
        case .uuid: "u"
        case .url: "l"
        case .object, .anyObject, .entity, .opaque: "?"
        }
    }

    var name: String {
        switch self {
        case .null: "nil"
        case .number: "a number"
        case .text: "text"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .object, .anyObject: "an object"
        case .entity: "an entity"
        case .opaque: "a transformed value"
        }
    }
}

/// In which form a number comes out of SQL.
enum SQLNumberForm {
    /// An integer, 0 or 1.
    case boolean
    /// An integer.
    case integer
    /// An integer or a floating-point number, which calculate as they do in SQL.
    case plain
    /// A decimal number as columns hold it: as another number, or as the bytes of its numeral. Calculated with in decimal.
    case decimal
    /// Any of these, or a decimal number as text: only functions can work with it.
    case any

    /// Whether SQL compares such numbers by what they are worth.
    var isComparable: Bool { self != .any }
    /// Whether SQL calculates with such numbers as predicates do.
    var isCalculable: Bool { self == .boolean || self == .integer || self == .plain }
    /// Whether there are no fractions.
    var isInteger: Bool { self == .boolean || self == .integer }

    /// The form of a value that has either form.
    func joined(with other: SQLNumberForm) -> SQLNumberForm {
        if self == other { return self }
        if isInteger && other.isInteger { return .integer }
        return isCalculable && other.isCalculable ? .plain : .any
    }
}

/// A value in SQL.
struct SQLTerm {
    var sql: SQLFragment
    var kind: SQLKind
    /// The constant that it is, where it is one.
    var constant: SQLConstant?
    /// Whether it is a column as it lies in a table, which an index can find.
    var isColumn = false
    /// Whether SQLite may have stored a whole floating-point number as an integer.
    var mayBeStoredAsInteger = false
    /// Where it is a count: what the counted rows come from.
    var counted: SQLFragment?
    /// Where it is a composite attribute: what keys lead to.
    var composite: SQLComposite?

    /// The number forms it can have.
    var number: SQLNumberForm? { if case .number(let form) = kind { form } else { nil } }
    var isNull: Bool { kind.family == .null }

    /// The value as a function takes it: decimal numbers as such.
    var forFunctions: SQLFragment {
        if let constant, case .number(.decimal) = kind { return "\(SQLBinding.constant(constant.number, .number))" }
        if case .number(.decimal) = kind { return "CoreDataDecimal(\(sql))" }
        return sql
    }

    /// The value for calculations, in which a whole floating-point number must not pass for an integer.
    var asReal: SQLFragment { mayBeStoredAsInteger ? "CAST(\(sql) AS REAL)" : sql }
}

/// A constant of the request, and what the SQL may depend on.
struct SQLConstant {
    let number: Int
    let shape: SQLConstantClass
}

/// One object in SQL: its key, and its row where that is needed.
struct SQLObject {
    let entity: SQLEntity
    let key: SQLFragment
    /// Where the row is joined when it is needed.
    let scope: SQLScope
    /// The row, where it is there already.
    let row: SQLAlias?
}

/// Many values or objects in SQL: what a SELECT finds.
struct SQLMany {
    enum Element {
        case object(SQLObject)
        case term(SQLTerm)
    }
    let scope: SQLScope
    var conditions: [SQLFragment]
    var element: Element
    /// In which order the elements come; nil where they have none.
    var order: SQLFragment?
    /// Whether a nil is no element.
    var leavesOutNil = false

    /// The rest of a SELECT, after its columns.
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

    /// How many elements there are.
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
    case many(SQLMany)
    /// A collection written in the predicate, of values that are no constants.
    case list([SQLOperand])
    /// A collection of constants.
    case constants(SQLConstant)
}

/// The tables of one SELECT.
final class SQLScope {
    private(set) var tables: SQLFragment = ""
    private var joined: [String: SQLAlias] = [:]

    /// Adds a table whose rows are combined with those that are there.
    func add(_ table: SQLFragment) {
        if !tables.isEmpty { tables += ", " }
        tables += table
    }

    /// The row with a key, which may be missing: joined once.
    func row(of table: SQLIdentifier, key: SQLFragment, _ next: () -> SQLAlias) -> SQLAlias {
        if let alias = joined[key.sql] { return alias }
        let alias = next()
        joined[key.sql] = alias
        tables += " LEFT JOIN \(table) \(alias) ON \(alias).\(SQLIdentifier.primaryKey) = \(key)"
        return alias
    }
}
