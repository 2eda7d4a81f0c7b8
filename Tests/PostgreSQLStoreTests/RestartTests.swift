#if PostgreSQL
import CoreData
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import PostgreSQLStore

/// A single server that goes away for a while is waited for, by whatever needs it.
@Suite("A server that restarts") struct RestartTests {
    private static func model() -> NSManagedObjectModel {
        let (list, item) = (NSEntityDescription(name: "List"), NSEntityDescription(name: "Item"))
        let items = NSRelationshipDescription(name: "items", destination: item, toMany: true)
        let owner = NSRelationshipDescription(name: "list", destination: list)
        items.inverse(to: owner)
        list.properties = [NSAttributeDescription(name: "name", type: .string), items]
        item.properties = [NSAttributeDescription(name: "size", type: .integer64), owner]
        return NSManagedObjectModel(entities: [list, item])
    }

    /// A store with one list of three items, which keeps its history.
    private static func opened(_ server: RestartedServer, timeout: Double = 600) async throws -> NSPersistentStoreCoordinator {
        var options = freshOptions()
        options.tracksHistory = true
        options.connectionTimeout = timeout
        let coordinator = try await coordinator(options, Self.model(), url: server.url)
        let context = context(coordinator)
        try await context.perform {
            let list = context.insert("List", ["name": "first"])
            for size in 1...3 { context.insert("Item", ["size": size]).setValue(list, forKey: "list") }
            try context.save()
        }
        return coordinator
    }

    private enum Work: CaseIterable {
        case fetch, count, sum, fault, relationship, history, batch, save
    }

    /// Prepares something, and returns what needs the server, and says what it has found.
    private static func prepared(
        _ work: Work, _ coordinator: NSPersistentStoreCoordinator
    ) async throws -> @Sendable () async throws -> Int {
        let context = context(coordinator)
        let id = try await context.perform { try context.one("List", "name == 'first'").objectID }
        // What was read is not to be answered from memory.
        context.stalenessInterval = 0
        return {
            try await context.perform {
                switch work {
                case .fetch: return try context.found("Item", "list.name == 'first'").count
                case .count: return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
                case .sum:
                    let request = NSFetchRequest<NSDictionary>(entityName: "Item")
                    request.resultType = .dictionaryResultType
                    let sum = NSExpressionDescription()
                    sum.name = "sum"
                    sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "size")])
                    sum.expressionResultType = .integer64AttributeType
                    request.propertiesToFetch = [sum]
                    return try context.fetch(request).first?["sum"] as? Int ?? 0
                case .fault:
                    let list = context.object(with: id)
                    context.refresh(list, mergeChanges: false)
                    return (list.value(forKey: "name") as? String)?.count ?? 0
                case .relationship: return (context.object(with: id).value(forKey: "items") as? Set<NSManagedObject>)?.count ?? 0
                case .history:
                    let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
                    return ((result as? NSPersistentHistoryResult)?.result as? [Any])?.isEmpty == false ? 1 : 0
                case .batch:
                    let request = NSBatchUpdateRequest(entityName: "Item")
                    request.predicate = NSPredicate(format: "size > 100")
                    request.propertiesToUpdate = ["size": 7]
                    request.resultType = .updatedObjectsCountResultType
                    return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int ?? -1
                case .save:
                    context.insert("List", ["name": "second"])
                    try context.save()
                    return 1
                }
            }
        }
    }

    private static func expected(_ work: Work) -> Int {
        switch work {
        case .fetch, .count, .relationship: 3
        case .sum: 6
        case .fault: 5
        case .history, .save: 1
        case .batch: 0
        }
    }

    @Test("Reads, batch requests and saves wait for it, and each save is done once", .timeLimit(.minutes(30))) func refused() async throws {
        let server = try RestartedServer()
        let coordinator = try await Self.opened(server)
        var all: [(Work, @Sendable () async throws -> Int)] = []
        for work in Work.allCases { all.append((work, try await Self.prepared(work, coordinator))) }
        try await server.stop()
        // Each connection that comes is ended, as a server does that goes down.
        let listener = try SilentListener(at: server.port)
        let tasks = all.map { work, body in (work, Task { try await body() }) }
        while !listener.refuse() { await Task.yield() }
        // From here on nobody listens.
        listener.close()
        try server.start()
        for (work, task) in tasks {
            let result = await task.result
            do { try expect(result.get(), equals: Self.expected(work), "\(work)") } catch { Issue.record("\(work): \(error)") }
        }
        let context = context(coordinator)
        try await context.perform { try expect(context.found("List", "name == 'second'").count, equals: 1) }
    }

    @Test("One that says that it is starting is waited for, also by who opens a store", .timeLimit(.minutes(30)))
    func starting() async throws {
        let server = try RestartedServer()
        let coordinator = try await Self.opened(server)
        let fetch = try await Self.prepared(.fetch, coordinator)
        try await server.stop()
        try server.start(isHeld: true)
        let task = Task { try await fetch() }
        try await server.wait(forLog: "FATAL:  the database system is")
        let opening = Task { try await Self.opened(server) }
        try server.finishStarting()
        let result = await task.result
        #expect(throws: Never.self) { try expect(result.get(), equals: 3) }
        let opened = await opening.result
        #expect(throws: Never.self) { _ = try opened.get() }
    }

    @Test("It is waited for as long as the limit says: then that is the error, and the next request finds what is there") func limit()
        async throws
    {
        let server = try RestartedServer()
        let coordinator = try await Self.opened(server, timeout: 0.3)
        let fetch = try await Self.prepared(.fetch, coordinator)
        let save = try await Self.prepared(.save, coordinator)
        try await server.stop()
        for work in [fetch, save] {
            let error = await #expect(throws: NSError.self) { _ = try await work() }
            expect(error?.code, equals: NSPersistentStoreTimeoutError, "\(String(describing: error))")
            #expect(error.map { "\($0.userInfo)".contains("connectionTimeout") } ?? false)
        }
        try server.start()
        try await server.wait(forLog: "database system is ready to accept connections", times: 2)
        expect(try await fetch(), equals: 3)
        expect(try await save(), equals: 1)
    }

    @Test("A server that is there and refuses the user is not waited for", .timeLimit(.minutes(30))) func refusal() async throws {
        let server = try RestartedServer()
        let admin = try ConnectionPool(
            ConnectionSettings(try #require(URL(string: server.url)), schema: "public", statementTimeout: nil, password: nil), limit: 1,
            timeout: 600)
        defer { admin.close() }
        try await admin.with { try await $0.execute("CREATE ROLE guest LOGIN") }
        var options = PostgreSQLStoreOptions()
        options.connectionTimeout = 7200
        let url = try #require(URL(string: server.url.replacing("tester", with: "guest")))
        let pool = try ConnectionPool(url, options, .own)
        defer { pool.close() }
        try await pool.with { try await $0.execute("SELECT 1") }
        try await admin.with { connection in
            try await connection.execute("ALTER ROLE guest NOLOGIN")
            try await connection.execute("SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity WHERE usename = 'guest'")
        }
        let error = await #expect(throws: ServerError.self) { try await pool.with { try await $0.execute("SELECT 1") } }
        #expect(error.map { "\($0)".contains("guest") } ?? false)
    }
}
#endif
