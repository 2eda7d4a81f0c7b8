#if PostgreSQL
package import Foundation
internal import MappedTables
@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// The facts about a database that tools need before they open a store in it: whether it contains a store, and a model to open it with.
// Unchecked: the model is no longer changed.
package struct DatabaseInspection: @unchecked Sendable {
    /// The layout of the schema's tables: a store's own, or another program's.
    package let layout: PostgreSQLStoreOptions.Layout
    /// The model that the store keeps, or one drafted from the tables of another program; nil for a store that keeps no model.
    package let model: NSManagedObjectModel?
    /// The parts of the other program's schema that are not in the model, each with the reason.
    package let unmapped: [String]

    /// Returns the URL of a connection text that libpq takes: a URL, which may name several hosts, or keywords with values; nil for other text.
    package static func url(_ text: String) -> URL? { ConnectionSettings.url(text) }

    /// Inspects a schema of a database.
    ///
    /// - Throws: Code 134080 if the database cannot be reached or has no such schema, and the errors of a damaged kept model. Call it on any queue;
    ///   it blocks no thread.
    package init(_ url: URL, _ options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()) async throws {
        let pool = try ConnectionPool(url, options, .own)
        defer { pool.close() }
        let kept: [Data?]
        do {
            kept = try await pool.with { connection in
                try await ServerCheck(pool.settings.place).check(connection)
                let table = PostgreSQLTables.metadata
                if try await connection.query("SELECT to_regclass(\(sqlLiteral(table))) IS NULL").integer(0, 0) != 0 { return [] }
                let result = try await connection.query("SELECT model FROM \(table)")
                return (0..<result.rowCount).map { result.isNull($0, 0) ? nil : result.data($0, 0) }
            }
        } catch let error as ServerError { throw ServerCheck(pool.settings.place).failure(error) }
        if let data = kept.first {
            (layout, unmapped) = (.own, [])
            model = try data.map { try PostgreSQLOpening.model($0, pool.settings.place) }
        } else {
            let drafted = try await DraftedEntities.read(url.absoluteString, options)
            (layout, unmapped) = (.existing, drafted.unmapped)
            model = NSManagedObjectModel(entities: drafted.entities)
        }
    }
}

extension NSPersistentStore {
    /// Returns the SQL of a fetch, and how PostgreSQL executes it; nil for a store that is not in a PostgreSQL database.
    ///
    /// - Throws: The errors of the fetch that are known before it is executed: code 134091 names a clause without SQL. Call it on any queue.
    package func databaseExplanation(of query: StoreQuery) throws -> SQLExplanation? {
        guard let content = (self as? DatabaseStore)?.content else { return nil }
        let statement = try content.statement(query)
        let sql = content.statement(statement.plan.sql)
        let steps = try BlockingCall.wait(for: "the plan of a fetch") {
            try await content.reading { connection in
                let plan = try await connection.query("EXPLAIN \(sql)", statement.values)
                return (0..<plan.rowCount).map { plan.text($0, 0) }
            }
        }
        return SQLExplanation(sql: sql, values: statement.values.map(\.shown), steps: steps)
    }

    /// Returns a number that changes after any program has written to the database; nil for a store that is not in a PostgreSQL database.
    ///
    /// Writes to other tables change it, too. Call it on any queue.
    package func databaseStamp() throws -> Int64? {
        guard let content = (self as? DatabaseStore)?.content else { return nil }
        return try BlockingCall.wait(for: "the number of the database's transactions") {
            try await content.reading { connection in
                // One number for each transaction that writes, and another while the last of them is still open.
                let sql = "SELECT hashtextextended(pg_current_snapshot()::text, 0)"
                return try await connection.query(sql).integer(0, 0)
            }
        }
    }
}
#endif
