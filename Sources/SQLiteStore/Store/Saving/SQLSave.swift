internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The rows that a save writes, grouped by entity.
struct SQLRows {
    /// The changes of the rows; empty for rows of a batch, which belong to no objects.
    let changes: [StoreChange]
    /// The rows of a batch.
    private let batch: [Row]
    /// The slots of the rows, which `changes` or `batch` retains.
    private(set) var slots: [UnsafeMutableRawPointer] = []
    private(set) var keys: [Int64] = []
    /// The runs of consecutive rows of one entity, in order.
    private(set) var runs: [(entity: SQLEntity, range: Range<Int>)] = []

    /// Creates the rows of changes.
    ///
    /// - Throws: Code 133000 for a row of another store, 134070 for a row of an entity that the store does not hold.
    init(_ changes: [StoreChange], of store: SQLiteStore) throws {
        self.changes = changes
        batch = []
        slots.reserveCapacity(changes.count)
        keys.reserveCapacity(changes.count)
        for index in changes.indices {
            guard let rowSlots = changes[index].rowSlots else { continue }
            slots.append(rowSlots)
            // Not the method itself: that would count the store for each row.
            keys.append(try Row.with(rowSlots) { try store.key(of: $0) })
        }
        try changes.forEachRun { runs.append((try store.sqlEntity($0), $1)) }
    }

    /// Whether rows have consecutive keys, and the version of rows that are new.
    func areNew(_ range: Range<Int>) -> Bool {
        for index in range {
            if index > range.lowerBound, keys[index] != keys[index - 1] &+ 1 { return false }
            if SlotPointer(slots[index]).prefix.pointee.version != 1 { return false }
        }
        return true
    }

    /// Creates rows of one entity that belong to no objects, with consecutive keys.
    init(new rows: [Row], of entity: SQLEntity, firstKey: Int64) {
        changes = []
        batch = rows
        slots = rows.map(\.slots)
        keys = Array(firstKey..<firstKey + Int64(rows.count))
        if !rows.isEmpty { runs = [(entity, 0..<rows.count)] }
    }
}

/// One save, within its transaction.
struct SQLSave {
    private let store: SQLiteStore
    let connection: SQLConnection
    /// Whether rows are updated one by one, so that conflicting ones are known.
    private let isCareful: Bool
    private(set) var conflicts: [StoreConflicts.Version] = []
    /// The deletions, and the changes of unique values, whose objects others have changed or deleted; the conflicts are determined after the rollback.
    private(set) var mismatched: [StoreChange] = []
    /// The changed objects without a row for which there was nothing to write.
    private(set) var lost: [NSManagedObjectID] = []
    var orders = SQLOrderPositions()
    /// The number of rows written by one statement.
    private static let rowsPerStatement = 100

    /// Thrown for conflicts; all of them are collected, because the merge policy must resolve them together.
    struct Mismatch: Error {}
    /// Thrown when others have changed or deleted some of the rows updated together: a careful save determines which.
    struct UpdateMismatch: Error {}

    init(_ store: SQLiteStore, _ connection: SQLConnection, isCareful: Bool) {
        self.store = store
        self.connection = connection
        self.isCareful = isCareful
    }

    var schema: SQLSchema { store.schema }

    func key(of id: NSManagedObjectID, for property: NSPropertyDescription) throws -> Int64 {
        guard let place = store.place(of: id) else { throw SQLEntityWriter.elsewhere(id, property) }
        return place.key
    }

    /// Returns the key of an object that may be in pairs of the store; nil for an object that was never saved here.
    func pairKey(of id: NSManagedObjectID) -> Int64? { store.place(of: id.current)?.key }

    // MARK: Deleting

    mutating func delete(_ changes: [StoreChange]) throws {
        /// The objects of one entity with one base version, which is -1 for objects that were never read.
        struct Group {
            let entity: NSEntityDescription
            let version: Int64
            var keys: [Int64] = []
        }
        var groups: [Group] = []
        var places: [ObjectIdentifier: [Int64: Int]] = [:]
        var current = -1
        try changes.forEachRun { description, range in
            let entity = ObjectIdentifier(description)
            for index in range {
                let base = changes[index].baseSlots
                let version = SlotPointer(base)?.prefix.pointee.version ?? -1
                if current < 0 || groups[current].version != version || groups[current].entity !== description {
                    current = places[entity]?[version] ?? groups.count
                    places[entity, default: [:]][version] = current
                    if current == groups.count { groups.append(Group(entity: description, version: version)) }
                    // Usually all are alike.
                    if groups.count == 1, groups[0].keys.isEmpty { groups[0].keys.reserveCapacity(changes.count) }
                }
                groups[current].keys.append(try base.map { try Row.with($0, store.key(of:)) } ?? store.key(of: changes[index].objectID))
            }
        }
        for group in groups {
            let entity = try store.sqlEntity(group.entity)
            let keys = group.keys.sorted()
            try store.dropFiles(of: keys, entity)
            let deleted = try delete(keys, group.version, from: entity.table)
            // The conflicts are determined after the rollback.
            if group.version >= 0, deleted < keys.count {
                mismatched += changes.filter { $0.entity === group.entity && $0.baseVersion ?? -1 == group.version }
            }
            try forget(keys, of: entity)
        }
    }

    /// Deletes the rows with ascending keys, and returns their number. Versions are compared if the objects were read.
    private func delete(_ keys: [Int64], _ version: Int64, from table: SQLIdentifier) throws -> Int {
        let condition = version >= 0 ? "\(SQLIdentifier.versionNumber) = ?1 AND " : ""
        let first = version >= 0 ? 1 : 0
        var deleted = 0
        var others: [Int64] = []
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, end - start < 1000, keys[end] == keys[start] + Int64(end - start) { end += 1 }
            if end - start < 20 {
                others.append(contentsOf: keys[start..<end])
            } else {
                // A range of keys is the fastest to find.
                let range = "Z_PK BETWEEN ?\(first + 1) AND ?\(first + 2)"
                try connection.with("DELETE FROM \(table) WHERE \(condition)\(range)") { statement in
                    if version >= 0 { statement.bind(version, at: 1) }
                    statement.bind(keys[start], at: first + 1)
                    statement.bind(keys[end - 1], at: first + 2)
                    try statement.run()
                }
                deleted += connection.changes
            }
            start = end
        }
        try connection.forEachChunk(
            of: others, after: first, { "DELETE FROM \(table) WHERE \(condition)Z_PK IN \($0)" },
            bind: { if version >= 0 { $0.bind(version, at: 1) } }
        ) { statement in
            try statement.run()
            deleted += connection.changes
        }
        return deleted
    }

    /// Removes deleted rows from join tables, and from the columns of one-way relationships.
    private func forget(_ keys: [Int64], of entity: SQLEntity) throws {
        for (index, property) in entity.properties.enumerated() {
            guard case .toMany(let place) = property else { continue }
            switch place {
            case .join(let join):
                try connection.forEachChunk(of: keys, { "DELETE FROM \(join.table) WHERE \(join.own) IN \($0)" }) { try $0.run() }
                if join.isReflexive {
                    try connection.forEachChunk(of: keys, { "DELETE FROM \(join.table) WHERE \(join.other) IN \($0)" }) { try $0.run() }
                }
            case .foreignKey(let key):
                let relationship = entity.entity.frozen!.properties[index] as? NSRelationshipDescription
                guard relationship?.storedInverse == nil else { continue }
                try connection.forEachChunk(of: keys, { "UPDATE \(key.table) SET \(key.column) = NULL WHERE \(key.column) IN \($0)" }) {
                    try $0.run()
                }
            }
        }
    }

    // MARK: Updating

    /// Clears the unique values of rows that are about to change them: two rows may exchange theirs.
    mutating func clearUniqueValues(of changes: [StoreChange]) throws {
        guard store.persistentStoreCoordinator?.managedObjectModel.hasUniquenessConstraints ?? false else { return }
        for change in changes {
            let uniqueness = change.entity.frozen!.uniqueness
            guard uniqueness.contains(where: { $0.slotIndexes.contains(where: change.changed.contains) }),
                let place = store.place(of: change.objectID), let version = change.baseVersion
            else { continue }
            let columns = Set(uniqueness.flatMap(\.slotIndexes)).filter(change.changed.contains).sorted()
                .compactMap { index -> SQLIdentifier? in
                    switch place.entity.properties[index] {
                    case .attribute(let attribute): attribute.column
                    case .toOne(let toOne): toOne.column
                    case .toMany, .unstored: nil
                    }
                }
            if columns.isEmpty { continue }
            try connection.with(SQLVersionedUpdate.one(columns.map { "\($0) = NULL" }, of: place.entity.table)) { statement in
                statement.bind(place.key, at: 1)
                statement.bind(version, at: 2)
                try statement.run()
            }
            // It still has its values, which another object may be given.
            if connection.changes == 0 { mismatched.append(change) }
        }
    }

    mutating func update(_ changed: SQLRows) throws {
        for (entity, run) in changed.runs {
            let writer = try store.writer(entity)
            var start = run.lowerBound
            while start < run.upperBound {
                let properties = writer.properties(of: changed.changes, start)
                var end = start + 1
                while end < run.upperBound, writer.properties(of: changed.changes, end) == properties { end += 1 }
                try update(changed, start..<end, writer, writer.update(properties))
                start = end
            }
        }
    }

    /// Updates rows of one entity in which the same properties have changed.
    private mutating func update(_ changed: SQLRows, _ range: Range<Int>, _ writer: SQLEntityWriter, _ update: SQLEntityWriter.Update)
        throws
    {
        var index = range.lowerBound
        // UPDATE supports FROM since SQLite 3.33.
        let together =
            isCareful || !update.externalColumns.isEmpty || sqlite3_libversion_number() < 3_033_000
            ? 1 : rowsPerStatement(update.columnCount)
        if together > 1, range.count >= together {
            try connection.with(update.many(together)) { statement in
                while index + together <= range.upperBound {
                    try self.update(changed, index..<index + together, writer, update, statement)
                    index += together
                }
            }
        }
        if index == range.upperBound { return }
        try connection.with(update.sql) { statement in
            while index < range.upperBound {
                try updateOne(changed, index, writer, update, statement)
                index += 1
            }
        }
    }

    private mutating func update(
        _ changed: SQLRows, _ range: Range<Int>, _ writer: SQLEntityWriter, _ update: SQLEntityWriter.Update, _ statement: SQLStatement
    ) throws {
        try write(changed, range, writer, update.steps, statement) { row in
            // The statement counts up from it.
            if row.version == .min { throw UpdateMismatch() }
            return row.version &- 1
        }
        if connection.changes != range.count { throw UpdateMismatch() }
    }

    private mutating func updateOne(
        _ changed: SQLRows, _ index: Int, _ writer: SQLEntityWriter, _ update: SQLEntityWriter.Update, _ statement: SQLStatement
    ) throws {
        let (row, key) = (Row(changed.slots[index]), changed.keys[index])
        if !update.externalColumns.isEmpty {
            try store.dropFiles(of: update.externalColumns, writer.entity, "Z_PK = ?") { $0.bind(key, at: 1) }
        }
        store.scratch.reset()
        try writer.derive(row)
        let parameter = try writer.bind(
            update.steps, of: row, to: statement, from: 1, scratch: store.scratch, orders: &orders, key: key)
        statement.bind(row.version, at: parameter)
        statement.bind(key, at: parameter + 1)
        statement.bind(row.version &- 1, at: parameter + 2)
        try statement.run()
        if connection.changes == 0 {
            let change = changed.changes[index]
            let stored = try store.requireWriter().readRow(writer.entity, key, isFresh: true)
            if stored == nil, isUnsavedReference(change) {
                lost.append(change.objectID)
            } else {
                conflicts.append(StoreConflicts.Version(change.objectID, stored: stored))
            }
        }
    }

    /// Returns whether an object has no row and was changed only by losing references. Nothing is written for such an object.
    private func isUnsavedReference(_ change: StoreChange) -> Bool {
        guard change.wasMissing else { return false }
        return change.changedProperties.allSatisfy { property in
            guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else { return false }
            return change.list(of: relationship)?.added.isEmpty ?? true
        }
    }

    /// Returns the number of rows that one statement can have.
    private func rowsPerStatement(_ parameters: Int) -> Int {
        let limit = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
        return max(1, min(Self.rowsPerStatement, limit / parameters))
    }

    // MARK: Inserting

    mutating func insert(_ inserted: SQLRows) throws {
        for (entity, range) in inserted.runs {
            if let history = store.historyNotes,
                try history.noteTogether(
                    inserted.keys[range], of: entity, in: schema, connection, { try insert(inserted, range, of: entity) })
            {
                continue
            }
            try insert(inserted, range, of: entity)
        }
    }

    private mutating func insert(_ inserted: SQLRows, _ range: Range<Int>, of entity: SQLEntity) throws {
        let writer = try store.writer(entity)
        let together = rowsPerStatement(writer.columnCount)
        var index = range.lowerBound
        for count in [together, 10, 1] where range.upperBound - index >= count && count <= together {
            // Usually a statement needs to be given the first key only.
            let areNew = count > 1 && inserted.areNew(index..<index + (range.upperBound - index) / count * count)
            try connection.with(writer.insert(count, areNew: areNew)) { statement in
                while index + count <= range.upperBound {
                    let part = index..<index + count
                    if areNew {
                        try insertNew(inserted, part, writer, statement)
                    } else {
                        try write(inserted, part, writer, writer.allSteps, statement) { $0.version }
                    }
                    index += count
                }
            }
        }
    }

    /// Runs the statement that inserts rows with consecutive keys.
    private mutating func insertNew(_ inserted: SQLRows, _ range: Range<Int>, _ writer: SQLEntityWriter, _ statement: SQLStatement) throws {
        let (scratch, steps) = (store.scratch, writer.allSteps)
        scratch.reset()
        statement.bind(inserted.keys[range.lowerBound], at: 1)
        var parameter = 2
        for index in range {
            parameter = try Row.with(inserted.slots[index]) { row in
                if writer.derives { try writer.derive(row) }
                return try writer.bind(
                    steps, of: row, to: statement, from: parameter, scratch: scratch, orders: &orders, key: inserted.keys[index])
            }
        }
        try statement.run()
    }

    // MARK: Many rows

    /// Runs a statement that takes of each row the key, a version, and the values of some columns.
    @inline(__always) private mutating func write(
        _ rows: SQLRows, _ range: Range<Int>, _ writer: SQLEntityWriter, _ steps: SQLEntityWriter.Steps, _ statement: SQLStatement,
        version: (Row) throws -> Int64
    ) throws {
        store.scratch.reset()
        var parameter = 1
        for index in range {
            let key = rows.keys[index]
            parameter = try Row.with(rows.slots[index]) { row in
                if writer.derives { try writer.derive(row) }
                statement.bind(key, at: parameter)
                statement.bind(try version(row), at: parameter + 1)
                return try writer.bind(
                    steps, of: row, to: statement, from: parameter + 2, scratch: store.scratch, orders: &orders, key: key)
            }
        }
        try statement.run()
    }
}
