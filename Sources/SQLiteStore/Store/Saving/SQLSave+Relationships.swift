internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLSave {
    // MARK: Positions

    /// Assigns the positions in changed ordered relationships, before anything is written.
    mutating func prepareOrders(_ changes: StoreChangeSet) throws {
        guard schema.hasOrders else { return }
        for (part, areNew) in [(changes.inserted, true), (changes.updated, false)] {
            for index in part.indices where !part[index].lists.isEmpty {
                let change = part[index]
                for difference in change.lists {
                    guard let ids = difference.members, let entity = schema.entity(change.entity),
                        case .toMany(.foreignKey(let place)) = entity.properties[difference.slotIndex], let column = place.orderColumn
                    else { continue }
                    let relationship = relationship(difference, of: change)
                    let members = try ids.map { try key(of: $0, for: relationship) }
                    let known =
                        areNew
                        ? [:]
                        : try knownPlaces(
                            "SELECT Z_PK, \(column) FROM \(place.table) WHERE \(place.column) = ?", key(of: change, for: relationship))
                    for (key, order) in zip(members, SQLOrderPositions.places(members.map { known[$0] })) {
                        orders.set(order, known: known[key], column, key, in: place.table)
                    }
                }
            }
        }
    }

    private func relationship(_ difference: ListDifference, of change: StoreChange) -> NSRelationshipDescription {
        change.entity.frozenParts.properties[difference.slotIndex] as! NSRelationshipDescription
    }

    private func key(of change: StoreChange, for relationship: NSRelationshipDescription) throws -> Int64 {
        try key(of: change.objectID, for: relationship)
    }

    private func knownPlaces(_ sql: String, _ owner: Int64) throws -> [Int64: Int64] {
        try connection.with(sql) { statement in
            statement.bind(owner, at: 1)
            var places: [Int64: Int64] = [:]
            while try statement.step() { if !statement.isNull(1) { places[statement.int64(0)] = statement.int64(1) } }
            return places
        }
    }

    /// Writes the positions of rows that were not written otherwise.
    func writeOrders() throws {
        for (column, places) in orders.remaining {
            try connection.with("UPDATE \(column.table) SET \(column.name) = ? WHERE Z_PK = ?") { statement in
                for (key, place) in places {
                    statement.bind(place, at: 1)
                    statement.bind(key, at: 2)
                    try statement.run()
                }
            }
        }
    }

    // MARK: Join tables and one-way relationships

    func writeRelationships(_ changes: StoreChangeSet) throws {
        guard schema.hasPairs else { return }
        // Created on demand: the relationships that the save writes, by object; nil for all.
        lazy var written = WrittenRelationships(changes)
        for part in [changes.inserted, changes.updated] {
            for index in part.indices where !part[index].lists.isEmpty {
                let change = part[index]
                guard let entity = schema.entity(change.entity) else { continue }
                for difference in change.lists {
                    guard case .toMany(let place) = entity.properties[difference.slotIndex] else { continue }
                    let relationship = relationship(difference, of: change)
                    let owner = try key(of: change, for: relationship)
                    switch place {
                    case .join(let join): try writePairs(owner, difference, relationship, join) { written.contains($1, of: $0) }
                    case .foreignKey(let key):
                        if relationship.storedInverse == nil { try writeKeys(owner, difference, relationship, key, entity) }
                    }
                }
            }
        }
    }

    /// Returns whether the other object's relationship writes the pair.
    private func isWritten(
        by other: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ join: SQLJoin,
        _ writes: (NSManagedObjectID, NSRelationshipDescription) -> Bool
    ) -> Bool {
        guard !join.isReflexive, let inverse = relationship.storedInverse, join.own != leadingColumn(of: join) else { return false }
        return writes(other, inverse)
    }

    private func leadingColumn(of join: SQLJoin) -> SQLIdentifier? { schema.joins.first { $0.name == join.table }?.columns.first }

    private func writePairs(
        _ owner: Int64, _ difference: ListDifference, _ relationship: NSRelationshipDescription, _ join: SQLJoin,
        _ writes: (NSManagedObjectID, NSRelationshipDescription) -> Bool
    ) throws {
        let gone = difference.removed.filter { !isWritten(by: $0, relationship, join, writes) }
        if !gone.isEmpty {
            try connection.with("DELETE FROM \(join.table) WHERE \(join.own) = ? AND \(join.other) = ?") { statement in
                for other in gone {
                    // An object that was never saved, or belongs to another store, is in no pair.
                    guard let key = pairKey(of: other) else { continue }
                    for pair in join.isReflexive ? [(owner, key), (key, owner)] : [(owner, key)] {
                        statement.bind(pair.0, at: 1)
                        statement.bind(pair.1, at: 2)
                        try statement.run()
                    }
                }
            }
        }
        let new = difference.added.filter { !isWritten(by: $0, relationship, join, writes) }
        if !new.isEmpty {
            try connection.with("INSERT OR IGNORE INTO \(join.table) (\(join.own), \(join.other)) VALUES (?, ?)") { statement in
                for other in new {
                    statement.bind(owner, at: 1)
                    statement.bind(try key(of: other, for: relationship), at: 2)
                    try statement.run()
                }
            }
        }
        if let column = join.orderColumn { try writePlaces(owner, difference, relationship, join, column) }
    }

    private func writePlaces(
        _ owner: Int64, _ difference: ListDifference, _ relationship: NSRelationshipDescription, _ join: SQLJoin, _ column: SQLIdentifier
    ) throws {
        let members = try (difference.members ?? []).map { try key(of: $0, for: relationship) }
        let known = try knownPlaces("SELECT \(join.other), \(column) FROM \(join.table) WHERE \(join.own) = ?", owner)
        let sql =
            "INSERT INTO \(join.table) (\(join.own), \(join.other), \(column)) VALUES (?1, ?2, ?3) "
            + "ON CONFLICT (\(join.own), \(join.other)) DO UPDATE SET \(column) = ?3"
        try connection.with(sql) { statement in
            for (key, place) in zip(members, SQLOrderPositions.places(members.map { known[$0] })) where known[key] != place {
                statement.bind(owner, at: 1)
                statement.bind(key, at: 2)
                statement.bind(place, at: 3)
                try statement.run()
            }
        }
    }

    private func writeKeys(
        _ owner: Int64, _ difference: ListDifference, _ relationship: NSRelationshipDescription, _ place: SQLForeignKey, _ entity: SQLEntity
    ) throws {
        let columns = [place.column, place.entityColumn].compactMap { $0 }
        let nothing = (columns + [place.orderColumn].compactMap { $0 }).map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.with("UPDATE \(place.table) SET \(nothing) WHERE Z_PK = ? AND \(place.column) = ?") { statement in
            for other in difference.removed {
                statement.bind(try key(of: other, for: relationship), at: 1)
                statement.bind(owner, at: 2)
                try statement.run()
            }
        }
        let assignments = columns.map { "\($0) = ?" }.joined(separator: ", ")
        try connection.with("UPDATE \(place.table) SET \(assignments) WHERE Z_PK = ?") { statement in
            for other in difference.added {
                statement.bind(owner, at: 1)
                if columns.count > 1 { statement.bind(entity.number, at: 2) }
                statement.bind(try key(of: other, for: relationship), at: columns.count + 1)
                try statement.run()
            }
        }
    }
}

/// The relationships that a save writes, by object.
private struct WrittenRelationships {
    private var all: Set<NSManagedObjectID> = []
    private var some: [NSManagedObjectID: PropertySet] = [:]

    init(_ changes: StoreChangeSet) {
        all = Set(changes.inserted.map(\.objectID))
        for change in changes.updated { some[change.objectID] = change.changed }
    }

    func contains(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) -> Bool {
        all.contains(id) || some[id]?.contains(relationship.slotIndex) ?? false
    }
}
