#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Columns that name a row: those of its own key, or those with the key of another row.
///
/// An integer, a UUID and a text are keys by themselves. Every other key is the text of a JSON array, with the text of each column; it is what the
/// URI of an object contains, and the same in each run.
struct KeyColumns: Sendable {
    let columns: [CatalogueColumn]
    let kind: SQLKeyKind
    /// Whether a key is the column's own value.
    let isPlain: Bool

    init(_ columns: [CatalogueColumn]) {
        self.columns = columns
        switch (columns.count, columns.first.map { ColumnForm($0.type) }) {
        case (1, .integer): (kind, isPlain) = (.integer, true)
        case (1, .uuid): (kind, isPlain) = (.uuid, true)
        case (1, .text): (kind, isPlain) = (.text, true)
        default: (kind, isPlain) = (.text, false)
        }
    }

    private func name(_ column: CatalogueColumn, of table: String?) -> String {
        (table.map { $0 + "." } ?? "") + LayoutNames.identifier(column.name).sql
    }

    private static func text(_ name: String, _ column: CatalogueColumn) -> String {
        // The text of a moment would depend on the time zone of the connection.
        ColumnForm(column.type) == .moment ? "(\(name) AT TIME ZONE 'UTC')::text" : "\(name)::text"
    }

    private static func value(_ text: String, _ column: CatalogueColumn) -> String {
        ColumnForm(column.type) == .moment ? "(\(text)::timestamp AT TIME ZONE 'UTC')" : "\(text)::\(column.type.sql)"
    }

    /// Returns what selects the key; it is NULL where a column is.
    func selected(of table: String?) -> String {
        if isPlain { return name(columns[0], of: table) + (kind == .text ? "::text" : "") }
        let names = columns.map { name($0, of: table) }
        let texts = zip(names, columns).map { Self.text($0, $1) }.joined(separator: ", ")
        let conditions = names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return "CASE WHEN \(conditions) THEN jsonb_build_array(\(texts))::text END"
    }

    /// Returns the value of each column, from a parameter with a key.
    func written(_ parameter: String) -> [(column: String, value: String)] {
        if isPlain { return [(columns[0].name, parameter)] }
        return columns.enumerated().map { index, column in
            (column.name, Self.value("(\(parameter)::text::jsonb ->> \(index))", column))
        }
    }

    /// The condition that a row has the key of a parameter.
    func equal(_ parameter: String, of table: String?) -> String {
        zip(columns, written(parameter)).map { "\(name($0, of: table)) = \($1.value)" }.joined(separator: " AND ")
    }

    /// The condition that a row has one of the keys of a parameter, an array. Indexes of the columns serve it.
    func isIn(_ parameter: String, of table: String?) -> String {
        if isPlain { return "\(name(columns[0], of: table)) = ANY(\(parameter))" }
        let list = columns.map { name($0, of: table) }.joined(separator: ", ")
        let values = columns.enumerated().map { Self.value("(\("wanted")::jsonb ->> \($0))", $1) }.joined(separator: ", ")
        return "(\(list)) IN (SELECT \(values) FROM unnest(\(parameter)::text[]) AS wanted)"
    }
}

extension SQLKeyKind {
    /// The type of parameters with a key.
    var type: UInt32 {
        switch self {
        case .integer: PostgreSQLType.integer
        case .text: PostgreSQLType.text
        case .uuid: PostgreSQLType.uuid
        }
    }

    /// Returns a key of a result.
    @inline(__always) func reference(_ result: QueryResult, _ row: Int, _ column: Int) -> NSManagedObjectID.Reference {
        switch self {
        case .integer: .integer(result.integer(row, column))
        case .text: .string(result.text(row, column))
        case .uuid: .uuid(result.bytes(row, column).loadUnaligned(as: UUID.self))
        }
    }

    /// Returns a key as a parameter; nil for a key of another kind.
    func value(_ reference: NSManagedObjectID.Reference) -> BinaryValue? {
        switch (self, reference) {
        case (.integer, .integer(let number)): .integer(number)
        case (.text, .string(let text)): .text(text)
        case (.uuid, .uuid(let uuid)): .uuid(uuid)
        default: nil
        }
    }
}
#endif
