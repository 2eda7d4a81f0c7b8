internal import Foundation
internal import Predicates

/// Turns fetch requests into SQL, once for each shape of request.
// Used by who has the reader that it belongs to.
final class SQLQueryPlans {
    private let schema: SQLSchema
    private let token: StoreToken
    private let rowColumns: (SQLEntity) -> [SQLIdentifier]
    private var plans: [[UInt8]: SQLFetchPlan] = [:]
    /// So many plans are kept; all go when there are more.
    private static let limit = 400
    /// How many requests were translated, for tests.
    private(set) var translations = 0

    /// - Parameter rowColumns: the columns of an entity's whole rows, after key, entity and version.
    init(schema: SQLSchema, token: StoreToken, rowColumns: @escaping (SQLEntity) -> [SQLIdentifier]) {
        self.schema = schema
        self.token = token
        self.rowColumns = rowColumns
    }

    /// The SQL of a request.
    ///
    /// - Throws: ``InvalidPredicateError`` for what no store can answer, ``SQLQueryError`` for what SQL cannot.
    func query(_ request: StoreQuery, _ entity: SQLEntity) throws -> SQLiteQuery {
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
                // An entity of another copy of the model stands for the one of the same name here.
                schema.entity(entity)?.number ?? schema.model.entitiesByName[entity.name ?? ""].flatMap(schema.entity)?.number
            })
        return SQLiteQuery(plan: plan, values: values)
    }
}
