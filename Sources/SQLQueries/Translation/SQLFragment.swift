/// A fragment of SQL with its parameters, composed from literals in the source code, quoted names and bindings only.
///
/// External data cannot become part of the text: interpolation accepts fragments, ``SQLIdentifier``s, aliases and bindings, but not
/// strings.
struct SQLFragment: ExpressibleByStringInterpolation {
    /// The text, with a question mark for each parameter.
    private(set) var sql: String
    /// The sources of the parameters, in order.
    private(set) var bindings: [SQLBinding]

    init(stringLiteral value: StaticString) {
        sql = value.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        bindings = []
    }

    init(stringInterpolation: Interpolation) {
        sql = stringInterpolation.sql
        bindings = stringInterpolation.bindings
    }

    private init(sql: String, bindings: [SQLBinding]) {
        self.sql = sql
        self.bindings = bindings
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var sql = ""
        fileprivate var bindings: [SQLBinding] = []

        init(literalCapacity: Int, interpolationCount: Int) { sql.reserveCapacity(literalCapacity + interpolationCount * 12) }

        mutating func appendLiteral(_ literal: StaticString) {
            sql += literal.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        }
        mutating func appendInterpolation(_ fragment: SQLFragment) {
            sql += fragment.sql
            bindings += fragment.bindings
        }
        mutating func appendInterpolation(_ name: SQLIdentifier) { sql += name.sql }
        mutating func appendInterpolation(_ alias: SQLAlias) { sql += alias.sql }
        mutating func appendInterpolation(_ binding: SQLBinding) {
            sql += "?"
            bindings.append(binding)
        }
    }

    var isEmpty: Bool { sql.isEmpty }

    static func += (left: inout SQLFragment, right: SQLFragment) {
        left.sql += right.sql
        left.bindings += right.bindings
    }
}

/// The alias of a table within one statement, by number.
struct SQLAlias: Hashable {
    let number: Int
    var sql: String { "t\(number)" }
}

extension Sequence<SQLFragment> {
    /// Returns the fragments joined by a separator.
    func joined(by separator: SQLFragment) -> SQLFragment {
        var result: SQLFragment = ""
        var isFirst = true
        for fragment in self {
            if !isFirst { result += separator }
            isFirst = false
            result += fragment
        }
        return result
    }
}
