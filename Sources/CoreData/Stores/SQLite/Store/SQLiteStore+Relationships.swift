internal import CSQLite
internal import Foundation

extension SQLiteStore {
    func knownOrReadRelatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        guard let place = place(of: id) else { return [] }
        if !relationship.isToMany {
            guard let row = try knownRow(for: id, in: context) else { return [] }
            return row.objectID(at: row.layout.slots[relationship.slotIndex]).map { [$0] } ?? []
        }
        if let known = related.ids(of: relationship, for: id, notOlderThan: context.stalenessInterval) { return known }
        return try readRelated(relationship, place.entity, place.key)
    }

    /// The objects of a to-many relationship as the file has them.
    func readRelated(_ relationship: NSRelationshipDescription, _ owner: SQLEntity, _ key: Int64) throws -> [NSManagedObjectID] {
        let question = try SQLRelatedQuestion(relationship, owner, schema)
        return try database().with(question.one) { statement in
            statement.bind(key, at: 1)
            var ids: [NSManagedObjectID] = []
            var last: Int64?
            while try statement.step() {
                // Tables of pairs that others have made may have a pair twice.
                let key = statement.int64(0)
                if key == last { continue }
                last = key
                if let id = relatedID(key, statement.int64(1), question.destination) { ids.append(id) }
            }
            return ids
        }
    }

    /// The ID of a related row; nil for a row of no entity that the relationship may lead to.
    private func relatedID(_ key: Int64, _ number: Int64, _ destination: SQLEntity) -> NSManagedObjectID? {
        if let known = cache.row(destination.rootNumber, key)?.objectID { return known }
        if number == destination.number || destination.isAlone { return values.id(key, of: destination.entity) }
        guard destination.numbers.contains(number), let entity = schema.entity(numbered: number) else { return nil }
        return values.id(key, of: entity.entity)
    }

    func readRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool {
        if context.stalenessInterval == 0 { return false }
        guard relationship.isToMany, let first = ids.first, let place = place(of: first) else { return false }
        cache.noteTime()
        let question = try SQLRelatedQuestion(relationship, place.entity, schema)
        let plan = plan(question.destination)
        var lists: [Int64: [NSManagedObjectID]] = [:]
        var keys: [Int64] = []
        for id in ids {
            guard case .integer(let key) = id.reference else { continue }
            keys.append(key)
            lists[key] = []
        }
        let ownerColumn = Int32(SQLRowPlan.firstColumn + plan.columns.count)
        try database().forEachChunk(of: keys, { question.many(plan, $0) }) { statement in
            let handle = statement.handle
            // The rows of one owner come together.
            var owner: Int64 = 0
            var last: Int64 = 0
            var list: [NSManagedObjectID] = []
            while try statement.step() {
                if plan.reader(sqlite3_column_int64(handle, 1)) == nil { continue }
                let row = try readRow(handle, plan)
                let key = sqlite3_column_int64(handle, ownerColumn)
                if key != owner {
                    if !list.isEmpty { lists[owner] = list }
                    list.removeAll()
                    owner = key
                }
                // The keys of one owner stand together, a pair that is there twice included.
                let related = sqlite3_column_int64(handle, 0)
                if !list.isEmpty, related == last { continue }
                last = related
                list.append(row.objectID.unsafelyUnwrapped)
            }
            if !list.isEmpty { lists[owner] = list }
        }
        for id in ids {
            guard case .integer(let key) = id.reference else { continue }
            setRelated(lists[key] ?? [], of: relationship, for: id)
        }
        return true
    }
}

/// The statements that follow a to-many relationship.
struct SQLRelatedQuestion {
    let destination: SQLEntity
    private let place: SQLToMany

    init(_ relationship: NSRelationshipDescription, _ owner: SQLEntity, _ schema: SQLSchema) throws {
        guard let entity = relationship.destinationEntity.flatMap(schema.entity), relationship.slotIndex < owner.properties.count,
            case .toMany(let place) = owner[relationship]
        else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The relationship “\(relationship)” cannot be read.", reason: "The store does not keep it."
            )
        }
        destination = entity
        self.place = place
    }

    /// Selects key and entity of the rows related to one row.
    var one: String {
        switch place {
        case .foreignKey(let key):
            let order = key.orderColumn.map { "\($0), " } ?? ""
            return "SELECT Z_PK, Z_ENT FROM \(key.table) WHERE \(key.column) = ? ORDER BY \(order)Z_PK"
        case .join(let join):
            let order = join.orderColumn.map { "j.\($0), " } ?? ""
            return "SELECT t.Z_PK, t.Z_ENT FROM \(source(join)) j JOIN \(destination.table) t ON t.Z_PK = j.\(join.other) "
                + "WHERE j.\(join.own) = ? ORDER BY \(order)t.Z_PK"
        }
    }

    /// Selects the rows related to many rows: what `plan` lists, then the owner's key.
    func many(_ plan: SQLRowPlan, _ keys: String) -> String {
        switch place {
        case .foreignKey(let key):
            let order = key.orderColumn.map { "\($0), " } ?? ""
            return "SELECT \(plan.list), \(key.column) FROM \(key.table) WHERE \(key.column) IN \(keys) "
                + "ORDER BY \(key.column), \(order)Z_PK"
        case .join(let join):
            let order = join.orderColumn.map { "j.\($0), " } ?? ""
            return "SELECT \(plan.list(of: "t")), j.\(join.own) FROM \(source(join)) j "
                + "JOIN \(destination.table) t ON t.Z_PK = j.\(join.other) WHERE j.\(join.own) IN \(keys) "
                + "ORDER BY j.\(join.own), \(order)t.Z_PK"
        }
    }

    /// The table of pairs; of a relationship that is its own inverse, a pair counts in both directions, whichever stands there.
    private func source(_ join: SQLJoin) -> String {
        guard join.isReflexive, join.orderColumn == nil else { return join.table.sql }
        return "(SELECT \(join.own), \(join.other) FROM \(join.table) UNION SELECT \(join.other), \(join.own) FROM \(join.table))"
    }
}
