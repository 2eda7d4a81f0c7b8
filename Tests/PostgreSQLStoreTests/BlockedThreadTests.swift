#if PostgreSQL
import CoreData
import Dispatch
import ObjectGraph
import Testing

@testable import PostgreSQLStore

@Suite("Openings where threads are blocked") struct BlockedThreadTests {
    @Test(
        "A store is opened by an awaited call although every thread of the pool waits until it is, in a call that does not await",
        .timeLimit(.minutes(30)))
    func blockedPool() async throws {
        let url = try await server().database()
        let isDone = await withCheckedContinuation { continuation in
            // Those of the pool are blocked.
            Thread.detachNewThread { continuation.resume(returning: Result { try Self.openStores(url) }) }
        }
        #expect(try isDone.get(), "The openings wait for each other.")
    }

    /// Opens a store by an awaited call, and then one on each thread of the pool, while another program keeps all of them from it.
    ///
    /// - Returns: Whether all were opened after that program had ended its transaction.
    private static func openStores(_ url: String) throws -> Bool {
        let raw = try rawPool(freshOptions(), limit: 1, url: url)
        defer { raw.close() }
        let connection = try BlockingCall.wait(for: "a connection") { try await raw.open() }
        func run(_ call: Call) throws -> QueryResult {
            try BlockingCall.wait(for: "the server") { try await connection.run([call])[0] }
        }
        _ = try run(Call("BEGIN"))
        _ = try run(Call("SELECT pg_advisory_xact_lock($1)", [.integer(PostgreSQLOpening.lockNumber)]))
        // Nothing else is in the database.
        func wait(for count: Int) throws {
            let waiting = Call("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'")
            while try run(waiting).integer(0, 0) < count { _ = try run(Call("SELECT pg_stat_clear_snapshot()")) }
        }
        let openings = DispatchGroup()
        openings.enter()
        Task.detached {
            defer { openings.leave() }
            await #expect(throws: Never.self) { _ = try await coordinator(freshOptions(), SmallSaveTests.model(), url: url) }
        }
        try wait(for: 1)
        // All that the pool has, see PoolWaits.
        let isSmall = ProcessInfo.processInfo.environment["COREDATA_ONE_POOL_THREAD"] != nil
        let threads = isSmall ? 1 : ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<threads {
            openings.enter()
            Task.detached {
                defer { openings.leave() }
                #expect(throws: Never.self) { _ = try openedCoordinator(freshOptions(), SmallSaveTests.model(), url: url) }
            }
        }
        try wait(for: threads + 1)
        _ = try run(Call("COMMIT"))
        if openings.wait(timeout: .now() + 300) == .success { return true }
        _ = try run(
            Call("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"))
        openings.wait()
        return false
    }
}
#endif
