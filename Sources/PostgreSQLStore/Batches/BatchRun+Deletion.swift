#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension BatchRun {
    /// Deletes rows, and removes them from the relationships of the remaining rows. No delete rule is applied: nothing cascades.
    ///
    /// - Throws: Code 134030 if a required relationship would become empty; nothing is deleted then.
    mutating func deleteRows(_ found: Found, _ entity: SQLEntity) async throws {
        let kinds = entity.numbers.compactMap { content.schema.entity(numbered: $0) }
        var seen: Set<ObjectIdentifier> = []
        for kind in kinds {
            for property in kind.entity.frozenParts.relationships where seen.insert(ObjectIdentifier(property)).inserted {
                try await nullify(property, of: kind, found.keys)
            }
        }
        if notes.isKept { try await record(found, entity) }
        try await add(Call("DELETE FROM \(entity.table) WHERE id = ANY($1)", [.keys(found.keys)]))
    }

    private mutating func record(_ found: Found, _ entity: SQLEntity) async throws {
        let groups = Dictionary(grouping: zip(found.keys, found.entities), by: { $0.1 })
        for (number, members) in groups.sorted(by: { $0.key < $1.key }) {
            let kind = content.schema.entity(numbered: number) ?? entity
            let keys = members.map(\.0)
            if let recording = notes.deletion(of: keys, kind) {
                try await add(recording)
            } else {
                for key in keys { notes.note(.delete, kind.number, key) }
            }
        }
    }

    /// Removes deleted rows from the inverse of a relationship.
    private mutating func nullify(_ relationship: NSRelationshipDescription, of entity: SQLEntity, _ keys: [Int64]) async throws {
        let inverse = relationship.storedInverse
        guard let destination = relationship.destinationEntity.flatMap(content.schema.entity) else { return }
        // Rows that are deleted too need no update.
        let stays = destination.rootNumber == entity.rootNumber ? " AND id <> ALL($1)" : ""
        switch entity[relationship] {
        case .toMany(.foreignKey(let key)):
            let condition = "\(key.column) = ANY($1)\(stays)"
            if let inverse, !inverse.isOptional {
                try await checkNoRows(inverse, "SELECT 1 FROM \(key.table) WHERE \(condition) LIMIT 1", keys)
            }
            let columns = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
            try await nullify(inverse, "UPDATE \(key.table) SET \(Self.cleared(columns)) WHERE \(condition)", keys)
        case .toMany(.join(let join)):
            let ends = join.isReflexive ? [(join.own, join.other), (join.other, join.own)] : [(join.own, join.other)]
            for (own, other) in ends {
                let lost = "SELECT \(other) FROM \(join.table) WHERE \(own) = ANY($1)"
                if let inverse, !inverse.isOptional {
                    try await checkNoRows(
                        inverse,
                        "SELECT 1 FROM \(destination.table) WHERE id IN (\(lost))\(stays) AND id NOT IN "
                            + "(SELECT \(other) FROM \(join.table) WHERE \(own) <> ALL($1)) LIMIT 1", keys)
                }
                try await nullify(inverse, "UPDATE \(destination.table) SET \(Self.cleared([])) WHERE id IN (\(lost))\(stays)", keys)
            }
            for (own, _) in ends { try await add(Call("DELETE FROM \(join.table) WHERE \(own) = ANY($1)", [.keys(keys)])) }
        case .toOne(let key):
            guard let inverse, let place = content.schema.entity(destination.entity)?[inverse] else { return }
            let lost = "id IN (SELECT \(key.column) FROM \(entity.table) WHERE id = ANY($1))\(stays)"
            switch place {
            case .toOne(let back):
                if !inverse.isOptional {
                    try await checkNoRows(inverse, "SELECT 1 FROM \(destination.table) WHERE \(lost) LIMIT 1", keys)
                }
                let columns = [back.column, back.entityColumn].compactMap { $0 }
                try await nullify(inverse, "UPDATE \(destination.table) SET \(Self.cleared(columns)) WHERE \(lost)", keys)
            case .toMany:
                if !inverse.isOptional {
                    try await checkNoRows(
                        inverse,
                        "SELECT 1 FROM \(destination.table) WHERE \(lost) AND id NOT IN (SELECT \(key.column) FROM \(entity.table) "
                            + "WHERE \(key.column) IS NOT NULL AND id <> ALL($1)) LIMIT 1", keys)
                }
                try await nullify(inverse, "UPDATE \(destination.table) SET \(Self.cleared([])) WHERE \(lost)", keys)
            case .attribute, .unstored: return
            }
        case .attribute, .unstored: return
        }
    }

    private static func cleared(_ columns: [SQLIdentifier]) -> String {
        (columns.map { "\($0) = NULL" } + ["version = version + 1"]).joined(separator: ", ")
    }

    /// Runs a statement that removes deleted rows from a relationship of others.
    private mutating func nullify(_ inverse: NSRelationshipDescription?, _ sql: String, _ keys: [Int64]) async throws {
        guard notes.isKept else { return try await add(Call(sql, [.keys(keys)])) }
        let result = try await query(sql + " RETURNING entity, id", [.keys(keys)])
        for row in 0..<result.rowCount {
            notes.note(.update, result.integer(row, 0), result.integer(row, 1), updated: inverse.map { [$0] } ?? [])
        }
    }

    /// Throws if a statement finds a row.
    private mutating func checkNoRows(_ inverse: NSRelationshipDescription, _ sql: String, _ keys: [Int64]) async throws {
        guard try await query(sql, [.keys(keys)]).rowCount > 0 else { return }
        throw CoreDataError.make(
            NSPersistentStoreSaveError, "The batch delete cannot be executed.",
            reason:
                "What it deletes is in “\(inverse)” of an object of “\(inverse.entity?.name ?? "?")” that would be empty, and may not be.",
            next: "Delete or change that object first.")
    }
}
#endif
