/// A fragment of SQL with its parameters, composed from literals in the source code, quoted names and bindings only.
///
/// External data cannot become part of the text: interpolation accepts fragments, ``SQLIdentifier``s, aliases and bindings, but not
/// strings.
package struct SQLFragment: ExpressibleByStringInterpolation {
    /// The text, with a question mark for each parameter.
    package private(set) var sql: String
    /// The parameters, in order.
    private var parameters: [Parameter]

    private struct Parameter {
        /// The place of its question mark, in bytes from the beginning of the text.
        var place: Int
        let binding: SQLBinding
    }

    package init(stringLiteral value: StaticString) {
        sql = value.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        parameters = []
    }

    package init(stringInterpolation: Interpolation) { self = stringInterpolation.fragment }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var fragment: SQLFragment = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            fragment.sql.reserveCapacity(literalCapacity + interpolationCount * 12)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            fragment.sql += literal.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        }
        package mutating func appendInterpolation(_ other: SQLFragment) { fragment += other }
        package mutating func appendInterpolation(_ name: SQLIdentifier) { fragment.sql += name.sql }
        package mutating func appendInterpolation(_ alias: SQLAlias) { fragment.sql += alias.sql }
        package mutating func appendInterpolation(_ binding: SQLBinding) {
            fragment.parameters.append(Parameter(place: fragment.sql.utf8.count, binding: binding))
            fragment.sql += "?"
        }
    }

    package var isEmpty: Bool { sql.isEmpty }

    /// The sources of the parameters, in order.
    var bindings: [SQLBinding] { parameters.map(\.binding) }

    /// Returns the text with parameters in the spelling of a database.
    func sql(_ placeholders: SQLPlaceholders) -> String {
        guard case .numbered(let sign) = placeholders else { return sql }
        var text = ""
        var rest = sql.utf8[...]
        for (index, parameter) in parameters.enumerated() {
            let mark = sql.utf8.index(sql.utf8.startIndex, offsetBy: parameter.place)
            text += "\(Substring(rest[..<mark]))\(sign)\(index + 1)"
            rest = rest[sql.utf8.index(after: mark)...]
        }
        return text + Substring(rest)
    }

    package static func += (left: inout SQLFragment, right: SQLFragment) {
        let start = left.sql.utf8.count
        left.sql += right.sql
        for parameter in right.parameters {
            left.parameters.append(Parameter(place: start + parameter.place, binding: parameter.binding))
        }
    }
}

/// The spelling of parameters in a statement.
package enum SQLPlaceholders: Sendable {
    /// `?`
    case questionMarks
    /// A sign and the number of the parameter, from 1: `$1`.
    case numbered(Character)
}

/// The alias of a table within one statement, by number.
package struct SQLAlias: Hashable, Sendable {
    let number: Int
    var sql: String { "t\(number)" }
}

extension Sequence<SQLFragment> {
    /// Returns the fragments joined by a separator.
    package func joined(by separator: SQLFragment) -> SQLFragment {
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
