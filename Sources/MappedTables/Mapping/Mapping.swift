internal import ObjectGraph
internal import Platform
internal import Predicates
package import SQLQueries

/// The entities of a model over the tables and views of a schema that another program has made.
///
/// Statements refer to each of them as a table of its own, with the columns `id`, `entity` and `version` and one for each property; ``statement(_:)``
/// prepends the definitions. Databases resolve these when they plan a statement: conditions reach the indexes of the columns.
// Immutable apart from `known`, which has a lock.
package final class Mapping<Dialect: TableDialect>: Sendable {
    package let schema: SQLSchema
    private let tables: [ObjectIdentifier: MappedTable<Dialect>]
    /// The tables of pairs, by the name that statements have for them.
    private let joins: [SQLIdentifier: MappedJoin<Dialect>]
    /// The names that statements use, each with its definition.
    private let definitions: [(name: String, sql: String)]
    /// The definitions in which infinite values are replaced by the values that they are read as, by the names that have such values.
    private let bounded: [String: String]
    /// Remarks that are no reason to refuse the model, but may surprise later.
    package let notices: [String]
    private let known = LockedBox<[String: String]>([:])

    init(
        schema: SQLSchema, tables: [ObjectIdentifier: MappedTable<Dialect>], joins: [SQLIdentifier: MappedJoin<Dialect>],
        definitions: [(name: String, sql: String)], bounded: [String: String], notices: [String]
    ) {
        self.bounded = bounded
        (self.schema, self.tables, self.joins, self.definitions) = (schema, tables, joins, definitions)
        self.notices = notices
    }

    /// The table of an entity.
    package func table(_ entity: SQLEntity) -> MappedTable<Dialect> {
        tables[ObjectIdentifier(entity.entity)].known("each entity of the schema is mapped")
    }

    /// The table of pairs.
    package func join(_ join: SQLJoin) -> MappedJoin<Dialect> { joins[join.table].known("each join of the schema is mapped") }

    /// Returns a statement with the definitions of the tables that it names.
    ///
    /// - Parameter isBounded: Whether infinite values are compared as the values that they are read as. Indexes do not serve such comparisons.
    package func statement(_ sql: String, isBounded: Bool = false) -> String {
        if !isBounded, let found = known.withLock({ $0[sql] }) { return found }
        let named = definitions.filter { sql.contains($0.name) }.map { name, definition in
            "\(name) AS NOT MATERIALIZED (\((isBounded ? bounded[name] : nil) ?? definition))"
        }
        let whole = named.isEmpty ? sql : "WITH \(named.joined(separator: ", ")) \(sql)"
        if isBounded { return whole }
        known.withLock { known in
            if known.count > 1000 { known = [:] }
            known[sql] = whole
        }
        return whole
    }

    /// Returns the statement that reads rows of an entity by a condition about the columns of its table.
    package func rows(of entity: SQLEntity, _ plan: String, where condition: String) -> String {
        "SELECT \(plan) FROM (\(definition(of: entity)) WHERE \(condition)) AS t"
    }

    /// Returns the SQL that selects the rows of an entity.
    private func definition(of entity: SQLEntity) -> String {
        definitions.first { $0.name == entity.table.sql }.known("each entity of the schema has a definition").sql
    }
}

/// A difference between a model and the catalogue of a database.
package struct MappingDifference: CustomStringConvertible {
    let entity: String
    let property: String?
    let column: String?
    let expected: String
    let found: String

    package var description: String {
        let place = property.map { "\(entity).\($0)" } ?? entity
        return "\(place)\(column.map { " (\($0))" } ?? ""): expected \(expected), found \(found)"
    }
}
