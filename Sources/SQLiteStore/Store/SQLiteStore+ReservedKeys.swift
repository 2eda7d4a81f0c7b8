package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// Leaves out keys: the next new object of an entity's table gets the key, or a later one where the table has it already.
    ///
    /// For whoever writes objects that have keys already, in the order of these.
    ///
    /// - Throws: Code 134030 where there are no more keys, and SQLite's errors.
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
