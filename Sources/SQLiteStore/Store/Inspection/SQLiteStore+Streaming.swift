internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// What SQLite does for a fetch.
    package struct Explanation: Sendable {
        package let sql: String
        /// The bound values, as text.
        package let values: [String]
        /// The lines of SQLite's query plan, indented by what they are part of.
        package let steps: [String]
    }

    /// Returns the SQL of a fetch, and how SQLite executes it.
    ///
    /// - Throws: The errors of the fetch that are known before it is executed: code 134091 names a clause without SQL.
    package func explanation(of query: StoreQuery) throws -> Explanation {
        try reading { reader in
            let query = try reader.queries().query(query, sqlEntity(query.entity))
            let statement = try SQLStatement("EXPLAIN QUERY PLAN " + query.plan.sql, connection: reader.database(), isKept: false)
            try query.bind(to: statement.handle)
            var depths: [Int64: Int] = [:]
            var steps: [String] = []
            while try statement.step() {
                let depth = depths[statement.int64(1)].map { $0 + 1 } ?? 0
                depths[statement.int64(0)] = depth
                steps.append(String(repeating: "  ", count: depth) + statement.text(3))
            }
            return try Explanation(
                sql: query.plan.sql, values: query.plan.bindings.map { try query.values.value(of: $0).shown }, steps: steps)
        }
    }

    /// Calls `body` with the IDs that a query finds, some at a time, while they are read: the memory does not grow with their number.
    ///
    /// What `body` fetches from the store meanwhile is read by another connection where the file has a write-ahead log, and may be newer.
    ///
    /// - Parameters:
    ///   - query: A query for IDs.
    ///   - size: The maximum number of IDs at once.
    /// - Throws: The errors of the fetch, and what `body` throws, which ends the reading.
    package func forEachPart(of query: StoreQuery, size: Int, _ body: ([NSManagedObjectID]) throws -> Void) throws {
        try reading { reader in
            let entity = try sqlEntity(query.entity)
            let query = try reader.queries().query(query, entity)
            let statement = try SQLStatement(query.plan.sql, connection: reader.database(), isKept: false)
            try query.bind(to: statement.handle)
            var part: [NSManagedObjectID] = []
            while try statement.step() {
                let number = statement.int64(1)
                let owner = number == entity.number ? entity.entity : schema.entity(numbered: number)?.entity ?? entity.entity
                part.append(reader.values.id(statement.int64(0), of: owner))
                if part.count < size { continue }
                try body(part)
                part = []
            }
            if !part.isEmpty { try body(part) }
        }
    }
}
