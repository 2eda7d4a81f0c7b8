internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// Deletes the rows of the batch table, and removes them from the relationships of the remaining rows.
    ///
    /// - Throws: Code 134030 if a required relationship would become empty; nothing is deleted then.
    func deleteBatch(_ entity: SQLEntity) throws {
        let kinds = entity.numbers.compactMap { schema.entity(numbered: $0) }
        var seen: Set<ObjectIdentifier> = []
        for kind in kinds {
            for property in kind.entity.frozenParts.relationships where seen.insert(ObjectIdentifier(property)).inserted {
                try nullify(property, of: kind)
            }
        }
        for kind in kinds { try dropFiles(of: kind.externalColumns, kind, "Z_PK IN \(Self.batch)") }
        try execute("DELETE FROM \(entity.table) WHERE Z_PK IN \(Self.batch)")
    }

    private static let batch = "(SELECT Z_PK FROM temp.CoreDataBatch)"

    private func execute(_ sql: String) throws { try database().with(sql) { try $0.run() } }

    /// Removes deleted rows from the inverse of a relationship.
    private func nullify(_ relationship: NSRelationshipDescription, of entity: SQLEntity) throws {
        let inverse = relationship.storedInverse
        guard let destination = relationship.destinationEntity.flatMap(schema.entity) else { return }
        // Rows that are deleted too need no update.
        let stays = destination.rootNumber == entity.rootNumber ? " AND Z_PK NOT IN \(Self.batch)" : ""
        switch entity[relationship] {
        case .toMany(.foreignKey(let key)):
            let condition = "\(key.column) IN \(Self.batch)\(stays)"
            if let inverse, !inverse.isOptional { try checkNoRows(inverse, "SELECT 1 FROM \(key.table) WHERE \(condition) LIMIT 1") }
            let others = [key.entityColumn, key.orderColumn].compactMap { $0 }.map { ", \($0) = NULL" }.joined()
            try execute("UPDATE \(key.table) SET \(key.column) = NULL\(others), \(SQLIdentifier.countUp) WHERE \(condition)")
        case .toMany(.join(let join)):
            let ends = join.isReflexive ? [(join.own, join.other), (join.other, join.own)] : [(join.own, join.other)]
            for (own, other) in ends {
                let lost = "SELECT \(other) FROM \(join.table) WHERE \(own) IN \(Self.batch)"
                if let inverse, !inverse.isOptional {
                    try checkNoRows(
                        inverse,
                        "SELECT 1 FROM \(destination.table) WHERE Z_PK IN (\(lost))\(stays) AND Z_PK NOT IN "
                            + "(SELECT \(other) FROM \(join.table) WHERE \(own) NOT IN \(Self.batch)) LIMIT 1")
                }
                try execute("UPDATE \(destination.table) SET \(SQLIdentifier.countUp) WHERE Z_PK IN (\(lost))\(stays)")
            }
            for (own, _) in ends { try execute("DELETE FROM \(join.table) WHERE \(own) IN \(Self.batch)") }
        case .toOne(let key):
            guard let inverse, let place = schema.entity(destination.entity)?[inverse] else { return }
            let lost = "Z_PK IN (SELECT \(key.column) FROM \(entity.table) WHERE Z_PK IN \(Self.batch))\(stays)"
            switch place {
            case .toOne(let back):
                if !inverse.isOptional { try checkNoRows(inverse, "SELECT 1 FROM \(destination.table) WHERE \(lost) LIMIT 1") }
                let others = back.entityColumn.map { ", \($0) = NULL" } ?? ""
                try execute("UPDATE \(destination.table) SET \(back.column) = NULL\(others), \(SQLIdentifier.countUp) WHERE \(lost)")
            case .toMany:
                if !inverse.isOptional {
                    try checkNoRows(
                        inverse,
                        "SELECT 1 FROM \(destination.table) WHERE \(lost) AND Z_PK NOT IN (SELECT \(key.column) FROM \(entity.table) "
                            + "WHERE \(key.column) IS NOT NULL AND Z_PK NOT IN \(Self.batch)) LIMIT 1")
                }
                try execute("UPDATE \(destination.table) SET \(SQLIdentifier.countUp) WHERE \(lost)")
            case .attribute, .unstored: return
            }
        case .attribute, .unstored: return
        }
    }

    /// Throws if a statement finds a row.
    private func checkNoRows(_ inverse: NSRelationshipDescription, _ sql: String) throws {
        guard try database().with(sql, { try $0.step() }) else { return }
        throw CoreDataError.make(
            NSPersistentStoreSaveError, "The batch delete cannot be executed.",
            reason:
                "What it deletes is in “\(inverse)” of an object of “\(inverse.entity?.name ?? "?")” that would be empty, and may not be.",
            next: "Delete or change that object first.")
    }
}
