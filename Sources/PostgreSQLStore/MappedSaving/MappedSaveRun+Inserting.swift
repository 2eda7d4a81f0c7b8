#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension MappedSaveRun {
    /// A change, and properties of it that are written later.
    typealias Postponed = (change: StoreChange, slots: Set<Int>)

    /// Inserts the new rows, each after those that it refers to.
    ///
    /// - Returns: What refers to each other, to be written when all rows are there.
    /// - Throws: Code 134030 where nothing can be inserted first.
    mutating func insert() async throws -> [Postponed] {
        try await send()
        var left: [(change: StoreChange, needs: [Int: NSManagedObjectID])] = try changes.inserted.map { change in
            (change, try needs(of: change))
        }
        let new = Set(changes.inserted.map(\.objectID))
        for index in left.indices { left[index].needs = left[index].needs.filter { new.contains($0.value) } }
        var postponed: [Postponed] = []
        var done: Set<NSManagedObjectID> = []
        while !left.isEmpty {
            var level: [(change: StoreChange, omitted: Set<Int>)] = []
            var rest: [(change: StoreChange, needs: [Int: NSManagedObjectID])] = []
            for entry in left {
                if entry.needs.values.allSatisfy(done.contains) { level.append((entry.change, [])) } else { rest.append(entry) }
            }
            if level.isEmpty {
                // All refer to each other: one begins whose reference may be NULL meanwhile.
                guard let index = try rest.firstIndex(where: { try isPostponable($0, done) }) else { throw circular(rest.map(\.change)) }
                let entry = rest.remove(at: index)
                let open = Set(entry.needs.filter { !done.contains($0.value) }.keys)
                level = [(entry.change, open)]
                postponed.append((entry.change, open))
            }
            try await insert(level)
            done.formUnion(level.map(\.change.objectID))
            left = rest
        }
        return postponed
    }

    /// Returns the to-one relationships of a new row, by slot index.
    private func needs(of change: StoreChange) throws -> [Int: NSManagedObjectID] {
        guard let row = change.row else { return [:] }
        let table = mapping.table(try content.sqlEntity(change.entity))
        var needs: [Int: NSManagedObjectID] = [:]
        for (slot, value) in table.values {
            if case .toOne = value, let id = row.objectID(at: row.layout.slots[slot]) { needs[slot] = id }
        }
        return needs
    }

    private func isPostponable(_ entry: (change: StoreChange, needs: [Int: NSManagedObjectID]), _ done: Set<NSManagedObjectID>) throws
        -> Bool
    {
        let table = mapping.table(try content.sqlEntity(entry.change.entity))
        return entry.needs.allSatisfy { slot, id in
            guard !done.contains(id), case .toOne(let key)? = table.values[slot] else { return true }
            return key.columns.allSatisfy { !$0.isRequired }
        }
    }

    private func circular(_ changes: [StoreChange]) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "New objects cannot be saved.",
            reason: "They refer to each other, and no column of their references may be NULL, so that none can be the first.",
            next: "Save some of them before others.", info: [NSAffectedObjectsErrorKey: changes.map(\.objectID)])
    }

    private mutating func insert(_ level: [(change: StoreChange, omitted: Set<Int>)]) async throws {
        for part in stride(from: 0, to: level.count, by: 1000).map({ level[$0..<min($0 + 1000, level.count)] }) {
            for (change, omitted) in part {
                let entity = try content.sqlEntity(change.entity)
                let call = try insertion(change, omitted, entity, mapping.table(entity))
                calls.append(call)
            }
            let results = try await send()
            for ((change, _), result) in zip(part, results) {
                let table = mapping.table(try content.sqlEntity(change.entity))
                guard result.rowCount == 1 else {
                    throw CoreDataError.make(
                        NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.",
                        reason: "The database inserted no row: a rule or a trigger of \(table.relation.name) prevents it.")
                }
                if change.objectID.isTemporaryID {
                    assigned[change.objectID] = NSManagedObjectID(
                        entity: change.entity, token: content.token, reference: table.key.kind.reference(result, 0, 0))
                }
            }
        }
    }

    /// Returns the statement that inserts a row, and returns its key.
    private func insertion(_ change: StoreChange, _ omitted: Set<Int>, _ entity: SQLEntity, _ table: MappedTable) throws -> Call {
        guard let row = change.row else { return Call("SELECT NULL WHERE false") }
        var values = MappedValues()
        for (slot, value) in table.values.sorted(by: { $0.key < $1.key }) where !omitted.contains(slot) {
            try add(value, slot, row, base: nil, entity, table, to: &values)
        }
        if !change.objectID.isTemporaryID {
            // The object comes back under the key that it had.
            let parameter = values.bind(try key(of: change, table))
            for (column, value) in table.key.written(parameter) { values.set(column, value) }
        }
        for column in table.key.columns where !column.hasDefault && !values.contains(column.name) {
            guard table.key.kind == .uuid else { throw keyless(change, column, table) }
            values.set(column.name, values.bind(.uuid(UUID())))
        }
        let alias = MappedTable.alias
        let returned = "RETURNING \(table.key.selected(of: alias))"
        if values.assignments.isEmpty { return Call("INSERT INTO \(table.sql) AS \(alias) DEFAULT VALUES \(returned)") }
        let isForced = table.relation.columns.contains { column in
            if case .identity(isStrict: true) = column.source { values.contains(column.name) } else { false }
        }
        let names = values.assignments.map { LayoutNames.identifier($0.column).sql }.joined(separator: ", ")
        return Call(
            "INSERT INTO \(table.sql) AS \(alias) (\(names)) \(isForced ? "OVERRIDING SYSTEM VALUE " : "")"
                + "VALUES (\(values.assignments.map(\.value).joined(separator: ", "))) \(returned)", values.parameters)
    }

    private func keyless(_ change: StoreChange, _ column: CatalogueColumn, _ table: MappedTable) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.",
            reason: "\(table.relation.name).\(column.name) is a part of its key, and neither the object nor the database gives it a value.",
            next: "Set the property of the column.", info: [NSAffectedObjectsErrorKey: [change.objectID]])
    }
}
#endif
