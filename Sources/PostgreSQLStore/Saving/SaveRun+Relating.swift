#if PostgreSQL
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

// Join tables and one-way relationships.
extension SaveRun {
    /// Writes the changes of relationships that are no columns of the objects' rows.
    mutating func writeRelationships() async throws {
        guard schema.hasPairs else { return }
        for part in [changes.inserted, changes.updated] {
            for change in part where !change.lists.isEmpty {
                guard let entity = schema.entity(change.entity) else { continue }
                for difference in change.lists {
                    guard case .toMany(let place) = entity.properties[difference.slotIndex] else { continue }
                    let relationship = relationship(difference, of: change)
                    let owner = try key(of: change.objectID, for: relationship)
                    switch place {
                    case .join(let join): try await writePairs(owner, difference, relationship, join)
                    case .foreignKey(let foreign):
                        if relationship.storedInverse == nil { try writeKeys(owner, difference, relationship, foreign, entity) }
                    }
                    try await sendIfMany()
                }
            }
        }
    }

    /// Pairs are written from either end: a pair that the other end has already written changes nothing.
    private mutating func writePairs(
        _ owner: Int64, _ difference: ListDifference, _ relationship: NSRelationshipDescription, _ join: SQLJoin
    ) async throws {
        // An object that was never saved, or belongs to another store, is in no pair.
        let gone = difference.removed.compactMap { content.key(of: $0.current) }
        if !gone.isEmpty {
            add("DELETE FROM \(join.table) WHERE \(join.own) = $1 AND \(join.other) = ANY($2)", [.integer(owner), .keys(gone)])
            if join.isReflexive {
                add("DELETE FROM \(join.table) WHERE \(join.other) = $1 AND \(join.own) = ANY($2)", [.integer(owner), .keys(gone)])
            }
        }
        let new = try difference.added.map { try key(of: $0, for: relationship) }
        if !new.isEmpty {
            add(
                "INSERT INTO \(join.table) (\(join.own), \(join.other)) SELECT $1, new FROM unnest($2) AS new ON CONFLICT DO NOTHING",
                [.integer(owner), .keys(new)])
        }
        guard let column = join.orderColumn else { return }
        let members = try (difference.members ?? []).map { try key(of: $0, for: relationship) }
        let known = try await knownPlaces("SELECT \(join.other), \(column) FROM \(join.table) WHERE \(join.own) = $1", owner)
        let places = zip(members, SQLOrderPositions.places(members.map { known[$0] })).filter { known[$0.0] != $0.1 }
        if places.isEmpty { return }
        add(
            "INSERT INTO \(join.table) (\(join.own), \(join.other), \(column)) SELECT $1, new.id, new.place FROM unnest($2, $3) AS new(id, place) "
                + "ON CONFLICT (\(join.own), \(join.other)) DO UPDATE SET \(column) = excluded.\(column)",
            [.integer(owner), .keys(places.map(\.0)), .keys(places.map(\.1))])
    }

    private mutating func writeKeys(
        _ owner: Int64, _ difference: ListDifference, _ relationship: NSRelationshipDescription, _ place: SQLForeignKey, _ entity: SQLEntity
    ) throws {
        let columns = [place.column, place.entityColumn].compactMap { $0 }
        let gone = difference.removed.compactMap { content.key(of: $0.current) }
        if !gone.isEmpty {
            let nothing = (columns + [place.orderColumn].compactMap { $0 }).map { "\($0) = NULL" }.joined(separator: ", ")
            add("UPDATE \(place.table) SET \(nothing) WHERE id = ANY($1) AND \(place.column) = $2", [.keys(gone), .integer(owner)])
        }
        let new = try difference.added.map { try key(of: $0, for: relationship) }
        if new.isEmpty { return }
        var values: [BinaryValue] = [.keys(new), .integer(owner)]
        var assignments = ["\(place.column) = $2"]
        if let entityColumn = place.entityColumn {
            values.append(.integer(entity.number))
            assignments.append("\(entityColumn) = $3")
        }
        add("UPDATE \(place.table) SET \(assignments.joined(separator: ", ")) WHERE id = ANY($1)", values)
    }
}
#endif
