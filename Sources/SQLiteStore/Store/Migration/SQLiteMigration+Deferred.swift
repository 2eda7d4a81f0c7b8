internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLiteMigration {
    /// Drops one of the columns and tables that are not used any more, or creates the missing indexes.
    ///
    /// - Returns: Whether there is more to do.
    static func continueDeferred(_ url: URL, _ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel) throws -> Bool {
        try model.freeze()
        let connection = try SQLiteFiles.connectForWriting(url, timeout: SQLiteOptions(options).timeout, creates: false)
        var metadata = try SQLiteMetadata.read(from: connection)
        guard metadata[deferredKey] != nil else { return false }
        try SQLTriggerFunctions.register(on: connection)
        try SQLTriggerFunctions.registerUnknown(by: SQLiteContents(connection).callingTriggers, on: connection)
        return try connection.transaction {
            let prefix = SQLMigrationInPlace.droppedPrefix
            let tables = try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%'").compactMap { $0[0] }
            if let table = tables.first(where: { $0.hasPrefix(prefix) }) {
                try connection.execute("DROP TABLE \(SQLIdentifier(table))")
                return true
            }
            for (table, columns) in try SQLiteOpening.tables(in: connection).sorted(by: { $0.key < $1.key }) {
                guard let column = columns.first(where: { $0.hasPrefix(prefix) }) else { continue }
                try connection.execute("ALTER TABLE \(SQLIdentifier(table)) DROP COLUMN \(SQLIdentifier(column))")
                return true
            }
            let names = Set((metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]).keys)
            var numbers: [String: Int64] = [:]
            for row in try connection.texts("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") {
                if let name = row[0], let number = row[1].flatMap(Int64.init), numbers[name] == nil { numbers[name] = number }
            }
            let schema = try SQLSchema(
                model: model, entities: model.entities.filter { names.contains($0.name ?? "") }, numbers: numbers,
                fileTables: SQLiteOpening.tables(in: connection))
            if let index = try SQLMigrationIndexes.changes(in: connection, to: schema).create.first(where: {
                !$0.sql.hasPrefix("CREATE UNIQUE")
            }) {
                try connection.execute(index.sql)
                return true
            }
            metadata[deferredKey] = nil
            try SQLiteMetadata.write(metadata, to: connection)
            return false
        }
    }
}
