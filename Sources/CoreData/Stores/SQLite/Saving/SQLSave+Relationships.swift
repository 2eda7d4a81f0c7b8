internal import Foundation

extension SQLSave {
    // MARK: Places

    /// Finds the places of the objects in ordered relationships that have changed, before anything is written.
    mutating func prepareOrders(_ changes: ChangeSet) throws {
        guard schema.hasOrders else { return }
        for objects in [changes.inserted, changes.updated] {
            for object in objects {
                for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany && relationship.isOrdered {
                    guard writes(relationship, of: object), case .toMany = object.state(of: relationship),
                        let entity = schema.entity(object.owningEntity), case .toMany(.foreignKey(let place)) = entity[relationship],
                        let column = place.orderColumn
                    else { continue }
                    let members = try members(of: object, relationship)
                    let known =
                        object.isInserted
                        ? [:]
                        : try knownPlaces("SELECT Z_PK, \(column) FROM \(place.table) WHERE \(place.column) = ?", of: object, relationship)
                    for (key, order) in zip(members, SQLOrderKeys.places(members.map { known[$0] })) {
                        orders.set(order, known: known[key], column, key, in: place.table)
                    }
                }
            }
        }
    }

    private func members(of object: NSManagedObject, _ relationship: NSRelationshipDescription) throws -> [Int64] {
        let objects = object.toMany(relationship).objects
        try object.managedObjectContext?.throwPendingFaultError()
        return try objects.map { try key(of: $0.objectID, for: relationship) }
    }

    private func knownPlaces(_ sql: String, of object: NSManagedObject, _ relationship: NSRelationshipDescription) throws -> [Int64: Int64]
    {
        let owner = try key(of: object.objectID, for: relationship)
        return try connection.with(sql) { statement in
            statement.bind(owner, at: 1)
            var places: [Int64: Int64] = [:]
            while try statement.step() { if !statement.isNull(1) { places[statement.int64(0)] = statement.int64(1) } }
            return places
        }
    }

    /// Writes the places of rows that were not written otherwise.
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

    // MARK: Pairs, and relationships that have no way back

    func writeRelationships(_ changes: ChangeSet) throws {
        guard schema.hasPairs else { return }
        for objects in [changes.inserted, changes.updated] {
            for object in objects {
                if object.relationships.isEmpty { continue }
                let entity = schema.entity(object.owningEntity)
                for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany {
                    guard writes(relationship, of: object), case .toMany(let storage) = object.state(of: relationship),
                        let entity, case .toMany(let place) = entity[relationship]
                    else { continue }
                    switch place {
                    case .join(let join): try writePairs(object, relationship, storage, join)
                    case .foreignKey(let key):
                        if relationship.keptInverse == nil { try writeKeys(object, relationship, storage, key, entity) }
                    }
                }
            }
        }
    }

    /// Whether a to-many relationship of an object is to be written: one of a new object with all that is in it, also where the object was
    /// deleted before and an undo has brought it back as it was.
    private func writes(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> Bool {
        object.isInserted || object.isUpdated && object.changed.contains(relationship.slotIndex)
    }

    private func differences(
        of object: NSManagedObject, _ storage: ToManyStorage
    ) -> (added: [NSManagedObject], removed: [NSManagedObject]) { object.isInserted ? (storage.objects, []) : storage.differences }

    /// Whether the other end of a pair writes it.
    private func isWritten(by other: NSManagedObject, _ relationship: NSRelationshipDescription, _ join: SQLJoin) -> Bool {
        guard !join.isReflexive, let inverse = relationship.keptInverse, join.own != leadingColumn(of: join) else { return false }
        return writes(inverse, of: other)
    }

    private func leadingColumn(of join: SQLJoin) -> SQLIdentifier? { schema.joins.first { $0.name == join.table }?.columns.first }

    private func writePairs(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ storage: ToManyStorage, _ join: SQLJoin
    ) throws {
        let owner = try key(of: object.objectID, for: relationship)
        let (added, removed) = differences(of: object, storage)
        let gone = removed.filter { !isWritten(by: $0, relationship, join) }
        if !gone.isEmpty {
            try connection.with("DELETE FROM \(join.table) WHERE \(join.own) = ? AND \(join.other) = ?") { statement in
                for other in gone {
                    guard let key = try? key(of: other.objectID, for: relationship) else { continue }
                    for pair in join.isReflexive ? [(owner, key), (key, owner)] : [(owner, key)] {
                        statement.bind(pair.0, at: 1)
                        statement.bind(pair.1, at: 2)
                        try statement.run()
                    }
                }
            }
        }
        let new = added.filter { !isWritten(by: $0, relationship, join) }
        if !new.isEmpty {
            try connection.with("INSERT OR IGNORE INTO \(join.table) (\(join.own), \(join.other)) VALUES (?, ?)") { statement in
                for other in new {
                    statement.bind(owner, at: 1)
                    statement.bind(try key(of: other.objectID, for: relationship), at: 2)
                    try statement.run()
                }
            }
        }
        if let column = join.orderColumn { try writePlaces(object, relationship, join, column, owner) }
    }

    private func writePlaces(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ join: SQLJoin, _ column: SQLIdentifier, _ owner: Int64
    ) throws {
        let objects = object.toMany(relationship).objects
        let members = try objects.map { try key(of: $0.objectID, for: relationship) }
        let known: [Int64: Int64] = try connection.with("SELECT \(join.other), \(column) FROM \(join.table) WHERE \(join.own) = ?") {
            statement in
            statement.bind(owner, at: 1)
            var places: [Int64: Int64] = [:]
            while try statement.step() { if !statement.isNull(1) { places[statement.int64(0)] = statement.int64(1) } }
            return places
        }
        let sql =
            "INSERT INTO \(join.table) (\(join.own), \(join.other), \(column)) VALUES (?1, ?2, ?3) "
            + "ON CONFLICT (\(join.own), \(join.other)) DO UPDATE SET \(column) = ?3"
        try connection.with(sql) { statement in
            for (key, place) in zip(members, SQLOrderKeys.places(members.map { known[$0] })) where known[key] != place {
                statement.bind(owner, at: 1)
                statement.bind(key, at: 2)
                statement.bind(place, at: 3)
                try statement.run()
            }
        }
    }

    private func writeKeys(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ storage: ToManyStorage, _ place: SQLForeignKey,
        _ entity: SQLEntity
    ) throws {
        let owner = try key(of: object.objectID, for: relationship)
        let (added, removed) = differences(of: object, storage)
        let columns = [place.column, place.entityColumn].compactMap { $0 }
        let nothing = (columns + [place.orderColumn].compactMap { $0 }).map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.with("UPDATE \(place.table) SET \(nothing) WHERE Z_PK = ? AND \(place.column) = ?") { statement in
            for other in removed {
                statement.bind(try key(of: other.objectID, for: relationship), at: 1)
                statement.bind(owner, at: 2)
                try statement.run()
            }
        }
        let assignments = columns.map { "\($0) = ?" }.joined(separator: ", ")
        try connection.with("UPDATE \(place.table) SET \(assignments) WHERE Z_PK = ?") { statement in
            for other in added {
                statement.bind(owner, at: 1)
                if columns.count > 1 { statement.bind(entity.number, at: 2) }
                statement.bind(try key(of: other.objectID, for: relationship), at: columns.count + 1)
                try statement.run()
            }
        }
    }
}
