internal import CSQLite
internal import Foundation

/// One save, within its transaction.
struct SQLSave {
    private let store: SQLiteStore
    let connection: SQLConnection
    private(set) var conflicts: [NSMergeConflict] = []
    /// Objects to delete of which others have changed or deleted some. Which they are shows once the save is undone.
    private(set) var mismatched: [NSManagedObject] = []
    /// Objects that no table has, and of which nothing was to be written.
    private(set) var lost: [NSManagedObjectID] = []
    var orders = SQLOrderKeys()
    /// So many rows are inserted by one statement.
    private static let rowsPerInsert = 20

    /// There are conflicts: all that there are, for the merge policy must settle them together.
    struct Mismatch: Error {}

    init(_ store: SQLiteStore, _ connection: SQLConnection) {
        self.store = store
        self.connection = connection
    }

    var schema: SQLSchema { store.schema }

    func key(of id: NSManagedObjectID, for property: NSPropertyDescription) throws -> Int64 {
        guard let place = store.place(of: id) else { throw SQLEntityWriter.elsewhere(id, property) }
        return place.key
    }

    // MARK: Deleting

    mutating func delete(_ objects: [NSManagedObject]) throws {
        if objects.isEmpty { return }
        /// The objects of one entity that were read with one version.
        struct Group: Hashable {
            let entity: ObjectIdentifier
            let version: Int64
        }
        var groups: [Group: [NSManagedObject]] = [:]
        for object in objects {
            groups[Group(entity: ObjectIdentifier(object.owningEntity), version: object.snapshot?.version ?? -1), default: []].append(
                object)
        }
        for (group, objects) in groups {
            let entity = try store.sqlEntity(objects[0].owningEntity)
            let keys = objects.compactMap { store.place(of: $0.objectID)?.key }.sorted()
            try store.dropFiles(of: keys, entity)
            // Versions are compared where the object was read.
            let condition = group.version >= 0 ? "\(SQLIdentifier.versionNumber) = ?1 AND " : ""
            var deleted = 0
            try connection.forEachChunk(
                of: keys, after: group.version >= 0 ? 1 : 0, { "DELETE FROM \(entity.table) WHERE \(condition)Z_PK IN \($0)" },
                bind: { if group.version >= 0 { $0.bind(group.version, at: 1) } }
            ) { statement in
                try statement.run()
                deleted += connection.changes
            }
            if group.version >= 0, deleted < keys.count { mismatched += objects }
            try forget(keys, of: entity)
        }
    }

    /// Takes deleted rows out of the tables of pairs, and out of columns that no relationship leads back from.
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
                guard relationship?.keptInverse == nil else { continue }
                try connection.forEachChunk(of: keys, { "UPDATE \(key.table) SET \(key.column) = NULL WHERE \(key.column) IN \($0)" }) {
                    try $0.run()
                }
            }
        }
    }

    // MARK: Updating

    /// Frees the unique values of rows that are about to get others: two rows may exchange theirs.
    func clearUniqueValues(of objects: [NSManagedObject]) throws {
        guard store.persistentStoreCoordinator?.managedObjectModel.hasUniquenessConstraints ?? false else { return }
        for object in objects {
            let uniqueness = object.owningEntity.frozen!.uniqueness
            guard uniqueness.contains(where: { $0.slotIndexes.contains(where: object.changed.contains) }),
                let place = store.place(of: object.objectID), let version = object.snapshot?.version
            else { continue }
            let columns = Set(uniqueness.flatMap(\.slotIndexes)).filter(object.changed.contains).sorted()
                .compactMap { index -> SQLIdentifier? in
                    if case .attribute(let attribute) = place.entity.properties[index] { attribute.column } else { nil }
                }
            if columns.isEmpty { continue }
            let list = columns.map { "\($0) = NULL" }.joined(separator: ", ")
            try connection.with("UPDATE \(place.entity.table) SET \(list) WHERE Z_PK = ? AND \(SQLIdentifier.versionNumber) = ?") {
                statement in
                statement.bind(place.key, at: 1)
                statement.bind(version, at: 2)
                try statement.run()
            }
        }
    }

    mutating func update(_ objects: [NSManagedObject], _ rows: [Row]) throws {
        var statement: SQLStatement?
        var current: (entity: NSEntityDescription, low: UInt64, high: [UInt64])?
        var writer: SQLEntityWriter?
        var plan: SQLEntityWriter.Update?
        defer { statement?.finish() }
        for (object, row) in zip(objects, rows) {
            if writer?.entity.entity !== object.owningEntity { writer = try store.writer(object.owningEntity) }
            let changed = writer.unsafelyUnwrapped.changes(of: object)
            if current == nil || current!.entity !== object.owningEntity || current!.low != changed.low || current!.high != changed.high {
                statement?.finish()
                plan = writer!.update(changed)
                statement = try connection.statement(plan!.sql)
                statement!.begin()
                current = (object.owningEntity, changed.low, changed.high)
            }
            guard let place = store.place(of: row.objectID.unsafelyUnwrapped), let statement, let writer, let plan else { continue }
            if !plan.externalColumns.isEmpty {
                try store.dropFiles(of: plan.externalColumns, place.entity, "Z_PK = ?") { $0.bind(place.key, at: 1) }
            }
            store.scratch.reset()
            try writer.derive(row)
            let index = try writer.bind(
                plan.steps, of: row, to: statement, from: 1, scratch: store.scratch, orders: &orders, key: place.key)
            store.scratch.bind(to: statement)
            statement.bind(row.version, at: index)
            statement.bind(place.key, at: index + 1)
            statement.bind(row.version &- 1, at: index + 2)
            try statement.run()
            if connection.changes == 0 {
                let stored = try store.freshRow(place.entity, place.key)
                if stored == nil, neverWas(object) {
                    lost.append(object.objectID)
                } else {
                    conflicts.append(NSMergeConflict(object, stored: stored))
                }
            }
        }
    }

    /// Whether an object is one that rows name and no table has, and that has only lost what led to it: nothing is to be written there.
    private func neverWas(_ object: NSManagedObject) -> Bool {
        guard object.flags.contains(.inaccessible) else { return false }
        return object.owningEntity.frozen!.properties.allSatisfy { property in
            guard object.changed.contains(property.slotIndex) else { return true }
            guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else { return false }
            guard case .toMany(let storage) = object.state(of: relationship) else { return true }
            return storage.differences.added.isEmpty
        }
    }

    // MARK: Inserting

    mutating func insert(_ rows: [Row]) throws {
        var start = 0
        while start < rows.count {
            let entity = rows[start].objectID.unsafelyUnwrapped.owningEntity
            var end = start + 1
            while end < rows.count, rows[end].objectID.unsafelyUnwrapped.owningEntity === entity { end += 1 }
            try insert(rows[start..<end], store.writer(entity))
            start = end
        }
    }

    private mutating func insert(_ rows: ArraySlice<Row>, _ writer: SQLEntityWriter) throws {
        let limit = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
        let together = max(1, min(Self.rowsPerInsert, limit / writer.columnCount))
        var index = rows.startIndex
        if rows.count >= together, together > 1 {
            try connection.with(writer.insert(together)) { statement in
                while index + together <= rows.endIndex {
                    try insert(rows[index..<index + together], writer, statement)
                    index += together
                }
            }
        }
        if index == rows.endIndex { return }
        try connection.with(writer.insert(1)) { statement in
            while index < rows.endIndex {
                try insert(rows[index..<index + 1], writer, statement)
                index += 1
            }
        }
    }

    private mutating func insert(_ rows: ArraySlice<Row>, _ writer: SQLEntityWriter, _ statement: SQLStatement) throws {
        store.scratch.reset()
        var index = 1
        for row in rows {
            guard case .integer(let key) = row.objectID.unsafelyUnwrapped.reference else { continue }
            try writer.derive(row)
            statement.bind(key, at: index)
            statement.bind(writer.entity.number, at: index + 1)
            statement.bind(row.version, at: index + 2)
            index = try writer.bind(
                writer.allSteps, of: row, to: statement, from: index + 3, scratch: store.scratch, orders: &orders, key: key)
        }
        store.scratch.bind(to: statement)
        try statement.run()
    }
}
