#if PostgreSQL
import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import PostgreSQLStore

/// What migrations do to programs that write meanwhile.
@Suite("Migration beside others") struct IndexBuildingTests {
    private static func model(isNew: Bool) -> NSManagedObjectModel {
        let item = NSEntityDescription(name: "Item")
        item.properties = [
            NSAttributeDescription(name: "label", type: .string), NSAttributeDescription(name: "weight", type: .integer64),
        ]
        if isNew {
            item.properties.append(NSAttributeDescription(name: "note", type: .string))
            item.indexes = [
                NSFetchIndexDescription(
                    name: "byWeight",
                    elements: [NSFetchIndexElementDescription(property: item.properties[1], collationType: .binary)])
            ]
        }
        return NSManagedObjectModel(entities: [item])
    }

    /// Makes a store of the older version with rows.
    ///
    /// - Returns: Options that migrate it.
    private static func filled(_ url: String) async throws -> PostgreSQLStoreOptions {
        var options = freshOptions()
        let context = context(try await coordinator(options, model(isNew: false), url: url))
        try await context.perform {
            for number in 0..<500 { context.insert("Item", ["label": "\(number)", "weight": number]) }
            try context.save()
        }
        options.migratesAutomatically = true
        return options
    }

    /// The builder of the index, as long as it waits for those that see an older state.
    private static let waiting =
        "SELECT pid FROM pg_stat_progress_create_index WHERE relid = 'item'::regclass AND phase = 'waiting for old snapshots'"

    private static func builder(_ raw: ConnectionPool, otherThan other: Int64 = 0) async throws -> Int64 {
        let sql = "\(waiting) AND pid <> \(other)"
        try await raw.wait(for: sql)
        return try await raw.with { try await $0.query(sql).integer(0, 0) }
    }

    /// Whether the index is there and complete; nil where it is not there.
    private static func isValid(_ raw: ConnectionPool) async throws -> Bool? {
        let sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('item_by_weight_index')"
        let result = try await raw.with { try await $0.query(sql) }
        return result.rowCount == 0 ? nil : result.integer(0, 0) != 0
    }

    /// Whether a migration has left something to be done.
    private static func hasNotes(_ raw: ConnectionPool) async throws -> Bool {
        try await raw.with { try await $0.query("SELECT to_regclass('coredata_indexes') IS NOT NULL").integer(0, 0) != 0 }
    }

    private static func insert(_ raw: ConnectionPool) async throws {
        // Who has to wait is told so.
        try await raw.with { try await $0.execute("SET lock_timeout = '20s'; INSERT INTO item (label, weight) VALUES ('other', -1)") }
    }

    @Test(
        "An index on a filled table is built while others write; one whose builder was stopped is built again, by whoever opens the store next"
    )
    func concurrently() async throws {
        let url = try await server().database()
        let options = try await Self.filled(url)
        let raw = try rawPool(options, limit: 4, url: url)
        defer { raw.close() }
        // Others see a state from before, for which the builder waits.
        let held = try await HeldTransaction(raw, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        let opening = Task { _ = try await coordinator(options, Self.model(isNew: true), url: url) }
        let first = try await Self.builder(raw)
        #expect(try await Self.isValid(raw) == false)
        try await Self.insert(raw)
        // A builder that is lost is followed by another.
        _ = try await raw.with { try await $0.query("SELECT pg_terminate_backend($1::integer)", [.integer(first)]) }
        _ = try await Self.builder(raw, otherThan: first)
        // The program is stopped.
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
        #expect(try await Self.isValid(raw) == false)
        try await Self.insert(raw)
        try await held.release()
        let context = context(try await coordinator(options, Self.model(isNew: true), url: url))
        #expect(try await Self.isValid(raw) == true)
        // Nothing is left to be done.
        #expect(try await !Self.hasNotes(raw))
        let count = try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "weight == -1 AND note == nil")
            return try context.count(for: request)
        }
        expect(count, equals: 2)
    }

    @Test("A migration that waits for another program's transaction lets others write meanwhile") func queue() async throws {
        let url = try await server().database()
        let options = try await Self.filled(url)
        let raw = try rawPool(options, limit: 4, url: url)
        defer { raw.close() }
        let held = try await HeldTransaction(raw, "SELECT count(*) FROM item")
        let opening = Task { _ = try await coordinator(options, Self.model(isNew: true), url: url) }
        try await raw.wait(for: "SELECT 1 FROM pg_locks WHERE relation = 'item'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted")
        try await Self.insert(raw)
        #expect(try await Self.isValid(raw) == nil)
        try await held.release()
        try await opening.value
        #expect(try await Self.isValid(raw) == true)
    }

    @Test("Behind PgBouncer, the migration itself builds the indexes", .enabled(if: Pooler.isInstalled)) func pooled() async throws {
        let url = try Pooler.shared.get().url
        let options = try await Self.filled(url)
        _ = try await coordinator(options, Self.model(isNew: true), url: url)
        let raw = try rawPool(options)
        defer { raw.close() }
        #expect(try await Self.isValid(raw) == true)
        #expect(try await !Self.hasNotes(raw))
    }

    @Test("A dry run shows the indexes as they are built") func dryRun() async throws {
        let url = try await server().database()
        let options = try await Self.filled(url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(isNew: true))
        let statements = try await coordinator.statementsMigratingPostgreSQLStore(at: url, options: options)
        expect(statements.last, equals: #"CREATE INDEX CONCURRENTLY "item_by_weight_index" ON "item" ("weight" ASC NULLS FIRST)"#)
        #expect(!statements.contains { $0.hasPrefix("CREATE INDEX \"item_by") })
    }
}
#endif
