#if PostgreSQL
import CoreData
import Foundation
import ObjectGraph
import StoreConformance
import Testing

@testable import PostgreSQLStore

/// The store behind PgBouncer, whose sessions are lent for a transaction.
@Suite("Behind PgBouncer", .enabled(if: Pooler.isInstalled, "PgBouncer is not installed")) struct PoolerTests {
    private static let store = StoreUnderTest(
        name: "PostgreSQL behind PgBouncer", capabilities: .everything.union(.keepsMetadata)
    ) { place in
        var options = PostgreSQLStoreOptions()
        options.schema = "pooled_" + place.directory.lastPathComponent.lowercased()
        options.connectionLimit = 4
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        let url = try #require(URL(string: Pooler.shared.get().url))
        let description = NSPersistentStoreDescription(postgreSQL: url, options: options)
        let failure = Failure()
        coordinator.addPersistentStore(with: description) { failure.error = $1 }
        if let error = failure.error { throw error }
        return coordinator
    }

    // Used on the calling thread.
    private final class Failure: @unchecked Sendable { var error: (any Error)? }

    @Test("Each behaviour of Core Data's stores", arguments: Behaviour.all) func behaviour(_ behaviour: Behaviour) throws {
        guard behaviour.applies(to: Self.store) else { return }
        try behaviour.run(on: Self.store)
    }

    /// Saves in one schema and reads in another by turns, over the few sessions that PgBouncer has.
    private static func check(_ url: String) async throws {
        var coordinators: [NSPersistentStoreCoordinator] = []
        for _ in 0..<4 {
            var options = freshOptions()
            options.statementTimeout = 1800
            coordinators.append(try await coordinator(options, LivingWithOthersTests.model(), url: url))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, coordinator) in coordinators.enumerated() {
                group.addTask {
                    let context = context(coordinator)
                    for number in 0..<50 {
                        try await context.perform {
                            context.insert("Tag", ["label": "\(place) \(number)"])
                            try context.save()
                        }
                        let tags = Transfer(try await context.fetchAsynchronously(NSFetchRequest<NSManagedObject>(entityName: "Tag")))
                        let labels = await context.perform { tags.value.map { $0.value(forKey: "label") as? String ?? "" } }
                        #expect(labels.count == number + 1 && labels.allSatisfy { $0.hasPrefix("\(place) ") })
                    }
                }
            }
            try await group.waitForAll()
        }
        let store = try #require(coordinators[0].persistentStores.first as? DatabaseStore)
        let (path, timeout, isOwn) = try await store.content.pool.with { connection in
            let result = try await connection.query("SELECT current_setting('search_path'), current_setting('statement_timeout')")
            return (result.text(0, 0), result.text(0, 1), connection.ownsSession)
        }
        #expect(path.contains("test_") && timeout == "30min" && !isOwn)
    }

    @Test("Stores in several schemas share its sessions, and each stays in its own schema") func sessions() async throws {
        try await Self.check(try Pooler.shared.get().url)
    }

    @Test("It is found where it ignores what connections ask for, instead of refusing it") func ignoring() async throws {
        try await Self.check(try Pooler(ignoring: "options,extra_float_digits").url)
    }

    @Test("Saves of other programs are found without being woken") func remoteChanges() async throws {
        var options = freshOptions()
        options.tracksHistory = true
        options.postsRemoteChanges = true
        let url = try Pooler.shared.get().url
        let listening = try await coordinator(options, LivingWithOthersTests.model(), url: url)
        let news = News(listening)
        let writer = context(try await coordinator(options, LivingWithOthersTests.model(), url: url))
        try await writer.perform {
            writer.insert("Tag", ["label": "from afar"])
            try writer.save()
        }
        for await _ in news.stream { break }
    }

    @Test("A cancelled fetch is cancelled on the server") func cancellation() async throws {
        let options = freshOptions()
        let coordinator = try await coordinator(options, LivingWithOthersTests.model(), url: try Pooler.shared.get().url)
        let raw = try rawPool(options)
        let held = try await HeldTransaction(raw, "LOCK TABLE tag IN ACCESS EXCLUSIVE MODE")
        let waiting = "SELECT 1 FROM pg_locks WHERE relation = 'tag'::regclass AND NOT granted"
        let fetch = Task {
            let context = context(coordinator)
            _ = try await context.fetchAsynchronously(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        }
        try await raw.wait(for: waiting)
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        #expect(try await raw.with { try await $0.query(waiting).rowCount } == 0)
        try await held.release()
    }
}
#endif
