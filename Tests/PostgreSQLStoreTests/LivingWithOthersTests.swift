#if PostgreSQL
import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import PostgreSQLStore

/// What other programs do to the database while a store is open, and what the store does to others.
@Suite("Living with others") struct LivingWithOthersTests {
    static func model() -> NSManagedObjectModel {
        let tag = NSEntityDescription(name: "Tag")
        tag.properties = [
            NSAttributeDescription(name: "label", type: .string), NSAttributeDescription(name: "weight", type: .integer64),
        ]
        tag.uniquenessConstraints = [["label"]]
        return NSManagedObjectModel(entities: [tag])
    }

    private static func labels(_ coordinator: NSPersistentStoreCoordinator) async throws -> [String] {
        let context = context(coordinator)
        let tags = Transfer(try await context.fetchAsynchronously(NSFetchRequest<NSManagedObject>(entityName: "Tag")))
        return await context.perform { tags.value.compactMap { $0.value(forKey: "label") as? String }.sorted() }
    }

    private static func save(_ label: String, _ coordinator: NSPersistentStoreCoordinator) async throws {
        let context = context(coordinator)
        try await context.perform {
            context.insert("Tag", ["label": label, "weight": 1])
            try context.save()
        }
    }

    @Test("When another program changes the types of columns, statements are prepared anew, over every connection")
    func changedColumns() async throws {
        var options = freshOptions()
        options.connectionLimit = 4
        let coordinator = try await coordinator(options, Self.model())
        let pool = try rawPool(options)
        var saved = ["first"]
        try await Self.save("first", coordinator)
        func readByAll() async throws {
            let expected = saved.sorted()
            try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<16 { group.addTask { try await Self.labels(coordinator) } }
                for try await labels in group { expect(labels, equals: expected) }
            }
        }
        for (round, type) in ["varchar(300)", "text", "varchar(400)", "text"].enumerated() {
            // Each connection prepares its statements.
            try await readByAll()
            try await pool.with { try await $0.execute("ALTER TABLE tag ALTER COLUMN label TYPE \(type)") }
            // A save meets the changed table within its transaction, when it looks for the owners of a unique value.
            if round % 2 == 0 {
                try await Self.save("round \(round)", coordinator)
                saved.append("round \(round)")
            }
            try await readByAll()
        }
    }

    @Test("A save whose transaction meets changed columns is done again over the same connection") func changedColumnsInSave() async throws
    {
        var options = freshOptions()
        options.connectionLimit = 1
        let coordinator = try await coordinator(options, Self.model())
        let pool = try rawPool(options)
        for (number, type) in ["varchar(300)", "text", "varchar(400)"].enumerated() {
            try await Self.save("tag \(number)", coordinator)
            // The next save looks for the owners of its unique value by a statement of the old columns.
            try await pool.with { try await $0.execute("ALTER TABLE tag ALTER COLUMN label TYPE \(type)") }
        }
        try await Self.save("tag 3", coordinator)
        #expect(try await Self.labels(coordinator) == (0..<4).map { "tag \($0)" })
    }

    @Test("Who waits for a lock of others is told when the statement's time is over, and the next fetch is answered")
    func statementTimeout() async throws {
        var options = freshOptions()
        _ = try await PostgreSQLStoreTests.coordinator(options, Self.model())
        options.statementTimeout = 1
        options.connectionLimit = 1
        let coordinator = try await PostgreSQLStoreTests.coordinator(options, Self.model())
        let held = try await HeldTransaction(try rawPool(options), "LOCK TABLE tag IN ACCESS EXCLUSIVE MODE")
        let error = await #expect(throws: NSError.self) { try await Self.labels(coordinator) }
        expect(error?.code, equals: NSPersistentStoreTimeoutError)
        #expect(error.map { "\($0.userInfo)".contains("statementTimeout") } ?? false)
        try await held.release()
        #expect(try await Self.labels(coordinator) == [])
    }

    @Test("A cancelled fetch is gone from the server, and its connection serves the next one") func cancellation() async throws {
        var options = freshOptions()
        options.connectionLimit = 1
        options.connectionTimeout = 0.2
        let coordinator = try await coordinator(options, Self.model())
        let store = try #require(coordinator.persistentStores.first as? DatabaseStore)
        let backend = try await store.content.pool.with { $0.backendNumber }
        let raw = try rawPool(options)
        let held = try await HeldTransaction(raw, "LOCK TABLE tag IN ACCESS EXCLUSIVE MODE")
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'"
        let fetch = Task { try await Self.labels(coordinator) }
        try await raw.wait(for: waiting, [.integer(Int64(backend))])
        // The only connection is in use.
        let error = await #expect(throws: NSError.self) { try await Self.labels(coordinator) }
        expect(error?.code, equals: NSPersistentStoreTimeoutError)
        #expect(error.map { "\($0.userInfo)".contains("connectionTimeout") } ?? false)
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        // The lock is still held: who is answered was cancelled on the server.
        #expect(try await raw.with { try await $0.query(waiting, [.integer(Int64(backend))]).rowCount } == 0)
        try await held.release()
        #expect(try await Self.labels(coordinator) == [])
        #expect(try await store.content.pool.with { $0.backendNumber } == backend)
    }
}
#endif
