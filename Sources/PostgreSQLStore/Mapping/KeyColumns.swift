#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension KeyColumns {
    /// The condition that a row has one of the keys of a parameter, an array. Indexes of the columns serve it.
    func isIn(_ parameter: String, of table: String?) -> String {
        if isPlain {
            let target = comparisons(with: parameter, of: table)[0].target
            return "\(name(columns[0], of: table))\(target.type.collation.map { " COLLATE \($0)" } ?? "") = ANY(\(parameter))"
        }
        let comparisons = comparisons(with: "wanted.key", of: table)
        if comparisons.contains(where: { PostgreSQLTableDialect.hasSpellings($0.target) }) {
            return "EXISTS (SELECT 1 FROM unnest(\(parameter)::text[]) AS wanted (key) WHERE \(equal("wanted.key", of: table)))"
        }
        let list = comparisons.map(\.name).joined(separator: ", ")
        return "(\(list)) IN (SELECT \(comparisons.map(\.value).joined(separator: ", ")) FROM unnest(\(parameter)::text[]) AS wanted (key))"
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
        case .text: .string(result.verbatim(row, column))
        case .uuid: .uuid(result.bytes(row, column).loadUnaligned(as: UUID.self))
        }
    }

    /// Returns a key as a parameter; nil for a key of another kind, and for a key that no row can have.
    func value(_ reference: NSManagedObjectID.Reference) -> BinaryValue? {
        switch (self, reference) {
        case (.integer, .integer(let number)): .integer(number)
        case (.text, .string(let text)): text.utf8.contains(0) ? nil : .verbatim(text)
        case (.uuid, .uuid(let uuid)): .uuid(uuid)
        default: nil
        }
    }
}
#endif
