internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Platform
package import Predicates

/// Translates fetch requests to SQL, once for each shape of request.
// Used by the thread that has its reader.
package final class SQLQueryPlanCache {
    private let schema: SQLSchema
    private let dialect: any SQLDialect
    private let token: StoreToken
    private let rowColumns: (SQLEntity) -> [SQLIdentifier]
    private var plans: [[UInt8]: SQLFetchPlan] = [:]
    /// The plans of fetches whose shape is known at once. There are a few for each entity.
    private var plainPlans: [SQLPlainFetch: SQLFetchPlan] = [:]
    private let sharedPlans: SQLPlainPlans
    /// The number of cached plans, beyond which all are removed.
    private static let limit = 400
    /// The number of translated requests, for tests.
    private(set) var translations = 0

    /// - Parameters:
    ///   - sharedPlans: The plans that other caches have made for the entities of the schema, with the same dialect.
    ///   - rowColumns: The columns of an entity's complete rows, after key, entity and version.
    package init(
        schema: SQLSchema, dialect: any SQLDialect, token: StoreToken, sharedPlans: SQLPlainPlans = SQLPlainPlans(),
        rowColumns: @escaping (SQLEntity) -> [SQLIdentifier]
    ) {
        self.sharedPlans = sharedPlans
        self.schema = schema
        self.dialect = dialect
        self.token = token
        self.rowColumns = rowColumns
    }

    /// Returns the SQL of a request.
    ///
    /// - Throws: ``InvalidPredicateError`` for a request that no store can answer, ``SQLQueryError`` for a request that SQL cannot express.
    package func query(_ request: StoreQuery, _ entity: SQLEntity) throws -> SQLQuery {
        let plain = SQLPlainFetch(request)
        if let plain, let plan = plainPlans[plain] ?? sharedPlans[plain] {
            plainPlans[plain] = plan
            return query(request, plan, constants: [])
        }
        let parts = try SQLFetchParts(request, dialect)
        let shape = try SQLFetchShape(request, parts)
        if let key = shape.key, let plan = plans[key] { return query(request, plan, constants: shape.constants) }
        translations += 1
        var translator = SQLFetchTranslator(
            request, parts, constants: shape.classes, schema: schema, dialect: dialect, entity: entity, rowColumns: rowColumns(entity))
        let plan = try translator.plan()
        if let plain {
            plainPlans[plain] = plan
            sharedPlans[plain] = plan
        } else if let key = shape.key {
            if plans.count >= Self.limit { plans = [:] }
            plans[key] = plan
        }
        return query(request, plan, constants: shape.constants)
    }

    /// Returns the parts of a conjunction that SQL supports; nil for none. The rows that they leave can be filtered in memory.
    package func translatable(_ tree: PredicateTree, _ entity: SQLEntity) throws -> PredicateTree? {
        if case .and(let parts) = tree {
            let left = try parts.compactMap { try translatable($0, entity) }
            return left.isEmpty ? nil : .and(left)
        }
        do {
            _ = try query(StoreQuery(entity.entity).with(predicate: NSPredicate(tree: tree)), entity)
            return tree
        } catch  where SQLQueryError.isUntranslatable(error) {
            return nil
        }
    }

    private func query(_ request: StoreQuery, _ plan: SQLFetchPlan, constants: [PropertyValue]) -> SQLQuery {
        let values = SQLRequestValues(
            constants: constants, limit: request.fetchLimit, offset: request.fetchOffset, now: plan.readsClock ? Date() : .distantPast,
            token: token, schema: schema)
        return SQLQuery(plan: plan, values: values)
    }
}

/// The plans of fetches without predicate, order and columns, shared by the caches of schemas with the same entities.
package final class SQLPlainPlans: Sendable {
    private let plans = LockedBox<[SQLPlainFetch: SQLFetchPlan]>([:])

    package init() {}

    subscript(fetch: SQLPlainFetch) -> SQLFetchPlan? {
        get { plans.withLock { $0[fetch] } }
        set { plans.withLock { $0[fetch] = newValue } }
    }
}

/// The shape of a fetch without predicate, order and columns, which is known without reading any tree.
struct SQLPlainFetch: Hashable {
    private let entity: ObjectIdentifier
    /// The result type, and whether subentities are included, the rows are limited, and equal results are one.
    private let settings: UInt

    /// Nil for any other fetch.
    init?(_ request: StoreQuery) {
        // A count does not depend on the order.
        guard request.predicate == nil, request.resultType != .dictionaryResultType,
            request.sortDescriptors.isEmpty || request.resultType == .countResultType
        else { return nil }
        entity = ObjectIdentifier(request.entity)
        settings =
            request.resultType.rawValue << 3 | (request.includesSubentities ? 1 : 0)
            | (request.fetchLimit > 0 || request.fetchOffset > 0 ? 2 : 0) | (request.returnsDistinctResults ? 4 : 0)
    }
}
