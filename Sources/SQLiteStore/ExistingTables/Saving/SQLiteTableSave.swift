internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// One save to the tables of another program, within its transaction.
// Used by the thread that has the connection that writes.
struct SQLiteTableSave {
    typealias Table = MappedTable<SQLiteTableDialect>
    typealias Order = MappedSaveOrder<SQLiteTableDialect>

    let tables: SQLiteTables
    let reader: SQLiteTableReader
    let changes: StoreChangeSet
    var mapping: SQLiteTables.Mapped { tables.mapping }
    private var connection: SQLConnection { reader.connection }
    /// The IDs of new objects whose rows are inserted, by their temporary ones.
    private var assigned: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// The objects that others have changed or deleted.
    private var mismatched: [StoreChange] = []
    /// The pairs that are written already: both ends of a relationship tell of each.
    private var pairs: Set<MappedPair> = []

    init(_ tables: SQLiteTables, _ reader: SQLiteTableReader, _ changes: StoreChangeSet) {
        (self.tables, self.reader, self.changes) = (tables, reader, changes)
    }

    /// Writes everything, up to the commit.
    ///
    /// - Returns: The rows as they are now.
    /// - Throws: ``StoreConflicts``; code 134030 for what cannot be written; SQLite's errors.
    mutating func write() throws -> SaveOutcome {
        // Keys are looked at when all rows are written: some of them refer to each other.
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        let order = try Order(changes, mapping, tables.sqlEntity)
        try checkUniqueness()
        for change in order.early { try update(change) }
        for change in changes.locked { try checkUnchanged(change) }
        for (entity, deleted) in order.deletions { try deletePairs(entity, deleted) }
        for (entity, deleted) in order.deletions { try delete(entity, deleted) }
        // Nothing more is written of what will be rolled back.
        if !mismatched.isEmpty { throw try conflicts() }
        for part in order.insertions { for (change, omitted) in part { try insert(change, omitted) } }
        for change in order.late { try update(change) }
        for (change, slots) in order.postponed { try update(change, slots: slots) }
        try writePairs()
        if !mismatched.isEmpty { throw try conflicts() }
        var outcome = SaveOutcome()
        outcome.assignedIDs = assigned
        // Defaults, generated values and the work of triggers are in the rows, and so is the version.
        outcome.rows = try reader.rows((changes.inserted + changes.updated + changes.locked).map { resolved($0.objectID) })
        return outcome
    }

    // MARK: Statements

    /// Executes a statement, and returns the number of rows that it has changed.
    @discardableResult
    private func execute(_ sql: String, _ parameters: [SQLiteRawValue]) throws -> Int {
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
    private func resolved(_ id: NSManagedObjectID) -> NSManagedObjectID { assigned[id] ?? id.current }

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

    /// Updates the changed columns of a row that is as it was read.
    ///
    /// - Parameter slots: The properties to write, whatever the row is; nil for those that were changed.
    private mutating func update(_ change: StoreChange, slots: Set<Int>? = nil) throws {
        guard let row = change.row else { return }
        let entity = try tables.sqlEntity(change.entity)
        let table = mapping.table(entity)
        var values = MappedValues<SQLiteTableDialect>(first: [try key(of: change, table)])
        for (slot, value) in table.values.sorted(by: { $0.key < $1.key }) where slots?.contains(slot) ?? change.changed.contains(slot) {
            try add(value, slot, row, base: change.base ?? row, entity, table, to: &values)
        }
        if values.assignments.isEmpty { return }
        var condition = table.key.equal("?1", of: Table.alias)
        if slots == nil, let version = change.baseVersion { condition += " AND \(table.version) = \(values.bind(.integer(version)))" }
        let list = values.assignments.map { "\(TableNames.identifier($0.column)) = \($0.value)" }.joined(separator: ", ")
        let count = try execute("UPDATE \(table.sql) AS \(Table.alias) SET \(list) WHERE \(condition)", values.parameters)
        if count != 1 { mismatched.append(change) }
    }

    private mutating func delete(_ entity: SQLEntity, _ deleted: [StoreChange]) throws {
        let table = mapping.table(entity)
        for change in deleted {
            var parameters = [try key(of: change, table)]
            var condition = table.key.equal("?1", of: Table.alias)
            if let version = change.baseVersion {
                condition += " AND \(table.version) = ?2"
                parameters.append(.integer(version))
            }
            let count = try execute("DELETE FROM \(table.sql) AS \(Table.alias) WHERE \(condition)", parameters)
            // A row that was not read may be gone.
            if count != 1, change.baseVersion != nil { mismatched.append(change) }
        }
    }

    /// Notes an object that must be unchanged, and is not. Nobody else writes until the transaction ends.
    private mutating func checkUnchanged(_ change: StoreChange) throws {
        guard let version = change.baseVersion else { return }
        if try reader.rows([change.objectID]).first?.version != version { mismatched.append(change) }
    }

    // MARK: Conflicts

    private func checkUniqueness() throws {
        guard tables.hasUniqueness else { return }
        do { try SQLiteTableOwners(reader: reader, tables: tables).checkUniqueness(changes) } catch let constraints as StoreConflicts {
            let versions = try versionConflicts(changes.updated + changes.deleted + changes.locked)
            throw versions.isEmpty ? constraints : StoreConflicts(versions)
        }
    }

    private func conflicts() throws -> any Error {
        let versions = try versionConflicts(mismatched)
        if !versions.isEmpty { return StoreConflicts(versions) }
        return CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(tables.url.path) cannot be saved.",
            reason:
                "SQLite did not change the rows of \(mismatched.map { "\($0.objectID)" }.joined(separator: ", ")), which are as they were read: "
                + "a trigger prevents it.", next: "Undo the change.", info: [NSAffectedObjectsErrorKey: mismatched.map(\.objectID)])
    }

    /// Returns the conflicts of changes whose rows others have changed or deleted.
    private func versionConflicts(_ changes: [StoreChange]) throws -> [StoreConflicts.Version] {
        // Of those that this save has changed itself, only the others are left.
        let rows = try reader.rows(changes.map(\.objectID))
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        return changes.compactMap { change in
            let row = byID[change.objectID]
            if let row, change.baseVersion == nil || row.version == change.baseVersion { return nil }
            return StoreConflicts.Version(change.objectID, stored: row)
        }
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

    /// Writes the pairs of many-to-many relationships.
    private mutating func writePairs() throws {
        for change in changes.inserted + changes.updated where !change.lists.isEmpty {
            let entity = try tables.sqlEntity(change.entity)
            for difference in change.lists {
                guard case .toMany(.join(let join)) = entity.properties[difference.slotIndex],
                    let relationship = entity.entity.frozenParts.properties[difference.slotIndex] as? NSRelationshipDescription
                else { continue }
                // An object that was never saved, or lies in another store, is in no pair.
                for id in difference.removed where !resolved(id).isTemporaryID && resolved(id).token === tables.token {
                    try write(change, id, relationship, join, isNew: false)
                }
                for id in difference.added { try write(change, id, relationship, join, isNew: true) }
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
            // SQLite stores NULL for it.
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

/// Finds the rows that have the values of uniqueness constraints, within the transaction of a save.
private struct SQLiteTableOwners: ConflictFinding {
    let reader: SQLiteTableReader
    let tables: SQLiteTables

    /// Returns `.unknown`: the statements of a save detect conflicts.
    func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }

    func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        guard let entity = tables.mapping.schema.entities.first(where: { $0.entity.frozenParts.uniqueness.contains { $0 === constraint } })
        else {
            return []
        }
        // An object that is yet to be inserted is nobody's.
        let isNew = key.contains { value in
            if case .object(let reference) = value, let id = reference.object as? NSManagedObjectID { id.isTemporaryID } else { false }
        }
        if isNew { return [] }
        let parts = zip(constraint.names, key).map { name, value in
            PredicateTree.compare(.keyPath([name]), .equal, .constant(value))
        }
        var query = StoreQuery(entity.entity).with(predicate: NSPredicate(tree: .and(parts)))
        // What a transformer makes of a value has no SQL.
        query.allowsEvaluationInMemory = true
        guard case .rows(let rows) = try reader.answer(query, entity) else { return [] }
        return Array(rows)
    }
}
