#if PostgreSQL
import CoreData
import Foundation
import Platform
import Testing

@testable import PostgreSQLStore

@Suite("Large results of PostgreSQL") struct LargeResultTests {
    private static func model() -> NSManagedObjectModel {
        let tag = NSEntityDescription(name: "Tag")
        tag.properties = [NSAttributeDescription(name: "label", type: .string), NSAttributeDescription(name: "rank", type: .integer64)]
        return NSManagedObjectModel(entities: [tag])
    }

    /// Returns the ranks of a fetch, as they come.
    private static func ranks(_ coordinator: NSPersistentStoreCoordinator, from least: Int = 0) async throws -> [Int] {
        let context = context(coordinator)
        return try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            request.predicate = NSPredicate(format: "rank >= %ld AND label BEGINSWITH 'tag'", least)
            request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: false)]
            request.returnsObjectsAsFaults = false
            return try context.fetch(request).map { $0.value(forKey: "rank") as? Int ?? -1 }
        }
    }

    private static func fill(_ range: ClosedRange<Int>, _ pool: ConnectionPool) async throws {
        try await pool.with {
            try await $0.execute(
                "INSERT INTO tag (entity, version, label, rank) SELECT (SELECT number FROM coredata_entities WHERE name = 'Tag'), 1, 'tag ' || n, n "
                    + "FROM generate_series(\(range.lowerBound), \(range.upperBound)) n")
        }
    }

    @Test("A fetch that has found many rows before finds them all in order, and as many more or fewer as there are then") func parts()
        async throws
    {
        let options = freshOptions()
        let coordinator = try await coordinator(options, Self.model())
        let pool = try rawPool(options)
        defer { pool.close() }
        let store = try #require(coordinator.persistentStores.first as? DatabaseStore)
        func trips() async throws -> Int { try await store.content.pool.with { $0.roundTrips } }
        try await Self.fill(1...12_345, pool)
        #expect(try await Self.ranks(coordinator) == Array((1...12_345).reversed()))
        let before = try await trips()
        // In parts from now on, which are one round trip.
        #expect(try await Self.ranks(coordinator) == Array((1...12_345).reversed()))
        #expect(try await trips() == before + 1)
        try await Self.fill(12_346...15_000, pool)
        #expect(try await Self.ranks(coordinator) == Array((1...15_000).reversed()))
        #expect(try await Self.ranks(coordinator, from: 14_999) == [15_000, 14_999])
        try await pool.with { try await $0.execute("DELETE FROM tag WHERE rank > 3") }
        #expect(try await Self.ranks(coordinator) == [3, 2, 1])
        #expect(try await Self.ranks(coordinator) == [3, 2, 1])
    }

    @Test("A fetch in parts begins anew where its connection is lost, and ends with its task") func interruptions() async throws {
        let options = freshOptions()
        let coordinator = try await coordinator(options, Self.model())
        let pool = try rawPool(options)
        defer { pool.close() }
        try await Self.fill(1...20_000, pool)
        let all = Array((1...20_000).reversed())
        #expect(try await Self.ranks(coordinator) == all)
        // Of this test's table: the transactions of others have cursors of that name, too.
        let reading =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%coredata_rows%' AND pid <> pg_backend_pid() "
            + "AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'tag'::regclass)"
        let areFetched = LockedBox(false)
        let fetches = Task {
            defer { areFetched.withLock { $0 = true } }
            var found: [Bool] = []
            for _ in 0..<5 { found.append(try await Self.ranks(coordinator) == all) }
            return found
        }
        var isCut = false
        while !isCut, !areFetched.withLock({ $0 }) { isCut = try await pool.with { try await $0.query(reading).rowCount > 0 } }
        #expect(isCut)
        #expect(try await fetches.value.allSatisfy { $0 })
        let cancelled = Task { try await Self.ranks(coordinator) }
        cancelled.cancel()
        do { #expect(try await cancelled.value == all) } catch is CancellationError {}
        #expect(try await Self.ranks(coordinator) == all)
    }
}
#endif
