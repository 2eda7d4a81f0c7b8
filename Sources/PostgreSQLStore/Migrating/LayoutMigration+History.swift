#if PostgreSQL
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension LayoutMigration {
    /// Returns the statements that give the history's changes the new numbers of entities and the new names of properties, and delete the changes of
    /// removed entities.
    func historyStatements() -> [String] {
        let table = PostgreSQLTables.changes
        var statements: [String] = []
        let gone = old.schema.entities.map(\.number).filter { newNumber($0) == nil }
        if !gone.isEmpty { statements.append("DELETE FROM \(table) WHERE entity IN (\(gone.map(String.init).joined(separator: ", ")))") }
        for kept in kept {
            let renamed = Self.renamedProperties(kept.mapped)
            if renamed.isEmpty { continue }
            let cases = renamed.map { "WHEN \(sqlLiteral($0.old)) THEN \(sqlLiteral($0.new))" }.joined(separator: " ")
            statements.append(
                """
                UPDATE \(table) SET properties = CASE WHEN properties IS NOT NULL THEN ARRAY(SELECT CASE name \(cases) ELSE name END
                FROM unnest(properties) AS name) END, tombstone = CASE WHEN jsonb_typeof(tombstone) = 'object' THEN (SELECT
                coalesce(jsonb_object_agg(CASE key \(cases) ELSE key END, value), '{}') FROM jsonb_each(tombstone)) ELSE tombstone END
                WHERE entity = \(kept.old.number)
                """)
        }
        let numbers = renumbered("entity")
        if numbers != "entity" { statements.append("UPDATE \(table) SET entity = \(numbers)") }
        return statements
    }

    private static func renamedProperties(_ entity: InferredMapping.Entity) -> [(old: String, new: String)] {
        let attributes = entity.attributes.compactMap { attribute in
            attribute.source.map { (old: $0.name, new: attribute.destination.name) }
        }
        let relationships = entity.relationships.compactMap { relation in
            relation.source.map { (old: $0.name, new: relation.destination.name) }
        }
        return (attributes + relationships).filter { $0.old != $0.new }
    }
}
#endif
