internal import Foundation
internal import Logging
internal import Synchronization

/// Everything that one connection needs for reading: its statements and plans, the blocks that it fills with rows, and its place in the cache.
///
/// One thread at a time has it, see ``SQLReaderPool``; that of the connection which writes belongs to who has the lock of writing.
// Used by the thread that has it.
final class SQLReader: RowTable {
    unowned let store: SQLiteStore
    let connection: SQLConnection
    let schema: SQLSchema
    let values: SQLValues
    let cursor: SQLRowCursor
    // The store's, which is asked through no reference that would be counted.
    let cache: SQLRowCache
    let related: SQLRelatedCache
    private var plans: [ObjectIdentifier: SQLRowPlan] = [:]
    /// The one that was asked for last: faults mostly come entity by entity.
    @exclusivity(unchecked) private var lastPlan: SQLRowPlan?
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    /// Made at the first fetch.
    private var madeQueries: SQLQueries?
    private var storm = SQLReadStorm()
    /// Where it stands in the pool; nil for one that is in none.
    var place: Int?
    private var depth = 0
    /// What the cache of relationships had when the state of the store began that is read.
    private(set) var generation: UInt64 = 0

    init(_ store: SQLiteStore, _ connection: SQLConnection, _ origins: SQLOrigins) {
        self.store = store
        self.connection = connection
        schema = origins.schema
        values = SQLValues(
            origins: origins, token: store.token, path: connection.path, externalFiles: SQLiteFiles.externalFiles(of: store.url))
        (cache, related) = (store.cache, store.related)
        cursor = SQLRowCursor(store.cache)
        SQLFunctions.register(on: connection)
        SQLQueryLog.trace(connection)
    }

    // MARK: Being had

    /// Reads what the store has now. Calls may be nested.
    func use<Result>(_ body: (SQLReader) throws -> Result) rethrows -> Result {
        // No newer than what the next statement sees: every save counts up after its commit.
        let epoch = cache.epoch.load(ordering: .sequentiallyConsistent)
        if storm.isOn, cursor.epoch != epoch { endStorm() }
        if depth == 0, !storm.isOn { (cursor.epoch, generation) = (epoch, related.generation) }
        depth += 1
        cursor.begin()
        defer {
            cursor.end()
            depth -= 1
        }
        return try body(self)
    }

    /// Whether a caller further up has begun to read before the last save.
    var isOutdated: Bool { cursor.epoch != cache.epoch.load(ordering: .sequentiallyConsistent) }

    /// Does something during which rows are read that nobody else may see: a transaction that writes.
    func inTransaction<Result>(_ body: () throws -> Result) rethrows -> Result {
        let epoch = cursor.epoch
        cursor.epoch = 0
        defer { cursor.epoch = epoch }
        return try body()
    }

    // MARK: The connection

    /// The connection, for anything but a single fault.
    func database() -> SQLConnection {
        if storm.isOn { endStorm() }
        return connection
    }

    /// The connection for a fault whose time was noted: many in a row share a transaction.
    func databaseForFault() throws -> SQLConnection {
        switch storm.noteFault(at: cursor.now) {
        case .nothing: break
        case .end: try connection.with("COMMIT") { try $0.run(.reading) }
        case .begin:
            if connection.isInTransaction {
                storm.stop()
            } else {
                try connection.with("BEGIN") { try $0.run(.reading) }
                store.endStormLater(of: self)
            }
        }
        return connection
    }

    func endStorm() {
        guard storm.isOn else { return }
        storm.stop()
        do { try connection.with("COMMIT") { try $0.run(.reading) } } catch {
            Log.store.error("A read transaction could not be ended: \(error)")
        }
    }

    /// What answers fetches by SQL.
    func queries() throws -> SQLQueries {
        if let madeQueries { return madeQueries }
        let made = try SQLQueries(self)
        madeQueries = made
        return made
    }

    // MARK: What lies where

    func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity { try store.sqlEntity(entity) }

    func place(of id: NSManagedObjectID) -> (entity: SQLEntity, key: Int64)? { store.place(of: id) }

    func plan(_ entity: SQLEntity) -> SQLRowPlan {
        if let lastPlan, lastPlan.entity === entity { return lastPlan }
        let plan = plans[ObjectIdentifier(entity)] ?? SQLRowPlan(entity, schema: schema, values: values)
        plans[ObjectIdentifier(entity)] = plan
        lastPlan = plan
        return plan
    }

    func schema(of entity: NSEntityDescription) -> RowSchema {
        if let schema = schemas[ObjectIdentifier(entity)] { return schema }
        let schema = RowSchema(entity: entity, table: self)
        schemas[ObjectIdentifier(entity)] = schema
        return schema
    }
}
