package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// Skips keys: the next new object of an entity's table gets the key, or a later one if the table has it already.
    ///
    /// It is meant for callers that write objects with existing keys, in the order of the keys.
    ///
    /// - Throws: Code 134030 if there are no more keys, and SQLite's errors.
    package func skipKeys(before key: Int64, of description: NSEntityDescription) throws {
        let entity = try sqlEntity(description)
        try writeLock.withLock {
            do {
                try database().transaction {
                    let last = try allocate(0, entity.rootNumber, entity)
                    if last < key - 1 { _ = try allocate(key - 1 - last, entity.rootNumber, entity) }
                }
            } catch {
                // The counters that were checked are as before.
                checkedRoots = []
                throw error
            }
        }
    }
}
