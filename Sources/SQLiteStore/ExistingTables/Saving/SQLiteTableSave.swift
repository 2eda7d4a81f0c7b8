internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// One save to the tables of another program, within its transaction.
// Used by the thread that has the writing connection.
struct SQLiteTableSave {
    typealias Table = MappedTable<SQLiteTableDialect>
    typealias Order = MappedSaveOrder<SQLiteTableDialect>

    let tables: SQLiteTables
    let reader: SQLiteTableReader
    let changes: StoreChangeSet
    var mapping: SQLiteTables.Mapped { tables.mapping }
    var connection: SQLConnection { reader.connection }
    /// The IDs of new objects whose rows are inserted, by their temporary ones.
    private var assigned: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// The objects whose rows were missing when they should have been updated or deleted.
    var unwritten: [StoreChange] = []
    var undeleted: [StoreChange] = []
    /// The pairs that are written already: both ends of a relationship report each pair.
    private var pairs: Set<MappedPair> = []

    init(_ tables: SQLiteTables, _ reader: SQLiteTableReader, _ changes: StoreChangeSet) {
        (self.tables, self.reader, self.changes) = (tables, reader, changes)
    }

    /// Writes everything, up to the commit.
    ///
    /// - Parameter looksAtValues: Whether unique values are given up before other rows take them. It takes longer.
    /// - Returns: The rows as they are now, and whether another order could be tried.
    /// - Throws: ``StoreConflicts``; code 134030 for what cannot be written; SQLite's errors.
    mutating func write(looksAtValues: Bool) throws -> SaveOutcome {
        // Keys are checked after all rows are written: some of them refer to each other.
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        try checkUniqueness()
        // No other connection writes until the transaction ends. Later, the save itself may have changed rows, through foreign keys and triggers.
        try checkVersions()
        let order = try Order(
            changes, mapping, tables.sqlEntity, current: unreadRows(), membership: looksAtValues ? try membership() : nil)
        for (entity, deleted) in try grouped(changes.deleted) { try deletePairs(entity, deleted) }
        for step in order.steps {
            switch step {
            case .update(let parts): for (change, slots) in parts { try update(change, slots: slots) }
            case .delete(let entity, let deleted): try delete(entity, deleted)
            case .insert(let parts): for (change, omitted) in parts { try insert(change, omitted ?? []) }
            case .clear(let change, let slot): try clear(change, slot)
            case .park(let change, let columns): try park(change, columns)
            }
        }
        try writePairs()
        try checkWritten()
        var outcome = SaveOutcome()
        outcome.assignedIDs = assigned
        // Defaults, generated values and the work of triggers are in the rows, and so is the version.
        var unread: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        outcome.rows = try reader.readRows((changes.inserted + changes.updated + changes.locked).map { resolved($0.objectID) }, &unread)
        return outcome
    }

    // MARK: Statements

    /// Executes a statement, and returns the number of rows that it has changed.
    @discardableResult
    func execute(_ sql: String, _ parameters: [SQLiteRawValue]) throws -> Int {
        try connection.with(sql) { statement in
            bind(parameters, statement)
            try statement.run()
            return connection.changes
        }
    }

    private func bind(_ parameters: [SQLiteRawValue], _ statement: SQLStatement) {
        for (index, value) in parameters.enumerated() {
            switch value {
            case .null: statement.bindNull(at: index + 1)
            case .integer(let number): statement.bind(number, at: index + 1)
            case .real(let number): statement.bind(number, at: index + 1)
            case .text(let text): statement.bind(text, at: index + 1)
            case .blob(let data): statement.bind(data, at: index + 1)
            }
        }
    }

    /// Returns the ID of an object, also of one that was just inserted.
    func resolved(_ id: NSManagedObjectID) -> NSManagedObjectID { assigned[id] ?? id.current }

    // MARK: Rows

    private mutating func insert(_ change: StoreChange, _ omitted: Set<Int>) throws {
        let entity = try tables.sqlEntity(change.entity)
        let table = mapping.table(entity)
        let values = try values(ofNew: change, without: omitted, entity, table)
        let names = values.assignments.map { TableNames.identifier($0.column).sql }.joined(separator: ", ")
        let row =
            values.assignments.isEmpty ? "DEFAULT VALUES" : "(\(names)) VALUES (\(values.assignments.map(\.value).joined(separator: ", ")))"
        let sql = "INSERT INTO \(table.sql) \(row) RETURNING \(table.key.selected(of: nil))"
        let id: NSManagedObjectID? = try connection.with(sql) { statement in
            bind(values.parameters, statement)
            guard try statement.step(.writing) else { return nil }
            let id = try reader.rows(entity).id(statement.handle, 0)
            // The statement is done when it has no further row.
            while try statement.step(.writing) {}
            return id
        }
        guard let id else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.",
                reason: "SQLite inserted no row: a trigger of \(table.relation.name) prevents it.")
        }
        if change.objectID.isTemporaryID { assigned[change.objectID] = id }
    }

    /// Updates the changed columns of a row that is unchanged since it was read.
    ///
    /// - Parameter slots: The properties to write, whatever the version of the row is; nil for all changed ones.
    private mutating func update(_ change: StoreChange, slots: Set<Int>? = nil) throws {
        guard let row = change.row else { return }
        let entity = try tables.sqlEntity(change.entity)
        let table = mapping.table(entity)
        var values = MappedValues<SQLiteTableDialect>(first: [try key(of: change, table)])
        for (slot, value) in table.values.sorted(by: { $0.key < $1.key }) where slots?.contains(slot) ?? change.changed.contains(slot) {
            try add(value, slot, row, base: change.base ?? row, entity, table, to: &values)
        }
        if values.assignments.isEmpty { return }
        let condition = table.key.equal("?1", of: Table.alias)
        let list = values.assignments.map { "\(TableNames.identifier($0.column)) = \($0.value)" }.joined(separator: ", ")
        let count = try execute("UPDATE \(table.sql) AS \(Table.alias) SET \(list) WHERE \(condition)", values.parameters)
        if count != 1 { unwritten.append(change) }
    }

    private mutating func delete(_ entity: SQLEntity, _ deleted: [StoreChange]) throws {
        let table = mapping.table(entity)
        let condition = table.key.equal("?1", of: Table.alias)
        for change in deleted {
            let count = try execute("DELETE FROM \(table.sql) AS \(Table.alias) WHERE \(condition)", [try key(of: change, table)])
            if count != 1 { undeleted.append(change) }
        }
    }

    /// Sets a reference of a row that will be deleted to NULL.
    private func clear(_ change: StoreChange, _ slot: Int) throws {
        let table = mapping.table(try tables.sqlEntity(change.entity))
        guard case .toOne(let key)? = table.values[slot] else { return }
        let list = key.columns.map { "\(TableNames.identifier($0.name)) = NULL" }.joined(separator: ", ")
        try execute(
            "UPDATE \(table.sql) AS \(Table.alias) SET \(list) WHERE \(table.key.equal("?1", of: Table.alias))",
            [try self.key(of: change, table)])
    }

    // MARK: Pairs

    private func deletePairs(_ entity: SQLEntity, _ deleted: [StoreChange]) throws {
        for property in entity.properties {
            guard case .toMany(.join(let join)) = property else { continue }
            let (table, pair) = (mapping.table(entity), mapping.join(join))
            if pair.readOnlyReason != nil { continue }
            let own = join.own == MappedJoin<SQLiteTableDialect>.firstColumn ? pair.first : pair.second
            for change in deleted {
                let key = try key(of: change, table)
                for end in join.isReflexive ? [own, pair.second] : [own] {
                    try execute("DELETE FROM \(pair.sql) AS \(Table.alias) WHERE \(end.equal("?1", of: Table.alias))", [key])
                }
            }
        }
    }

    /// Writes the pairs of many-to-many relationships. Deletions come before insertions, which may have to be unique.
    private mutating func writePairs() throws {
        for isNew in [false, true] {
            for change in changes.inserted + changes.updated where !change.lists.isEmpty {
                let entity = try tables.sqlEntity(change.entity)
                for difference in change.lists {
                    guard case .toMany(.join(let join)) = entity.properties[difference.slotIndex],
                        let relationship = entity.entity.frozenParts.properties[difference.slotIndex] as? NSRelationshipDescription
                    else { continue }
                    for id in isNew ? difference.added : difference.removed {
                        // An object that was never saved, or belongs to another store, is in no pair.
                        if !isNew, resolved(id).isTemporaryID || resolved(id).token !== tables.token { continue }
                        try write(change, id, relationship, join, isNew: isNew)
                    }
                }
            }
        }
    }

    private mutating func write(
        _ change: StoreChange, _ other: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ join: SQLJoin, isNew: Bool
    ) throws {
        let table = mapping.join(join)
        if let reason = table.readOnlyReason {
            throw unsavable(relationship, reason, change.row ?? change.base.known("a change has a row"))
        }
        let isFirst = join.own == MappedJoin<SQLiteTableDialect>.firstColumn
        let (own, far) = isFirst ? (table.first, table.second) : (table.second, table.first)
        let keys = [try key(of: change.objectID, own.kind, for: relationship), try key(of: other, far.kind, for: relationship)]
        let references = (resolved(change.objectID).reference, resolved(other).reference)
        let pair = MappedPair(
            table: join.table, first: isFirst ? references.0 : references.1, second: isFirst ? references.1 : references.0)
        let reversed = MappedPair(table: join.table, first: pair.second, second: pair.first)
        if join.isReflexive, pairs.contains(reversed) { return }
        guard pairs.insert(pair).inserted else { return }
        func condition(_ first: KeyColumns<SQLiteTableDialect>, _ second: KeyColumns<SQLiteTableDialect>) -> String {
            "\(first.equal("?1", of: Table.alias)) AND \(second.equal("?2", of: Table.alias))"
        }
        if isNew {
            // The table may have no rule against a second one.
            let columns = own.written("?1") + far.written("?2")
            let names = columns.map { TableNames.identifier($0.column).sql }.joined(separator: ", ")
            try execute(
                "INSERT INTO \(table.sql) (\(names)) SELECT \(columns.map(\.value).joined(separator: ", ")) WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(table.sql) AS \(Table.alias) WHERE \(condition(own, far)))", keys)
        } else {
            try execute("DELETE FROM \(table.sql) AS \(Table.alias) WHERE \(condition(own, far))", keys)
            if join.isReflexive { try execute("DELETE FROM \(table.sql) AS \(Table.alias) WHERE \(condition(far, own))", keys) }
        }
    }
}

// MARK: Values

extension SQLiteTableSave: MappedValueWriting {
    typealias Dialect = SQLiteTableDialect

    func key(of id: NSManagedObjectID, _ kind: SQLKeyKind, for property: NSPropertyDescription) throws -> SQLiteRawValue {
        let id = resolved(id)
        guard id.token === tables.token, let key = SQLiteRawValue(kind, id.reference) else {
            throw CoreDataError.make(
                NSManagedObjectExternalRelationshipError, "“\(property)” cannot be saved.",
                reason: id.isTemporaryID
                    ? "It leads to \(id), which is not saved with it." : "It leads to \(id), which is of another store.",
                next: "Save related objects in one store.", info: [NSAffectedObjectsErrorKey: [id]])
        }
        return key
    }

    func key(of change: StoreChange, _ table: Table) throws -> SQLiteRawValue {
        let id = resolved(change.objectID)
        if id.token === tables.token, let key = SQLiteRawValue(table.key.kind, id.reference) { return key }
        throw CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "\(id) cannot be saved.",
            reason: "It does not belong to the store at \(tables.url.path).", info: [NSAffectedObjectsErrorKey: [id]])
    }

    func newUUID(_ column: CatalogueColumn<SQLiteTableDialect>) -> SQLiteRawValue { SQLiteUUIDStyle(column.type).value(UUID()) }

    func areEqual(_ first: SQLiteRawValue, _ second: SQLiteRawValue) -> Bool { first == second }

    func value(
        of row: Row, _ slot: RowLayout.Slot, _ storage: SQLStorage, _ attribute: NSAttributeDescription, _ form: SQLiteColumnForm
    ) throws -> SQLiteRawValue {
        if row.isNil(at: slot) { return .null }
        let place = row.slots + slot.location.offset
        switch storage {
        case .integer: return .integer(place.load(as: Int64.self))
        case .boolean: return .integer(place.load(as: Int64.self) == 0 ? 0 : 1)
        case .double:
            let number = place.load(as: Double.self)
            // SQLite stores NULL instead of NaN.
            if number.isNaN { throw unsavable(attribute, "\(form.place) does not hold a number that is none.", row) }
            return .real(number)
        case .text: return .text(row.text(at: slot))
        case .data, .externalData: return .blob(row.data(at: slot))
        case .uri: return .text((row.box(at: slot)?.value as? URL)?.absoluteString ?? "")
        case .uuid:
            guard case .uuid(let style) = form.kind else { return .null }
            return style.value(place.load(as: UUID.self))
        case .date:
            guard case .date(let dates) = form.kind else { return .null }
            let seconds = place.load(as: Double.self)
            if let value = dates.value(seconds, isReal: form.isReal) { return value }
            throw unsavable(attribute, "\(form.place) does not hold a date that is \(seconds) seconds from 2001.", row)
        case .decimal:
            guard let number = row.box(at: slot)?.value as? Decimal else { return .null }
            return try value(of: number, attribute, form, row)
        case .transformable where form.kind == .json:
            guard let value = row.box(at: slot)?.value else { return .null }
            return .text(try JSONColumn.text(value, attribute))
        case .transformable, .composite:
            guard let value = row.box(at: slot)?.value else { return .null }
            return .blob(try AttributeArchive.data(of: value, attribute))
        }
    }

    private func value(of number: Decimal, _ attribute: NSAttributeDescription, _ form: SQLiteColumnForm, _ row: Row) throws
        -> SQLiteRawValue
    {
        if form.isText, !number.isNaN { return .text(number.description) }
        switch SQLDecimal(number) {
        case .integer(let whole): return .integer(whole)
        case .real(let double): return .real(double)
        case .numeral:
            throw unsavable(attribute, "\(form.place) holds numbers with 15 digits, and \(number) has more, or is none.", row)
        }
    }
}

extension SQLiteRawValue {
    /// Creates a key; nil for one of another kind.
    init?(_ kind: SQLKeyKind, _ reference: NSManagedObjectID.Reference) {
        switch (kind, reference) {
        case (.integer, .integer(let number)): self = .integer(number)
        case (.text, .string(let text)): self = .text(text)
        default: return nil
        }
    }
}
