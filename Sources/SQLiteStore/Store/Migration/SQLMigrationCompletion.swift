internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// The common part of migrations in place and into a copy, on a connection whose main database becomes the newer version.
struct SQLMigrationCompletion {
    let plan: SQLMigrationPlan
    let mapping: InferredMapping
    var rules: MigrationRules
    var metadata: [String: Any]
    /// The largest keys by entity number, and the numbers of the history's entities.
    let highestKeys: [Int64: Int64]
    let store: URL

    /// The same without deferred steps: a copy is complete.
    var withoutDeferral: SQLMigrationCompletion {
        var whole = self
        whole.rules.deferred = false
        whole.metadata[SQLiteMigration.deferredKey] = nil
        return whole
    }

    /// The steps after all rows are there: each is done within a transaction.
    var steps: [(name: String, run: (SQLConnection) throws -> Void)] {
        var all: [(name: String, run: (SQLConnection) throws -> Void)] = []
        for step in plan.steps { all.append((step.name, { for sql in step.sql { try $0.execute(sql) } })) }
        if rules.forbiddenRows == .repair {
            for check in SQLMigrationChecks(plan, mapping).checks where !check.repair.isEmpty {
                all.append(("repair of \(check.properties)", { for sql in check.repair { try $0.execute(sql) } }))
            }
        }
        for (entity, attribute) in plan.derived {
            all.append(("\(entity.table.name).\(attribute.name)", { try derive(attribute, entity, $0) }))
        }
        return all
    }

    // MARK: Indexes and triggers

    /// Creates an index. A constraint that existing rows violate gets none.
    func create(_ index: SQLIndex, on connection: SQLConnection) throws {
        do {
            try connection.execute(index.sql)
        } catch let error as NSError where error.userInfo[NSSQLiteErrorDomain] as? Int == Int(SQLITE_CONSTRAINT) {
            guard rules.forbiddenRows == .keep else {
                throw CoreDataError.make(
                    NSMigrationConstraintViolationError, "The store at \(connection.path) cannot be migrated.",
                    reason: "Its rows violate a constraint: the index \(index.name.name) cannot be created.",
                    next: "Correct them with the old version, or choose to repair or to keep such rows.", cause: error,
                    info: [NSFilePathErrorKey: connection.path])
            }
            Log.store.notice(
                "The store at \(connection.path) does not enforce the constraint of \(index.name.name), which kept rows violate.")
        }
    }

    func createTriggers(on connection: SQLConnection) throws {
        for trigger in SQLDerivations(plan.destination).triggers { try connection.execute(trigger.sql) }
    }

    // MARK: Tables about the store

    /// Writes the entities, the metadata and the model.
    func describe(_ connection: SQLConnection) throws {
        try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
        try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < 16000; DELETE FROM Z_MODELCACHE")
        for entity in plan.destination.entities {
            var highest: Int64 = 0
            if entity.number == entity.rootNumber, let table = plan.tables.first(where: { $0.name == entity.table }) {
                let roots = plan.source.entities.filter { $0.table == table.source }.map(\.rootNumber)
                highest = roots.compactMap { highestKeys[$0] }.max() ?? 0
                let used = try connection.with("SELECT max(Z_PK) FROM \(entity.table)") { try $0.step() ? $0.int64(0) : 0 }
                highest = max(highest, used)
            }
            try connection.with("INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)") { statement in
                statement.bind(entity.number, at: 1)
                statement.bind(entity.entity.name ?? "", at: 2)
                statement.bind(entity.entity.superentity.flatMap { plan.destination.entity($0)?.number } ?? 0, at: 3)
                statement.bind(highest, at: 4)
                try statement.run()
            }
        }
        try SQLiteMetadata.write(newMetadata, to: connection)
        try SQLiteModelCache.write(mapping.destination, to: connection)
    }

    /// The metadata: those of the older version with the hashes of the newer one. An unchanged entity keeps the hash that the store was written with,
    /// which may be Apple's.
    private var newMetadata: [String: Any] {
        var made = SQLiteMetadata.make(for: plan.destination.entities.map(\.entity), of: mapping.destination)
        var hashes = made[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let written = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        for entity in mapping.entities where entity.kind == .copy {
            guard let new = entity.destination, let name = new.name, name == entity.source?.name, new.versionHash == new.ownVersionHash
            else {
                continue
            }
            if let hash = written[name] { hashes[name] = hash }
        }
        made[NSStoreModelVersionHashesKey] = hashes
        made["NSStoreModelVersionHashesDigest"] = NSManagedObjectModel.versionHashesDigest(of: hashes)
        made["NSStoreModelVersionChecksumKey"] = NSManagedObjectModel.versionChecksum(of: hashes)
        var result = metadata
        for key in made.keys where key != NSStoreUUIDKey && key != SQLiteMetadata.autoVacuumKey { result[key] = made[key] }
        result[StoreModelHashes.copyKey] = nil
        return result
    }

    // MARK: Derived attributes

    private func derive(_ attribute: NSDerivedAttributeDescription, _ entity: SQLEntity, _ connection: SQLConnection) throws {
        let condition = entity.condition(includingSubentities: true).map { " WHERE \($0)" } ?? ""
        switch SQLDerivations(plan.destination).derivation(of: attribute, entity) {
        case .none: return
        case .triggers(let triggers):
            guard let sql = triggers.first?.sql, let begin = sql.range(of: " BEGIN "), let end = sql.range(of: " END", options: .backwards)
            else { return }
            // The action of the trigger for a new row is applied to each existing row.
            let body = String(sql[begin.upperBound..<end.lowerBound])
                .replacing("NEW.Z_PK", with: "?1")
                .replacing(/NEW\.("(?:[^"]|"")*"|\w+)/) { "(SELECT \($0.1) FROM \(entity.table) WHERE Z_PK = ?1)" }
            try each("SELECT Z_PK FROM \(entity.table)\(condition)", connection) { row in
                let key = row.int64(0)
                try connection.with(body) { statement in
                    statement.bind(key, at: 1)
                    try statement.run()
                }
            }
        case .local:
            guard case .attribute(let place) = entity[attribute], let expression = attribute.derivationExpression else { return }
            let inputs = entity.entity.properties.compactMap { property -> (NSAttributeDescription, SQLAttribute)? in
                guard let input = property as? NSAttributeDescription, !(input is NSDerivedAttributeDescription), !input.isTransient,
                    case .attribute(let place) = entity[input]
                else { return nil }
                return (input, place)
            }
            let columns = (["Z_PK"] + inputs.map(\.1.column.sql)).joined(separator: ", ")
            let update = "UPDATE \(entity.table) SET \(place.column) = ? WHERE Z_PK = ?"
            try each("SELECT \(columns) FROM \(entity.table)\(condition)", connection) { row in
                var values: [String: Any] = [:]
                for (index, input) in inputs.enumerated() where !row.isNull(index + 1) {
                    switch input.1.storage {
                    case .integer, .boolean: values[input.0.name] = row.int64(index + 1)
                    case .double: values[input.0.name] = row.double(index + 1)
                    case .date: values[input.0.name] = Date(timeIntervalSinceReferenceDate: row.double(index + 1))
                    case .text: values[input.0.name] = row.text(index + 1)
                    case .data: values[input.0.name] = row.data(index + 1)
                    case .decimal:
                        values[input.0.name] = Decimal(string: row.text(index + 1), locale: Locale(identifier: "en_US_POSIX"))
                    case .externalData, .uuid, .uri, .transformable, .composite: continue
                    }
                }
                let result = try expression.value(with: values, context: nil)
                let stored = AttributeCheck.conform(result, to: attribute) ?? .null
                let key = row.int64(0)
                try connection.with(update) { statement in
                    switch stored {
                    case .integer(let number): statement.bind(number, at: 1)
                    case .double(let number): statement.bind(number, at: 1)
                    case .string(let text): statement.bind(text, at: 1)
                    case .data(let data): statement.bind(data, at: 1)
                    case .box(let box):
                        if let number = box.value as? Decimal {
                            try statement.bind(.decimal(number), at: 1)
                        } else {
                            statement.bindNull(at: 1)
                        }
                    default: statement.bindNull(at: 1)
                    }
                    statement.bind(key, at: 2)
                    try statement.run()
                }
            }
        }
    }

    /// Calls `body` for each row of a query that may change the rows.
    private func each(_ sql: String, _ connection: SQLConnection, _ body: (SQLStatement) throws -> Void) throws {
        // By keys: a query that continues while its rows are changed may return one twice.
        let ordered = sql + (sql.contains(" WHERE ") ? " AND" : " WHERE") + " Z_PK > ?1 ORDER BY Z_PK LIMIT 1"
        let query = try connection.statement(ordered)
        query.begin()
        defer { query.finish() }
        var last = Int64.min
        while true {
            query.bind(last, at: 1)
            guard try query.step() else { break }
            last = query.int64(0)
            try body(query)
            sqlite3_reset(query.handle)
        }
        sqlite3_reset(query.handle)
    }
}
