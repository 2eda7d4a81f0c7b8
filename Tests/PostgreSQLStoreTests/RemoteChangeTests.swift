#if PostgreSQL
import CoreData
import StoreConformance
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import PostgreSQLStore

@Suite("Remote changes of a PostgreSQL store") struct RemoteChangeTests {
    private static func options() -> PostgreSQLStoreOptions {
        var options = ServerHistoryTests.tracking()
        options.postsRemoteChanges = true
        return options
    }

    private func labels(_ context: NSManagedObjectContext) async throws -> Set<String> {
        try await context.perform {
            context.reset()
            let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            return Set(tags.compactMap { $0.value(forKey: "label") as? String })
        }
    }

    @Test("What another coordinator saves is told, with the store, its URL and a token that reaches it") func notification() async throws {
        let options = Self.options()
        let listening = try await coordinator(options)
        let store = listening.persistentStores[0]
        let news = News(listening)
        let (reader, writer) = (context(listening), context(try await coordinator(options), author: "other"))
        var waiting = news.stream.makeAsyncIterator()
        let start = listening.currentPersistentHistoryToken(fromStores: nil)
        for number in 1...3 {
            try await writer.perform { _ = try ServerHistoryTests.insertTag("\(number)", writer) }
            var isThere = false
            while !isThere, let note = await waiting.next() {
                let info = note.value
                expect(info[NSStoreUUIDKey] as? String, equals: store.identifier)
                expect(info[NSPersistentStoreURLKey] as? URL, equals: store.url)
                let token = try #require(info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
                isThere = try await reader.perform {
                    let all = try ServerHistoryTests.history(reader, after: start).count
                    return try all == number && ServerHistoryTests.history(reader, after: token).isEmpty
                }
            }
        }
        withExtendedLifetime(news) {}
    }

    @Test("A container's option asks for it, and a batch request is told of too") func byDescription() async throws {
        let options = freshOptions()
        let listening = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        let description = NSPersistentStoreDescription(postgreSQL: try #require(URL(string: server().url)), options: options)
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        await withCheckedContinuation { continuation in
            listening.addPersistentStore(with: description) { _, error in
                #expect(error == nil)
                continuation.resume()
            }
        }
        let news = News(listening)
        var waiting = news.stream.makeAsyncIterator()
        let writer = context(try await coordinator(options))
        try await writer.perform { _ = try writer.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["label": "a"]])) }
        let note = try #require(await waiting.next())
        // A note is given once.
        let info = note.value
        expect(info[NSStoreUUIDKey] as? String, equals: listening.persistentStores[0].identifier)
        #expect(info[NSPersistentHistoryTokenKey] == nil)
        withExtendedLifetime(news) {}
    }

    @Test("After the listening connection was lost, what was written meanwhile is told") func reconnection() async throws {
        let options = Self.options()
        let name = "watch_\(UUID().uuidString)"
        let listening = try await coordinator(options, url: "\(server().url)?application_name=\(name)")
        let news = News(listening)
        var waiting = news.stream.makeAsyncIterator()
        let (reader, writer) = (context(listening), context(try await coordinator(options)))
        let raw = try rawPool(options)
        defer { raw.close() }
        func isTold(_ label: String) async throws {
            while try await !labels(reader).contains(label) { _ = await waiting.next() }
        }
        try await writer.perform { _ = try ServerHistoryTests.insertTag("first", writer) }
        _ = await waiting.next()
        for round in 0..<3 {
            _ = try await raw.with {
                try await $0.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [.text(name)])
            }
            // Written by another program, which wakes nobody.
            _ = try await raw.with { connection in
                try await connection.run([
                    Call("BEGIN"),
                    Call(
                        "INSERT INTO tag (label, entity) SELECT $1, number FROM coredata_entities WHERE name = 'Tag'",
                        [.text("round \(round)")]),
                    Call("INSERT INTO coredata_commits (id) VALUES (gen_random_uuid())"),
                    Call(
                        "INSERT INTO coredata_transactions (id, system, xid, at) SELECT gen_random_uuid(), system_identifier, "
                            + "pg_current_xact_id()::text::bigint, now() FROM pg_control_system()"), Call("COMMIT"),
                ])
            }
            _ = await waiting.next()
            try await isTold("round \(round)")
        }
        withExtendedLifetime(news) {}
    }

    @Test(
        "What another context's save, or a merged history of others, has made match is in a live list, though nobody has read it there",
        .timeLimit(.minutes(30)), arguments: [true, false])
    func liveList(isSameCoordinator: Bool) async throws {
        let options = Self.options()
        let coordinators = [try await coordinator(options), try await coordinator(options)]
        let (watching, editor) = (context(coordinators[0]), context(coordinators[isSameCoordinator ? 0 : 1]))
        try await editor.perform {
            for label in ["a", "b"] { try ServerHistoryTests.insertTag(label, editor) }
            editor.reset()
        }
        await watching.perform { watching.automaticallyMergesChangesFromParent = isSameCoordinator }
        let start = coordinators[0].currentPersistentHistoryToken(fromStores: nil)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label IN {'a', 'c'}")
        var results = watching.liveResults(for: request).makeAsyncIterator()
        let first = try #require(try await results.next())
        expect(first.count, equals: 1)
        try await editor.perform {
            let hidden = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            hidden.predicate = NSPredicate(format: "label == 'b'")
            try #require(try editor.fetch(hidden).first).setValue("c", forKey: "label")
            try editor.save()
        }
        if !isSameCoordinator {
            try await watching.perform {
                for transaction in try ServerHistoryTests.history(watching, after: start) {
                    watching.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
            }
        }
        let second = try #require(try await results.next())
        let labels = await watching.perform { second.objects(in: watching).compactMap { $0.value(forKey: "label") as? String } }
        expect(Set(labels), equals: ["a", "c"])
    }

    @Test("A save wakes who listens, when it is committed") func wakeUp() async throws {
        let coordinator = try await coordinator(freshOptions())
        let channel = CommitAftermath.channel(of: coordinator.persistentStores[0].identifier ?? "")
        let context = context(coordinator)
        let raw = try rawPool(freshOptions())
        defer { raw.close() }
        try await raw.with { connection in
            try await connection.execute("LISTEN \(channel)")
            try await context.perform { _ = try ServerHistoryTests.insertTag("a", context) }
            #expect(try await connection.wakeUps(timeout: 600) > 0)
            try await connection.execute("UNLISTEN *")
        }
    }

    @Test("Rows of commits are deleted once they are a day old") func commits() async throws {
        let options = freshOptions()
        let coordinator = try await coordinator(options)
        let raw = try rawPool(options)
        defer { raw.close() }
        try await raw.with {
            try await $0.execute(
                "INSERT INTO coredata_commits SELECT gen_random_uuid(), now() - interval '25 hours' FROM generate_series(1, 12000); "
                    + "INSERT INTO coredata_commits SELECT gen_random_uuid(), now() - interval '23 hours' FROM generate_series(1, 10)")
        }
        let context = context(coordinator)
        try await context.perform { _ = try ServerHistoryTests.insertTag("a", context) }
        try await raw.wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM coredata_commits WHERE at < now() - interval '1 day')")
        let left = try await raw.with { try await $0.query("SELECT count(*) FROM coredata_commits").integer(0, 0) }
        expect(left, equals: 11)
    }
}
#endif
