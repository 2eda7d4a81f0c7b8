internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates

/// Translates fetch requests to SQL, once for each shape of request.
// Used by the thread that has its reader.
package final class SQLQueryPlanCache {
    private let schema: SQLSchema
    private let token: StoreToken
    private let rowColumns: (SQLEntity) -> [SQLIdentifier]
    private var plans: [[UInt8]: SQLFetchPlan] = [:]
    /// The number of cached plans, beyond which all are removed.
    private static let limit = 400
    /// The number of translated requests, for tests.
    private(set) var translations = 0

    /// - Parameter rowColumns: The columns of an entity's complete rows, after key, entity and version.
    package init(schema: SQLSchema, token: StoreToken, rowColumns: @escaping (SQLEntity) -> [SQLIdentifier]) {
        self.schema = schema
        self.token = token
        self.rowColumns = rowColumns
    }

    /// Returns the SQL of a request.
    ///
    /// - Throws: ``InvalidPredicateError`` for a request that no store can answer, ``SQLQueryError`` for one that SQL cannot.
    package func query(_ request: StoreQuery, _ entity: SQLEntity) throws -> SQLBoundQuery {
        let parts = try SQLFetchParts(request)
        let shape = try SQLFetchShape(request, parts)
        let plan: SQLFetchPlan
        if let key = shape.key, let known = plans[key] {
            plan = known
        } else {
            translations += 1
            var translator = SQLFetchTranslator(
                request, parts, constants: shape.classes, schema: schema, entity: entity, rowColumns: rowColumns(entity))
            plan = try translator.plan()
            if let key = shape.key {
                if plans.count >= Self.limit { plans = [:] }
                plans[key] = plan
            }
        }
        let values = SQLRequestValues(
            constants: shape.constants, limit: request.fetchLimit, offset: request.fetchOffset, now: Date(), token: token,
            entityNumber: { [schema] entity in
                // An entity of another copy of the model stands for the one with the same name here.
                schema.entity(entity)?.number ?? schema.model.entitiesByName[entity.name ?? ""].flatMap(schema.entity)?.number
            })
        return SQLBoundQuery(plan: plan, values: values)
    }
}
