import BenchmarkSQLite
import CoreData
import Foundation

/// Migrations of a store, each beside what a program would write by hand to the same end.
struct MigrationRows {
    let count: Int
    let folder: URL
    private var filled: URL { folder.appendingPathComponent("filled.sqlite") }
    private var old: URL { folder.appendingPathComponent("old.sqlite") }
    private var new: URL { folder.appendingPathComponent("new.sqlite") }

    init(count: Int, directory: String) throws {
        self.count = count
        folder = URL(fileURLWithPath: directory)
        try MigrationVersions.fill(filled, count: count)
    }

    func benchmarks() throws -> [Benchmark] { inPlace + copied + byPolicies + (try openings()) }

    /// Puts the filled store where the next round migrates it, and removes what the last one has made.
    private func prepare() throws {
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where ["old.", "new.", ".old", ".new"].contains(where: file.lastPathComponent.hasPrefix) {
            try FileManager.default.removeItem(at: file)
        }
        try FileManager.default.copyItem(at: filled, to: old)
    }

    /// The sum of what a migrated store has, read by SQLite.
    private func sum(_ url: URL, _ text: String, _ more: String = "0") throws -> Int {
        let connection = try RawConnection(url.path)
        let sql = "SELECT count(*) + sum(ZVALUE) + sum(length(\(text))) + sum(ZBATCH) + sum(\(more)) FROM ZITEM"
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection.database, sql, -1, &statement, nil) == SQLITE_OK, sqlite3_step(statement) == SQLITE_ROW else {
            throw connection.failure
        }
        defer { sqlite3_finalize(statement) }
        return Int(sqlite3_column_int64(statement, 0))
    }

    private func migrate(_ change: MigrationVersions.Change) throws {
        let (context, store) = try MigrationVersions.open(old, MigrationVersions.model(change), migrating: true)
        try MigrationVersions.close(context, store)
    }

    private func row(
        _ group: String, _ name: String, target: Double? = nil, in url: URL, _ text: String, _ more: String = "0",
        _ body: @escaping () throws -> Void
    ) -> Benchmark {
        var row = Benchmark(group, name, target: target, setUp: prepare) {
            try body()
            return (0, nil)
        }
        row.verify = { try sum(url, text, more) }
        return row
    }

    // MARK: Inferred mappings

    private var inPlace: [Benchmark] {
        let group = "migrate \(count) rows in place, with a value that becomes required"
        return [
            row(group, "SQL by hand", in: old, "ZTEXT", "ZMORE") {
                let connection = try RawConnection(old.path)
                try connection.execute("PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA; PRAGMA cache_size=-65536")
                try connection.transaction { try connection.execute("UPDATE ZITEM SET ZMORE = 7 WHERE ZMORE IS NULL") }
            },
            row(group, "opening the store", target: 1.2, in: old, "ZTEXT", "ZMORE") { try migrate(.filled) },
        ]
    }

    private var copied: [Benchmark] {
        let group = "migrate \(count) rows into a copy, with numbers of another type"
        return [
            row(group, "INSERT … SELECT by hand", in: new, "ZLABEL") {
                let connection = try RawConnection(new.path)
                try connection.execute(
                    """
                    PRAGMA journal_mode=DELETE; PRAGMA auto_vacuum=2; PRAGMA synchronous=EXTRA; PRAGMA cache_size=-65536;
                    ATTACH '\(old.path)' AS old;
                    BEGIN;
                    CREATE TABLE ZBATCH (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER);
                    CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZMORE INTEGER, ZBATCH INTEGER, ZVALUE FLOAT,
                        ZLABEL VARCHAR);
                    INSERT INTO ZBATCH SELECT Z_PK, Z_ENT, Z_OPT, ZNUMBER FROM old.ZBATCH;
                    INSERT INTO ZITEM SELECT Z_PK, Z_ENT, Z_OPT, ZMORE, ZBATCH, CAST(ZVALUE AS REAL), ZTEXT FROM old.ZITEM;
                    CREATE INDEX ZITEM_ZBATCH_INDEX ON ZITEM (ZBATCH);
                    CREATE TABLE Z_METADATA AS SELECT * FROM old.Z_METADATA;
                    CREATE TABLE Z_PRIMARYKEY AS SELECT * FROM old.Z_PRIMARYKEY;
                    CREATE TABLE Z_MODELCACHE AS SELECT * FROM old.Z_MODELCACHE;
                    COMMIT
                    """)
            },
            row(group, "opening the store", target: 1.2, in: old, "ZLABEL") { try migrate(.copied) },
        ]
    }

    // MARK: Policies

    private var byPolicies: [Benchmark] {
        let group = "migrate \(count) objects, with a text that is changed"
        return [
            row(group, "fetching and creating by hand", in: new, "ZLABEL", byHand),
            row(group, "a migration manager with a policy", target: 1.5, in: new, "ZLABEL", byManager),
        ]
    }

    private func row(
        _ group: String, _ name: String, target: Double? = nil, in url: URL, _ text: String, _ body: @escaping () throws -> Void
    )
        -> Benchmark
    { row(group, name, target: target, in: url, text, "0", body) }

    private func byHand() throws {
        let (source, oldStore) = try MigrationVersions.open(old, MigrationVersions.model(.none))
        let (destination, newStore) = try MigrationVersions.open(new, MigrationVersions.model(.copied))
        var batches: [NSManagedObjectID: NSManagedObjectID] = [:]
        try source.performAndWait {
            try destination.performAndWait {
                func each(_ entity: String, _ body: (NSManagedObject) throws -> Void) throws {
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
                    request.resultType = .managedObjectIDResultType
                    let ids = try source.fetch(request)
                    for start in stride(from: 0, to: ids.count, by: 2000) {
                        let some = NSFetchRequest<NSManagedObject>(entityName: entity)
                        some.predicate = NSPredicate(format: "SELF IN %@", Array(ids[start..<min(start + 2000, ids.count)]))
                        for object in try source.fetch(some) { try body(object) }
                        try destination.save()
                        destination.reset()
                        source.reset()
                    }
                }
                try each("Batch") { batch in
                    let new = NSEntityDescription.insertNewObject(forEntityName: "Batch", into: destination)
                    new.setValue(batch.value(forKey: "number"), forKey: "number")
                    try destination.obtainPermanentIDs(for: [new])
                    batches[batch.objectID] = new.objectID
                }
                try each("Item") { item in
                    let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: destination)
                    new.setValue((item.value(forKey: "value") as? Int).map(Double.init), forKey: "value")
                    new.setValue((item.value(forKey: "text") as? String)?.uppercased(), forKey: "label")
                    new.setValue(item.value(forKey: "more"), forKey: "more")
                    if let batch = item.value(forKey: "batch") as? NSManagedObject, let id = batches[batch.objectID] {
                        new.setValue(destination.object(with: id), forKey: "batch")
                    }
                }
            }
        }
        try MigrationVersions.close(source, oldStore)
        try MigrationVersions.close(destination, newStore)
    }

    private func byManager() throws {
        let (source, destination) = (MigrationVersions.model(.none), MigrationVersions.model(.copied))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        for entity in mapping.entityMappings where entity.destinationEntityName == "Item" {
            entity.entityMigrationPolicyClassName = "UppercasePolicy"
        }
        try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
            from: old, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: new,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }

    // MARK: Many versions

    /// Opening a store of the last version but one, which reads the versions of the bundle to find its own.
    private func openings() throws -> [Benchmark] {
        let group = "open a store of the last version but one, 40 entities"
        return try [2, 30].map { versions in
            let place = folder.appendingPathComponent("versions \(versions)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            let (bundle, store) = try MigrationVersions.bundle(versions, entities: 40, in: place)
            let work = place.appendingPathComponent("work.sqlite")
            return Benchmark(group, "\(versions) versions in the bundle") {
                try? FileManager.default.removeItem(at: work)
                try FileManager.default.copyItem(at: store, to: work)
            } body: {
                let model = try NSManagedObjectModel(reading: bundle)
                let (context, store) = try MigrationVersions.open(work, model, migrating: true)
                try MigrationVersions.close(context, store)
                return (0, nil)
            }
        }
    }
}

/// Writes the text of each object in capitals.
final class UppercasePolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        made?.setValue((sInstance.value(forKey: "text") as? String)?.uppercased(), forKey: "label")
    }
}
