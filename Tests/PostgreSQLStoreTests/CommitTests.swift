#if PostgreSQL
import CoreData
import PostgreSQLStore
import StoreConformance
import TestSupport
import Testing

@Suite("Commits whose answer is lost") struct CommitTests {
    private func context(
        _ url: String, _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel = ConformanceModel.make()
    ) async throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try await coordinator.addPostgreSQLStore(at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(
        "A save is done once, whether the connection is cut before or after the commit",
        arguments: [CuttingProxy.Cut.before, .after], [false, true])
    func cut(_ cut: CuttingProxy.Cut, isOneRoundTrip: Bool) async throws {
        let server = try server()
        let options = freshOptions()
        // Without constraints to check, the commit comes with the statements.
        let model = isOneRoundTrip ? SmallSaveTests.model() : ConformanceModel.make()
        let direct = try await context(server.url, options, model)
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.close() }
        let context = try await context(server.url(port: proxy.port), options, model)
        for round in 0..<5 {
            if isOneRoundTrip { proxy.cutNext(cut, at: "INTO coredata_commits") } else { proxy.cutNext(cut) }
            try await context.perform {
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("\(round)", forKey: "label")
                try context.save()
                // A change of what was saved finds the version that was written. It is one statement, with the row of the commit.
                if isOneRoundTrip { proxy.cutNext(cut, at: "FROM done RETURNING") }
                tag.setValue("\(round), changed", forKey: "label")
                try context.save()
            }
        }
        expect(proxy.cuts, equals: (isOneRoundTrip ? 10 : 5))
        let labels = try await direct.perform {
            try direct.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).compactMap { $0.value(forKey: "label") as? String }
                .sorted()
        }
        expect(labels, equals: (0..<5).map { "\($0), changed" })
    }

    @Test("A save is done once, although the answer to its look-up is lost, too", arguments: [CuttingProxy.Cut.before, .after])
    func cutTwice(_ cut: CuttingProxy.Cut) async throws {
        let server = try server()
        let options = freshOptions()
        let direct = try await context(server.url, options)
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.close() }
        let context = try await context(server.url(port: proxy.port), options)
        proxy.cutNext(cut)
        // It may find the transaction, or see to it that nobody commits it any more.
        for _ in 0..<2 { proxy.cutNext(.after, at: "ON CONFLICT") }
        try await context.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("a", forKey: "label")
            try context.save()
        }
        expect(proxy.cuts, equals: 3)
        let count = try await direct.perform { try direct.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) }
        expect(count, equals: 1)
    }
}
#endif
