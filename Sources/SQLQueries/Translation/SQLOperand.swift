internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates

/// The kind of a value, as far as it is known at translation.
package enum SQLKind {
    /// A literal nil.
    case null
    case number(SQLNumberForm)
    case text
    case date
    case data
    case uuid
    case url
    /// An object of an entity or its subentities: its key.
    case object(NSEntityDescription)
    /// An object given as a constant, of any entity.
    case anyObject
    /// An entity: its number.
    case entity
    /// Data that only a transformer or unarchiver can read.
    case opaque

    /// The groups of kinds that SQL can compare directly.
    enum ComparisonClass {
        case null, number, text, date, data, uuid, url, object, entity, opaque
    }

    var comparisonClass: ComparisonClass {
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

    /// The code by which SQL functions receive the kind of an argument.
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

/// The forms of numbers in SQL.
package enum SQLNumberForm {
    /// An integer, 0 or 1.
    case boolean
    /// An integer.
    case integer
    /// An integer or a floating-point number, with the arithmetic of SQL.
    case plain
    /// A decimal number in the form of columns: as another number, or as a blob with its numeral. Its arithmetic is decimal.
    case decimal
    /// Any of these forms, or a decimal number as text: only functions support it.
    case any

    /// Whether SQL compares such numbers by value.
    var isComparable: Bool { self != .any }
    /// Whether SQL has the arithmetic of predicates for such numbers.
    var isCalculable: Bool { self == .boolean || self == .integer || self == .plain }
    /// Whether all such numbers are integers.
    var isInteger: Bool { self == .boolean || self == .integer }

    /// Returns the form of a value that may have either form.
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
    /// The constant, if the value is one.
    var constant: SQLConstant?
    /// Whether the value is an unchanged column, which an index may contain.
    var isColumn = false
    /// Whether SQLite may have stored an integral floating-point number as an integer.
    var mayBeStoredAsInteger = false
    /// The counted rows, if the value is a count.
    var counted: SQLFragment?
    /// The composite, if the value is one.
    var composite: SQLComposite?

    /// The number form, for a number.
    var number: SQLNumberForm? { if case .number(let form) = kind { form } else { nil } }
    var isNull: Bool { kind.comparisonClass == .null }

    /// The value in the form of functions: decimal numbers as such.
    var forFunctions: SQLFragment {
        if let constant, case .number(.decimal) = kind { return "\(SQLBinding.constant(constant.number, .number))" }
        if case .number(.decimal) = kind { return "CoreDataDecimal(\(sql))" }
        return sql
    }

    /// The value for arithmetic, in which an integral floating-point number must not be taken for an integer.
    var asReal: SQLFragment { mayBeStoredAsInteger ? "CAST(\(sql) AS REAL)" : sql }
}

/// A constant of the request, and the aspects that the SQL may depend on.
struct SQLConstant {
    let number: Int
    let shape: SQLConstantClass
}

/// An object in SQL: its key, and its row where it is needed.
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
    private var joined: [String: SQLAlias] = [:]

    /// Adds a table whose rows are combined with the existing ones.
    func add(_ table: SQLFragment) {
        if !tables.isEmpty { tables += ", " }
        tables += table
    }

    /// Returns the row with a key, which may be missing; the row is joined once.
    func row(of table: SQLIdentifier, key: SQLFragment, _ next: () -> SQLAlias) -> SQLAlias {
        if let alias = joined[key.sql] { return alias }
        let alias = next()
        joined[key.sql] = alias
        tables += " LEFT JOIN \(table) \(alias) ON \(alias).\(SQLIdentifier.primaryKey) = \(key)"
        return alias
    }
}
