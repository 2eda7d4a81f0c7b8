#if PostgreSQL
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension LayoutMigration {
    /// Renames the tables of pairs and their columns, and fills those that replace keys of rows.
    mutating func moveJoins(_ plans: [ColumnPlan]) throws {
        var made: Set<SQLIdentifier> = []
        var moves: [(join: SQLJoin, former: SQLJoin)] = []
        var fills: [String] = []
        for entity in new.schema.entities {
            for (index, property) in entity.entity.frozenParts.properties.enumerated() {
                guard case .toMany(.join(let join)) = entity.properties[index], let relationship = property as? NSRelationshipDescription,
                    relationship.entity === entity.entity, !made.contains(join.table)
                else { continue }
                guard let owner = kept.first(where: { $0.new === entity }),
                    let source = owner.mapped.relationships.first(where: { $0.destination.name == relationship.name })?.source,
                    let former = owner.old.entity.frozenParts.byName[source.name].map({ owner.old[$0] })
                else { continue }
                made.insert(join.table)
                switch former {
                case .toMany(.join(let known)): moves.append((join, known))
                case .toMany(.foreignKey(let known)):
                    fills.append(try fill(join, known.table, own: known.column, other: LayoutNames.identifier("id"), plans))
                case .toOne(let known):
                    fills.append(try fill(join, owner.old.table, own: LayoutNames.identifier("id"), other: known.column, plans))
                case .attribute, .unstored: continue
                }
            }
        }
        moveJoins(moves)
        for join in new.schema.joins where !moves.contains(where: { $0.join.table == join.name }) {
            statements += new.definition.creations[join.name] ?? []
        }
        statements += fills
    }

    /// Returns the statement that makes pairs of the keys in rows.
    private func fill(
        _ join: SQLJoin, _ table: SQLIdentifier, own: SQLIdentifier, other: SQLIdentifier, _ plans: [ColumnPlan]
    ) throws -> String {
        let columns = plans.first { $0.source == table }?.current ?? [:]
        guard let name = current[table] else { throw Self.unsupported("The table \(table.name) is none of the store's.") }
        let (first, second) = (columns[own] ?? own, columns[other] ?? other)
        return "INSERT INTO \(join.table) (\(join.own), \(join.other)) SELECT \(first), \(second) FROM \(name) "
            + "WHERE \(first) IS NOT NULL AND \(second) IS NOT NULL ON CONFLICT DO NOTHING"
    }

    private mutating func moveJoins(_ moves: [(join: SQLJoin, former: SQLJoin)]) {
        // By way of temporary names, because tables may exchange theirs.
        for table in old.schema.joins {
            let move = moves.first { $0.former.table == table.name }
            current[table.name] = table.name
            if let move, move.join.table == table.name { continue }
            let aside = asideName()
            statements.append("ALTER TABLE \(table.name) RENAME TO \(aside)")
            current[table.name] = aside
        }
        for (join, former) in moves {
            let table = join.table
            if let aside = current[former.table], aside != table { statements.append("ALTER TABLE \(aside) RENAME TO \(table)") }
            current[former.table] = table
            var renames = [(former.own, join.own), (former.other, join.other)]
            if let before = former.orderColumn, let after = join.orderColumn { renames.append((before, after)) }
            if let before = former.inverseOrderColumn, let after = join.inverseOrderColumn { renames.append((before, after)) }
            renames = renames.filter { $0.0 != $0.1 }
            for (index, (before, _)) in renames.enumerated() {
                statements.append("ALTER TABLE \(table) RENAME COLUMN \(before) TO coredata_old_\(index)")
            }
            for (index, (_, after)) in renames.enumerated() {
                statements.append("ALTER TABLE \(table) RENAME COLUMN coredata_old_\(index) TO \(after)")
            }
            for (before, after) in [(former.orderColumn, join.orderColumn), (former.inverseOrderColumn, join.inverseOrderColumn)] {
                switch (before, after) {
                case (let before?, nil): statements.append("ALTER TABLE \(table) DROP COLUMN \(before)")
                case (nil, let after?): statements.append("ALTER TABLE \(table) ADD COLUMN \(after) bigint")
                default: continue
                }
            }
        }
    }
}
#endif
