#if PostgreSQL
internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import SQLQueries
internal import Synchronization

/// An open database: its connections, its schema, and the plans and statements prepared for both.
// The prepared parts are in a `LockedBox`; the rest is immutable or guards itself.
final class StoreContent: @unchecked Sendable {
    let pool: ConnectionPool
    let schema: SQLSchema
    let token: StoreToken
    let place: String
    let hasUniqueness: Bool
    /// The mapping of another program's tables; nil for a store's own tables.
    let mapping: Mapping?
    /// The reason why clauses that need functions are refused; nil if the database has the functions.
    private let missingFunctions: MissingFunctions?
    /// Writes and reads the history.
    let history: StoreHistory
    /// The work that follows commits.
    let aftermath: CommitAftermath
    /// The settings that transactions make on the server, for the program's policies.
    let settings: DatabaseSettings
    /// Whether saves of single objects may share transactions.
    let combinesSaves: Bool
    private struct Prepared {
        let queries: SQLQueryPlanCache
        var plans: [ObjectIdentifier: RowPlan] = [:]
        var writers: [ObjectIdentifier: EntityWriter] = [:]
    }
    private let prepared: LockedBox<Prepared>
    private let largeResults = LargeResults()
    private let readCount = Atomic(0)
    /// The number of reads, for tests.
    var statementCount: Int { readCount.load(ordering: .relaxed) }

    init(_ opened: OpenedDatabase, token: StoreToken) {
        (pool, schema, mapping, settings) = (opened.pool, opened.schema, opened.mapping, opened.settings)
        (history, aftermath, combinesSaves) = (opened.history, opened.aftermath, opened.combinesSaves)
        missingFunctions = opened.missingFunctions
        self.token = token
        place = pool.settings.place
        hasUniqueness = schema.entities.contains { !$0.entity.frozenParts.uniqueness.isEmpty }
        // Called under the lock only, which `plan(_:)` would take again.
        let queries = SQLQueryPlanCache(schema: schema, dialect: PostgreSQLDialect(mayHoldNaN: opened.mapping != nil), token: token) {
            [schema, mapping] entity in
            RowPlan(entity, schema: schema, isVerbatim: mapping != nil).columns
        }
        prepared = LockedBox(Prepared(queries: queries))
    }

    // MARK: The schema

    /// Returns the mapping of an entity.
    ///
    /// - Throws: Code 134070 for an entity that the store does not hold.
    func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
        if let found = schema.entity(entity) { return found }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(place) does not keep “\(entity)”.",
            reason: "The entity is not in its configuration.", next: "Use a store whose configuration has the entity.")
    }

    /// Returns the key of an object of this store; nil for another object.
    func key(of id: NSManagedObjectID) -> Int64? {
        guard case .integer(let key) = id.reference, id.token === token else { return nil }
        return key
    }

    /// Returns the key of an object to be saved here.
    ///
    /// - Throws: Code 133000 for an object of another store.
    func savedKey(of id: NSManagedObjectID) throws -> Int64 {
        if let key = key(of: id) { return key }
        throw CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "\(id) cannot be saved.", reason: "It does not belong to the store at \(place).",
            info: [NSAffectedObjectsErrorKey: [id]])
    }

    /// Returns the keys of objects of one kind as a parameter, ignoring those of other stores.
    func keys(of ids: [NSManagedObjectID], _ kind: SQLKeyKind) -> BinaryValue {
        .array(ids.compactMap { $0.token === token ? kind.value($0.reference) : nil }, of: kind.type)
    }

    /// Returns a statement about the tables of the schema as the database takes it.
    ///
    /// - Parameter values: Its parameters. With a date that infinite ones are read as, these are compared as it.
    func statement(_ sql: String, _ values: [BinaryValue] = []) -> String {
        mapping?.statement(sql, isBounded: values.contains(where: ColumnValues.reachesInfinity)) ?? sql
    }

    func plan(_ entity: SQLEntity) -> RowPlan {
        prepared.withLock { prepared in
            if let plan = prepared.plans[ObjectIdentifier(entity)] { return plan }
            let plan = RowPlan(entity, schema: schema, isVerbatim: mapping != nil)
            prepared.plans[ObjectIdentifier(entity)] = plan
            return plan
        }
    }

    func writer(_ entity: NSEntityDescription) throws -> EntityWriter {
        let entity = try sqlEntity(entity)
        return prepared.withLock { prepared in
            if let writer = prepared.writers[ObjectIdentifier(entity)] { return writer }
            let writer = EntityWriter(entity, schema: schema, token: token)
            prepared.writers[ObjectIdentifier(entity)] = writer
            return writer
        }
    }

    /// Returns the statement of a query and its parameters.
    ///
    /// - Throws: ``InvalidPredicateError`` for a request that no store can answer, code 134091 naming a clause without SQL.
    func statement(_ query: StoreQuery) throws -> (plan: SQLFetchPlan, values: [BinaryValue]) {
        let entity = try sqlEntity(query.entity)
        let found = try prepared.withLock { try $0.queries.query(query, entity) }
        if let missingFunctions, found.plan.sql.contains(ServerFunctions.prefix) { throw failure(missingFunctions, query) }
        let values = try found.plan.bindings.map { BinaryValue(try found.values.value(of: $0)) }
        return (found.plan, mapping == nil ? values : try values.map(verbatim))
    }

    /// Returns a value for columns that hold texts unchanged.
    ///
    /// - Throws: Code 134091 for a text that PostgreSQL cannot hold.
    private func verbatim(_ value: BinaryValue) throws -> BinaryValue {
        switch value {
        case .text(let text) where text.utf8.contains(0):
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The store at \(place) cannot answer the fetch.",
                reason: "A condition has the text \(text.debugDescription), and PostgreSQL's text has no U+0000.",
                next: "Ask without that character: no row has it.")
        case .text(let text): .verbatim(text)
        case .array(let elements, let type): .array(try elements.map(verbatim), of: type)
        default: value
        }
    }

    private func failure(_ missing: MissingFunctions, _ query: StoreQuery) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The store at \(place) cannot answer the fetch.",
            reason: "\(clause(of: query)) needs functions that the database does not have, \(missing.reason).", next: missing.next)
    }

    /// Returns the clause of a fetch that needs functions, for messages.
    private func clause(of query: StoreQuery) -> String {
        func needsFunctions(_ part: NSPredicate) -> Bool {
            let alone = StoreQuery(query.entity, includesSubentities: query.includesSubentities).with(predicate: part)
            guard let entity = try? sqlEntity(query.entity) else { return false }
            return (try? prepared.withLock { try $0.queries.query(alone, entity) })?.plan.sql.contains(ServerFunctions.prefix) ?? false
        }
        guard var clause = query.predicate, needsFunctions(clause) else { return "The fetch" }
        while let part = (clause as? NSCompoundPredicate)?.subpredicates.first(where: needsFunctions) { clause = part }
        return "The clause \(clause.formatString)"
    }

    /// Returns the part of a query's predicate that has SQL.
    func translatable(_ query: StoreQuery) throws -> NSPredicate? {
        guard let predicate = query.predicate else { return nil }
        let entity = try sqlEntity(query.entity)
        return try prepared.withLock { try $0.queries.translatable(predicate.tree(), entity) }.map { NSPredicate(tree: $0) }
    }

    /// Called after each commit.
    func didCommit() { aftermath.didCommit() }

    /// Lends a connection whose transactions begin with the settings.
    func withConnection<Result: Sendable>(_ body: @Sendable (Connection) async throws -> Result) async throws -> Result {
        try await pool.with(settings, body)
    }

    // MARK: Reading

    /// The maximum number of attempts to read. A request that fails at every server must not be repeated for ever.
    private static let readLimit = 4

    /// Reads the newest state with a connection. Retries with another connection if the first is lost or is not to the primary, or if a statement
    /// relies on an earlier definition of its tables. The code that opens the connection waits for an unavailable server.
    ///
    /// - Parameter entity: The entity of the rows, for errors.
    func reading<Result: Sendable>(
        of entity: SQLEntity? = nil, _ body: @escaping @Sendable (Connection) async throws -> Result
    ) async throws -> Result {
        readCount.wrappingAdd(1, ordering: .relaxed)
        var attempt = 1
        do {
            while true {
                do { return try await readingOnce(body) } catch let error as ServerError
                    where attempt < Self.readLimit && (error.isOfConnection || error.isOutdatedPlan || error.isReadOnly)
                {
                    Log.store.debug("A read from \(place) is repeated. \(error)")
                    // The other connections are being lost, too.
                    if attempt > 1 { try await Pause.wait(0.05 * Double(1 << attempt)) }
                    attempt += 1
                }
            }
        } catch let error as ServerError { throw failure(error, "cannot be read", of: entity) }
    }

    private func readingOnce<Result: Sendable>(_ body: @Sendable (Connection) async throws -> Result) async throws -> Result {
        try await withConnection { connection in
            let result = try await body(connection)
            await pool.replicas?.require(over: connection)
            return result
        }
    }

    /// Reads rows with the connection of a transaction, from a replica that has everything that this store has written and read, or in the newest
    /// state.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows, for errors.
    ///   - isCurrent: Whether the newest state is required.
    func readingRows<Result: Sendable>(
        of entity: SQLEntity? = nil, over connection: Connection? = nil, isCurrent: Bool = false,
        _ body: @escaping @Sendable (Connection) async throws -> Result
    ) async throws -> Result {
        if let connection { return try await body(connection) }
        do {
            if !isCurrent, let replicas = pool.replicas, let result = try await replicas.read(settings, body) {
                readCount.wrappingAdd(1, ordering: .relaxed)
                return result
            }
        } catch let error as ServerError { throw failure(error, "cannot be read", of: entity) }
        return try await reading(of: entity, body)
    }

    /// Returns the error of a statement.
    ///
    /// - Parameter entity: The entity of the rows: PostgreSQL does not name a view whose rows it cannot compute.
    func failure(_ error: ServerError, _ what: String, of entity: SQLEntity? = nil) -> NSError {
        var subject = ""
        if let entity, !error.isConnectionLost {
            let table = mapping.map { " (\($0.table(entity).shown))" } ?? ""
            subject = "“\(entity.entity)”\(table): "
        }
        if error.isRefusal {
            return CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The store at \(place) cannot answer the request.",
                reason: "\(subject)PostgreSQL says: \(error)",
                next: "Order distinct results by attributes that are fetched, group by attributes, or do it with the fetched objects.")
        }
        let next: String? =
            if error.wasAwaited {
                "Check that the server runs and can be reached, or raise connectionTimeout in the store's options."
            } else if error.isConnectionLost {
                "Check that the server runs and can be reached."
            } else if error.isCancellation {
                "Raise statementTimeout in the store's options, or ask for less."
            } else { nil }
        return CoreDataError.make(
            error.isCancellation || error.wasAwaited ? NSPersistentStoreTimeoutError : NSPersistentStoreOperationError,
            "The store at \(place) \(what).", reason: "\(subject)PostgreSQL says: \(error)", next: next)
    }

    /// Returns the rows of a result whose first columns are those of a plan.
    ///
    /// - Throws: Code 134060 for a row that cannot be read.
    func rows(of result: QueryResult, _ plan: RowPlan) throws -> RowList {
        var found = ReadRows()
        try append(result, RowReader(plan, schema: schema, token: token), to: &found)
        return try found.all()
    }

    private func append(_ result: QueryResult, _ reader: RowReader, to found: inout ReadRows) throws {
        for row in 0..<result.rowCount {
            do {
                if let slots = try reader.read(result, row) { found.rows.append(slots) }
            } catch {
                guard let id = reader.id(result, row) else { throw error }
                found.add(id, reader.named(error, id, of: mapping))
            }
        }
    }

    /// Returns the rows that a query finds, whose first columns are those of a plan. They are read in parts if there were many before.
    func rows(foundBy sql: String, _ values: [BinaryValue], _ plan: RowPlan, isCurrent: Bool) async throws -> ReadRows {
        try await readingRows(of: plan.entity, isCurrent: isCurrent) { [self] connection in
            let reader = RowReader(plan, schema: schema, token: token)
            var rows = ReadRows()
            var found = 0
            try await connection.query(sql, values, expecting: largeResults.expectedCount(of: sql)) { part in
                found += part.rowCount
                try append(part, reader, to: &rows)
            }
            largeResults.note(found, of: sql)
            return rows
        }
    }

    /// Returns the rows of existing objects.
    ///
    /// - Throws: `UnreadObjects` with the other rows if some cannot be read; the errors of the server.
    func rows(_ ids: [NSManagedObjectID], over connection: Connection, isCancellable: Bool = false) async throws -> [Row] {
        let found = try await readRows(ids, over: connection, isCancellable: isCancellable)
        if found.failures.isEmpty { return Array(found.rows) }
        throw UnreadObjects(found.reasons, rows: Array(found.rows))
    }

    /// Returns the rows of existing objects, and separately those that cannot be read.
    func readRows(_ ids: [NSManagedObjectID], over connection: Connection, isCancellable: Bool = false) async throws -> ReadRows {
        var groups: [ObjectIdentifier: (root: SQLEntity, ids: [NSManagedObjectID])] = [:]
        for id in ids {
            guard let root = schema.entity(id.owningEntity.rootEntity) else { continue }
            groups[ObjectIdentifier(root), default: (root, [])].ids.append(id)
        }
        var found = ReadRows()
        for (root, ids) in groups.values {
            let plan = plan(root)
            let list = plan.list(of: "t")
            let sql =
                mapping.map { $0.rows(of: root, list, where: $0.table(root).key.isIn("$1", of: MappedTable.alias)) }
                ?? "SELECT \(list) FROM \(root.table) t WHERE t.id = ANY($1)"
            let result = try await connection.query(sql, [keys(of: ids, root.keyKind)], isCancellable: isCancellable)
            try append(result, RowReader(plan, schema: schema, token: token), to: &found)
        }
        return found
    }
}
#endif
