#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// One attempt to execute a batch request, within its transaction.
///
/// The transaction sees one state of the database: if others change the same rows meanwhile, it is retried.
struct BatchRun {
    let content: StoreContent
    let connection: Connection
    var notes: HistoryNotes
    /// The statements to send with the next round trip.
    private var calls: [Call] = []
    /// The number of statements that are sent at once.
    private static let callLimit = 1000

    /// The rows that a request affects: their keys, and the numbers of their entities.
    struct Found: Sendable {
        var keys: [Int64] = []
        var entities: [Int64] = []
    }

    /// - Parameter commit: The ID of the transaction, by which a commit whose answer is lost is looked up.
    init(_ content: StoreContent, _ connection: Connection, commit: UUID, for caller: StoreCaller) {
        (self.content, self.connection) = (content, connection)
        notes = HistoryNotes(content.history, commit, caller)
    }

    /// Begins the transaction.
    func begin() async throws {
        let results = try await connection.run([Call("BEGIN ISOLATION LEVEL REPEATABLE READ"), notes.mark], isCancellable: false)
        try notes.check(results[1])
    }

    /// Sends the remaining statements, up to the commit. Violated constraints are errors now.
    mutating func finish() async throws {
        calls.append(Call("SET CONSTRAINTS ALL IMMEDIATE"))
        calls += notes.statements()
        try await send()
    }

    // MARK: Sending

    mutating func add(_ call: Call) async throws {
        calls.append(call)
        if calls.count >= Self.callLimit { try await send() }
    }

    private mutating func send() async throws {
        try await connection.run(calls, isCancellable: false)
        calls = []
    }

    /// Sends the gathered statements, and returns the result of one more.
    mutating func query(_ sql: String, _ values: [BinaryValue]) async throws -> QueryResult {
        let results = try await connection.run(calls + [Call(sql, values)], isCancellable: false)
        calls = []
        return results[results.count - 1]
    }

    // MARK: Selecting

    /// Returns the rows that match a predicate.
    ///
    /// - Throws: Code 134091 naming a clause without SQL.
    private mutating func select(_ query: StoreQuery) async throws -> Found {
        let statement = try content.statement(query.with(resultType: .managedObjectIDResultType))
        let result = try await self.query(statement.plan.sql, statement.values)
        var found = Found()
        for row in 0..<result.rowCount {
            found.keys.append(result.integer(row, 0))
            found.entities.append(result.integer(row, 1))
        }
        return found
    }

    /// Returns the ID of a row.
    private func id(_ key: Int64, _ number: Int64, _ entity: SQLEntity) -> NSManagedObjectID {
        NSManagedObjectID(
            entity: content.schema.entity(numbered: number)?.entity ?? entity.entity, token: content.token, reference: .integer(key))
    }

    func outcome(_ found: Found, _ entity: SQLEntity, as wanted: BatchOutcome.Kind) -> BatchOutcome {
        switch wanted {
        case .status: .status(true)
        case .count: .count(found.keys.count)
        case .ids: .ids(zip(found.keys, found.entities).map { id($0, $1, entity) })
        }
    }

    // MARK: Updating

    /// Executes a batch update.
    mutating func update(_ request: NSBatchUpdateRequest) async throws -> BatchOutcome {
        let entity = try content.sqlEntity(request.knownEntity)
        let update = try BatchUpdate(request, entity)
        let found = try await select(
            StoreQuery(entity.entity, includesSubentities: request.includesSubentities).with(predicate: request.predicate))
        if found.keys.isEmpty { return outcome(found, entity, as: request.wanted) }
        if let constants = update.constants {
            let list = constants.enumerated().map { "\($1.column) = $\($0 + 2)" } + ["version = version + 1"]
            try await add(
                Call(
                    "UPDATE \(entity.table) SET \(list.joined(separator: ", ")) WHERE id = ANY($1)",
                    [.keys(found.keys)] + constants.map(\.value)))
            for (key, number) in zip(found.keys, found.entities) { notes.note(.update, number, key, updated: update.attributes) }
        } else {
            try await updateEach(request, entity, found, update.changed)
        }
        return outcome(found, entity, as: request.wanted)
    }

    /// Updates row by row, with expressions computed from the original rows.
    private mutating func updateEach(
        _ request: NSBatchUpdateRequest, _ entity: SQLEntity, _ found: Found, _ changed: PropertySet
    ) async throws {
        let plan = content.plan(entity)
        let result = try await query("SELECT \(plan.list(of: "t")) FROM \(entity.table) t WHERE t.id = ANY($1)", [.keys(found.keys)])
        let rows = try content.rows(of: result, plan)
        // Every row is computed before the first is written: an expression may read others.
        let pairs: [(old: Row, new: Row)] = try await FoundRows(rows, content, over: connection).evaluate { evaluator in
            let assignments = try BatchAssignment.all(of: request, evaluator.schema(of: entity.entity))
            return try rows.map { row in
                let copy = row.copy()
                for assignment in assignments { try assignment.assign(from: row, to: copy) }
                copy.version = row.version &+ 1
                return (row, copy)
            }
        }
        for (old, new) in pairs { try await write(new, over: old, changed) }
    }

    /// Writes the changed attributes of a row.
    mutating func write(_ new: Row, over old: Row, _ changed: PropertySet) async throws {
        let writer = try content.writer(old.knownObjectID.owningEntity)
        guard let key = content.key(of: old.knownObjectID) else { return }
        var orders = SQLOrderPositions()
        let change = StoreChange(row: new, base: old, changed: changed)
        try await add(try writer.update(change, new, key: key, orders: &orders))
        notes.note(.update, writer.entity.number, key, updated: change.changedProperties)
    }

    // MARK: Deleting

    /// Executes a batch delete.
    mutating func delete(_ request: NSBatchDeleteRequest) async throws -> BatchOutcome {
        let fetch = request.fetchRequest
        let entity = try content.sqlEntity(fetch.knownEntity)
        let found = try await select(
            StoreQuery(entity.entity, includesSubentities: fetch.includesSubentities).with(predicate: fetch.predicate)
                .sorted(by: fetch.sortDescriptors ?? []).with(fetchOffset: fetch.fetchOffset, fetchLimit: fetch.fetchLimit))
        if found.keys.isEmpty { return outcome(found, entity, as: request.wanted) }
        try await deleteRows(found, entity)
        return outcome(found, entity, as: request.wanted)
    }
}

/// The assignments of a batch update.
struct BatchUpdate {
    struct Constant {
        let column: SQLIdentifier
        let value: BinaryValue
    }
    /// The values of the columns; nil if an expression computes one.
    let constants: [Constant]?
    let attributes: [NSPropertyDescription]
    let changed: PropertySet

    /// - Throws: An error for a key that is not an attribute, and for a constant that its attribute cannot hold.
    init(_ request: NSBatchUpdateRequest, _ entity: SQLEntity) throws {
        var constants: [Constant]? = []
        var attributes: [NSPropertyDescription] = []
        var changed = PropertySet()
        let layout = entity.entity.frozenParts.layout
        let row = Row.blank(layout)
        for (key, value) in request.propertiesToUpdate ?? [:] {
            let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key.base)"
            let attribute = try BatchRows.attribute(name, of: entity.entity)
            attributes.append(attribute)
            changed.insert(attribute.slotIndex)
            if value is Predicates.NSExpression {
                constants = nil
                continue
            }
            guard let storable = AttributeCheck.conform(value, to: attribute) else { throw BatchRows.invalidValue(value, attribute) }
            guard case .attribute(let place) = entity[attribute] else { continue }
            let slot = layout.slots[attribute.slotIndex]
            row.store(storable, in: slot)
            constants?.append(Constant(column: place.column, value: try ColumnValues.value(of: row, slot, place.storage, attribute)))
        }
        (self.constants, self.attributes, self.changed) = (constants, attributes, changed)
    }
}
#endif
