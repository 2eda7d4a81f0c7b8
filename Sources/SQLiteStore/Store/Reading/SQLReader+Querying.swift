internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// The query plans and functions of a reader.
// Used by the thread that has its reader.
final class SQLQueryEngine {
    let plans: SQLQueryPlanCache
    /// The functions; nil before the first query that may call one.
    private(set) var functions: SQLQueryFunctions?
    private let connection: OpaquePointer

    init(_ reader: SQLReader) {
        connection = reader.connection.handle
        plans = SQLQueryPlanCache(
            schema: reader.schema, dialect: SQLiteDialect(), token: reader.store.token, sharedPlans: reader.store.plainPlans
        ) { [unowned reader] entity in reader.plan(entity).columns }
    }

    /// Returns the SQL of a request, whose functions are registered with the connection.
    ///
    /// - Throws: The errors of ``SQLQueryPlanCache/query(_:_:)``, and code 134080 if SQLite does not accept a function.
    func query(_ request: StoreQuery, _ entity: SQLEntity) throws -> SQLQuery {
        let query = try plans.query(request, entity)
        // Many programs call no functions.
        if functions == nil, SQLQueryFunctions.areNamed(in: query.plan.sql) {
            functions = try SQLQueryFunctions(on: connection)
        }
        return query
    }
}

extension SQLReader {
    /// Answers a fetch by SQL, or in memory if SQL cannot and the request allows it.
    ///
    /// - Throws: ``InvalidPredicateError`` for an invalid predicate, code 134091 naming a clause without SQL, and SQLite's errors.
    func queried(_ request: StoreQuery, _ entity: SQLEntity) throws -> StoreAnswer {
        let queries = try queries()
        let query: SQLQuery
        do {
            query = try queries.query(request, entity)
        } catch  where request.allowsEvaluationInMemory && SQLQueryError.isUntranslatable(error) {
            return try finishedInMemory(request, entity)
        }
        do {
            return try execute(query)
        } catch  where SQLiteLimits.isRefused(error) && (try? hasWholeSchema()) == true {
            if request.allowsEvaluationInMemory { return try RowFetch(table: self, query: request).answer() }
            throw SQLiteLimits.tooComplex(request, error)
        } catch {
            // The error of a failing function is more precise than SQLite's.
            throw queries.functions?.takeError() ?? error
        }
    }

    /// Returns whether the file still has the tables and columns of the model, which others may have changed.
    private func hasWholeSchema() throws -> Bool { try SQLiteOpening(store).isWhole(schema, in: connection) }

    private func execute(_ query: SQLQuery) throws -> StoreAnswer {
        let log = store.queryLog
        let connection = database()
        let run = log.begin(query, connection)
        return try connection.with(query.plan.sql) { statement in
            try query.bind(to: statement.handle)
            switch query.plan.answer {
            case .rows:
                var rows = RowList()
                try readRows(statement, plan(query.plan.entity)) { rows.append($0) }
                log.end(run, rows: rows.count)
                return .rows(rows)
            case .ids:
                var ids: [NSManagedObjectID] = []
                while try statement.step() { ids.append(id(statement.int64(0), numbered: statement.int64(1), query.plan.entity)) }
                log.end(run, rows: ids.count)
                return .ids(ids)
            case .count:
                let count = try statement.step() ? Int(statement.int64(0)) : 0
                log.end(run, rows: 1)
                return .count(count)
            case .dictionaries(let columns):
                let reader = dictionaryReader(columns)
                var dictionaries: [NSDictionary] = []
                while try statement.step() { dictionaries.append(try reader.dictionary(statement.handle)) }
                log.end(run, rows: dictionaries.count)
                return .dictionaries(StoreDictionaries(dictionaries))
            }
        }
    }

    /// Returns the ID of a row of an entity or its subentities.
    private func id(_ key: Int64, numbered number: Int64, _ entity: SQLEntity) -> NSManagedObjectID {
        if let known = cursor.row(entity.rootNumber, key)?.objectID { return known }
        let owner = number == entity.number ? entity.entity : schema.entity(numbered: number)?.entity ?? entity.entity
        return values.id(key, of: owner)
    }

    private func dictionaryReader(_ columns: [SQLResultColumn]) -> SQLDictionaryReader {
        SQLDictionaryReader(
            columns: columns,
            id: { [values] statement, column, entity in values.id(sqlite3_column_int64(statement, column), of: entity) },
            entity: { [schema] number in schema.entity(numbered: number)?.entity },
            stored: { [values] statement, column, storage, attribute in
                try values.read(statement, column, storage, attribute).plainValue
            })
    }

    // MARK: In memory

    /// Answers a fetch that SQL supports in part: the rows found by SQL are filtered, sorted and limited in memory.
    private func finishedInMemory(_ request: StoreQuery, _ entity: SQLEntity) throws -> StoreAnswer {
        let predicate = try request.predicate.flatMap { try queries().plans.translatable($0.tree(), entity) }.map { NSPredicate(tree: $0) }
        let narrowed = StoreQuery(request.entity, includesSubentities: request.includesSubentities).with(predicate: predicate)
        guard case .rows(let rows) = try queried(narrowed, entity) else { return .rows(RowList()) }
        return try RowFetch(table: FoundRows(rows, reader: self), query: request).answer()
    }
}

/// Rows found by SQL, to be filtered further.
private final class FoundRows: RowTable {
    private let rows: RowList
    private let reader: SQLReader

    init(_ rows: RowList, reader: SQLReader) {
        self.rows = rows
        self.reader = reader
    }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        for row in rows { try body(row) }
    }
    func row(with id: NSManagedObjectID) throws -> Row? { try reader.row(with: id) }
    func schema(of entity: NSEntityDescription) -> RowSchema { reader.schema(of: entity) }
    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        try reader.relatedIDs(of: relationship, in: row)
    }
}

extension StorableValue {
    /// The value as a Foundation type.
    var plainValue: Any? {
        switch self {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .string(let text): text
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .box(let box): box.value
        }
    }
}
