#if PostgreSQL
import CoreData
import StoreConformance
import TestSupport
import Testing

@testable import PostgreSQLStore

/// Transactions that PostgreSQL gives up for others' sake are done again.
@Suite("Repeated transactions") struct RepetitionTests {
    @Test("A save that meets a server which has become a standby is done again over another connection") func switchover() async throws {
        var options = freshOptions()
        options.connectionLimit = 2
        let coordinator = try await coordinator(options)
        let store = try #require(coordinator.persistentStores[0] as? PostgreSQLStore)
        let pool = store.content.pool
        // Two connections at once, which take no changes any more.
        try await pool.with { first in
            try await first.execute("SET default_transaction_read_only = on")
            try await pool.with { try await $0.execute("SET default_transaction_read_only = on") }
        }
        let context = context(coordinator)
        try await context.perform {
            try ServerHistoryTests.insertTag("a", context)
            try ServerHistoryTests.insertTag("b", context)
        }
        #expect(pool.count <= 2)
        let raw = try rawPool(options)
        defer { raw.close() }
        #expect(try await raw.with { try await $0.query("SELECT count(*) FROM tag").integer(0, 0) } == 2)
    }

    private static func deadlocks() throws -> Int {
        try String(contentsOf: server().directory.appendingPathComponent("log"), encoding: .utf8).split(separator: "deadlock detected")
            .count
    }

    @Test("A save that was chosen to end a deadlock is done again") func deadlock() async throws {
        let before = try Self.deadlocks()
        // A save locks its rows in one of these orders.
        try await save(against: ["a", "b"])
        try await save(against: ["b", "a"])
        #expect(try Self.deadlocks() > before)
    }

    /// Saves two rows while another program holds the first one given and then wants the second.
    private func save(against order: [String]) async throws {
        let options = ServerHistoryTests.tracking()
        // The server looks for a deadlock once, some time after a save has begun to wait: the other program is to wait by then.
        let url = try await server().database()
        let name = try #require(URL(string: url)).lastPathComponent
        let settings = try rawPool(options, url: url)
        try await settings.with { try await $0.execute("ALTER DATABASE \(name) SET deadlock_timeout = '5s'") }
        settings.close()
        let context = context(try await coordinator(options, url: url))
        let ids = try await context.perform { try ["a", "b"].map { try ServerHistoryTests.insertTag($0, context).objectID } }
        let raw = try rawPool(options, url: url)
        defer { raw.close() }
        // The other program holds one row, and is not the one to find the deadlock.
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let (left, leave) = AsyncStream<Void>.makeStream()
        let other = Task {
            defer { enter.finish() }
            try await raw.with { connection in
                try await connection.execute(
                    "SET deadlock_timeout = '5min'; BEGIN; UPDATE tag SET label = 'other' WHERE label = '\(order[0])'")
                enter.yield()
                for await _ in left {}
                try await connection.execute("UPDATE tag SET label = 'other' WHERE label = '\(order[1])'; COMMIT; RESET deadlock_timeout")
            }
        }
        for await _ in entered { break }
        let save = Task {
            try await context.perform {
                for id in ids { context.object(with: id).setValue("saved", forKey: "label") }
                try context.save()
            }
        }
        try await raw.wait(
            for: "SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace "
                + "JOIN pg_locks w ON w.pid = l.pid AND NOT w.granted WHERE c.relname = 'tag' AND n.nspname = $1", [.text(options.schema)])
        leave.finish()
        try await other.value
        try await save.value
        let labels = try await raw.with { connection in
            let result = try await connection.query("SELECT label FROM tag")
            return (0..<result.rowCount).map { result.text($0, 0) }
        }
        expect(labels, equals: ["saved", "saved"])
        // Recorded once.
        try await context.perform { try expect(ServerHistoryTests.history(context, after: nil).count, equals: 3) }
    }
}
#endif
