internal import CSQLite
package import Foundation
@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// Reads a file with Core Data's layout below the object graph, and leaves it and the files beside it unchanged: for tools that examine files whose
/// model is missing, or whose rows violate the rules.
// Used by one thread at a time.
package final class SQLiteInspection {
    /// A value of a column.
    package enum Cell: Equatable, Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob(Data)
    }

    private let connection: SQLConnection

    /// Opens a file.
    ///
    /// - Parameter isCopy: Whether the file is the caller's own copy, in which an unfinished transaction may be undone.
    /// - Throws: The errors of opening it.
    package init(_ url: URL, isCopy: Bool = false) throws {
        connection = try SQLiteFiles.connectForReading(url, timeout: SQLiteStoreDefaults.timeout, keepsFiles: !isCopy)
    }

    /// Returns whether the last transaction of a file must be undone before it can be read: the process that wrote it was killed.
    package static func isUnfinished(_ url: URL) -> Bool {
        do {
            _ = try SQLiteInspection(url)
            return false
        } catch { return SQLiteFiles.isUnfinished(error as NSError) }
    }

    /// Copies the database to a new place, with its external data files, which get additional names if the disk supports them.
    ///
    /// - Parameter url: The place of the store, beside which its external data files are.
    package func copy(of url: URL, to copy: URL) throws {
        try SQLiteFileCopy.copy(connection, to: copy, timeout: SQLiteStoreDefaults.timeout)
        try SQLiteFileCopy.copyExternalFiles(from: url, to: copy, links: true)
    }

    /// Returns the model that the store keeps of itself, with the version hashes of the metadata; nil if it keeps none.
    ///
    /// - Throws: Code 259 for a model that cannot be read.
    package func model() throws -> NSManagedObjectModel? {
        try SQLiteModelCache.content(in: connection).map { try NSManagedObjectModel(cached: $0, in: connection) }
    }

    /// Whether the file has a store of Core Data's, and not the tables of another program.
    package var isStore: Bool { get throws { try SQLiteContents(connection).hasTable("Z_METADATA") } }

    /// Returns the metadata of the store.
    ///
    /// - Throws: Code 259 for a database that is not a store.
    package func metadata() throws -> [String: Any] { try SQLiteMetadata.readWithModelHashes(from: connection) }

    /// Returns the columns of the file's tables whose names begin with Z.
    package func tables() throws -> [String: [String]] { try SQLiteOpening.tables(in: connection) }

    /// Returns the layout of a model in this file: its tables and columns, as far as the file has them.
    ///
    /// - Parameter model: A model that a coordinator has.
    package func schema(of model: NSManagedObjectModel) throws -> SQLSchema {
        let numbers = try rows("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000").reduce(into: [String: Int64]()) {
            result, row in
            if case .text(let name) = row[0], case .integer(let number) = row[1], result[name] == nil { result[name] = number }
        }
        return try SQLSchema(model: model, entities: model.entities, numbers: numbers, fileTables: tables())
    }

    /// Returns whether the store keeps a persistent history.
    package func keepsHistory() throws -> Bool {
        try !rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'").isEmpty
    }

    /// Returns the rows of a statement.
    package func rows(_ sql: String) throws -> [[Cell]] {
        var rows: [[Cell]] = []
        try forEachRow(sql) { rows.append($0) }
        return rows
    }

    /// Calls `body` with each row of a statement, as it is read.
    ///
    /// - Throws: SQLite's errors, and the errors of `body`.
    package func forEachRow(_ sql: String, _ body: ([Cell]) throws -> Void) throws {
        let statement = try SQLStatement(sql, connection: connection, isKept: false)
        let count = Int(sqlite3_column_count(statement.handle))
        while try statement.step() {
            try body((0..<count).map { Self.cell(statement, $0) })
        }
    }

    private static func cell(_ statement: SQLStatement, _ column: Int) -> Cell {
        switch sqlite3_column_type(statement.handle, Int32(column)) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(statement.int64(column))
        case SQLITE_FLOAT: .real(statement.double(column))
        case SQLITE_BLOB: .blob(statement.data(column))
        default: .text(statement.text(column))
        }
    }
}
