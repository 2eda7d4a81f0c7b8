internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// A connection to a file with another program's tables, with its plans and functions.
// Used by one thread at a time, the one that it is lent to.
final class SQLiteTableReader {
    let connection: SQLConnection
    let mapping: SQLiteTables.Mapped
    let token: StoreToken
    private let functions: SQLQueryFunctions
    private var plans: SQLQueryPlanCache!
    private var rowPlans: [ObjectIdentifier: SQLiteTableRows] = [:]
    private var exceptions: SQLiteExceptions

    init(_ connection: SQLConnection, _ mapping: SQLiteTables.Mapped, token: StoreToken, _ sharedPlans: SQLPlainPlans) throws {
        (self.connection, self.mapping, self.token) = (connection, mapping, token)
        functions = try SQLQueryFunctions(on: connection.handle)
        try functions.addColumns(to: connection.handle)
        exceptions = SQLiteExceptions(mapping)
        plans = SQLQueryPlanCache(
            schema: mapping.schema, dialect: SQLiteDialect(), token: token, sharedPlans: sharedPlans, rowColumns: \.rowColumns)
    }

    /// Calls `body`. If one of the store's SQL functions failed, throws the error of that function, which is more precise than SQLite's.
    func use<Result>(_ body: (SQLiteTableReader) throws -> Result) throws -> Result {
        _ = functions.takeError()
        do { return try body(self) } catch { throw functions.takeError() ?? error }
    }

    /// Reads the rows of an entity.
    func rows(_ entity: SQLEntity) -> SQLiteTableRows {
        if let known = rowPlans[ObjectIdentifier(entity)] { return known }
        let rows = SQLiteTableRows(entity, mapping, token: token, path: connection.path)
        rowPlans[ObjectIdentifier(entity)] = rows
        return rows
    }

    // MARK: Queries

    /// Answers a fetch by SQL, or in memory if SQL cannot and the request allows it.
    ///
    /// - Throws: ``InvalidPredicateError`` for an invalid predicate, code 134091 naming a clause without SQL, 134060 for a value that does not have
    ///   its column's form, and SQLite's errors.
    func answer(_ query: StoreQuery, _ entity: SQLEntity) throws -> StoreAnswer {
        let found: SQLQuery
        do { found = try plans.query(query, entity) } catch  where SQLQueryError.isUntranslatable(error) {
            if let answer = try finishedInMemory(query, entity) { return answer }
            throw error
        }
        do { return try execute(found) } catch  where SQLiteLimits.isRefused(error) {
            guard query.allowsEvaluationInMemory else { throw SQLiteLimits.tooComplex(query, error) }
            return try evaluated(query, try execute(plans.query(StoreQuery(query.entity), entity), leavesOut: false))
        }
    }

    /// Returns the SQL of a query, and how SQLite executes it.
    func explanation(_ query: StoreQuery, _ entity: SQLEntity) throws -> SQLExplanation {
        let found = try plans.query(query, entity)
        return try found.explanation(mapping.statement(found.plan.sql), over: connection)
    }

    /// - Parameter leavesOut: Whether rows that cannot be read are answered by object IDs alone; reading such an object then reports the error.
    private func execute(_ query: SQLQuery, leavesOut: Bool = true) throws -> StoreAnswer {
        try exceptions.check(query.plan.sql, connection)
        let sql = mapping.statement(query.plan.sql)
        let entity = query.plan.entity
        return try connection.with(sql) { statement in
            try query.bind(to: statement.handle)
            switch query.plan.answer {
            case .rows:
                let rows = rows(entity)
                var list = RowList()
                var unread: [(place: Int, id: NSManagedObjectID)] = []
                while try statement.step() {
                    do { list.append(try rows.read(statement.handle)) } catch  where leavesOut {
                        unread.append((list.count, try rows.id(statement.handle, 0)))
                    }
                }
                if unread.isEmpty { return .rows(list) }
                var ids = list.map { $0.knownObjectID }
                for (place, id) in unread.reversed() { ids.insert(id, at: place) }
                return .ids(ids)
            case .ids:
                let rows = rows(entity)
                var ids: [NSManagedObjectID] = []
                while try statement.step() { ids.append(try rows.id(statement.handle, 0)) }
                return .ids(ids)
            case .count: return .count(try statement.step() ? Int(statement.int64(0)) : 0)
            case .dictionaries(let columns):
                let reader = dictionaryReader(columns)
                var dictionaries: [NSDictionary] = []
                while try statement.step() { dictionaries.append(try reader.dictionary(statement.handle)) }
                return .dictionaries(StoreDictionaries(dictionaries))
            }
        }
    }

    private func dictionaryReader(_ columns: [SQLResultColumn]) -> SQLDictionaryReader {
        SQLDictionaryReader(
            columns: columns,
            id: { [self] statement, column, entity in
                guard let owner = mapping.schema.entity(entity) else { return nil }
                return try rows(owner).id(statement, column)
            },
            entity: { [mapping] in mapping.schema.entity(numbered: $0)?.entity },
            stored: { [self] statement, column, storage, attribute in
                guard let owner = attribute.entity.flatMap(mapping.schema.entity) else { return nil }
                return try rows(owner).value(statement, column, storage, attribute).plainValue
            })
    }

    // MARK: In memory

    /// Answers a query that SQL supports in part from the rows that SQL finds; nil if the request does not allow that.
    ///
    /// An order that SQL does not have is made in memory if all rows are read anyway.
    private func finishedInMemory(_ query: StoreQuery, _ entity: SQLEntity) throws -> StoreAnswer? {
        var rest = query
        var narrowed = StoreQuery(query.entity, includesSubentities: query.includesSubentities)
        if query.allowsEvaluationInMemory {
            let part = try query.predicate.flatMap { try plans.translatable($0.tree(), entity) }
            narrowed = narrowed.with(predicate: part.map { NSPredicate(tree: $0) })
        } else {
            let isOrderedOnly = [.managedObjectResultType, .managedObjectIDResultType].contains(query.resultType)
            guard isOrderedOnly, query.fetchLimit == 0, query.fetchOffset == 0, !query.sortDescriptors.isEmpty else { return nil }
            narrowed = narrowed.with(predicate: query.predicate)
            rest = query.with(predicate: nil)
        }
        let found: SQLQuery
        do { found = try plans.query(narrowed, entity) } catch  where SQLQueryError.isUntranslatable(error) { return nil }
        return try evaluated(rest, try execute(found, leavesOut: false))
    }

    /// Answers a query from rows that SQL found.
    private func evaluated(_ query: StoreQuery, _ answer: StoreAnswer) throws -> StoreAnswer {
        guard case .rows(let rows) = answer else { return answer }
        let source = FoundTableRows(rows, self)
        return try withExtendedLifetime(source) { try RowEvaluator(source).answer(query) }
    }

    // MARK: Objects

    /// Returns the rows of existing objects.
    ///
    /// - Throws: `UnreadObjects` with the other rows if some cannot be read; SQLite's errors.
    func rows(_ ids: [NSManagedObjectID]) throws -> [Row] {
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        let rows = try readRows(ids, &failures)
        if !failures.isEmpty { throw UnreadObjects(failures, rows: rows) }
        return rows
    }

    /// Returns the rows of existing objects.
    ///
    /// - Throws: The error of a row that cannot be read; SQLite's errors.
    func allRows(_ ids: [NSManagedObjectID]) throws -> [Row] {
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        let rows = try readRows(ids, &failures)
        if let failure = failures.values.first { throw failure.error }
        return rows
    }

    /// Returns the rows of objects that can be read, and why others cannot.
    func readRows(_ ids: [NSManagedObjectID], _ failures: inout [NSManagedObjectID: UnreadObjects.Failure]) throws -> [Row] {
        var groups: [ObjectIdentifier: (entity: SQLEntity, keys: [SQLValue])] = [:]
        for id in ids where id.token === token {
            guard let entity = mapping.schema.entity(id.owningEntity), let key = entity.keyKind.value(id.reference) else { continue }
            groups[ObjectIdentifier(entity), default: (entity, [])].keys.append(key)
        }
        var rows: [Row] = []
        for (entity, keys) in groups.values {
            let (own, table) = (self.rows(entity), mapping.table(entity))
            let sql = mapping.rows(
                of: entity, own.list, where: table.key.isIn("?1", of: MappedTable<SQLiteTableDialect>.alias))
            try connection.with(sql) { statement in
                SQLArray(keys).bind(to: statement.handle, at: 1)
                var list = RowList()
                while try statement.step() {
                    do { list.append(try own.read(statement.handle)) } catch {
                        failures[try own.id(statement.handle, 0)] = UnreadObjects.Failure(error)
                    }
                }
                rows += list
            }
        }
        return rows
    }

    /// Reads a relationship of many objects.
    func related(by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]) throws -> [NSManagedObjectID:
        [NSManagedObjectID]]
    {
        guard relationship.isToMany else {
            var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
            let rows = try readRows(ids, &failures)
            let related = Dictionary(
                rows.map { ($0.knownObjectID, $0.relatedIDs(relationship)) }, uniquingKeysWith: { first, _ in first })
            if !failures.isEmpty { throw UnreadObjects(failures, related: related) }
            return related
        }
        guard let owner = ids.first.flatMap({ mapping.schema.entity($0.owningEntity) }),
            let destination = relationship.destinationEntity.flatMap(mapping.schema.entity), case .toMany(let place) = owner[relationship]
        else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The relationship “\(relationship)” cannot be read.", reason: "The store does not keep it."
            )
        }
        let own = ids.filter { $0.token === token }
        let byKey = Dictionary(own.map { ($0.reference, $0) }, uniquingKeysWith: { first, _ in first })
        let keys = own.compactMap { owner.keyKind.value($0.reference) }
        let (owners, members) = (rows(owner), rows(destination))
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        try connection.with(question(relationship, place, owner, destination)) { statement in
            SQLArray(keys).bind(to: statement.handle, at: 1)
            while try statement.step() {
                guard let id = byKey[try owners.reference(statement.handle, 0)] else { continue }
                found[id, default: []].append(try members.id(statement.handle, 1))
            }
        }
        return found
    }

    /// Returns the statement that reads the owner's key and the key.
    private func question(
        _ relationship: NSRelationshipDescription, _ place: SQLToMany, _ owner: SQLEntity, _ destination: SQLEntity
    ) -> String {
        let key = destination.identity.key
        switch place {
        case .foreignKey(let reference):
            // By the columns themselves, so that their index is used.
            let list = "t.\(reference.column), t.\(key)"
            if let slot = relationship.storedInverse?.slotIndex, case .toOne(let columns)? = mapping.table(destination).values[slot] {
                let condition = columns.isIn("?1", of: MappedTable<SQLiteTableDialect>.alias)
                return mapping.rows(of: destination, list, where: condition) + " ORDER BY 1, 2"
            }
            return mapping.statement(
                "SELECT \(list) FROM \(destination.table) t WHERE t.\(reference.column) IN (SELECT value FROM CoreDataArray(?1)) ORDER BY 1, 2"
            )
        case .join(let join):
            let source =
                join.isReflexive
                ? "(SELECT \(join.own), \(join.other) FROM \(join.table) UNION SELECT \(join.other), \(join.own) FROM \(join.table))"
                : join.table.sql
            return mapping.statement(
                "SELECT j.\(join.own), t.\(key) FROM \(source) j JOIN \(destination.table) t ON t.\(key) = j.\(join.other) "
                    + "WHERE j.\(join.own) IN (SELECT value FROM CoreDataArray(?1)) ORDER BY 1, 2")
        }
    }
}

/// Rows found by SQL, to be filtered and sorted further in memory.
// Used by the thread that has the reader.
private final class FoundTableRows: RowSource {
    private let found: RowList
    private let reader: SQLiteTableReader
    private var rows: [NSManagedObjectID: Row?] = [:]

    init(_ found: RowList, _ reader: SQLiteTableReader) {
        (self.found, self.reader) = (found, reader)
        for row in found { rows[row.knownObjectID] = row }
    }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        for row in found { try body(row) }
    }

    func row(with id: NSManagedObjectID) throws -> Row? {
        if let known = rows[id] { return known }
        let row = try reader.allRows([id]).first
        rows[id] = .some(row)
        return row
    }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        let id = row.knownObjectID
        return try reader.related(by: relationship, from: [id])[id] ?? []
    }
}

/// The values in plain columns that conditions would compare differently from values of their kind, see ``SQLiteColumnForm/isPlain``.
// Used by the thread that has the reader.
struct SQLiteExceptions {
    private struct Column {
        /// The names by which statements refer to the table and the column.
        let table: String
        let name: String
        let place: String
        let code: Int32
        /// Selects the key of a row with such a value, and the value.
        let sql: String
    }
    private let columns: [Column]
    /// The columns without such values in the state of the file with that number.
    private var clear: Set<Int> = []
    private var state: Int64 = -1

    init(_ mapping: SQLiteTables.Mapped) {
        let alias = MappedTable<SQLiteTableDialect>.alias
        columns = mapping.schema.entities.flatMap { entity -> [Column] in
            let table = mapping.table(entity)
            return table.values.compactMap { slot, value in
                guard case .attribute(let column, let form) = value, !column.type.isRowNumber,
                    !column.type.isStrict || form.kind == .boolean,
                    let condition = form.exception("\(alias).\(TableNames.identifier(column.name))"),
                    case .attribute(let stored) = entity.properties[slot]
                else { return nil }
                return Column(
                    table: entity.table.sql, name: stored.column.sql, place: form.place, code: form.code,
                    sql:
                        "SELECT \(table.key.selected(of: alias)), \(alias).\(TableNames.identifier(column.name)) FROM \(table.sql) AS \(alias) "
                        + "WHERE \(condition) LIMIT 1")
            }
        }
    }

    /// Looks for such values in the columns that a statement, without its definitions, names: once for each state of the file.
    ///
    /// - Throws: Code 134060 with the row and the column of one.
    mutating func check(_ sql: String, _ connection: SQLConnection) throws {
        let concerned = columns.indices.filter { sql.contains(columns[$0].table) && sql.contains(columns[$0].name) }
        if concerned.isEmpty { return }
        let version = try connection.with("PRAGMA data_version") { try $0.step() ? $0.int64(0) : 0 }
        // A connection's own writes do not change the number.
        if version != state || connection.isInTransaction { (clear, state) = ([], version) }
        for index in concerned where !clear.contains(index) {
            let column = columns[index]
            try connection.with(column.sql) { statement in
                guard try statement.step() else { return }
                throw SQLiteColumnValue.mismatch(
                    SQLiteColumnValue.raw(sqlite3_column_value(statement.handle, 1)), column.code, column.place,
                    key: statement.isNull(0) ? "NULL" : statement.text(0))
            }
            clear.insert(index)
        }
    }
}
