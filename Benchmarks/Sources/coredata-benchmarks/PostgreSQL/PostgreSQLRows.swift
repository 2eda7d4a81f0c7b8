#if PostgreSQL
import CoreData
import Foundation
import PlainItems
import PostgreSQLStore

/// The PostgreSQL store beside libpq by hand, over one server. By the clock: the server works, too.
struct PostgreSQLRows {
    private let values: [Values]
    private let server: PostgreSQLServer
    private let hand: HandwrittenClient
    /// The number of the next schema.
    private let schemas = Schemas()
    private final class Schemas { var last = 0 }

    init(count: Int, server: PostgreSQLServer) throws {
        values = Values.make(count)
        self.server = server
        hand = try HandwrittenClient(server.url)
    }

    /// Opens a store, and waits for it.
    static func open(_ url: String, schema: String, connections: Int = 8) throws -> NSPersistentStoreCoordinator {
        var options = PostgreSQLStoreOptions()
        options.schema = schema
        options.connectionLimit = connections
        guard let url = URL(string: url) else { throw PostgreSQLServer.Failure(description: "The URL is none.") }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
        let description = NSPersistentStoreDescription(postgreSQL: url, options: options)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        return coordinator
    }

    /// A new store in a schema of its own.
    private func fresh() throws -> (schema: String, coordinator: NSPersistentStoreCoordinator) {
        schemas.last += 1
        let schema = "bench\(schemas.last)"
        return (schema, try Self.open(server.url, schema: schema))
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator) throws -> NSManagedObjectContext {
        let context = Stack.context(coordinator)
        for value in values { value.fill(Item(context: context)) }
        try context.save()
        return context
    }

    func benchmarks() throws -> [Benchmark] {
        let (schema, coordinator) = try fresh()
        _ = try fill(coordinator)
        try hand.execute("VACUUM ANALYZE \(schema).item")
        let fetching = "PostgreSQL: fetch \(values.count) items, read every property"
        let byHand = Benchmark(fetching, "libpq by hand") {
            let items = try hand.items("\(schema).item")
            return (items.reduce(0) { $0 &+ $1.sumOfAll }, items)
        }
        let byStore = Benchmark(fetching, "this store", target: 1.3) {
            let context = Stack.context(coordinator)
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.returnsObjectsAsFaults = false
            let items = try context.fetch(request)
            return (items.reduce(0) { $0 &+ $1.sumOfAll }, (items, context))
        }
        let creating = "PostgreSQL: create \(values.count) items, save"
        let copied = Benchmark(
            creating, "libpq by hand: COPY",
            given: {
                let (schema, coordinator) = try fresh()
                // The store has a connection of its own in each round, which knows the table and has mapped few of the server's pages.
                let client = try HandwrittenClient(server.url)
                _ = try client.integer("SELECT count(*) FROM \(schema).item")
                return (schema: schema, coordinator: coordinator, client: client)
            },
            body: { state in
                try state.client.copy(values, into: "\(state.schema).item")
                return (try hand.integer("SELECT count(*) FROM \(state.schema).item"), nil)
            })
        let created = Benchmark(
            creating, "this store", target: 1.5, given: { try fresh() },
            body: { state in
                let context = try fill(state.coordinator)
                return (try hand.integer("SELECT count(*) FROM \(state.schema).item"), context)
            })
        return [byHand, byStore, copied, created].map { benchmark in
            var benchmark = benchmark
            benchmark.isByClock = true
            return benchmark
        }
    }

    // MARK: Small transactions

    /// Prints how many transactions per second fifty writers make, each an update of one row: by threads with libpq, and by contexts.
    func printSmallTransactions(rounds: Int, seconds: Double) throws {
        let (schema, coordinator) = try fresh()
        _ = try fill(coordinator)
        let wide = try Self.open(server.url, schema: schema, connections: Self.writers)
        var ratios: [Double] = []
        var awaitedRatios: [Double] = []
        print("\nPostgreSQL: \(Self.writers) writers, each updates one row per transaction; per second")
        for round in 0...rounds {
            let byHand = try transactionsByHand(schema, seconds)
            let byStore = try transactions(wide, seconds) { writer in
                try await writer.context.perform {
                    writer.item?.i1 += 1
                    try writer.context.save()
                }
            }
            let awaited = try transactions(wide, seconds) { writer in
                await writer.context.perform { writer.item?.i1 += 1 }
                try await writer.context.saveAsynchronously()
            }
            // The first round warms up.
            if round == 0 { continue }
            ratios.append(byStore / byHand)
            awaitedRatios.append(awaited / byHand)
            print(
                String(
                    format: "  libpq by hand %9.0f   saved in the block %9.0f   %6.2f   by an awaited save %9.0f   %6.2f", byHand, byStore,
                    byStore / byHand, awaited, awaited / byHand))
        }
        let medians = [ratios, awaitedRatios].map { $0.sorted()[$0.count / 2] }
        print(String(format: "  median %6.2f and %6.2f  target at least 0.80", medians[0], medians[1]))
    }

    private static let writers = 50

    /// Prints how long SQLAlchemy takes for the same.
    func printSQLAlchemy(rounds: Int, seconds: Double) throws {
        let (schema, coordinator) = try fresh()
        _ = try fill(coordinator)
        try hand.execute("VACUUM ANALYZE \(schema).item")
        try SQLAlchemyComparison(
            server: server, schema: schema, count: values.count, rounds: rounds, seconds: max(1, seconds), writers: Self.writers
        ).run()
    }

    private func transactionsByHand(_ schema: String, _ seconds: Double) throws -> Double {
        let clients = try (0..<Self.writers).map { _ in
            let client = try HandwrittenClient(server.url)
            try client.prepare("begin", "BEGIN")
            try client.prepare(
                "update", "UPDATE \(schema).item SET i1 = i1 + 1, version = version + 1 WHERE id = $1::bigint")
            try client.prepare("commit", "COMMIT")
            return client
        }
        let counts = Counts(Self.writers)
        let begin = DispatchTime.now().uptimeNanoseconds
        let end = begin + UInt64(seconds * 1e9)
        let group = DispatchGroup()
        for (number, client) in clients.enumerated() {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                var count = 0
                while DispatchTime.now().uptimeNanoseconds < end {
                    guard (try? client.execute("begin", [])) != nil, (try? client.execute("update", [number + 1])) == 1,
                        (try? client.execute("commit", [])) != nil
                    else { break }
                    count += 1
                }
                counts.set(count, number)
            }
        }
        group.wait()
        return Double(try counts.sum()) / (Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9)
    }

    private func transactions(
        _ coordinator: NSPersistentStoreCoordinator, _ seconds: Double,
        _ write: @escaping @Sendable (Writer) async throws -> Void
    ) throws -> Double {
        let writers = try (0..<Self.writers).map { number in
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.predicate = NSPredicate(format: "i0 == %ld", number + 1)
                return Writer(item: try context.fetch(request).first, context: context)
            }
        }
        let counts = Counts(Self.writers)
        let done = DispatchSemaphore(value: 0)
        let begin = DispatchTime.now().uptimeNanoseconds
        let end = begin + UInt64(seconds * 1e9)
        Task.detached {
            await withTaskGroup(of: Void.self) { group in
                for (number, writer) in writers.enumerated() {
                    group.addTask {
                        var count = 0
                        do {
                            while DispatchTime.now().uptimeNanoseconds < end {
                                try await write(writer)
                                count += 1
                            }
                            counts.set(count, number)
                        } catch { print("  a writer has stopped: \(error)") }
                    }
                }
            }
            done.signal()
        }
        done.wait()
        return Double(try counts.sum()) / (Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9)
    }

    // Read and changed on the queue of its context.
    private struct Writer: @unchecked Sendable {
        let item: Item?
        let context: NSManagedObjectContext
    }

    // Guarded by the lock.
    private final class Counts: @unchecked Sendable {
        private let lock = NSLock()
        private var counts: [Int]
        init(_ count: Int) { counts = Array(repeating: 0, count: count) }
        func set(_ count: Int, _ number: Int) { lock.withLock { counts[number] = count } }
        func sum() throws -> Int {
            lock.lock()
            defer { lock.unlock() }
            guard counts.allSatisfy({ $0 > 0 }) else { throw PostgreSQLServer.Failure(description: "A writer has stopped.") }
            return counts.reduce(0, +)
        }
    }
}
#endif
