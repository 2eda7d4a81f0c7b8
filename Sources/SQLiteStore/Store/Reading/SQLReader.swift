internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries
internal import Synchronization

/// A connection with everything needed for reading: its statements and plans, the blocks it fills with rows, and its cursor in the cache.
///
/// One thread at a time has it, see ``SQLReaderPool``; the reader of the writing connection belongs to the owner of the write lock.
// Used by the thread that has it.
final class SQLReader: RowTable {
    unowned let store: SQLiteStore
    let connection: SQLConnection
    let schema: SQLSchema
    let values: SQLValues
    let cursor: SQLRowCursor
    // The store's cache, referenced directly to avoid counting references.
    let cache: SQLRowCache
    let related: SQLRelatedCache
    private var plans: [ObjectIdentifier: SQLRowPlan] = [:]
    /// The last requested plan: faults mostly come entity by entity.
    @exclusivity(unchecked) private var lastPlan: SQLRowPlan?
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    /// Created at the first fetch.
    private var madeQueries: SQLQueryEngine?
    private var faultSeries = SQLFaultSeries()
    /// The place in the pool; nil for a reader outside of it.
    var place: Int?
    private var depth = 0
    /// The generation of the relationship cache when the state being read began.
    private(set) var generation: UInt64 = 0

    /// - Throws: Code 134080 if SQLite does not accept a function.
    init(_ store: SQLiteStore, _ connection: SQLConnection, _ origins: SQLOrigins) throws {
        self.store = store
        self.connection = connection
        schema = origins.schema
        values = SQLValues(
            origins: origins, token: store.token, path: connection.path, store: store.url)
        (cache, related) = (store.cache, store.related)
        cursor = SQLRowCursor(store.cache)
        try SQLTriggerFunctions.register(on: connection)
        SQLQueryLog.trace(connection)
        if TimeLimit.isUsed { connection.watchTime() }
    }

    // MARK: Using

    /// Reads the current state of the store. Calls may be nested.
    func use<Result>(_ body: (SQLReader) throws -> Result) rethrows -> Result {
        // Not newer than the next statement's state: a save increments the epoch after its commit.
        let epoch = cache.epoch.load(ordering: .sequentiallyConsistent)
        if faultSeries.isOn, cursor.epoch != epoch { endFaultSeries() }
        if depth == 0, !faultSeries.isOn { (cursor.epoch, generation) = (epoch, related.generation) }
        depth += 1
        cursor.begin()
        defer {
            cursor.end()
            depth -= 1
        }
        return try body(self)
    }

    /// Whether an outer caller has begun to read before the last save.
    var isOutdated: Bool { cursor.epoch != cache.epoch.load(ordering: .sequentiallyConsistent) }

    /// Runs `body` in a write transaction, whose rows must not be cached.
    func inTransaction<Result>(_ body: () throws -> Result) rethrows -> Result {
        let epoch = cursor.epoch
        cursor.epoch = 0
        defer { cursor.epoch = epoch }
        return try body()
    }

    // MARK: The connection

    /// Returns the connection, for any operation except single faults.
    func database() -> SQLConnection {
        if faultSeries.isOn { endFaultSeries() }
        return connection
    }

    /// Returns the connection for a fault at the noted time: faults in a series share a transaction.
    func databaseForFault() throws -> SQLConnection {
        switch faultSeries.noteFault(at: cursor.now) {
        case .nothing: break
        case .end: try connection.endReading()
        case .begin:
            if connection.isInTransaction {
                faultSeries.stop()
            } else {
                try connection.with("BEGIN") { try $0.run(.reading) }
                store.endFaultSeriesLater(of: self)
            }
        }
        return connection
    }

    func endFaultSeries() {
        guard faultSeries.isOn else { return }
        faultSeries.stop()
        do { try connection.endReading() } catch {
            Log.store.error("A read transaction could not be ended: \(error)")
        }
    }

    /// Returns the query plans of the connection.
    func queries() throws -> SQLQueryEngine {
        if let madeQueries { return madeQueries }
        let made = SQLQueryEngine(self)
        madeQueries = made
        return made
    }

    // MARK: The schema

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
