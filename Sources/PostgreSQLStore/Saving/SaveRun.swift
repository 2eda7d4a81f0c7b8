#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// One attempt to save, within its transaction.
struct SaveRun {
    let content: StoreContent
    let connection: Connection
    let changes: StoreChangeSet
    /// Whether the transaction ends with the last statements: the server itself then refuses changes to rows that others have changed.
    private let commitsAtOnce: Bool
    /// Whether the BEGIN was sent. Statements that are sent together are a transaction without it.
    private var isBegun = false
    private var notes: HistoryNotes
    var orders = SQLOrderPositions()
    /// The statements to send with the next round trip.
    private var calls: [Call] = []
    /// The place of the statement that the notes check.
    private var mark: Int?
    /// The expected row count of each call, with the changes that it writes.
    private var checks: [(call: Int, expected: Int, changes: [StoreChange])] = []
    /// The objects that others have changed or deleted.
    private var mismatched: [StoreChange] = []
    /// Rows that are written together are copied from this number on.
    private static let copyThreshold = 100
    /// The number of bytes that are copied at once.
    private static let copySize = 1 << 16
    /// The number of statements that are sent at once.
    private static let callLimit = 2000

    /// The maximum number of changes with which the last statements are sent together with the commit: for more, letting the server count rows takes
    /// it longer than one more round trip.
    private static let atOnceLimit = 20

    private init(
        _ content: StoreContent, _ connection: Connection, _ changes: StoreChangeSet, commit: UUID, for caller: StoreCaller, atOnce: Bool
    ) {
        (self.content, self.connection, self.changes, commitsAtOnce) = (content, connection, changes, atOnce)
        notes = HistoryNotes(content.history, commit, caller)
    }

    /// Writes everything: up to the commit, or, for a small save, including it.
    ///
    /// - Parameters:
    ///   - metadata: The metadata to write; nil for none.
    ///   - commit: The ID of the transaction, which tells whether the commit succeeded if its answer is lost.
    /// - Returns: How far the transaction has come.
    /// - Throws: ``StoreConflicts``; the errors of the server.
    static func write(
        _ changes: StoreChangeSet, _ metadata: Data?, _ content: StoreContent, _ connection: Connection, commit: UUID,
        for caller: StoreCaller
    ) async throws -> TransactionEnd {
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count + changes.locked.count
        if count <= atOnceLimit {
            var run = SaveRun(content, connection, changes, commit: commit, for: caller, atOnce: true)
            do { return try await run.write(metadata) } catch let error as ServerError where error.isUnexpectedCount {
                // Retries statement by statement, to find out which rows others have changed.
                if connection.isInTransaction { try await connection.execute("ROLLBACK", isCancellable: false) }
            }
        }
        var run = SaveRun(content, connection, changes, commit: commit, for: caller, atOnce: false)
        return try await run.write(metadata)
    }

    var schema: SQLSchema { content.schema }

    private mutating func write(_ metadata: Data?) async throws -> TransactionEnd {
        calls = [commitsAtOnce ? notes.checkedMark : notes.mark]
        if !commitsAtOnce { mark = 0 }
        if content.hasUniqueness || !changes.returning.isEmpty {
            try await send()
            try await checkConflicts()
        }
        try await prepareOrders()
        try await delete()
        for part in [changes.updated, changes.locked] { try await update(part) }
        try await insert()
        try await writeRelationships()
        for (column, places) in orders.remaining {
            let (keys, numbers) = (places.map(\.key), places.map(\.value))
            add(
                "UPDATE \(column.table) SET \(column.name) = new.place FROM unnest($1, $2) AS new(id, place) WHERE \(column.table).id = new.id",
                [.keys(keys), .keys(numbers)])
        }
        if let metadata { add("UPDATE \(PostgreSQLTables.metadata) SET metadata = $1", [.bytes(metadata)]) }
        calls += notes.statements()
        if commitsAtOnce {
            do {
                if let alone = onlyWriting { try await sendAlone(alone) } else { try await sendLast() }
            } catch let error as ServerError where error.isConnectionLost { return .lost(error) }
            return .committed
        }
        try await send()
        if !mismatched.isEmpty { throw StoreConflicts(try await versionConflicts(mismatched)) }
        return .open
    }

    // MARK: Sending

    mutating func add(_ sql: String, _ values: [BinaryValue]) { calls.append(Call(sql, values)) }

    /// Adds a statement that writes as many rows as there are changes, unless others have written them.
    private mutating func add(_ call: Call, writing changes: [StoreChange]) {
        checks.append((calls.count, changes.count, changes))
        calls.append(call)
    }

    /// The statement that writes one row, if nothing else is written.
    private var onlyWriting: Call? {
        guard calls.count == 2, !isBegun, !notes.isKept, checks.count == 1, checks[0].call == 1, checks[0].expected == 1 else { return nil }
        return calls[1]
    }

    /// Makes the server itself refuse a statement that writes fewer rows than there are changes.
    private mutating func expectCounts() {
        for check in checks { calls[check.call] = calls[check.call].expecting(check.expected) }
        checks = []
    }

    private mutating func send() async throws {
        if commitsAtOnce { expectCounts() }
        var results = try await connection.run(isBegun ? calls : [Call("BEGIN")] + calls, isCancellable: false)
        if !isBegun { results.removeFirst() }
        isBegun = true
        if let mark { try notes.check(results[mark]) }
        mark = nil
        for check in checks where results[check.call].changedCount != check.expected { mismatched += check.changes }
        calls = []
        checks = []
    }

    /// Sends the gathered statements, and commits.
    private mutating func sendLast() async throws {
        expectCounts()
        try await connection.run(isBegun ? calls + [Call("COMMIT")] : calls, isCancellable: false)
    }

    /// Sends the only statement that writes a row together with the commit's row, as one statement: if it writes no row, nothing is written.
    private func sendAlone(_ call: Call) async throws {
        let results = try await connection.run([notes.checkedMark(after: call)], isCancellable: false)
        guard results.last?.changedCount == 1 else { throw ServerError.unexpectedCount }
    }

    /// Sends the gathered statements, and returns the result of one more.
    private mutating func query(_ sql: String, _ values: [BinaryValue]) async throws -> QueryResult {
        try await send()
        return try await connection.query(sql, values, isCancellable: false)
    }

    mutating func sendIfMany() async throws { if calls.count >= Self.callLimit { try await send() } }

    func key(of id: NSManagedObjectID, for property: NSPropertyDescription) throws -> Int64 {
        guard let key = content.key(of: id) else { throw EntityWriter.elsewhere(id, property) }
        return key
    }

    private func key(of id: NSManagedObjectID) throws -> Int64 { try content.savedKey(of: id) }

    // MARK: Conflicts

    /// Throws if objects violate a uniqueness constraint, or are restored although they exist. If others have changed objects of the save, those are
    /// the conflict instead.
    private mutating func checkConflicts() async throws {
        var constraints: StoreConflicts?
        if content.hasUniqueness {
            do { try await UniqueOwners(content, connection).check(changes) } catch let conflicts as StoreConflicts {
                constraints = conflicts
            }
        }
        let back = try await content.readRows(changes.returning, over: connection).all()
        if constraints == nil, back.isEmpty { return }
        var versions = back.map { StoreConflicts.Version($0.knownObjectID, stored: $0) }
        versions += try await versionConflicts(changes.updated + changes.deleted + changes.locked)
        if let constraints, versions.isEmpty { throw constraints }
        throw StoreConflicts(versions)
    }

    /// Returns the conflicts of changes whose rows others have changed or deleted.
    private func versionConflicts(_ changes: [StoreChange]) async throws -> [StoreConflicts.Version] {
        let known = changes.filter { $0.baseVersion != nil }
        let rows = try await content.readRows(known.map(\.objectID), over: connection).all()
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        return known.compactMap { change in
            let row = byID[change.objectID]
            if let row, row.version == change.baseVersion { return nil }
            return StoreConflicts.Version(change.objectID, stored: row)
        }
    }

    // MARK: Objects

    private mutating func delete() async throws {
        var groups: [ObjectIdentifier: (entity: SQLEntity, changes: [StoreChange])] = [:]
        try changes.deleted.forEachRun { description, range in
            let entity = try content.sqlEntity(description)
            groups[ObjectIdentifier(entity), default: (entity, [])].changes += changes.deleted[range]
        }
        for (entity, deleted) in groups.values {
            let keys = try deleted.map { try key(of: $0.objectID) }
            for (index, property) in entity.properties.enumerated() {
                guard case .toMany(let place) = property else { continue }
                switch place {
                case .join(let join):
                    add("DELETE FROM \(join.table) WHERE \(join.own) = ANY($1)", [.keys(keys)])
                    if join.isReflexive { add("DELETE FROM \(join.table) WHERE \(join.other) = ANY($1)", [.keys(keys)]) }
                case .foreignKey(let foreign):
                    let relationship = entity.entity.frozenParts.properties[index] as? NSRelationshipDescription
                    guard relationship?.storedInverse == nil else { continue }
                    add("UPDATE \(foreign.table) SET \(foreign.column) = NULL WHERE \(foreign.column) = ANY($1)", [.keys(keys)])
                }
            }
            if let recording = notes.deletion(of: keys, entity) {
                calls.append(recording)
            } else {
                for key in keys { notes.note(.delete, entity.number, key) }
            }
            let (read, unread) = (deleted.filter { $0.baseVersion != nil }, deleted.filter { $0.baseVersion == nil })
            if !unread.isEmpty {
                add("DELETE FROM \(entity.table) WHERE id = ANY($1)", [.keys(try unread.map { try key(of: $0.objectID) })])
            }
            if !read.isEmpty {
                add(
                    Call(
                        "DELETE FROM \(entity.table) USING unnest($1, $2) AS old(id, version) "
                            + "WHERE \(entity.table).id = old.id AND \(entity.table).version = old.version",
                        [.keys(try read.map { try key(of: $0.objectID) }), .keys(read.map { $0.baseVersion ?? 0 })]), writing: read)
            }
            try await sendIfMany()
        }
    }

    private mutating func update(_ part: [StoreChange]) async throws {
        for change in part {
            guard let row = change.row else { continue }
            let writer = try content.writer(change.entity)
            let call = try writer.update(change, row, key: key(of: change.objectID), orders: &orders)
            if isUnsavedReference(change) {
                calls.append(call)
            } else {
                add(call, writing: [change])
                notes.note(.update, writer.entity.number, try key(of: change.objectID), updated: change.changedProperties)
            }
            try await sendIfMany()
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

    private mutating func insert() async throws {
        var runs: [(NSEntityDescription, Range<Int>)] = []
        changes.inserted.forEachRun { runs.append(($0, $1)) }
        for (description, range) in runs {
            let writer = try content.writer(description)
            if range.count >= Self.copyThreshold {
                try await send()
                try await copy(range, writer)
                continue
            }
            for index in range {
                guard let row = changes.inserted[index].row else { continue }
                let key = try self.key(of: changes.inserted[index].objectID)
                add(writer.insert, try writer.values(of: row, key: key, orders: &orders))
                notes.note(.insert, writer.entity.number, key)
            }
            try await sendIfMany()
        }
    }

    /// Copies new rows: the server takes them in while further ones are made.
    private mutating func copy(_ range: Range<Int>, _ writer: EntityWriter) async throws {
        // For each row, the closure would copy all of `self` to read these from it.
        let inserted = changes.inserted
        let content = content
        var next = range.lowerBound
        try await connection.copy(writer.copy) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Self.copySize + 4096)
            while next < range.upperBound, bytes.count < Self.copySize {
                defer { next += 1 }
                guard let slots = inserted[next].rowSlots else { continue }
                // The changes hold the row.
                try Row.with(slots) { row in
                    let key = try row.number(ofStoreWith: content.token) ?? content.savedKey(of: row.knownObjectID)
                    try writer.appendCopy(of: row, key: key, orders: &orders, to: &bytes)
                    notes.note(.insert, writer.entity.number, key)
                }
            }
            return bytes.isEmpty ? nil : bytes
        }
    }

    // MARK: Positions

    /// Assigns the positions in changed ordered relationships, before anything is written.
    private mutating func prepareOrders() async throws {
        guard schema.hasOrders else { return }
        for (part, areNew) in [(changes.inserted, true), (changes.updated, false)] {
            for change in part where !change.lists.isEmpty {
                for difference in change.lists {
                    guard let ids = difference.members, let entity = schema.entity(change.entity),
                        case .toMany(.foreignKey(let place)) = entity.properties[difference.slotIndex], let column = place.orderColumn
                    else { continue }
                    let relationship = relationship(difference, of: change)
                    let members = try ids.map { try key(of: $0, for: relationship) }
                    let known =
                        areNew
                        ? [:]
                        : try await knownPlaces(
                            "SELECT id, \(column) FROM \(place.table) WHERE \(place.column) = $1",
                            key(of: change.objectID, for: relationship))
                    for (key, order) in zip(members, SQLOrderPositions.places(members.map { known[$0] })) {
                        orders.set(order, known: known[key], column, key, in: place.table)
                    }
                }
            }
        }
    }

    func relationship(_ difference: ListDifference, of change: StoreChange) -> NSRelationshipDescription {
        change.entity.frozenParts.properties[difference.slotIndex] as! NSRelationshipDescription
    }

    mutating func knownPlaces(_ sql: String, _ owner: Int64) async throws -> [Int64: Int64] {
        let result = try await query(sql, [.integer(owner)])
        var places: [Int64: Int64] = [:]
        for row in 0..<result.rowCount where !result.isNull(row, 1) { places[result.integer(row, 0)] = result.integer(row, 1) }
        return places
    }
}
#endif
