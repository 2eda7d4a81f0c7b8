internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The tables, indexes, views and triggers of a file, with the statements that created them. They are all that opening a store needs to know about
/// the schema, and are read at once.
struct SQLiteContents: Sendable {
    struct Part: Hashable, Sendable {
        let type: String
        let name: String
        /// Empty for an index that SQLite has made itself.
        let sql: String
    }
    let parts: [Part]

    init(_ connection: SQLConnection) throws {
        parts = try connection.texts("SELECT type, name, sql FROM sqlite_master", .opening).map { row in
            Part(type: row[0] ?? "", name: row[1] ?? "", sql: row[2] ?? "")
        }
    }

    /// Returns whether there is a table; SQLite's names are case-insensitive.
    func hasTable(_ name: String) -> Bool {
        parts.contains { $0.type == "table" && ($0.name == name || $0.name.lowercased() == name.lowercased()) }
    }

    /// The triggers that call functions of Core Data.
    var callingTriggers: [String] {
        parts.filter { $0.type == "trigger" && $0.sql.lowercased().contains("nscoredata") }.map(\.sql)
    }
}

/// The layout of a model's tables in a file, kept with the model: later stores of the model are mostly in files with the same tables.
// Immutable. The model, which has it, retains the entities.
final class SQLiteKnownLayout: Sendable {
    private let parts: [SQLiteContents.Part]
    private let numbers: [[String?]]
    let entities: [SQLEntity]
    let tables: [SQLTable]
    let joins: [SQLJoinTable]
    let plainPlans: SQLPlainPlans

    init(_ schema: SQLSchema, _ plainPlans: SQLPlainPlans, of contents: SQLiteContents, _ numbers: [[String?]]) {
        parts = contents.parts
        self.numbers = numbers
        (entities, tables, joins) = (schema.entities, schema.tables, schema.joins)
        self.plainPlans = plainPlans
    }

    /// Returns whether the layout was found for a file with the same tables and entity numbers.
    func isLayout(of contents: SQLiteContents, _ numbers: [[String?]]) -> Bool { self.numbers == numbers && parts == contents.parts }
}
