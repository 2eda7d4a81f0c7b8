internal import Foundation
@_spi(Stores) package import ObjectGraph
package import SQLQueries

extension SQLiteStore {
    /// Returns the SQL of a fetch, and how SQLite executes it.
    ///
    /// - Throws: The errors of the fetch that are known before it is executed: code 134091 names a clause without SQL.
    package func explanation(of query: StoreQuery) throws -> SQLExplanation {
        try reading { reader in
            let query = try reader.queries().query(query, sqlEntity(query.entity))
            return try query.explanation(query.plan.sql, over: reader.database())
        }
    }

    /// Calls `body` with the IDs that a query finds, in batches. Only the keys of the whole result are in memory, some 8 or 12 bytes each.
    ///
    /// Objects that `body` fetches from the store meanwhile may be newer than the keys.
    ///
    /// - Parameters:
    ///   - query: A query for IDs.
    ///   - size: The maximum number of IDs at once.
    /// - Throws: The errors of the fetch, and an error of `body`, which ends it.
    package func forEachPart(of query: StoreQuery, size: Int, _ body: ([NSManagedObjectID]) throws -> Void) throws {
        let entity = try sqlEntity(query.entity)
        let isOfOneEntity = entity.numbers.count == 1
        var (keys, numbers) = ([Int64](), [Int32]())
        // A reader that is in use keeps the cache from releasing rows: it is given back before the first row is fetched.
        try reading { reader in
            let query = try reader.queries().query(query, entity)
            let statement = try SQLStatement(query.plan.sql, connection: reader.database(), isKept: false)
            try query.bind(to: statement.handle)
            while try statement.step() {
                keys.append(statement.int64(0))
                if !isOfOneEntity { numbers.append(Int32(truncatingIfNeeded: statement.int64(1))) }
            }
        }
        for start in stride(from: 0, to: keys.count, by: size) {
            try body(
                (start..<min(keys.count, start + size)).map { place in
                    let owner = isOfOneEntity ? entity : schema.entity(numbered: Int64(numbers[place])) ?? entity
                    return objectID(for: owner.entity, number: keys[place])
                })
        }
    }
}
