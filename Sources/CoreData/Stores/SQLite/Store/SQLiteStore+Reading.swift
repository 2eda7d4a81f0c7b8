internal import CSQLite
internal import Foundation
internal import Predicates

extension SQLiteStore {
    // MARK: Fetching

    func answered(_ request: StoreQuery) throws -> StoreAnswer {
        try noticeOthers()
        let answer = try found(request)
        if case .rows(let rows) = answer { cache.sweep(held: rows.count) } else { cache.sweep() }
        return answer
    }

    private func found(_ request: StoreQuery) throws -> StoreAnswer {
        let entity = try sqlEntity(request.entity)
        if request.predicate == nil, request.sortDescriptors.isEmpty {
            switch request.resultType {
            case .countResultType: return .count(try count(request, entity))
            case .managedObjectResultType: return .rows(try rows(request, entity))
            default: break
            }
        }
        return try queried(request, entity)
    }

    private func count(_ request: StoreQuery, _ entity: SQLEntity) throws -> Int {
        let condition = entity.condition(includingSubentities: request.includesSubentities).map { " WHERE \($0)" } ?? ""
        let count = try database().with("SELECT COUNT(*) FROM \(entity.table)\(condition)") { try $0.step() ? Int($0.int64(0)) : 0 }
        let rest = max(0, count - request.fetchOffset)
        return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
    }

    private func rows(_ request: StoreQuery, _ entity: SQLEntity) throws -> RowList {
        let plan = plan(entity)
        var sql = "SELECT \(plan.list) FROM \(entity.table)"
        if let condition = entity.condition(includingSubentities: request.includesSubentities) { sql += " WHERE \(condition)" }
        sql += " ORDER BY Z_PK"
        let isPaged = request.fetchLimit > 0 || request.fetchOffset > 0
        if isPaged { sql += " LIMIT ? OFFSET ?" }
        return try database().with(sql) { statement in
            if isPaged {
                statement.bind(request.fetchLimit > 0 ? Int64(request.fetchLimit) : -1, at: 1)
                statement.bind(Int64(request.fetchOffset), at: 2)
            }
            var rows = RowList()
            try readRows(statement, plan) { rows.append($0) }
            return rows
        }
    }

    /// Reads the rows of a statement that selects what `plan` lists, from its first column on.
    ///
    /// A row of the version that is known is not read again.
    ///
    /// - Parameter body: is given the slots of each row, which the cache holds.
    @inline(__always) func readRows(
        _ statement: SQLStatement, _ plan: SQLRowPlan, _ body: (UnsafeMutableRawPointer) throws -> Void
    ) throws {
        let handle = statement.handle
        // Held here: what is reached through others would be counted for each row.
        let cache = cache
        let only = plan.onlyReader
        let root = plan.entity.rootNumber
        while try statement.step() {
            let key = sqlite3_column_int64(handle, 0)
            let version = sqlite3_column_int64(handle, 2)
            if let known = cache.slots(root, key), known.rowPrefix.pointee.version == version {
                cache.touch(root, key)
                try body(known)
            } else if let only {
                let slots = try only.read(handle, number: key, version: version)
                cache.set(slots, root, key)
                try body(slots)
            } else {
                try body(try readRow(handle, plan))
            }
        }
    }

    /// The slots of the row that a statement stands at, which the cache holds.
    @inline(__always) func readRow(_ handle: OpaquePointer, _ plan: SQLRowPlan) throws -> UnsafeMutableRawPointer {
        let key = sqlite3_column_int64(handle, 0)
        let number = sqlite3_column_int64(handle, 1)
        let version = sqlite3_column_int64(handle, 2)
        let root = plan.entity.rootNumber
        guard let reader = plan.reader(number) else { throw strange(key, number, plan.entity) }
        if let known = cache.slots(root, key), known.rowPrefix.pointee.version == version {
            cache.touch(root, key)
            return known
        }
        let slots = try reader.read(handle, number: key, version: version)
        cache.set(slots, root, key)
        return slots
    }

    @inline(never) private func strange(_ key: Int64, _ number: Int64, _ entity: SQLEntity) -> NSError {
        CoreDataError.make(
            NSCoreDataError, "The row \(key) of \(entity.table.name) cannot be read from \(url?.path ?? "the store").",
            reason: "Its Z_ENT is \(number), which is no entity of the model below “\(entity.entity)”.", next: "Mend the row.",
            info: [NSAffectedStoresErrorKey: [self]])
    }

    // MARK: One row

    func knownRow(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        guard let place = place(of: id) else { return nil }
        if let row = cache.row(place.entity.rootNumber, place.key, notOlderThan: caller.stalenessInterval) { return row }
        cache.noteTime()
        return try readRow(place.entity, place.key)
    }

    /// The row of a key as the file has it.
    func readRow(_ entity: SQLEntity, _ key: Int64) throws -> Row? {
        let plan = plan(entity)
        let statement = try plan.statementForOne(databaseForFault())
        // Not cleared afterwards: the key that it holds does no harm.
        defer { sqlite3_reset(statement.handle) }
        sqlite3_bind_int64(statement.handle, 1, key)
        guard try statement.step(), plan.reader(statement.int64(1)) != nil else { return nil }
        return Row(try readRow(statement.handle, plan))
    }

    /// The row of a key as the file has it now, whatever the cache says.
    func freshRow(_ entity: SQLEntity, _ key: Int64) throws -> Row? {
        cache.remove(entity.rootNumber, key)
        return try readRow(entity, key)
    }

    // MARK: Many rows

    func readRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool {
        // Rows that serve no later reader are read one at a time.
        if caller.stalenessInterval == 0 { return false }
        cache.noteTime()
        var missing: [ObjectIdentifier: (entity: SQLEntity, keys: [Int64])] = [:]
        for id in ids {
            guard let place = place(of: id) else { continue }
            if cache.row(place.entity.rootNumber, place.key, notOlderThan: caller.stalenessInterval) != nil { continue }
            missing[ObjectIdentifier(place.entity), default: (place.entity, [])].keys.append(place.key)
        }
        for (entity, keys) in missing.values {
            let plan = plan(entity)
            try database().forEachChunk(of: keys, { "\(plan.selectMany)\($0)" }) { statement in
                while try statement.step() {
                    // A row of another entity is not the one that was asked for.
                    if plan.reader(statement.int64(1)) != nil { _ = try readRow(statement.handle, plan) }
                }
            }
        }
        return true
    }

    // MARK: In memory

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        let entity = try sqlEntity(entity)
        let plan = plan(entity)
        let condition = entity.condition(includingSubentities: includingSubentities).map { " WHERE \($0)" } ?? ""
        var rows: [Row] = []
        try database().with("SELECT \(plan.list) FROM \(entity.table)\(condition) ORDER BY Z_PK") { statement in
            try readRows(statement, plan) { rows.append(Row($0)) }
        }
        for row in rows { try body(row) }
    }

    func row(with id: NSManagedObjectID) throws -> Row? {
        guard let place = place(of: id) else { return nil }
        if let row = cache.row(place.entity.rootNumber, place.key) { return row }
        return try readRow(place.entity, place.key)
    }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        guard let id = row.objectID, let place = place(of: id) else { return [] }
        return try readRelated(relationship, place.entity, place.key)
    }
}

extension SQLConnection {
    private static let chunkSizes = [1, 4, 16, 64, 250, 1000]

    /// Runs a statement for many keys: for so many at a time that few statements serve any number.
    ///
    /// - Parameters:
    ///   - sql: the statement with the list of its keys: `(?, ?, …)`.
    ///   - first: the parameters before the keys are bound by the caller, so many.
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
                // What is left of the list repeats the last key.
                for index in 0..<size { statement.bind(keys[start + min(index, count - 1)], at: first + index + 1) }
                try body(statement)
            }
            start += count
        }
    }
}
