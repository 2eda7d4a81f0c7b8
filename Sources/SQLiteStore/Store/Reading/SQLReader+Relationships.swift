internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries
internal import Synchronization

extension SQLReader {
    /// Reads the destination IDs of a to-many relationship from the file.
    ///
    /// - Parameter page: The rows of the relationship that are read; nil for all.
    func readRelated(
        _ relationship: NSRelationshipDescription, _ owner: SQLEntity, _ key: Int64, page: Range<Int>? = nil
    ) throws -> [NSManagedObjectID] {
        let question = try SQLRelatedQuery(relationship, owner, schema)
        return try database().with(page == nil ? question.one() : question.one() + " LIMIT ? OFFSET ?") { statement in
            statement.bind(key, at: 1)
            if let page {
                statement.bind(Int64(page.count), at: 2)
                statement.bind(Int64(page.lowerBound), at: 3)
            }
            var ids: [NSManagedObjectID] = []
            var last: Int64?
            while try statement.step() {
                // Join tables written by others may contain a pair twice.
                let key = statement.int64(0)
                if key == last { continue }
                last = key
                if let id = relatedID(key, statement.int64(1), question.destination) { ids.append(id) }
            }
            return ids
        }
    }

    /// Counts the rows of a relationship.
    ///
    /// - Parameter limit: The number at which counting ends.
    func countRelated(_ relationship: NSRelationshipDescription, _ owner: SQLEntity, _ key: Int64, limit: Int) throws -> Int {
        let question = try SQLRelatedQuery(relationship, owner, schema)
        return try database().with("SELECT COUNT(*) FROM (\(question.one(isOrdered: false)) LIMIT ?)") { statement in
            statement.bind(key, at: 1)
            statement.bind(Int64(limit), at: 2)
            return try statement.step() ? Int(statement.int64(0)) : 0
        }
    }

    /// Returns the ID of a related row; nil for a row whose entity is not a valid destination.
    private func relatedID(_ key: Int64, _ number: Int64, _ destination: SQLEntity) -> NSManagedObjectID? {
        if let known = cursor.row(destination.rootNumber, key)?.objectID { return known }
        if number == destination.number || destination.isAlone { return values.id(key, of: destination.entity) }
        guard destination.numbers.contains(number), let entity = schema.entity(numbered: number) else { return nil }
        return values.id(key, of: entity.entity)
    }

    /// Reads a relationship of many rows into the cache, together with the destination rows.
    ///
    /// - Parameters:
    ///   - keyBase: The common part of the keys of the owners' IDs.
    ///   - found: Called with the related rows of each owner.
    /// - Returns: The destination rows, if they are of one table.
    @discardableResult func readRelated(
        _ relationship: NSRelationshipDescription, _ owner: SQLEntity, _ numbers: [Int64], keyBase: Int64,
        found tell: ((Int64, SQLRelated) -> Void)? = nil
    ) throws -> [SQLRelatedPart] {
        cursor.noteTime()
        let (related, generation, cache, epoch) = (related, generation, cache, cursor.epoch)
        func file(_ list: SQLRelated, _ number: Int64) {
            related.set(list, of: relationship, for: number &+ keyBase, time: cursor.now, generation: generation) {
                cache.epoch.load(ordering: .sequentiallyConsistent) == epoch
            }
            tell?(number, list)
        }
        let question = try SQLRelatedQuery(relationship, owner, schema)
        let plan = plan(question.destination)
        let ownerColumn = Int32(SQLRowPlan.firstColumn + plan.columns.count)
        var parts: [SQLRelatedPart] = []
        var owning: [Int64] = []
        try database().forEachChunk(of: numbers, { question.many(plan, $0) }) { statement in
            let handle = statement.handle
            var found: [Int64] = []
            // Not retained: the plan's readers retain them.
            var origins: [Unmanaged<RowOrigin>] = []
            var owners: [(number: Int64, start: Int)] = []
            while try statement.step() {
                guard let reader = plan.reader(sqlite3_column_int64(handle, 1)) else { continue }
                _ = try readRow(handle, plan)
                // The rows of one owner are consecutive.
                let owner = sqlite3_column_int64(handle, ownerColumn)
                let number = sqlite3_column_int64(handle, 0)
                if owners.last?.number != owner {
                    owners.append((owner, found.count))
                } else if found.last == number {
                    // A pair may occur twice.
                    continue
                }
                found.append(number)
                origins.append(Unmanaged.passUnretained(reader.origin))
            }
            guard let origin = origins.first else { return }
            let part = SQLRelatedPart(found, of: origin.takeUnretainedValue())
            let isOneTable = origins.allSatisfy { $0.toOpaque() == origin.toOpaque() }
            if isOneTable { parts.append(part) }
            for (index, owner) in owners.enumerated() {
                let range = owner.start..<(index + 1 < owners.count ? owners[index + 1].start : found.count)
                let one: SQLRelated =
                    isOneTable
                    ? .numbers(part, range) : .ids(range.map { origins[$0].takeUnretainedValue().id(found[$0]) })
                file(one, owner.number)
                owning.append(owner.number)
            }
        }
        if owning.count < numbers.count {
            let nothing = SQLRelatedPart([], of: values.origin(of: question.destination))
            let known = Set(owning)
            for number in numbers where !known.contains(number) { file(.numbers(nothing, 0..<0), number) }
        }
        return parts
    }
}

/// The statements that read a to-many relationship.
struct SQLRelatedQuery {
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
    ///
    /// - Parameter isOrdered: Whether the rows are sorted in the order of the relationship.
    func one(isOrdered: Bool = true) -> String {
        switch place {
        case .foreignKey(let key):
            let order = key.orderColumn.map { "\($0), " } ?? ""
            return "SELECT Z_PK, Z_ENT FROM \(key.table) WHERE \(key.column) = ?" + (isOrdered ? " ORDER BY \(order)Z_PK" : "")
        case .join(let join):
            let order = join.orderColumn.map { "j.\($0), " } ?? ""
            return "SELECT t.Z_PK, t.Z_ENT FROM \(source(join)) j JOIN \(destination.table) t ON t.Z_PK = j.\(join.other) "
                + "WHERE j.\(join.own) = ?" + (isOrdered ? " ORDER BY \(order)t.Z_PK" : "")
        }
    }

    /// Returns the statement that selects the rows related to many rows: the columns of `plan`, then the owner's key.
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

    /// Returns the join table; for a relationship that is its own inverse, each pair in both directions.
    private func source(_ join: SQLJoin) -> String {
        guard join.isReflexive, join.orderColumn == nil else { return join.table.sql }
        return "(SELECT \(join.own), \(join.other) FROM \(join.table) UNION SELECT \(join.other), \(join.own) FROM \(join.table))"
    }
}
