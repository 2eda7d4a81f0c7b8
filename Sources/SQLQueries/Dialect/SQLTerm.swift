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
    package enum ComparisonClass {
        case null, number, text, date, data, uuid, url, object, entity, opaque
    }

    package var comparisonClass: ComparisonClass {
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

    /// Whether functions apply to values of the kind: not to objects, entities and transformed values.
    var isPlain: Bool {
        switch self {
        case .object, .anyObject, .entity, .opaque: false
        default: true
        }
    }

    /// The kind in messages.
    package var name: String {
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
    /// True or false.
    case boolean
    /// An integer.
    case integer
    /// An integer or a floating-point number, with the arithmetic of SQL.
    case plain
    /// A decimal number in the form of columns. Its arithmetic is decimal.
    case decimal
    /// Any of these forms, or a decimal number in the form of functions.
    case any

    /// Whether the number is binary: its arithmetic is not decimal.
    package var isBinary: Bool { self == .boolean || self == .integer || self == .plain }
    /// Whether all such numbers are integers.
    package var isInteger: Bool { self == .boolean || self == .integer }

    /// Returns the form of a value that may have either form.
    package func joined(with other: SQLNumberForm) -> SQLNumberForm {
        if self == other { return self }
        if isInteger && other.isInteger { return .integer }
        return isBinary && other.isBinary ? .plain : .any
    }
}

/// A value in SQL.
package struct SQLTerm {
    package var sql: SQLFragment
    package var kind: SQLKind
    /// The constant, if the value is one.
    package var constant: SQLConstant?
    /// Whether the value is an unchanged column, which an index may contain.
    package var isColumn = false
    /// Whether the value is a date as a row holds it, which a database may have to convert for arithmetic.
    package var isStoredDate = false
    /// The counted rows, if the value is a count.
    var counted: SQLFragment?
    /// The composite, if the value is one.
    var composite: SQLComposite?

    package init(sql: SQLFragment, kind: SQLKind, isColumn: Bool = false, isStoredDate: Bool = false) {
        self.sql = sql
        self.kind = kind
        self.isColumn = isColumn
        self.isStoredDate = isStoredDate
    }

    /// Creates the value of a constant; its SQL and kind are set afterwards.
    init(_ constant: SQLConstant) {
        self.init(sql: "NULL", kind: .null)
        self.constant = constant
    }

    /// Creates a count.
    init(count: SQLFragment, of counted: SQLFragment) {
        self.init(sql: count, kind: .number(.integer))
        self.counted = counted
    }

    /// The number form, for a number.
    package var number: SQLNumberForm? { if case .number(let form) = kind { form } else { nil } }
    package var isNull: Bool { kind.comparisonClass == .null }
}

extension SQLTerm {
    /// Nil as the result of an operation.
    static let unknown = SQLTerm(sql: "NULL", kind: .null)
    static let zero = SQLTerm(sql: "0", kind: .number(.integer))
    static let allBits = SQLTerm(sql: "-1", kind: .number(.integer))
}

/// A constant of the request, and the aspects that the SQL may depend on.
package struct SQLConstant {
    package let number: Int
    package let shape: SQLConstantClass
}
