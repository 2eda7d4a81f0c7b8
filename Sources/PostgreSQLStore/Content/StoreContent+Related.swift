#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension StoreContent {
    /// Reads a relationship of many objects, in order for an ordered one.
    ///
    /// - Parameters:
    ///   - connection: The connection of a transaction whose rows are required; nil for any.
    ///   - isCurrent: Whether the newest state is required.
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], over connection: Connection? = nil,
        isCurrent: Bool = false
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        guard relationship.isToMany else {
            let found: ReadRows = try await readingRows(
                of: ids.first.flatMap { schema.entity($0.owningEntity) }, over: connection, isCurrent: isCurrent
            ) { connection in
                try await self.readRows(ids, over: connection, isCancellable: true)
            }
            let related = Dictionary(
                found.rows.map { ($0.knownObjectID, $0.relatedIDs(relationship)) }, uniquingKeysWith: { first, _ in first })
            if !found.failures.isEmpty { throw UnreadObjects(found.reasons, related: related) }
            return related
        }
        guard let owner = ids.first?.owningEntity, let question = RelatedQuestion(relationship, of: owner, schema) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The relationship “\(relationship)” cannot be read.", reason: "The store does not keep it."
            )
        }
        let kind = schema.entity(owner)?.keyKind ?? .integer
        let destinationKind = question.destination.keyKind
        let byKey = Dictionary(ids.map { ($0.reference, $0) }, uniquingKeysWith: { first, _ in first })
        let (sql, keys) = (lookingUp(relationship, question) ?? statement(question.sql), keys(of: ids, kind))
        let result = try await readingRows(of: question.destination, over: connection, isCurrent: isCurrent) {
            try await $0.query(sql, [keys])
        }
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for row in 0..<result.rowCount {
            guard let id = byKey[kind.reference(result, row, 0)], let entity = schema.entity(numbered: result.integer(row, 2)) else {
                continue
            }
            guard question.destination.numbers.contains(entity.number) || question.destination.isAlone else { continue }
            found[id, default: []].append(
                NSManagedObjectID(entity: entity.entity, token: token, reference: destinationKind.reference(result, row, 1)))
        }
        return found
    }
}

extension StoreContent {
    /// Returns the statement that reads a relationship whose rows spell the key of their owner differently. It compares the columns themselves, so
    /// that their index may be used.
    private func lookingUp(_ relationship: NSRelationshipDescription, _ question: RelatedQuestion) -> String? {
        let destination = question.destination
        guard let mapping, let slot = relationship.storedInverse?.slotIndex,
            case .toOne(let key)? = mapping.table(destination).values[slot],
            key.isLookedUp, case .toOne(let place) = destination.properties[slot]
        else { return nil }
        let list = "t.\(place.column), t.\(destination.identity.key), t.\(destination.identity.entity)"
        return mapping.rows(of: destination, list, where: key.isIn("$1", of: MappedTable.alias)) + " ORDER BY 1, 2"
    }
}

/// The statement that reads a to-many relationship of many objects: the owner's key, the key and the entity.
struct RelatedQuestion {
    let destination: SQLEntity
    let sql: String

    /// Nil for a relationship that the store does not keep.
    init?(_ relationship: NSRelationshipDescription, of owner: NSEntityDescription, _ schema: SQLSchema) {
        guard let destination = relationship.destinationEntity.flatMap(schema.entity),
            let declaring = relationship.entity.flatMap(schema.entity) ?? schema.entity(owner),
            case .toMany(let place) = declaring[relationship]
        else { return nil }
        self.destination = destination
        switch place {
        case .foreignKey(let key):
            let order = key.orderColumn.map { "t.\($0), " } ?? ""
            sql =
                "SELECT t.\(key.column), t.id, t.entity FROM \(key.table) t WHERE t.\(key.column) = ANY($1) ORDER BY t.\(key.column), \(order)t.id"
        case .join(let join):
            let order = join.orderColumn.map { "j.\($0), " } ?? ""
            let source =
                join.isReflexive && join.orderColumn == nil
                ? "(SELECT \(join.own), \(join.other) FROM \(join.table) UNION SELECT \(join.other), \(join.own) FROM \(join.table))"
                : join.table.sql
            sql =
                "SELECT j.\(join.own), t.id, t.entity FROM \(source) j JOIN \(destination.table) t ON t.id = j.\(join.other) "
                + "WHERE j.\(join.own) = ANY($1) ORDER BY j.\(join.own), \(order)t.id"
        }
    }
}
#endif
