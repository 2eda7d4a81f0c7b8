#if PostgreSQL
import CoreData
import Platform
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Saves of single objects that come at the same time") struct CombinedSaveTests {
    /// Contexts of one store, each of which holds an object of its own.
    private struct World: Sendable {
        let contexts: [NSManagedObjectContext]
        let raw: ConnectionPool

        init(_ count: Int, _ options: PostgreSQLStoreOptions = freshOptions(), url: String? = nil) async throws {
            let coordinator = try await coordinator(options, SmallSaveTests.model(), url: url)
            let first = context(coordinator)
            try await first.perform {
                for number in 0..<count { first.insert("Tag", ["label": "\(number)", "rank": 0]) }
                try first.save()
            }
            contexts = (0..<count).map { _ in context(coordinator) }
            for (number, context) in contexts.enumerated() {
                try await context.perform {
                    context.retainsRegisteredObjects = true
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                    request.predicate = NSPredicate(format: "label == %@", "\(number)")
                    let rank = try context.fetch(request).first?.value(forKey: "rank") as? Int
                    expect(rank, equals: 0)
                }
            }
            raw = try rawPool(options, url: url)
        }

        func save(_ number: Int, rank: Int) async throws {
            let context = contexts[number]
            try await context.perform { try #require(context.registeredObjects.first).setValue(rank, forKey: "rank") }
            try await context.saveAsynchronously()
        }

        /// The same, again where the connection was lost at all attempts, of which none was committed.
        func saveUntilKept(_ number: Int, rank: Int) async throws {
            while true {
                do { return try await save(number, rank: rank) } catch let error as NSError
                    where error.localizedDescription.contains("The connection was lost at each commit")
                {}
            }
        }

        /// Saves an object in each context at once.
        ///
        /// - Returns: The errors, by the number of the context.
        func saveAll(_ rank: @escaping @Sendable (Int) -> Int) async -> [Int: NSError] {
            await withTaskGroup(of: (Int, NSError?).self) { group in
                for number in contexts.indices {
                    group.addTask {
                        do { try await save(number, rank: rank(number)) } catch { return (number, error as NSError) }
                        return (number, nil)
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }

        /// The same, together.
        func saveAllTogether(_ rank: @escaping @Sendable (Int) -> Int) async throws -> [Int: NSError] {
            try await together { await saveAll(rank) }
        }

        /// Calls `saves` while the table is held, until several transactions wait for it.
        func together<Result: Sendable>(_ saves: @escaping @Sendable () async throws -> Result) async throws -> Result {
            let held = try await HeldTransaction(raw, "LOCK TABLE tag IN SHARE ROW EXCLUSIVE MODE")
            async let result = saves()
            try await raw.wait(for: "SELECT count(*) FROM pg_locks WHERE relation = 'tag'::regclass AND NOT granted HAVING count(*) > 2")
            try await held.release()
            return try await result
        }

        func ranks() async throws -> [Int] {
            try await raw.with { connection in
                let result = try await connection.query("SELECT rank FROM tag ORDER BY label::integer")
                return (0..<result.rowCount).map { Int(result.integer($0, 0)) }
            }
        }

        /// The number of transactions that have saved, and that of saves.
        func counts() async throws -> (transactions: Int, saves: Int) {
            try await raw.with { connection in
                let result = try await connection.query("SELECT count(DISTINCT xmin::text), count(*) FROM coredata_commits")
                return (Int(result.integer(0, 0)), Int(result.integer(0, 1)))
            }
        }
    }

    @Test("They share transactions, unless that is switched off, and all are done", arguments: [true, false])
    func sharing(combines: Bool) async throws {
        var options = freshOptions()
        options.combinesSaves = combines
        let world = try await World(30, options)
        #expect(try await world.saveAllTogether { $0 + 1 } == [:])
        #expect(try await world.ranks() == Array(1...30))
        // One of them has inserted the objects.
        let (transactions, saves) = try await world.counts()
        expect(saves, equals: 31)
        if combines { #expect(transactions < 31) } else { expect(transactions, equals: 31) }
    }

    @Test("Saves in blocks share transactions like awaited ones") func blocks() async throws {
        let world = try await World(30)
        try await world.together {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for context in world.contexts {
                    group.addTask {
                        try await context.perform {
                            context.registeredObjects.first?.setValue(1, forKey: "rank")
                            try context.save()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await world.ranks() == Array(repeating: 1, count: 30))
        let counts = try await world.counts()
        #expect(counts.transactions < 31)
    }

    @Test("One whose row another program holds keeps no other save waiting, and is done when the row is free", .timeLimit(.minutes(30)))
    func heldRow() async throws {
        let world = try await World(20)
        let held = try await HeldTransaction(world.raw, "SELECT FROM tag WHERE label = '7' FOR UPDATE")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in world.contexts.indices {
                group.addTask {
                    try await world.save(number, rank: 1)
                    return number
                }
            }
            for _ in 1..<20 {
                let number = try await group.next()
                #expect(number != 7)
            }
            #expect(try await world.ranks() == (0..<20).map { $0 == 7 ? 0 : 1 })
            try await held.release()
            let last = try await group.next()
            expect(last, equals: 7)
        }
        #expect(try await world.ranks() == Array(repeating: 1, count: 20))
    }

    @Test("One that the database refuses fails alone, and keeps its changes") func refusal() async throws {
        let world = try await World(20)
        try await world.raw.with { try await $0.execute("ALTER TABLE tag ADD CONSTRAINT small CHECK (rank < 100)") }
        let errors = try await world.saveAllTogether { $0 == 7 ? 1000 : 1 }
        expect(Array(errors.keys), equals: [7])
        #expect(errors[7]?.localizedFailureReason?.contains("small") ?? false)
        #expect(await world.contexts[7].perform { world.contexts[7].hasChanges })
        #expect(try await world.ranks() == (0..<20).map { $0 == 7 ? 0 : 1 })
        try await world.save(7, rank: 99)
        let ranks = try await world.ranks()
        expect(ranks[7], equals: 99)
    }

    @Test("One whose object another program has changed is a conflict of its own; as the merge policy says, it is done")
    func conflict() async throws {
        let world = try await World(20)
        try await world.raw.with { try await $0.execute("UPDATE tag SET rank = 50, version = version + 1 WHERE label = '7'") }
        let errors = try await world.saveAllTogether { _ in 1 }
        expect(errors.mapValues(\.code), equals: [7: NSManagedObjectMergeError])
        #expect(try await world.ranks() == (0..<20).map { $0 == 7 ? 50 : 1 })
        let context = world.contexts[7]
        await context.perform { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        try await context.saveAsynchronously()
        let ranks = try await world.ranks()
        expect(ranks[7], equals: 1)
    }

    @Test("Of many that count in one object, none is lost") func counter() async throws {
        let world = try await World(1)
        let coordinator = try #require(world.contexts[0].persistentStoreCoordinator)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let context = context(coordinator)
                    for _ in 0..<5 {
                        let id = try await context.perform {
                            let tag = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
                            return tag.objectID
                        }
                        while true {
                            do {
                                try await context.perform {
                                    let tag = context.object(with: id)
                                    context.refresh(tag, mergeChanges: false)
                                    tag.setValue((tag.value(forKey: "rank") as? Int ?? 0) + 1, forKey: "rank")
                                    try context.save()
                                }
                                break
                            } catch let error as NSError where error.code == NSManagedObjectMergeError {
                                await context.perform { context.rollback() }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await world.ranks() == [100])
    }

    @Test("A history that another program begins meanwhile has all of them") func history() async throws {
        var options = freshOptions()
        let world = try await World(20, options)
        options.tracksHistory = true
        let reader = context(try await coordinator(options, SmallSaveTests.model()))
        #expect(try await world.saveAllTogether { _ in 1 } == [:])
        try await reader.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try reader.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            expect(transactions.count, equals: 20)
            let changes: [NSPersistentHistoryChange] = transactions.flatMap { $0.changes ?? [] }
            expect(Set(changes.map(\.changedObjectID)).count, equals: 20)
        }
    }

    @Test("Each is done once, although the server ends their connections all the time") func lostConnections() async throws {
        let url = try await server().database()
        let world = try await World(20, url: url)
        let rounds = 100
        // The connections of the database, whose only program is this store, twenty times a second at most.
        let kill =
            "SELECT count(pg_terminate_backend(pid)), pg_sleep(0.05) FROM pg_stat_activity "
            + "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        let saves = LockedBox(0)
        let isOver = Atomic(false)
        async let kills = {
            var (count, last) = (0, 0)
            while !isOver.load(ordering: .relaxed) {
                // A slow server comes to save something in between.
                let known = saves.withLock { $0 }
                let statement = known < last + world.contexts.count ? "SELECT 0, pg_sleep(0.01)" : kill
                if statement == kill { last = known }
                count += try await world.raw.with { Int(try await $0.query(statement).integer(0, 0)) }
            }
            return count
        }()
        await withTaskGroup(of: Void.self) { group in
            for number in world.contexts.indices {
                group.addTask {
                    for rank in 1...rounds {
                        do { try await world.saveUntilKept(number, rank: rank) } catch { Issue.record("\(number): \(error)") }
                        saves.withLock { $0 += 1 }
                    }
                }
            }
        }
        isOver.store(true, ordering: .relaxed)
        let count = try await kills
        #expect(count > 0)
        #expect(try await world.ranks() == Array(repeating: rounds, count: 20))
        // The version counts the saves of a row.
        let versions = try await world.raw.with { try await $0.query("SELECT DISTINCT version FROM tag") }
        expect(versions.rowCount, equals: 1)
        expect(versions.integer(0, 0), equals: Int64(rounds + 1))
    }
}
#endif
