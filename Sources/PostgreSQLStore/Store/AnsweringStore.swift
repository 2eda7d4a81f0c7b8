#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// A store that answers from the content of a database.
protocol AnsweringStore: DatabaseStore, AsynchronousStore {}

extension AnsweringStore {
    var answersOnCallingThread: Bool { true }

    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer {
        let isCurrent = caller.wantsNewest || query.shouldRefreshRefetchedObjects
        let statement: (plan: SQLFetchPlan, values: [BinaryValue])
        do { statement = try content.statement(query) } catch  where SQLQueryError.isUntranslatable(error) {
            if let finished = try await finishedInMemory(query, isCurrent) { return finished }
            throw error
        }
        return try await execute(statement.plan, statement.values, isCurrent)
    }

    private func execute(_ plan: SQLFetchPlan, _ values: [BinaryValue], _ isCurrent: Bool) async throws -> StoreAnswer {
        let sql = content.statement(plan.sql, values)
        let content = content!
        func found() async throws -> QueryResult {
            try await content.readingRows(of: plan.entity, isCurrent: isCurrent) { try await $0.query(sql, values) }
        }
        switch plan.answer {
        case .rows: return try await content.rows(foundBy: sql, values, content.plan(plan.entity), isCurrent: isCurrent).answer
        case .ids:
            let result = try await found()
            return .ids(
                (0..<result.rowCount).map { row in
                    let owner = content.schema.entity(numbered: result.integer(row, 1))?.entity ?? plan.entity.entity
                    return NSManagedObjectID(
                        entity: owner, token: content.token, reference: plan.entity.keyKind.reference(result, row, 0))
                })
        case .count:
            let result = try await found()
            return .count(result.rowCount > 0 ? Int(result.integer(0, 0)) : 0)
        case .dictionaries(let columns):
            let result = try await found()
            let reader = DictionaryReader(
                columns: columns, schema: content.schema, token: content.token, isVerbatim: content.mapping != nil)
            return .dictionaries(StoreDictionaries(try (0..<result.rowCount).map { try reader.dictionary(result, $0) }))
        }
    }

    /// Answers a query that SQL supports in part from the rows that SQL finds; nil if the request does not allow that.
    ///
    /// An order that SQL does not have is made in memory if all rows are read anyway.
    private func finishedInMemory(_ query: StoreQuery, _ isCurrent: Bool) async throws -> StoreAnswer? {
        var rest = query
        var narrowed = StoreQuery(query.entity, includesSubentities: query.includesSubentities)
        if query.allowsEvaluationInMemory {
            narrowed = narrowed.with(predicate: try content.translatable(query))
        } else {
            let isOrderedOnly = [.managedObjectResultType, .managedObjectIDResultType].contains(query.resultType)
            guard isOrderedOnly, query.fetchLimit == 0, query.fetchOffset == 0, !query.sortDescriptors.isEmpty else { return nil }
            narrowed = narrowed.with(predicate: query.predicate)
            rest = query.with(predicate: nil)
        }
        let statement: (plan: SQLFetchPlan, values: [BinaryValue])
        do { statement = try content.statement(narrowed) } catch  where SQLQueryError.isUntranslatable(error) { return nil }
        guard case .rows = statement.plan.answer else { return nil }
        let sql = content.statement(statement.plan.sql, statement.values)
        // Evaluation in memory needs the values of all rows.
        let rows = try await content.rows(foundBy: sql, statement.values, content.plan(statement.plan.entity), isCurrent: isCurrent).all()
        return try await FoundRows(rows, content, isCurrent: isCurrent).answer(rest)
    }

    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row] {
        let content = content!
        let entity = ids.first.flatMap { content.schema.entity($0.owningEntity) }
        return try await content.readingRows(of: entity, isCurrent: caller.wantsNewest) { connection in
            try await content.rows(ids, over: connection, isCancellable: true)
        }
    }

    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try await content.related(by: relationship, from: ids, isCurrent: caller.wantsNewest)
    }
}

extension StoreCaller {
    /// Whether a context accepts nothing that may be out of date, cached or from a replica.
    fileprivate var wantsNewest: Bool { stalenessInterval == 0 }
}
#endif
