internal import Foundation
internal import Logging
internal import SQLQueries

extension SQLiteStore {
    /// Writes to the database and the external files in one transaction. Call it under the write lock.
    func writing<Result>(_ connection: SQLConnection, _ body: () throws -> Result) throws -> Result {
        do {
            // Rows read until the end must not be cached.
            let result = try requireWriter().inTransaction {
                try connection.transaction {
                    // Other connections cannot write from here on.
                    try detectExternalChanges()
                    let result = try body()
                    try externalFiles?.prepareCommit()
                    return result
                }
            }
            externalFiles?.didCommit(connection)
            return result
        } catch {
            externalFiles?.didFail()
            // A rollback also undoes the checks and repairs of the transaction.
            checkedRoots = []
            throw error
        }
    }

    /// Notes the files that rows are about to lose.
    ///
    /// - Parameters:
    ///   - columns: The written columns, or all columns of a deleted row.
    ///   - condition: The condition for the rows; the caller binds its parameters.
    func dropFiles(of columns: [SQLIdentifier], _ entity: SQLEntity, _ condition: String, bind: (SQLStatement) -> Void = { _ in }) throws {
        guard externalFiles != nil, !columns.isEmpty else { return }
        try database().with(Self.references(columns, entity) + " AND \(condition)") { statement in
            bind(statement)
            try drop(statement, columns.count)
        }
    }

    /// Notes the files of rows that are about to be deleted.
    func dropFiles(of keys: [Int64], _ entity: SQLEntity) throws {
        let columns = entity.externalColumns
        guard externalFiles != nil, !columns.isEmpty else { return }
        try database().forEachChunk(of: keys, { Self.references(columns, entity) + " AND Z_PK IN \($0)" }) { try drop($0, columns.count) }
    }

    private static func reference(_ column: SQLIdentifier) -> String { "substr(\(column), 1, 1) = x'02'" }

    private static func references(_ columns: [SQLIdentifier], _ entity: SQLEntity) -> String {
        let list = columns.map { "CASE WHEN \(reference($0)) THEN \($0) END" }.joined(separator: ", ")
        return "SELECT \(list) FROM \(entity.table) WHERE (\(columns.map(reference).joined(separator: " OR ")))"
    }

    private func drop(_ statement: SQLStatement, _ count: Int) throws {
        while try statement.step() {
            for column in 0..<count where !statement.isNull(column) { externalFiles?.drop(statement.data(column)) }
        }
    }

    /// Deletes the external files that no row names.
    func removeOrphans(_ connection: SQLConnection) throws {
        guard let externalFiles else { return }
        var names: Set<String> = []
        try connection.reading {
            for entity in schema.entities where !entity.externalColumns.isEmpty {
                let columns = entity.externalColumns
                try connection.with(Self.references(columns, entity)) { statement in
                    while try statement.step() {
                        for column in columns.indices {
                            if let name = SQLExternalFiles.name(in: statement.data(column)) { names.insert(name) }
                        }
                    }
                }
            }
        }
        try externalFiles.removeOrphans(keeping: names)
    }
}
