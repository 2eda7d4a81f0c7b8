#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// One attempt to save to the tables of another program, within its transaction.
struct MappedSaveRun {
    let content: StoreContent
    let mapping: Mapping
    let connection: Connection
    let changes: StoreChangeSet
    /// The IDs of new objects whose rows are inserted, by their temporary ones.
    var assigned: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// What is sent with the next round trip.
    var calls: [Call] = []
    /// What the number of rows changed by a call says.
    var checks: [(call: Int, expected: Int, changes: [StoreChange])] = []
    /// The objects that others have changed or deleted.
    private var mismatched: [StoreChange] = []
    /// The pairs that are written already: both ends of a relationship tell of each.
    var pairs: Set<MappedPair> = []
    /// The number of statements that are sent at once.
    private static let callLimit = 1000

    init(_ content: StoreContent, _ connection: Connection, _ changes: StoreChangeSet) {
        (self.content, self.connection, self.changes) = (content, connection, changes)
        mapping = content.mapping.known("the store is about the tables of another program")
    }

    /// Writes everything, up to the commit.
    ///
    /// - Returns: The rows as they are now, and the number of the transaction.
    /// - Throws: ``StoreConflicts``; the errors of the server.
    mutating func write() async throws -> (SaveOutcome, MappedSaving.Transaction) {
        let begun = try await connection.run(
            [Call("BEGIN"), Call("SET CONSTRAINTS ALL DEFERRED"), Call(MappedSaving.Transaction.query)], isCancellable: false)
        let transaction = MappedSaving.Transaction(number: begun[2].text(0, 0), timeline: begun[2].text(0, 1))
        if content.hasUniqueness { try await checkUniqueness() }
        let order = try MappedSaveOrder(changes, mapping, content.sqlEntity)
        for change in order.early { try await update(change) }
        for change in changes.locked { try lock(change) }
        try await delete(order.deletions)
        try await send()
        for part in order.insertions { try await insert(part) }
        for change in order.late { try await update(change) }
        for (change, slots) in order.postponed { try await update(change, slots: slots) }
        try await writePairs()
        try await send()
        if !mismatched.isEmpty { throw StoreConflicts(try await versionConflicts(mismatched)) }
        var outcome = SaveOutcome()
        outcome.assignedIDs = assigned
        let ids = (changes.inserted + changes.updated + changes.locked).map { resolved($0.objectID) }
        // Defaults, triggers and other programs' rounding are in the rows, and so is the version.
        outcome.rows = try await content.rows(ids, over: connection)
        return (outcome, transaction)
    }

    // MARK: Sending

    mutating func add(_ sql: String, _ values: [BinaryValue]) { calls.append(Call(sql, values)) }

    @discardableResult
    mutating func send() async throws -> [QueryResult] {
        let results = try await connection.run(calls, isCancellable: false)
        for check in checks where results[check.call].changedCount != check.expected { mismatched += check.changes }
        calls = []
        checks = []
        return results
    }

    mutating func sendIfMany() async throws { if calls.count >= Self.callLimit { try await send() } }

    // MARK: Identities

    /// Returns the ID of an object, also of one that was just inserted.
    func resolved(_ id: NSManagedObjectID) -> NSManagedObjectID { assigned[id] ?? id.current }

    /// Returns the key of an object of the store.
    ///
    /// - Throws: Code 1600 for another object.
    func key(of id: NSManagedObjectID, _ kind: SQLKeyKind, for property: NSPropertyDescription) throws -> BinaryValue {
        let id = resolved(id)
        guard id.token === content.token, let key = kind.value(id.reference) else { throw EntityWriter.elsewhere(id, property) }
        return key
    }

    /// Returns the key of a saved object.
    ///
    /// - Throws: Code 133000 for an object of another store.
    func key(of change: StoreChange, _ table: MappedTable) throws -> BinaryValue {
        let id = resolved(change.objectID)
        if id.token === content.token, let key = table.key.kind.value(id.reference) { return key }
        throw CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "\(id) cannot be saved.",
            reason: "It does not belong to the store at \(content.place).", info: [NSAffectedObjectsErrorKey: [id]])
    }

    // MARK: Conflicts

    private func checkUniqueness() async throws {
        do { try await UniqueOwners(content, connection).check(changes) } catch let constraints as StoreConflicts {
            let versions = try await versionConflicts(changes.updated + changes.deleted + changes.locked)
            throw versions.isEmpty ? constraints : StoreConflicts(versions)
        }
    }

    /// Returns the conflicts of changes whose rows others have changed or deleted.
    private func versionConflicts(_ changes: [StoreChange]) async throws -> [StoreConflicts.Version] {
        let rows = try await content.rows(changes.map(\.objectID), over: connection)
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        return changes.compactMap { change in
            let row = byID[change.objectID]
            if let row, change.baseVersion == nil || row.version == change.baseVersion { return nil }
            return StoreConflicts.Version(change.objectID, stored: row)
        }
    }

    // MARK: Updates

    /// Updates the changed columns of a row whose version is that which was read.
    ///
    /// - Parameter slots: The properties to write, whatever the version is; nil for those that were changed.
    private mutating func update(_ change: StoreChange, slots: Set<Int>? = nil) async throws {
        guard let row = change.row else { return }
        let entity = try content.sqlEntity(change.entity)
        let table = mapping.table(entity)
        var values = MappedValues(first: [try key(of: change, table)])
        for (slot, value) in table.values.sorted(by: { $0.key < $1.key }) where slots?.contains(slot) ?? change.changed.contains(slot) {
            try add(value, slot, row, base: change.base ?? row, entity, table, to: &values)
        }
        if values.assignments.isEmpty { return }
        var condition = table.key.equal("$1", of: MappedTable.alias)
        if slots == nil, let version = change.baseVersion {
            condition += " AND \(table.version) = \(values.bind(.integer(version)))"
        }
        let list = values.assignments.map { "\(LayoutNames.identifier($0.column)) = \($0.value)" }.joined(separator: ", ")
        checks.append((calls.count, 1, [change]))
        add("UPDATE \(table.sql) AS \(MappedTable.alias) SET \(list) WHERE \(condition)", values.parameters)
        try await sendIfMany()
    }

    /// Locks the row of an object that must be unchanged.
    private mutating func lock(_ change: StoreChange) throws {
        guard let version = change.baseVersion else { return }
        let table = mapping.table(try content.sqlEntity(change.entity))
        if table.relation.kind != .table { return }
        checks.append((calls.count, 1, [change]))
        add(
            "SELECT 1 FROM \(table.sql) AS \(MappedTable.alias) WHERE \(table.key.equal("$1", of: MappedTable.alias)) "
                + "AND \(table.version) = $2 FOR SHARE", [try key(of: change, table), .integer(version)])
    }
}
#endif
