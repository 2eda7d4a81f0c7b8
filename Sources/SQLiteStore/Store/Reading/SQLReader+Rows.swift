internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

extension SQLReader {
    // MARK: Fetching

    func answer(_ request: StoreQuery) throws -> StoreAnswer {
        cursor.noteTime()
        return try queried(request, sqlEntity(request.entity))
    }

    /// Reads the rows of a statement that selects the columns of `plan` first.
    ///
    /// A row whose version is cached is not read again.
    ///
    /// - Parameter body: Called with the slots of each row, whose block is retained until the next row.
    @inline(__always) func readRows(
        _ statement: SQLStatement, _ plan: SQLRowPlan, _ body: (UnsafeMutableRawPointer) throws -> Void
    ) throws {
        let handle = statement.handle
        // In local variables: references through other objects would be counted for each row.
        let cursor = cursor
        let only = plan.onlyReader
        let root = plan.entity.rootNumber
        while try statement.step() {
            let key = sqlite3_column_int64(handle, 0)
            let version = sqlite3_column_int64(handle, 2)
            if let known = cursor.slots(root, key), SlotPointer(known).prefix.pointee.version == version {
                cursor.touch(root, key)
                try body(known)
            } else if let only {
                let slots = try only.read(handle, number: key, version: version)
                cursor.set(slots, root, key)
                try body(slots)
            } else {
                try body(try readRow(handle, plan))
            }
        }
    }

    /// Returns the slots of a statement's current row. Its block is retained until the next row.
    @inline(__always) func readRow(_ handle: OpaquePointer, _ plan: SQLRowPlan) throws -> UnsafeMutableRawPointer {
        let key = sqlite3_column_int64(handle, 0)
        let number = sqlite3_column_int64(handle, 1)
        let version = sqlite3_column_int64(handle, 2)
        let root = plan.entity.rootNumber
        guard let reader = plan.reader(number) else { throw unknownEntityError(key, number, plan.entity) }
        if let known = cursor.slots(root, key), SlotPointer(known).prefix.pointee.version == version {
            cursor.touch(root, key)
            return known
        }
        let slots = try reader.read(handle, number: key, version: version)
        cursor.set(slots, root, key)
        return slots
    }

    @inline(never) private func unknownEntityError(_ key: Int64, _ number: Int64, _ entity: SQLEntity) -> NSError {
        CoreDataError.make(
            NSCoreDataError, "The row \(key) of \(entity.table.name) cannot be read from \(store.url?.path ?? "the store").",
            reason: "Its Z_ENT is \(number), which is not an entity of the model below “\(entity.entity)”.", next: "Fix the row.",
            info: [NSAffectedStoresErrorKey: [store]])
    }

    // MARK: One row

    /// Reads the row with a key from the file.
    ///
    /// - Parameters:
    ///   - isFresh: Whether to read it even if the cached row has the current version.
    ///   - isCurrent: Whether the row must not be of the transaction of a series of faults, which may be some milliseconds old.
    func readRow(_ entity: SQLEntity, _ key: Int64, isFresh: Bool = false, isCurrent: Bool = false) throws -> Row? {
        cursor.noteTime()
        let plan = plan(entity)
        let statement = try plan.statementForOne(isCurrent ? database() : databaseForFault())
        // The bindings are not cleared: the key does no harm.
        defer { sqlite3_reset(statement.handle) }
        sqlite3_bind_int64(statement.handle, 1, key)
        guard try statement.step(), let reader = plan.reader(statement.int64(1)) else { return nil }
        return Row(
            isFresh
                ? try reader.read(statement.handle, number: key, version: statement.int64(2)) : try readRow(statement.handle, plan))
    }

    // MARK: Many rows

    /// Reads the rows of keys into the cache.
    func readRows(_ keys: [Int64], of entity: SQLEntity) throws {
        cursor.noteTime()
        let plan = plan(entity)
        try database().forEachChunk(of: keys, { "\(plan.selectMany)\($0)" }) { statement in
            while try statement.step() {
                // A row of another entity is ignored.
                if plan.reader(statement.int64(1)) != nil { _ = try readRow(statement.handle, plan) }
            }
        }
    }

    // MARK: Uniqueness

    func readOwners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        // The first entity with the constraint declares it: entities precede their subentities.
        let owner = schema.entities.filter { $0.entity.frozen!.uniqueness.contains { $0 === constraint } }
            .min { $0.entity.frozen!.uniqueness.count < $1.entity.frozen!.uniqueness.count || $0.numbers.count > $1.numbers.count }
        guard let owner else { return [] }
        var conditions: [String] = []
        var bound: [PropertyValue] = []
        // Equal values may have different archives, which are compared after decoding.
        var isDecoded = false
        for (index, value) in zip(constraint.slotIndexes, key) {
            switch owner.properties[index] {
            case .attribute(let place):
                switch place.storage {
                case .transformable, .composite:
                    conditions.append("\(place.column) IS NOT NULL")
                    isDecoded = true
                default:
                    conditions.append("\(place.column) = ?")
                    bound.append(value)
                }
            case .toOne(let place):
                conditions.append("\(place.column) = ?")
                bound.append(value)
            case .toMany, .unstored: return []
            }
        }
        if let kind = owner.condition(includingSubentities: true) { conditions.append(kind) }
        let sql = "SELECT Z_PK, Z_ENT FROM \(owner.table) WHERE \(conditions.joined(separator: " AND "))"
        let ids: [NSManagedObjectID] = try database().with(sql) { statement in
            for (offset, value) in bound.enumerated() { try statement.bind(value, at: offset + 1) }
            var ids: [NSManagedObjectID] = []
            while try statement.step() {
                guard let entity = schema.entity(numbered: statement.int64(1)) else { continue }
                ids.append(values.id(statement.int64(0), of: entity.entity))
            }
            return ids
        }
        guard isDecoded else { return ids }
        return try ids.filter { id in try row(with: id).flatMap { constraint.key(of: $0) } == key }
    }

    // MARK: In memory

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        let all = StoreQuery(entity, includesSubentities: includingSubentities)
        guard case .rows(let rows) = try queried(all, sqlEntity(entity)) else { return }
        for row in rows { try body(row) }
    }

    func row(with id: NSManagedObjectID) throws -> Row? {
        guard let place = place(of: id) else { return nil }
        if let row = cursor.row(place.entity.rootNumber, place.key) { return row }
        return try readRow(place.entity, place.key)
    }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        guard let id = row.objectID, let place = place(of: id) else { return [] }
        return try readRelated(relationship, place.entity, place.key)
    }
}

extension SQLConnection {
    private static let chunkSizes = [1, 4, 16, 64, 250, 1000]

    /// Runs a statement for many keys in chunks, so that few statements serve any number of keys.
    ///
    /// - Parameters:
    ///   - sql: Returns the statement with the list of its keys: `(?, ?, …)`.
    ///   - first: The number of parameters before the keys, which the caller binds.
    func forEachChunk(
        of keys: [Int64], after first: Int = 0, _ sql: (String) -> String, bind: (SQLStatement) -> Void = { _ in },
        _ body: (SQLStatement) throws -> Void
    ) throws {
        let limit = min(1000, max(1, Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)) - first))
        var start = 0
        var known: (size: Int, sql: String) = (0, "")
        while start < keys.count {
            let count = min(keys.count - start, limit)
            let size = min(limit, Self.chunkSizes.first { $0 >= count } ?? limit)
            if size != known.size { known = (size, sql("(" + Array(repeating: "?", count: size).joined(separator: ", ") + ")")) }
            try with(known.sql) { statement in
                bind(statement)
                // The rest of the list repeats the last key.
                for index in 0..<size { statement.bind(keys[start + min(index, count - 1)], at: first + index + 1) }
                try body(statement)
            }
            start += count
        }
    }
}
