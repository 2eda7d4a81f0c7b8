internal import CSQLite
internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates
internal import SQLQueries

/// Executes batch requests in SQL, each in one transaction: completely or not at all.
extension SQLiteStore {
    /// - Throws: An error for values that attributes cannot hold, expressions without SQL, and violated constraints; SQLite's errors.
    ///   Nothing is changed then.
    package func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        let outcome = try writeBatch(request, for: caller)
        postRemoteChange()
        return outcome
    }

    private func writeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        let policy = caller.mergePolicy
        switch request {
        case let insert as NSBatchInsertRequest:
            // The handlers are called without the lock: they may run any code.
            if let spool = try SQLPackedSpool(insert.knownEntity, of: self) {
                try BatchRows(insert).forEachRow { try spool.add($0) }
                return try writeLock.withLock { try inBatch(caller) { try add(spool, as: insert.wanted) } }
            }
            let spool = SQLBatchSpool(insert.knownEntity, of: self)
            try BatchRows(insert).forEach { try spool.add($0) }
            return try writeLock.withLock {
                try inBatch(caller) { try add(spool, of: insert.knownEntity, policy, as: insert.wanted) }
            }
        case let update as NSBatchUpdateRequest: return try writeLock.withLock { try inBatch(caller) { try self.update(update) } }
        case let delete as NSBatchDeleteRequest: return try writeLock.withLock { try inBatch(caller) { try self.delete(delete) } }
        default: throw unsupported(request)
        }
    }

    /// Runs a batch request, and clears the caches afterwards.
    private func inBatch(_ caller: StoreCaller, _ body: () throws -> BatchOutcome) throws -> BatchOutcome {
        let reader = try requireWriter()
        defer { forgetRows() }
        do {
            historyNotes?.forget()
            let connection = reader.database()
            return try reader.use { _ in
                try writing(connection) {
                    let outcome = try body()
                    try writeHistory(connection, for: caller)
                    return outcome
                }
            }
        } catch {
            throw try reader.queries().functions?.takeError() ?? error
        }
    }

    /// Selects the keys and entities of the rows of a batch into a temporary table of the connection.
    private func select(
        _ entity: SQLEntity, _ predicate: NSPredicate?, includingSubentities: Bool, _ page: NSFetchRequest<any NSFetchRequestResult>?
    )
        throws
    {
        var request = StoreQuery(entity.entity, includesSubentities: includingSubentities)
            .with(predicate: predicate).with(resultType: .managedObjectIDResultType)
        if let page {
            request = request.sorted(by: page.sortDescriptors ?? []).with(fetchOffset: page.fetchOffset, fetchLimit: page.fetchLimit)
        }
        let query = try queries().query(request, entity)
        let connection = try database()
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS CoreDataBatch (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER); DELETE FROM temp.CoreDataBatch")
        try connection.with("INSERT INTO temp.CoreDataBatch (Z_PK, Z_ENT) " + query.plan.sql) { statement in
            try query.bind(to: statement.handle)
            try statement.run()
        }
    }

    /// Returns the outcome for the rows of the batch table, and clears the table.
    private func outcome(_ wanted: BatchOutcome.Kind, _ entity: SQLEntity) throws -> BatchOutcome {
        let outcome = try reported(wanted, entity)
        try database().execute("DELETE FROM temp.CoreDataBatch")
        return outcome
    }

    private func reported(_ wanted: BatchOutcome.Kind, _ entity: SQLEntity) throws -> BatchOutcome {
        switch wanted {
        case .status: return .status(true)
        case .count:
            return .count(try database().with("SELECT COUNT(*) FROM temp.CoreDataBatch") { try $0.step() ? Int($0.int64(0)) : 0 })
        case .ids:
            return .ids(
                try database().with("SELECT Z_PK, Z_ENT FROM temp.CoreDataBatch") { statement in
                    var ids: [NSManagedObjectID] = []
                    while try statement.step() {
                        let owner = schema.entity(numbered: statement.int64(1)) ?? entity
                        ids.append(try requireWriter().values.id(statement.int64(0), of: owner.entity))
                    }
                    return ids
                })
        }
    }

    // MARK: Updating

    private func update(_ request: NSBatchUpdateRequest) throws -> BatchOutcome {
        let entity = try sqlEntity(request.knownEntity)
        let assignments = try SQLBatchAssignment.all(of: request, entity)
        try select(entity, request.predicate, includingSubentities: request.includesSubentities, nil)
        let connection = try database()
        if let plain = SQLBatchAssignment.plain(assignments), !hasDerivedColumns(entity) {
            let list = plain.map { "\($0.column) = ?" }.joined(separator: ", ")
            let written = Set(plain.map(\.column))
            try dropFiles(of: entity.externalColumns.filter(written.contains), entity, "Z_PK IN (SELECT Z_PK FROM temp.CoreDataBatch)")
            try connection.with(
                "UPDATE \(entity.table) SET \(list), \(SQLIdentifier.countUp) WHERE Z_PK IN (SELECT Z_PK FROM temp.CoreDataBatch)"
            ) { statement in
                for (index, assignment) in plain.enumerated() { assignment.value.bind(to: statement.handle, at: index + 1) }
                try run(statement, entity)
            }
        } else {
            try updateEach(request, entity)
        }
        return try outcome(request.wanted, entity)
    }

    /// Returns whether rows have derived attributes, which are computed when a row is written.
    private func hasDerivedColumns(_ entity: SQLEntity) -> Bool {
        let kinds = entity.numbers.compactMap { schema.entity(numbered: $0) }
        return kinds.contains { $0.entity.frozenParts.properties.contains { $0 is NSDerivedAttributeDescription } }
    }

    /// Updates row by row, with expressions computed from the original row.
    private func updateEach(_ request: NSBatchUpdateRequest, _ entity: SQLEntity) throws {
        let assignments = try BatchAssignment.all(of: request, requireWriter().schema(of: entity.entity))
        let reader = try requireWriter()
        let plan = reader.plan(entity)
        var rows: [Row] = []
        try reader.database().with("SELECT \(plan.list) FROM \(entity.table) WHERE Z_PK IN (SELECT Z_PK FROM temp.CoreDataBatch)") {
            statement in
            try reader.readRows(statement, plan) { rows.append(Row($0)) }
        }
        // Every row is computed before the first is written: an expression may read others.
        var changed = PropertySet()
        for name in (request.propertiesToUpdate ?? [:]).keys {
            let name = (name.base as? NSPropertyDescription)?.name ?? name.base as? String ?? ""
            changed.insert(try BatchRows.attribute(name, of: entity.entity).slotIndex)
        }
        let copies = try rows.map { row in
            let copy = row.copy()
            for assignment in assignments { try assignment.assign(from: row, to: copy) }
            copy.version = row.version &+ 1
            return copy
        }
        var orders = SQLOrderPositions()
        for row in copies {
            let id = row.knownObjectID
            guard let place = place(of: id) else { continue }
            let writer = try writer(id.owningEntity)
            let update = writer.update(changed)
            try dropFiles(of: update.externalColumns, writer.entity, "Z_PK = ?") { $0.bind(place.key, at: 1) }
            try writer.derive(row)
            try database().with(update.sql) { statement in
                scratch.reset()
                let index = try writer.bind(
                    update.steps, of: row, to: statement, from: 1, scratch: scratch, orders: &orders, key: place.key)
                statement.bind(row.version, at: index)
                statement.bind(place.key, at: index + 1)
                statement.bind(row.version &- 1, at: index + 2)
                try run(statement, entity)
            }
        }
    }

    /// Runs a statement; a violated constraint becomes the error that every store throws.
    private func run(_ statement: SQLStatement, _ entity: SQLEntity) throws {
        do {
            try statement.run()
        } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
            throw CoreDataError.make(
                NSManagedObjectConstraintMergeError,
                "The batch request cannot be executed: objects of “\(entity.entity)” would share unique values.",
                next: "Leave the values out, or choose other objects.", cause: error)
        }
    }

    // MARK: Deleting

    private func delete(_ request: NSBatchDeleteRequest) throws -> BatchOutcome {
        let fetch = request.fetchRequest
        let entity = try sqlEntity(fetch.knownEntity)
        try select(entity, fetch.predicate, includingSubentities: fetch.includesSubentities, fetch)
        try deleteBatch(entity)
        return try outcome(request.wanted, entity)
    }

    // MARK: Inserting

    /// Inserts rows that conflict with no others.
    private func add(_ spool: SQLPackedSpool, as wanted: BatchOutcome.Kind) throws -> BatchOutcome {
        if spool.count == 0 { return BatchOutcome([], as: wanted) }
        let (entity, count) = (spool.entity, Int64(spool.count))
        let last = try allocate(count, entity.rootNumber, entity)
        let reader = try requireWriter()
        try spool.insert(firstKey: last - count + 1, reader.database())
        return switch wanted {
        case .status: .status(true)
        case .count: .count(spool.count)
        case .ids: .ids((last - count + 1...last).map { reader.values.id($0, of: entity.entity) })
        }
    }

    /// Inserts rows. If one violates a uniqueness constraint, the context's merge policy decides.
    private func add(
        _ spool: SQLBatchSpool, of description: NSEntityDescription, _ policy: StoreCaller.MergePolicyKind, as wanted: BatchOutcome.Kind
    ) throws -> BatchOutcome {
        let entity = try sqlEntity(description)
        let reader = try requireWriter()
        let isUnique = !description.frozenParts.uniqueness.isEmpty
        if spool.count == 0 { return BatchOutcome([], as: wanted) }
        var next = try allocate(Int64(spool.count), entity.rootNumber, entity) - Int64(spool.count) + 1
        var save = SQLSave(self, reader.database(), isCareful: true)
        var ids: [NSManagedObjectID] = []
        var count = 0
        // Without constraints, only the result needs IDs.
        let needsIDs = wanted == .ids || isUnique
        func insert(_ rows: [BatchRow]) throws {
            for (offset, row) in rows.enumerated() {
                row.row.version = 1
                if needsIDs { row.row.objectID = reader.values.id(next + Int64(offset), of: description) }
            }
            try save.insert(SQLRows(new: rows.map(\.row), of: entity, firstKey: next))
            next += Int64(rows.count)
            count += rows.count
            if wanted == .ids { ids += rows.map { $0.row.knownObjectID } }
        }
        try spool.forEachChunk { rows in
            if !isUnique { return try insert(rows) }
            for new in rows {
                guard let owner = try owner(of: new.row, description) else {
                    try insert([new])
                    continue
                }
                guard try resolve(new, conflictingWith: owner, description, policy) else { continue }
                count += 1
                if wanted == .ids { ids.append(owner) }
            }
        }
        return switch wanted {
        case .status: .status(true)
        case .count: .count(count)
        case .ids: .ids(ids)
        }
    }

    /// Returns another object that has unique values of a row.
    private func owner(
        of row: Row, _ entity: NSEntityDescription, besides id: NSManagedObjectID? = nil
    ) throws -> NSManagedObjectID? {
        let frozen = entity.frozenParts
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            if let owner = try requireWriter().readOwners(of: constraint, key).first(where: { $0 != id }) { return owner }
        }
        return nil
    }

    /// Resolves the conflict of an inserted row with another one by the policy. Returns false if the inserted row is dropped.
    private func resolve(
        _ new: BatchRow, conflictingWith owner: NSManagedObjectID, _ entity: NSEntityDescription, _ policy: StoreCaller.MergePolicyKind
    ) throws -> Bool {
        let isWhole: Bool
        switch policy {
        case .storeTrump, .rollback: return false
        case .objectTrump: isWhole = false
        case .overwrite: isWhole = true
        default: throw StoredRows.notUnique(entity, owner)
        }
        guard let place = place(of: owner) else { return false }
        guard let old = try requireWriter().readRow(place.entity, place.key, isFresh: true) else { return false }
        let row = old.copy()
        var changed = PropertySet()
        for property in entity.frozenParts.properties where property is NSAttributeDescription && !property.isTransient {
            guard isWhole || new.given.contains(property.slotIndex) else { continue }
            row.copyValue(from: new.row, at: row.layout.slots[property.slotIndex])
            changed.insert(property.slotIndex)
        }
        row.version = old.version &+ 1
        // Another constraint may be violated by another object.
        if let other = try self.owner(of: row, entity, besides: owner) { throw StoredRows.notUnique(entity, other) }
        let writer = try writer(owner.owningEntity)
        let update = writer.update(changed)
        try dropFiles(of: update.externalColumns, writer.entity, "Z_PK = ?") { $0.bind(place.key, at: 1) }
        try writer.derive(row)
        var orders = SQLOrderPositions()
        try database().with(update.sql) { statement in
            scratch.reset()
            let index = try writer.bind(update.steps, of: row, to: statement, from: 1, scratch: scratch, orders: &orders, key: place.key)
            statement.bind(row.version, at: index)
            statement.bind(place.key, at: index + 1)
            statement.bind(row.version &- 1, at: index + 2)
            try run(statement, place.entity)
        }
        return true
    }
}

/// A constant of a batch update in the form of its column.
struct SQLBatchAssignment {
    let column: SQLIdentifier
    let value: SQLValue

    /// Returns the assignments of a request; an assignment is nil if an expression computes it, or if only the row writer can convert it.
    ///
    /// - Throws: An error for a key that is not an attribute, and for a constant that its attribute cannot hold.
    static func all(of request: NSBatchUpdateRequest, _ entity: SQLEntity) throws -> [SQLBatchAssignment?] {
        try (request.propertiesToUpdate ?? [:]).map { key, value in
            let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key.base)"
            let attribute = try BatchRows.attribute(name, of: entity.entity)
            if value is Predicates.NSExpression { return nil }
            guard let storable = AttributeCheck.conform(value, to: attribute) else { throw BatchRows.invalidValue(value, attribute) }
            guard case .attribute(let place) = entity[attribute] else { return nil }
            switch (storable, place.storage) {
            case (.null, _): return SQLBatchAssignment(column: place.column, value: .null)
            case (.integer(let number), _): return SQLBatchAssignment(column: place.column, value: .integer(number))
            case (.double(let number), _): return SQLBatchAssignment(column: place.column, value: .real(number))
            case (.string(let text), .text): return SQLBatchAssignment(column: place.column, value: .text(text))
            case (.data(let data), .data): return SQLBatchAssignment(column: place.column, value: .blob(data))
            case (.uuid(let uuid), _):
                return SQLBatchAssignment(column: place.column, value: .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
            default: return nil
            }
        }
    }

    /// Returns all assignments, if all are constants.
    static func plain(_ assignments: [SQLBatchAssignment?]) -> [SQLBatchAssignment]? {
        let plain = assignments.compactMap { $0 }
        return plain.count == assignments.count ? plain : nil
    }
}
