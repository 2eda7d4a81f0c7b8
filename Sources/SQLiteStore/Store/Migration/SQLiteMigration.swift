internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The migration of one store: reads the store's version, and chooses how to migrate it.
package struct SQLiteMigration {
    /// The metadata key of a store with parts of a migration still to do, which is Core Data's.
    static let deferredKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
    /// The maximum number of rows that are rewritten in place: more of them are copied, which can be resumed after a kill.
    static let inPlaceLimit: Int64 = 2_000_000
    /// The option for another limit: an `NSNumber`.
    package static let inPlaceLimitOption = "SQLiteMigrationInPlaceLimit"

    private let url: URL
    private let options: SQLiteOptions
    private let mapping: InferredMapping
    private let metadata: [String: Any]
    private let highestKeys: [Int64: Int64]
    private let plan: SQLMigrationPlan
    private let settings: [String]
    private let inPlaceLimit: Int64
    /// The tables with constraints in their declarations, as older versions of Core Data made them: only another table is without them.
    private let constrainedTables: Set<String>

    /// - Throws: Code 134020 for a file that lacks parts of the older version, and the errors of reading.
    init(
        _ url: URL, _ options: [AnyHashable: Any]?, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel,
        _ mapping: InferredMapping
    ) throws {
        self.url = url
        self.options = try SQLiteOptions(options)
        inPlaceLimit = (options?[Self.inPlaceLimitOption] as? NSNumber)?.int64Value ?? Self.inPlaceLimit
        self.mapping = mapping
        try source.freeze()
        try destination.freeze()
        let connection = try SQLiteFiles.connectForReading(url, timeout: self.options.timeout)
        metadata = try SQLiteMetadata.read(from: connection)
        let (old, new) = Self.entities(metadata, source, destination, mapping)
        var numbers: [String: Int64] = [:]
        var highest: [Int64: Int64] = [:]
        for row in try connection.texts("SELECT Z_NAME, Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", .opening) {
            guard let name = row[0], let number = row[1].flatMap(Int64.init) else { continue }
            if numbers[name] == nil { numbers[name] = number }
            highest[number] = row[2].flatMap(Int64.init) ?? 0
        }
        let tables = try SQLiteOpening.tables(in: connection)
        let schema = SQLSchema(model: source, entities: old, numbers: numbers, fileTables: tables)
        let missing = SQLiteOpening.missing(schema, in: tables)
        guard missing.isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "The store at \(url.path) cannot be migrated.",
                reason: "It lacks \(missing.joined(separator: ", ")), so it is not of the older version.",
                next: "Give the model that it was written with.", info: [NSFilePathErrorKey: url.path])
        }
        for table in schema.tables {
            guard let root = schema.entities.first(where: { $0.table == table.name })?.rootNumber else { continue }
            let used = try connection.with("SELECT max(Z_PK) FROM \(table.name)") { try $0.step() ? $0.int64(0) : 0 }
            highest[root] = max(highest[root] ?? 0, used)
        }
        highestKeys = highest
        constrainedTables = Set(
            try connection.texts(
                "SELECT DISTINCT lower(m.name) FROM sqlite_master m JOIN pragma_index_list(m.name) l "
                    + "WHERE m.type = 'table' AND m.name LIKE 'Z%' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND l.origin = 'u'"
            ).compactMap { $0[0] })
        // The history contains the numbers of removed entities.
        let history = try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'ACHANGE'")
        var last = numbers.values.max() ?? 0
        if !history.isEmpty {
            last = max(
                last, try connection.with("SELECT max(ZENTITY) FROM ACHANGE WHERE ZENTITY < 16000") { try $0.step() ? $0.int64(0) : 0 })
        }
        let wanted = SQLMigrationPlanner.destinationSchema(
            of: destination, entities: new, source: schema, highestNumber: last, mapping: mapping)
        var planner = SQLMigrationPlanner(source: schema, destination: wanted, mapping: mapping)
        plan = try planner.make()
        var settings: [String] = []
        for pragma in ["page_size", "encoding", "auto_vacuum", "user_version", "application_id"] {
            guard let value = try connection.texts("PRAGMA \(pragma)").first?.first.flatMap({ $0 }) else { continue }
            settings.append("PRAGMA main.\(pragma) = \(pragma == "encoding" ? "'\(value)'" : value)")
        }
        self.settings = settings
    }

    /// Returns the entities that the store holds, in both versions: those of a configuration if it is limited to one.
    private static func entities(
        _ metadata: [String: Any], _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ mapping: InferredMapping
    ) -> (old: [NSEntityDescription], new: [NSEntityDescription]) {
        guard let written = StoreModelHashes(metadata)?.written, !written.isEmpty else { return (source.entities, destination.entities) }
        let names = Set(written.keys)
        if names.isSuperset(of: source.entities.compactMap(\.name)) { return (source.entities, destination.entities) }
        let old = source.entities.filter { names.contains($0.name ?? "") }
        let configuration = source.configurations.first { name in
            Set((source.entities(forConfigurationName: name) ?? []).compactMap(\.name)) == names
        }
        if let configuration, let new = destination.entities(forConfigurationName: configuration) { return (old, new) }
        let kept = Set(old.map(ObjectIdentifier.init))
        let new = mapping.entities.filter { $0.source.map { kept.contains(ObjectIdentifier($0)) } ?? false }.compactMap(\.destination)
        return (old, new)
    }

    // MARK: Estimating

    private func isInPlace(deferred: Bool) -> Bool {
        guard plan.canStayInPlace else { return false }
        let isConstrained = mapping.entities.contains { entity in
            guard entity.kind != .copy, let old = entity.source.flatMap(plan.source.entity) else { return false }
            return constrainedTables.contains(old.table.name.lowercased())
        }
        if isConstrained { return false }
        // Earlier versions of SQLite cannot drop columns.
        if sqlite3_libversion_number() < 3_035_000 { return false }
        return SQLMigrationInPlace.rewrittenRows(plan, highestKeys: highestKeys, deferred: deferred) <= inPlaceLimit
    }

    func estimate() throws -> MigrationEstimate {
        let connection = try SQLiteFiles.connectForReading(url, timeout: options.timeout)
        try SQLMigrationFunctions.register(on: connection, store: url)
        func count(_ entity: SQLEntity) throws -> Int {
            let condition = entity.isAlone ? "" : " WHERE Z_ENT = \(entity.number)"
            return try connection.with("SELECT count(*) FROM \(entity.table)\(condition)") { try $0.step() ? Int($0.int64(0)) : 0 }
        }
        return try connection.reading {
            var rows: [String: Int] = [:]
            for entity in mapping.entities {
                guard let new = entity.destination?.name, let old = entity.source.flatMap(plan.source.entity) else { continue }
                rows[new] = try count(old)
            }
            var deleted: [String: Int] = [:]
            for entity in plan.removed { deleted[entity.entity.name ?? ""] = try count(entity) }
            let found = try SQLMigrationChecks(plan, mapping).forbidden(in: connection, uuid: uuid, limit: 1000)
            let isInPlace = isInPlace(deferred: false)
            let size = try connection.texts("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()").first?.first
            let bytes = size.flatMap { $0 }.flatMap(Int64.init) ?? 0
            // A copy has at most the pages of the old file, and values for new columns; the journal at most all of them.
            let writes = SQLMigrationInPlace.rewrittenRows(plan, highestKeys: highestKeys, deferred: false)
            let needed = isInPlace ? (writes == 0 ? 1 << 20 : bytes + 1 << 20) : bytes + bytes / 4 + 1 << 20
            return MigrationEstimate(
                isInPlace: isInPlace, rows: rows, deletedRows: deleted, bytes: needed, forbiddenCount: found.count, forbidden: found.rows)
        }
    }

    private var uuid: String { metadata[NSStoreUUIDKey] as? String ?? "" }

    // MARK: Migrating

    func run(_ rules: MigrationRules, _ work: SQLMigrationWork) throws {
        try work.checkCancellation()
        let timeout = min(options.timeout, 5)
        let connection = try SQLiteFiles.connectForWriting(url, timeout: timeout, creates: false)
        try SQLiteFileMove.takeAlone(connection, url)
        try SQLMigrationFunctions.register(on: connection, store: url)
        if rules.forbiddenRows == .fail {
            let found = try work.interrupting(connection) {
                try SQLMigrationChecks(plan, mapping).forbidden(in: connection, uuid: uuid, limit: 100)
            }
            if found.count > 0 { throw SQLMigrationChecks.error(url.path, found) }
        }
        var metadata = metadata
        let isInPlace = isInPlace(deferred: rules.deferred)
        if rules.deferred, isInPlace { metadata[Self.deferredKey] = true } else { metadata[Self.deferredKey] = nil }
        let completion = SQLMigrationCompletion(
            plan: plan, mapping: mapping, rules: rules, metadata: metadata, highestKeys: highestKeys, store: url)
        if isInPlace {
            SQLMigrationCopy.remove(of: url)
            do { return try migrateInPlace(completion, connection, work) } catch let error as NSError {
                // An object that others have added to the file may refer to a dropped column: the migration then makes a copy without it.
                guard error.userInfo[NSSQLiteErrorDomain] as? Int == Int(SQLITE_ERROR) else { throw error }
                Log.store.notice("The store at \(url.path) is copied: \(error.localizedDescription)")
            }
        }
        try migrateIntoCopy(completion, connection, rules, work)
    }

    private func migrateInPlace(_ completion: SQLMigrationCompletion, _ connection: SQLConnection, _ work: SQLMigrationWork) throws {
        work.progress?.totalUnitCount = 1
        try SQLTriggerFunctions.register(on: connection)
        try work.interrupting(connection) {
            try connection.execute("PRAGMA cache_size = -65536")
            try connection.transaction {
                try SQLMigrationInPlace(completion, on: connection).run()
                try work.checkCancellation()
            }
        }
        work.progress?.completedUnitCount = 1
    }

    private func migrateIntoCopy(
        _ completion: SQLMigrationCompletion, _ connection: SQLConnection, _ rules: MigrationRules, _ work: SQLMigrationWork
    ) throws {
        if let progress = work.progress {
            progress.totalUnitCount = max(1, plan.tables.reduce(0) { $0 + (highestKey(of: $1) ?? 0) })
            progress.completedUnitCount = 0
        }
        let copy = SQLMigrationCopy(
            completion: completion.withoutDeferral, url: url, fingerprint: try fingerprint(connection, rules),
            timeout: min(options.timeout, 5), settings: settings,
            work: work)
        // The copy takes the lock over.
        try connection.execute("PRAGMA locking_mode = NORMAL")
        _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1")
        do { try copy.run() } catch {
            SQLMigrationCopy.remove(of: url)
            throw error
        }
        if let progress = work.progress { progress.completedUnitCount = progress.totalUnitCount }
    }

    private func highestKey(of table: SQLMigrationPlan.Table) -> Int64? {
        plan.source.entities.first { $0.table == table.source }.flatMap { highestKeys[$0.rootNumber] }
    }

    /// Returns the fingerprint of a copy's inputs: the content of the file, both versions, and the rules.
    private func fingerprint(_ connection: SQLConnection, _ rules: MigrationRules) throws -> String {
        let old = NSManagedObjectModel.versionHashesDigest(of: own(plan.source.entities))
        let new = NSManagedObjectModel.versionHashesDigest(of: own(plan.destination.entities))
        let layout = plan.destination.definition.joined(separator: "\n") + plan.tables.map { "\($0)" }.joined()
        return [
            "1", uuid, old, new, "\(rules.forbiddenRows)", try SQLiteFileMove.stamp(connection, url),
            "\(layout.utf8.reduce(into: UInt64(5381)) { $0 = $0 &* 33 &+ UInt64($1) })",
        ].joined(separator: " ")
    }

    private func own(_ entities: [SQLEntity]) -> [String: Data] {
        Dictionary(entities.map { ($0.entity.name ?? "", $0.entity.ownVersionHash) }, uniquingKeysWith: { first, _ in first })
    }
}
