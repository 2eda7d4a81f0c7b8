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
    /// The statements to send with the next round trip.
    var calls: [Call] = []
    /// The expected row count of each call, with the changes that it writes.
    var checks: [(call: Int, expected: Int, changes: [StoreChange], isDeletion: Bool)] = []
    /// The objects of which some rows were missing when they should have been updated or deleted.
    private var unwritten: [StoreChange] = []
    private var undeleted: [StoreChange] = []
    /// The objects whose rows have given up a unique value, and therefore have a new version.
    var parked: Set<NSManagedObjectID> = []
    /// The pairs that are written already: both ends of a relationship report each pair.
    var pairs: Set<MappedPair> = []
    /// The number of statements that are sent at once.
    private static let callLimit = 1000

    init(_ content: StoreContent, _ connection: Connection, _ changes: StoreChangeSet) {
        (self.content, self.connection, self.changes) = (content, connection, changes)
        mapping = content.mapping.known("the store is about the tables of another program")
    }

    /// Writes everything, up to the commit.
    ///
    /// - Parameter looksAtValues: Whether unique values are given up before other rows take them. It takes more round trips.
    /// - Returns: The rows as they are now, and the number of the transaction.
    /// - Throws: ``StoreConflicts``; the errors of the server.
    mutating func write(looksAtValues: Bool) async throws -> (SaveOutcome, MappedSaving.Transaction) {
        let transaction = try await begin()
        if content.hasUniqueness { try await checkUniqueness() }
        let order = try MappedSaveOrder(
            changes, mapping, content.sqlEntity, current: try await unreadRows(), membership: looksAtValues ? try await membership() : nil)
        for (entity, deleted) in try grouped(changes.deleted) { try deletePairs(entity, deleted) }
        for step in order.steps {
            switch step {
            case .update(let parts): for (change, slots) in parts { try await update(change, slots: slots) }
            case .delete(let entity, let deleted): try await delete(entity, deleted)
            case .insert(let parts): try await insert(parts.map { ($0.change, $0.slots ?? []) })
            case .clear(let change, let slot): try clear(change, slot)
            case .park(let change, let columns): try await park(change, columns)
            }
        }
        try await writePairs()
        try await send()
        try await checkWritten()
        var outcome = SaveOutcome()
        outcome.assignedIDs = assigned
        let ids = (changes.inserted + changes.updated + changes.locked).map { resolved($0.objectID) }
        // Defaults, triggers and other programs' rounding are in the rows, and so is the version.
        outcome.rows = Array(try await content.readRows(ids, over: connection).rows)
        return (outcome, transaction)
    }

    /// Begins the transaction, and locks the rows that will be updated, or must be unchanged: later, the save itself may have changed them, through
    /// its foreign keys and triggers. Rows that will be deleted are compared without a lock, which would require the right to update them.
    ///
    /// - Throws: ``StoreConflicts`` if others have changed or deleted a row.
    private mutating func begin() async throws -> MappedSaving.Transaction {
        var calls = [Call("BEGIN"), Call("SET CONSTRAINTS ALL DEFERRED"), Call(MappedSaving.Transaction.query)]
        var looks: [[StoreChange]] = []
        let updated = try changes.updated.filter { !mapping.table(try content.sqlEntity($0.entity)).columnSlots(of: $0).isEmpty }
        for (read, lock) in [
            (updated, " FOR NO KEY UPDATE OF \(MappedTable.alias)"), (changes.locked, " FOR SHARE OF \(MappedTable.alias)"),
            (changes.deleted, ""),
        ] {
            for (entity, read) in try grouped(read.filter { $0.baseVersion != nil }) {
                let table = mapping.table(entity)
                if table.relation.kind != .table { continue }
                looks.append(read)
                calls.append(
                    Call(
                        "SELECT 1 FROM \(table.sql) AS \(MappedTable.alias) JOIN unnest($1, $2) AS old (key, version) "
                            + "ON \(table.key.equal("old.key", of: MappedTable.alias)) AND \(table.version) = old.version\(lock)",
                        try versions(of: read, table)))
            }
        }
        let begun = try await connection.run(calls, isCancellable: false)
        let mismatched = zip(looks, begun.dropFirst(3)).flatMap { read, result in result.rowCount == read.count ? [] : read }
        if !mismatched.isEmpty {
            let conflicts = try await versionConflicts(mismatched)
            if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
            throw unchanged(mismatched)
        }
        return MappedSaving.Transaction(number: begun[2].text(0, 0), timeline: begun[2].text(0, 1))
    }

    /// Returns the keys and the versions of changes as parameters.
    func versions(of changes: [StoreChange], _ table: MappedTable) throws -> [BinaryValue] {
        [
            .array(try changes.map { try key(of: $0, table) }, of: table.key.kind.type),
            .keys(changes.map { $0.baseVersion ?? 0 }),
        ]
    }

    func grouped(_ changes: [StoreChange]) throws -> [(entity: SQLEntity, changes: [StoreChange])] {
        var groups: [ObjectIdentifier: (entity: SQLEntity, changes: [StoreChange])] = [:]
        for change in changes {
            let entity = try content.sqlEntity(change.entity)
            groups[ObjectIdentifier(entity), default: (entity, [])].changes.append(change)
        }
        return groups.values.sorted { $0.entity.number < $1.entity.number }
    }

    /// Returns the rows of deleted objects that were never read: their references determine the order.
    private func unreadRows() async throws -> [NSManagedObjectID: Row] {
        let unread = changes.deleted.filter { $0.base == nil }.map(\.objectID)
        if unread.isEmpty { return [:] }
        let rows = try await content.readRows(unread, over: connection).rows
        return Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Sending

    mutating func add(_ sql: String, _ values: [BinaryValue]) { calls.append(Call(sql, values)) }

    @discardableResult
    mutating func send() async throws -> [QueryResult] {
        let results = try await connection.run(calls, isCancellable: false)
        for check in checks where results[check.call].changedCount != check.expected {
            if check.isDeletion { undeleted += check.changes } else { unwritten += check.changes }
        }
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
        let rows = try await content.readRows(changes.map(\.objectID), over: connection).all()
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        return changes.compactMap { change in
            let row = byID[change.objectID]
            if let row, change.baseVersion == nil || row.version == change.baseVersion { return nil }
            return StoreConflicts.Version(change.objectID, stored: row)
        }
    }

    /// Throws if a row that should have been written or deleted was not.
    private func checkWritten() async throws {
        var left = unwritten
        if !undeleted.isEmpty {
            let found = try await content.readRows(undeleted.map(\.objectID), over: connection)
            let there = Set(found.rows.map(\.knownObjectID)).union(found.failures.map(\.id))
            // The other rows are gone because the save has deleted the rows that they referred to.
            left += undeleted.filter { there.contains(resolved($0.objectID)) }
        }
        if left.isEmpty { return }
        let conflicts = try await versionConflicts(left.filter { change in undeleted.contains { $0.objectID == change.objectID } })
        throw conflicts.isEmpty ? unchanged(left) : StoreConflicts(conflicts)
    }

    /// Returns the error of rows that are unchanged since they were read, and cannot be changed.
    private func unchanged(_ changes: [StoreChange]) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(content.place) cannot be saved.",
            reason:
                "PostgreSQL did not change the rows of \(changes.map { "\($0.objectID)" }.joined(separator: ", ")), which were as they had been read: "
                + "a trigger, a rule or a policy prevents it, or has deleted them.", next: "Undo the change.",
            info: [NSAffectedObjectsErrorKey: changes.map(\.objectID)])
    }

    // MARK: Updates

    /// Updates the changed columns of a locked row.
    ///
    /// - Parameter slots: The properties to write; nil for all changed ones.
    private mutating func update(_ change: StoreChange, slots: Set<Int>? = nil) async throws {
        guard let row = change.row else { return }
        let entity = try content.sqlEntity(change.entity)
        let table = mapping.table(entity)
        var values = MappedValues(first: [try key(of: change, table)])
        for (slot, value) in table.values.sorted(by: { $0.key < $1.key }) where slots?.contains(slot) ?? change.changed.contains(slot) {
            try add(value, slot, row, base: change.base ?? row, entity, table, to: &values)
        }
        if values.assignments.isEmpty { return }
        let condition = table.key.equal("$1", of: MappedTable.alias)
        let list = values.assignments.map { "\(LayoutNames.identifier($0.column)) = \($0.value)" }.joined(separator: ", ")
        checks.append((calls.count, 1, [change], false))
        add("UPDATE \(table.sql) AS \(MappedTable.alias) SET \(list) WHERE \(condition)", values.parameters)
        try await sendIfMany()
    }

    /// Sets a reference of a row that will be deleted to NULL.
    private mutating func clear(_ change: StoreChange, _ slot: Int) throws {
        let table = mapping.table(try content.sqlEntity(change.entity))
        guard case .toOne(let key)? = table.values[slot] else { return }
        let list = key.columns.map { "\(LayoutNames.identifier($0.name)) = NULL" }.joined(separator: ", ")
        add(
            "UPDATE \(table.sql) AS \(MappedTable.alias) SET \(list) WHERE \(table.key.equal("$1", of: MappedTable.alias))",
            [try self.key(of: change, table)])
    }
}
#endif
