#if PostgreSQL
import CoreData
import RandomPrograms
import Testing
import TestSupport

@testable import PostgreSQLStore

/// Fifty clients at once, in processes that know nothing of each other.
@Suite("Fifty clients of a database, in two processes", .serialized) struct SoakTests {
    private static let processCount = 2

    /// What a process is told. Set for that one alone, which is the same executable.
    private struct Order: Codable {
        let url: String
        let schema: String
        let policy: Soak.Policy
        let seed: UInt64
        let seconds: Double
        let clients: Range<Int>
        let shared: [URL]
        /// Where the ledger is to be written.
        let file: URL
    }

    private static let order = ProcessInfo.processInfo.environment["COREDATA_POSTGRESQL_SOAK"].map { text in
        Result { try JSONDecoder().decode(Order.self, from: Data(text.utf8)) }
    }

    @Test("Clients of one process", .enabled(if: order != nil)) func clients() async throws {
        let order = try #require(try Self.order?.get())
        Deadline.start(seconds: order.seconds * 4 + 300)
        var options = PostgreSQLStoreOptions()
        options.schema = order.schema
        let coordinator = try await coordinator(options, Soak.model(), url: order.url)
        let shared = try order.shared.map { try #require(coordinator.managedObjectID(forURIRepresentation: $0)) }
        let soak = Soak(order.policy, seed: order.seed, clients: order.clients, coordinator, shared: shared)
        // All begin at once.
        let raw = try rawPool(options, url: order.url)
        try await raw.with { try await $0.execute("SELECT pg_advisory_xact_lock_shared(0)") }
        raw.close()
        let ledger = await soak.run(seconds: order.seconds)
        try JSONEncoder().encode(ledger).write(to: order.file)
    }

    /// For a fixed time under each merge policy.
    @Test(
        "The database has what was acknowledged in all processes, under each merge policy", .enabled(if: order == nil),
        arguments: Soak.Policy.allCases)
    func soak(_ policy: Soak.Policy) async throws {
        let seconds = TestTime.seconds(0.7)
        let seed = TestSeed.current(for: "Soak over PostgreSQL, \(policy.rawValue)")
        let scratch = try ScratchFolder("soak")
        defer { scratch.remove() }
        let directory = scratch.url
        let options = freshOptions()
        let url = try await server().database()
        let shared = try Soak.insertShared(try await coordinator(options, Soak.model(), url: url)).map { $0.uriRepresentation() }
        let raw = try rawPool(options, url: url)
        defer { raw.close() }
        let gate = try await HeldTransaction(raw, "SELECT pg_advisory_xact_lock(0)")
        let size = Soak.clientCount / Self.processCount
        let orders = (0..<Self.processCount).map { number in
            Order(
                url: url, schema: options.schema, policy: policy, seed: seed, seconds: seconds,
                clients: number * size..<(number + 1) * size, shared: shared, file: directory.appendingPathComponent("ledger-\(number)"))
        }
        let processes = try orders.map { order in
            let text = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
            return try TestProcess("PostgreSQLStoreTests.SoakTests/clients", ["COREDATA_POSTGRESQL_SOAK": text])
        }
        func waiting() async throws -> Int {
            try await raw.with {
                Int(try await $0.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").integer(0, 0))
            }
        }
        while try await waiting() < Self.processCount, processes.allSatisfy(\.isRunning) { await Task.yield() }
        try await gate.release()
        for process in processes { #expect(await process.status == 0, "seed \(seed)") }
        var ledger = SoakLedger()
        for order in orders {
            let own = try JSONDecoder().decode(SoakLedger.self, from: Data(contentsOf: order.file))
            #expect(own.saves > 0)
            ledger.add(own)
        }
        let reader = try await coordinator(options, Soak.model(), url: url)
        ledger.failures += try ledger.differences(from: reader, policy)
        print(
            "Soak over PostgreSQL with seed \(seed), \(policy.rawValue): \(Self.processCount) processes, \(ledger.saves) saves, "
                + "\(ledger.conflicts) conflicts, \(ledger.mostThreads) threads at most")
        // Where others are always quicker, a save is given up with an error: nothing was acknowledged.
        let failures = ledger.failures.filter { !$0.contains("The save was abandoned after many attempts.") }
        #expect(failures.isEmpty, "seed \(seed), \(policy.rawValue): \(failures.prefix(10))")
        #expect(ledger.mostThreads <= 2 * size + 4 * max(4, ProcessInfo.processInfo.activeProcessorCount))
    }
}
#endif
