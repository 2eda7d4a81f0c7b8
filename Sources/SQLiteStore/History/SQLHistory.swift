internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Records the rows that a transaction writes, by temporary triggers of the connection, so that saves, batch requests and their
/// consequences are recorded alike.
// Notes are used under the write lock; the rest is set once.
final class SQLHistory {
    /// The entity numbers of the history's tables.
    static let changeNumber: Int64 = 16001
    static let transactionNumber: Int64 = 16002
    static let stringNumber: Int64 = 16003
    private static let function = "coredata_note_change"

    struct Key: Hashable {
        let root: Int64
        let key: Int64
    }
    /// The recorded change of a row.
    struct Note {
        var type: NSPersistentHistoryChangeType
        var entity: SQLEntity
        /// The properties written by an update.
        var updated = PropertySet()
        /// The values of preserved columns, by their index among those of the table.
        var tombstone: [Int: SQLValue] = [:]
    }
    /// A table whose rows are recorded.
    private struct Table {
        let root: Int64
        let kinds: [Int64: Kind]
        /// The entity of every row, if there is only one.
        let only: Kind?
    }
    private final class Kind {
        let entity: SQLEntity
        /// The property indexes of the columns.
        let properties: [Int?]

        init(_ entity: SQLEntity, _ columns: [SQLIdentifier]) {
            self.entity = entity
            var found: [SQLIdentifier: Int] = [:]
            for (index, property) in entity.properties.enumerated() {
                switch property {
                case .attribute(let place): found[place.column] = index
                case .toOne(let place):
                    found[place.column] = index
                    if let column = place.entityColumn { found[column] = index }
                case .toMany, .unstored: continue
                }
            }
            properties = columns.map { found[$0] }
        }
    }

    /// The rows that a save has inserted together, with consecutive keys. They are recorded as one.
    struct Insertion {
        let entity: SQLEntity
        let keys: ClosedRange<Int64>
        /// The number of rows that were recorded one by one before.
        let position: Int
    }

    private(set) var notes: [Key: Note] = [:]
    private(set) var order: [Key] = []
    private(set) var insertions: [Insertion] = []
    /// The number of recorded rows.
    var count: Int { order.count + insertions.reduce(0) { $0 + $1.keys.count } }
    private var tables: [Table] = []
    /// The attributes preserved in tombstones, by entity number.
    private(set) var preserved: [Int64: [(attribute: NSAttributeDescription, storage: SQLStorage, place: Int)]] = [:]
    /// The number of tombstone columns.
    private(set) var tombstoneCount = 0
    /// Whether the file has the optional columns.
    private(set) var hasProcess = true

    func forget() {
        notes.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
        insertions.removeAll()
    }

    // MARK: Setup

    private static let definition = [
        "CREATE TABLE IF NOT EXISTS ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, "
            + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
        "CREATE TABLE IF NOT EXISTS ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
            + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, "
            + "ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
        "CREATE TABLE IF NOT EXISTS ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX IF NOT EXISTS ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        "CREATE INDEX IF NOT EXISTS ATRANSACTION_ZTIMESTAMP_INDEX ON ATRANSACTION (ZTIMESTAMP)",
        "CREATE UNIQUE INDEX IF NOT EXISTS Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
    ]
    private static let needed: [String: Set<String>] = [
        "ACHANGE": ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"],
        "ATRANSACTION": ["Z_PK", "Z_ENT", "ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZTIMESTAMP"],
        "ATRANSACTIONSTRING": ["Z_PK", "Z_ENT", "ZNAME"],
    ]

    /// Returns whether a file has writable history tables.
    static func hasTables(_ connection: SQLConnection) throws -> Bool {
        for (table, needed) in needed where try !needed.isSubset(of: columns(of: table, connection)) { return false }
        return true
    }

    private static func columns(of table: String, _ connection: SQLConnection) throws -> Set<String> {
        Set(try connection.texts("SELECT name FROM pragma_table_info(\(sqlLiteral(table)))", .opening).compactMap { $0[0] })
    }

    /// Creates the missing history tables.
    ///
    /// - Throws: Code 134020 if other tables have their names.
    static func makeTables(_ connection: SQLConnection) throws {
        if try hasTables(connection) { return }
        try connection.transaction {
            for statement in definition { try connection.execute(statement) }
            for (number, name) in [(changeNumber, "CHANGE"), (transactionNumber, "TRANSACTION"), (stringNumber, "TRANSACTIONSTRING")] {
                try connection.execute(
                    "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(number), '\(name)', 0, 0)")
            }
        }
        guard try hasTables(connection) else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "The store at \(connection.path) cannot keep a history.",
                reason: "Its tables ACHANGE, ATRANSACTION and ATRANSACTIONSTRING lack columns.",
                next: "Open it without NSPersistentHistoryTrackingKey, or drop the tables.", info: [NSFilePathErrorKey: connection.path])
        }
    }

    /// Determines the recorded properties of each entity. Sufficient for reading.
    init(_ schema: SQLSchema, _ connection: SQLConnection) throws {
        for table in schema.tables {
            let entities = schema.entities.filter { $0.table == table.name }
            guard let root = entities.first?.rootNumber else { continue }
            let columns = table.columns.map(\.name)
            // Bounded: entities of the model, with numbers of their own.
            let kinds = Dictionary(uniqueKeysWithValues: entities.map { ($0.number, Kind($0, columns)) })
            tables.append(Table(root: root, kinds: kinds, only: entities.count == 1 ? kinds[entities[0].number] : nil))
        }
        for entity in schema.entities {
            var list: [(attribute: NSAttributeDescription, storage: SQLStorage, place: Int)] = []
            for (index, property) in entity.entity.frozenParts.properties.enumerated() {
                guard let attribute = property as? NSAttributeDescription, attribute.preservesValueInHistoryOnDeletion,
                    case .attribute(let place) = entity.properties[index]
                else { continue }
                // An external file is deleted with its row.
                if case .externalData = place.storage { continue }
                list.append((attribute, place.storage, list.count))
            }
            if !list.isEmpty { preserved[entity.number] = list }
            tombstoneCount = max(tombstoneCount, list.count)
        }
        hasProcess = try Self.columns(of: "ATRANSACTION", connection).contains("ZPROCESSIDTS")
    }

    /// Starts recording the writes of a connection.
    func install(_ schema: SQLSchema, _ connection: SQLConnection) throws {
        let known = try Self.columns(of: "ACHANGE", connection)
        for place in 0..<tombstoneCount where !known.contains("ZTOMBSTONE\(place)") {
            try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(place) BLOB")
        }
        // SQLite owns a reference until the connection is closed, and hands the address to each call; it calls the last block then.
        let code = sqlite3_create_function_v2(
            connection.handle, Self.function, -1, SQLITE_UTF8, Unmanaged.passRetained(self).toOpaque(),
            { context, count, values in
                guard let own = sqlite3_user_data(context), let values else { return }
                Unmanaged<SQLHistory>.fromOpaque(own).takeUnretainedValue().note(UnsafeBufferPointer(start: values, count: Int(count)))
                sqlite3_result_null(context)
            }, nil, nil, { own in if let own { Unmanaged<SQLHistory>.fromOpaque(own).release() } })
        guard code == SQLITE_OK else { throw SQLError.make(connection.handle, code, .opening, path: connection.path) }
        for (number, table) in schema.tables.enumerated() {
            for statement in triggers(number, table, schema) { try connection.execute(statement, .opening) }
        }
    }

    private static func trigger(_ event: String, _ number: Int, _ table: SQLTable, _ calls: [String]) -> String {
        "CREATE TEMP TRIGGER CoreDataHistory\(event)\(number) AFTER \(event) ON main.\(table.name) BEGIN "
            + calls.map { "SELECT \(function)(\($0));" }.joined(separator: " ") + " END"
    }

    private func insertTrigger(_ number: Int, _ table: SQLTable) -> String {
        Self.trigger("INSERT", number, table, ["0, \(number), NEW.Z_PK, NEW.Z_ENT"])
    }

    private func triggers(_ number: Int, _ table: SQLTable, _ schema: SQLSchema) -> [String] {
        func trigger(_ event: String, _ calls: [String]) -> String { Self.trigger(event, number, table, calls) }
        // Functions have a limited number of arguments and expressions a limited depth: long lists are split.
        var update = "1, \(number), NEW.Z_PK, NEW.Z_ENT, OLD.Z_OPT IS NOT NEW.Z_OPT"
        for start in stride(from: 0, to: table.columns.count, by: 200) {
            let piece = table.columns[start..<min(start + 200, table.columns.count)]
            update += ", " + piece.map { "(OLD.\($0.name) IS NOT NEW.\($0.name))" }.joined(separator: " || ")
        }
        var deletions = ["2, \(number), OLD.Z_PK, OLD.Z_ENT, 0"]
        for entity in schema.entities where entity.table == table.name {
            let list = preserved[entity.number] ?? []
            for start in stride(from: 0, to: list.count, by: 100) {
                let columns = list[start..<min(start + 100, list.count)].compactMap { item -> String? in
                    if case .attribute(let place) = entity[item.attribute] { "OLD.\(place.column)" } else { nil }
                }
                deletions.append("3, \(number), OLD.Z_PK, \(entity.number), \(start), \(columns.joined(separator: ", "))")
            }
        }
        return [insertTrigger(number, table), trigger("UPDATE", [update]), trigger("DELETE", deletions)]
    }

    // MARK: Recording many rows together

    /// The number of rows from which the trigger is dropped meanwhile: that has every statement of the connection prepared again.
    private static let manyRows = 1000

    /// Calls `body`, which inserts rows of an entity with consecutive keys within the transaction of a save, and records them as one. A failure of
    /// `body` must roll the transaction back, which also restores the trigger.
    ///
    /// - Returns: False, without a call, if the rows are recorded one by one: there are only a few, or the file has triggers on their table.
    func noteTogether(
        _ keys: ArraySlice<Int64>, of entity: SQLEntity, in schema: SQLSchema, _ connection: SQLConnection, _ body: () throws -> Void
    ) throws -> Bool {
        guard keys.count >= Self.manyRows, let first = keys.first, let last = keys.last, last - first == Int64(keys.count - 1),
            zip(keys, keys.dropFirst()).allSatisfy({ $1 == $0 + 1 }),
            let number = schema.tables.firstIndex(where: { $0.name == entity.table })
        else { return false }
        let hasTriggers = try connection.with(
            "SELECT 1 FROM main.sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?) LIMIT 1"
        ) {
            $0.bind(entity.table.name, at: 1)
            return try $0.step()
        }
        if hasTriggers { return false }
        try connection.execute("DROP TRIGGER temp.CoreDataHistoryINSERT\(number)")
        try body()
        try connection.execute(insertTrigger(number, schema.tables[number]))
        insertions.append(Insertion(entity: entity, keys: first...last, position: order.count))
        return true
    }

    /// Records the rows of ``insertions`` one by one, because one of them may be written again.
    private func noteInsertionsOneByOne() {
        var (all, start): ([Key], Int) = ([], 0)
        all.reserveCapacity(count)
        for insertion in insertions {
            all += order[start..<insertion.position]
            start = insertion.position
            for number in insertion.keys {
                let key = Key(root: insertion.entity.rootNumber, key: number)
                notes[key] = Note(type: .insert, entity: insertion.entity)
                all.append(key)
            }
        }
        order = all + order[start...]
        insertions = []
    }

    // MARK: Recording

    private func note(_ values: UnsafeBufferPointer<OpaquePointer?>) {
        let table = tables[Int(sqlite3_value_int64(values[1]))]
        let place = Key(root: table.root, key: sqlite3_value_int64(values[2]))
        guard let kind = table.only ?? table.kinds[sqlite3_value_int64(values[3])] else { return }
        let event = sqlite3_value_int64(values[0])
        if event != 0, !insertions.isEmpty { noteInsertionsOneByOne() }
        switch event {
        case 0: set(.insert, place, kind.entity)
        case 1:
            var updated: [Int] = []
            var isChanged = sqlite3_value_int64(values[4]) != 0
            var column = 0
            for value in values.dropFirst(5) {
                guard let digits = sqlite3_value_text(value) else { continue }
                for offset in 0..<Int(sqlite3_value_bytes(value)) {
                    if digits[offset] == UInt8(ascii: "1"), let property = kind.properties[column] {
                        updated.append(property)
                        isChanged = true
                    }
                    column += 1
                }
            }
            // Order columns and the keys of one-way relationships are not properties of the row.
            if !isChanged { return }
            set(.update, place, kind.entity)
            for property in updated { notes[place]?.updated.insert(property) }
        case 2: set(.delete, place, kind.entity)
        default:
            // Each entity of the table reports its own columns.
            guard notes[place]?.type == .delete, kind.entity === notes[place]?.entity else { return }
            let start = Int(sqlite3_value_int64(values[4]))
            for (offset, value) in values.dropFirst(5).enumerated() { notes[place]?.tombstone[start + offset] = SQLValue(copying: value) }
        }
    }

    private func set(_ type: NSPersistentHistoryChangeType, _ place: Key, _ entity: SQLEntity) {
        guard let known = notes[place] else {
            notes[place] = Note(type: type, entity: entity)
            order.append(place)
            return
        }
        // An inserted row counts as inserted despite later updates; a deleted one is gone.
        if type == .delete { notes[place]?.type = .delete } else if known.type == .delete { notes[place]?.type = .update }
        if type == .insert { notes[place]?.entity = entity }
    }

    /// Records the relationships that a save has changed in updated rows, because they are stored elsewhere.
    func noteRelationships(_ changes: [StoreChange], at place: (NSManagedObjectID) -> (entity: SQLEntity, key: Int64)?) {
        for change in changes {
            guard let place = place(change.objectID) else { continue }
            let key = Key(root: place.entity.rootNumber, key: place.key)
            guard notes[key]?.type == .update else { continue }
            for relationship in change.entity.frozenParts.relationships
            where relationship.isToMany && change.changed.contains(relationship.slotIndex) {
                notes[key]?.updated.insert(relationship.slotIndex)
            }
        }
    }
}

extension SQLValue {
    /// Copies the value of an argument, which is valid during the function only.
    fileprivate init(copying value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT: self = .text(SQLFunctionValue.text(value))
        case SQLITE_BLOB:
            let count = Int(sqlite3_value_bytes(value))
            self = .blob(sqlite3_value_blob(value).map { Data(bytes: $0, count: count) } ?? Data())
        default: self = .null
        }
    }
}
