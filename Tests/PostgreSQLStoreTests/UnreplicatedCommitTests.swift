#if PostgreSQL
import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLStore

/// A server that crashes while a commit waits for the synchronous standby has the commit when it has started again, and the standby has not.
@Suite("Commits that the standby has not got") struct UnreplicatedCommitTests {
    /// What follows the crash.
    enum End: Sendable { case standbyReturns, standbyTakesOver }

    /// How far a save has come.
    private final class Progress: Sendable { let isDone = Atomic(false) }

    private static func model() -> NSManagedObjectModel {
        let tag = NSEntityDescription(name: "Tag")
        tag.properties = [NSAttributeDescription(name: "label", type: .string)]
        return NSManagedObjectModel(entities: [tag])
    }

    /// Saves while the standby does not listen, crashes the primary when the commit waits, and ends as told when the look-up does.
    ///
    /// - Returns: The labels that the standby has at the end.
    private static func save(
        _ end: End, _ cluster: Cluster, _ options: PostgreSQLStoreOptions, _ coordinator: NSPersistentStoreCoordinator
    ) async throws -> [String] {
        let (primary, standby) = (try cluster.pool(cluster.primaryPort, options), try cluster.pool(cluster.replicaPort, options))
        defer { for pool in [primary, standby] { pool.close() } }
        let origin = try await standby.with { try await $0.query("SELECT current_setting('primary_conninfo')").text(0, 0) }
        func follow(_ origin: String) async throws {
            try await standby.with { connection in
                try await connection.execute("ALTER SYSTEM SET primary_conninfo = '\(origin.replacing("'", with: "''"))'")
                try await connection.execute("SELECT pg_reload_conf()")
            }
        }
        @Sendable func insert(_ label: String) async throws {
            let context = context(coordinator)
            try await context.perform {
                context.insert("Tag", ["label": label])
                try context.save()
            }
        }
        // The keys of several objects are reserved, which is a commit of its own.
        try await insert("first")
        try await follow("")
        try await standby.wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
        let progress = Progress()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { progress.isDone.store(true, ordering: .releasing) }
                try await insert("a")
            }
            let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            try await primary.wait(for: waiting)
            let backend = try await primary.with { try await $0.query(waiting).integer(0, 0) }
            // The server ends all its processes, and starts again.
            kill(Int32(backend), SIGKILL)
            while !progress.isDone.load(ordering: .acquiring) {
                if let count = try? await primary.with({ try await $0.query(waiting).rowCount }), count > 0 { break }
                await Task.yield()
            }
            let believes = progress.isDone.load(ordering: .acquiring)
            #expect(!believes, "The look-up believes what only the crashed server has.")
            switch end {
            case .standbyReturns: try await follow(origin)
            case .standbyTakesOver:
                try cluster.stopPrimary()
                try await standby.with { try await $0.execute("SELECT pg_promote()") }
            }
            try await group.waitForAll()
            if end == .standbyReturns { try await standby.wait(for: "SELECT FROM tag WHERE label = 'a'") }
            return try await standby.with { connection in
                let result = try await connection.query("SELECT label FROM tag ORDER BY label")
                return (0..<result.rowCount).map { result.text($0, 0) }
            }
        }
    }

    @Test(
        "A save is done when the standby has it, and once by the standby that takes over without it",
        arguments: [End.standbyReturns, .standbyTakesOver]) func own(_ end: End) async throws
    {
        let cluster = try Cluster(isSynchronous: true)
        let options = freshOptions()
        let coordinator = try await coordinator(options, Self.model(), url: cluster.url([cluster.primaryPort, cluster.replicaPort]))
        #expect(try await Self.save(end, cluster, options, coordinator) == ["a", "first"])
    }

    @Test("A save to the tables of another program is done when the standby has it; it is not known where that takes over without it")
    func mapped() async throws {
        let cluster = try Cluster(isSynchronous: true)
        var options = freshOptions()
        options.layout = .existing
        let raw = try cluster.pool(cluster.primaryPort, options)
        defer { raw.close() }
        try await raw.with { [options] in
            try await $0.execute("CREATE SCHEMA \(options.schema); CREATE TABLE tag (id bigserial PRIMARY KEY, label text)")
        }
        let coordinator = try await coordinator(options, Self.model(), url: cluster.url([cluster.primaryPort, cluster.replicaPort]))
        #expect(try await Self.save(.standbyReturns, cluster, options, coordinator) == ["a", "first"])
        let error = await #expect(throws: NSError.self) { try await Self.save(.standbyTakesOver, cluster, options, coordinator) }
        expect(error?.localizedDescription.contains("It is not known whether a save"), equals: true)
    }
}
#endif
