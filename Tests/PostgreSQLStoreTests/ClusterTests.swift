#if PostgreSQL
import CoreData
import Foundation
import ObjectGraph
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLStore

/// A primary and its replicas, as one store.
@Suite("Several servers") struct ClusterTests {
    private static func model() -> NSManagedObjectModel {
        let tag = NSEntityDescription(name: "Tag")
        tag.properties = [NSAttributeDescription(name: "label", type: .string)]
        return NSManagedObjectModel(entities: [tag])
    }

    private static func labels(_ coordinator: NSPersistentStoreCoordinator, staleness: TimeInterval = -1) async throws -> [String] {
        let context = context(coordinator)
        context.stalenessInterval = staleness
        return try await context.perform {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).compactMap { $0.value(forKey: "label") as? String }
                .sorted()
        }
    }

    private static func save(_ label: String, _ coordinator: NSPersistentStoreCoordinator) async throws {
        let context = context(coordinator)
        try await context.perform {
            context.insert("Tag", ["label": label])
            try context.save()
        }
    }

    /// How far a test has come.
    private final class Progress: Sendable {
        let hasTakenOver = Atomic(false)
        /// The labels of saves that have returned.
        let acknowledged = Synchronization.Mutex<[String]>([])
    }

    private static func rows(_ pool: ConnectionPool) async throws -> [String] {
        try await pool.with { connection in
            let result = try await connection.query("SELECT label FROM tag ORDER BY label")
            return (0..<result.rowCount).map { result.text($0, 0) }
        }
    }

    @Test("Objects are read from a replica that has what the store has written and read, else from the primary")
    func freshness() async throws {
        let cluster = try Cluster()
        var options = freshOptions()
        options.readsFromReplicas = true
        // At the first port nobody listens.
        let ports = [try TestServer.freePort(), cluster.replicaPort, cluster.primaryPort]
        let coordinator = try await coordinator(options, Self.model(), url: cluster.url(ports))
        let store = try #require(coordinator.persistentStores.first as? DatabaseStore)
        let replicas = try #require(store.content.pool.replicas)
        let (primary, replica) = (try cluster.pool(cluster.primaryPort, options), try cluster.pool(cluster.replicaPort, options))
        defer { for pool in [primary, replica] { pool.close() } }
        /// Reads until a replica has answered.
        func readFromReplica() async throws -> [String] {
            let before = replicas.readCount
            var labels: [String] = []
            repeat { labels = try await Self.labels(coordinator) } while replicas.readCount == before
            return labels
        }
        try await Self.save("a", coordinator)
        #expect(try await readFromReplica() == ["a"])
        try await replica.with { try await $0.execute("SELECT pg_wal_replay_pause()") }
        try await replica.wait(for: "SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'")
        try await primary.with { try await $0.execute("INSERT INTO tag (label) VALUES ('others')") }
        // The replica has not what others have saved, but what this store knows.
        #expect(try await Self.labels(coordinator) == ["a"])
        // Once it has been seen, it stays.
        #expect(try await Self.labels(coordinator, staleness: 0) == ["a", "others"])
        let count = replicas.readCount
        #expect(try await Self.labels(coordinator) == ["a", "others"])
        try await Self.save("b", coordinator)
        for _ in 0..<10 { #expect(try await Self.labels(coordinator) == ["a", "b", "others"]) }
        expect(replicas.readCount, equals: count)
        try await replica.with { try await $0.execute("SELECT pg_wal_replay_resume()") }
        #expect(try await readFromReplica() == ["a", "b", "others"])
        // Another coordinator of the same connections has the same replica.
        let other = try coordinator.coordinator(databaseSettings: ["app.tenant": "blue"])
        let before = replicas.readCount
        #expect(try await Self.labels(other) == ["a", "b", "others"])
        #expect(replicas.readCount > before)
    }

    @Test("When the primary is stopped and the replica takes over, saves go on: none that was acknowledged is lost, and none is done twice")
    func failover() async throws {
        let cluster = try Cluster(isSynchronous: true)
        var options = freshOptions()
        options.readsFromReplicas = true
        let coordinator = try await coordinator(options, Self.model(), url: cluster.url([cluster.primaryPort, cluster.replicaPort]))
        let progress = Progress()
        let (saves, saved) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var (number, left) = (0, 5)
                    while left > 0 {
                        if progress.hasTakenOver.load(ordering: .acquiring) { left -= 1 }
                        number += 1
                        let label = "\(writer)-\(number)"
                        try await Self.save(label, coordinator)
                        progress.acknowledged.withLock { $0.append(label) }
                        saved.yield()
                        #expect(try await Self.labels(coordinator).contains(label))
                    }
                }
            }
            group.addTask { [options] in
                var count = 0
                for await _ in saves {
                    count += 1
                    if count == 20 { break }
                }
                try cluster.stopPrimary()
                let replica = try cluster.pool(cluster.replicaPort, options)
                defer { replica.close() }
                try await replica.with { try await $0.execute("SELECT pg_promote()") }
                progress.hasTakenOver.store(true, ordering: .releasing)
            }
            try await group.waitForAll()
        }
        let pool = try cluster.pool(cluster.replicaPort, options)
        defer { pool.close() }
        #expect(try await Self.rows(pool) == progress.acknowledged.withLock { $0.sorted() })
    }

    @Test("A primary that takes no changes any more is left for the one that does") func switchover() async throws {
        let cluster = try Cluster()
        let options = freshOptions()
        let coordinator = try await coordinator(options, Self.model(), url: cluster.url([cluster.primaryPort, cluster.replicaPort]))
        let (former, new) = (try cluster.pool(cluster.primaryPort, options), try cluster.pool(cluster.replicaPort, options))
        defer { for pool in [former, new] { pool.close() } }
        try await Self.save("a", coordinator)
        try await new.wait(for: "SELECT 1 FROM pg_class WHERE relname = 'tag'")
        try await new.wait(for: "SELECT 1 FROM tag")
        try await former.with { connection in
            try await connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            try await connection.execute("SELECT pg_reload_conf()")
        }
        try await former.wait(for: "SELECT 1 WHERE current_setting('default_transaction_read_only') = 'on'")
        // It can still be read, by those who say so.
        let ports = [cluster.replicaPort, cluster.primaryPort]
        let reader = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let error = await #expect(throws: NSError.self) {
            try await reader.addPostgreSQLStore(at: cluster.url(ports), options: options, isReadOnly: true)
        }
        expect(error?.code, equals: NSPersistentStoreOpenError)
        try await reader.addPostgreSQLStore(at: cluster.url(ports) + "?target_session_attrs=primary", options: options, isReadOnly: true)
        #expect(try await Self.labels(reader) == ["a"])
        try await new.with { try await $0.execute("SELECT pg_promote()") }
        try await Self.save("b", coordinator)
        #expect(try await Self.labels(coordinator) == ["a", "b"])
        #expect(try await Self.rows(new) == ["a", "b"])
        #expect(try await Self.rows(former) == ["a"])
    }

    @Test("A host that does not answer delays nobody: the server that takes over is found meanwhile", .timeLimit(.minutes(30)))
    func silence() async throws {
        let cluster = try Cluster()
        let options = freshOptions()
        let silent = try SilentListener()
        defer { silent.close() }
        let url = cluster.url([silent.port, cluster.primaryPort, cluster.replicaPort]) + "?connect_timeout=7200"
        let coordinator = try await coordinator(options, Self.model(), url: url)
        let new = try cluster.pool(cluster.replicaPort, options)
        defer { new.close() }
        try await Self.save("a", coordinator)
        try await new.wait(for: "SELECT 1 FROM pg_class WHERE relname = 'tag'")
        try await new.wait(for: "SELECT 1 FROM tag")
        while silent.hasConnection() {}
        try cluster.stopPrimary()
        let save = Task { try await Self.save("b", coordinator) }
        while !silent.hasConnection() { await Task.yield() }
        // All hosts are being asked.
        try await new.with { try await $0.execute("SELECT pg_promote()") }
        try await save.value
        #expect(try await Self.rows(new) == ["a", "b"])
    }

    @Test("With a connection to one of several servers that is lost, the unused ones are given up: that server may have vanished")
    func loss() async throws {
        let cluster = try Cluster()
        let options = freshOptions()
        let url = try #require(ConnectionSettings.url(cluster.url([cluster.primaryPort, cluster.replicaPort])))
        let settings = try ConnectionSettings(url, schema: options.schema, statementTimeout: nil, password: nil)
        let (pool, raw) = (ConnectionPool(settings, limit: 3, timeout: 30), try cluster.pool(cluster.primaryPort, options))
        defer { for pool in [pool, raw] { pool.close() } }
        try await pool.with { first in
            try await pool.with { try await $0.execute("SELECT 1") }
            expect(pool.count, equals: 2)
            let backend = Int64(first.backendNumber)
            try await raw.with { _ = try await $0.query("SELECT pg_terminate_backend($1::int)", [.integer(backend)]) }
            await #expect(throws: ServerError.self) { try await first.query("SELECT 1") }
        }
        expect(pool.count, equals: 0)
    }

    @Test("Where no host answers, the error names each, and no password") func unreachable() async throws {
        let ports = [try TestServer.freePort(), try TestServer.freePort()]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let error = await #expect(throws: NSError.self) {
            try await coordinator.addPostgreSQLStore(at: "postgresql://tester:geheim@127.0.0.1:\(ports[0]),[::1]:\(ports[1])/postgres")
        }
        expect(error?.code, equals: NSPersistentStoreOpenError)
        let text = error.map { "\($0) \($0.userInfo)" } ?? ""
        #expect(text.contains("127.0.0.1:\(ports[0])") && text.contains("::1:\(ports[1])"))
        #expect(!text.contains("geheim"))
    }

    @Test(
        "Several hosts stand in the URL, or are its parameters; libpq chooses where others than the primary are wanted",
        arguments: [
            ("postgresql://u:geheim@a:1,b:2/db?sslmode=disable", ["a:1", "b:2"]),
            ("postgresql://a,[2001:db8::1]:7", ["a:", "2001:db8::1:7"]),
            ("postgresql:///db?host=a,b&port=7", ["a:7", "b:7"]), ("postgresql://u@a,b/db?target_session_attrs=read-write", ["a:", "b:"]),
            ("postgresql://u@a,b/db?target_session_attrs=any", []), ("postgresql://u@a/db", []),
        ]) func hosts(_ text: String, _ hosts: [String]) throws
    {
        let url = try #require(ConnectionSettings.url(text))
        let settings = try ConnectionSettings(url, schema: "public", statementTimeout: nil, password: nil)
        expect(settings.hosts.map(\.place), equals: hosts)
        #expect(!settings.place.contains("geheim"))
    }
}
#endif
