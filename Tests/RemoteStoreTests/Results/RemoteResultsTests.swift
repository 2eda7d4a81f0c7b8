import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Results from the cache, the backend, and after changes") struct RemoteResultsTests {
    private let model = Shop.model()
    private let server: SimulatedServer
    private let coordinator: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext

    init() throws {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        server = SimulatedServer(model, [Resource("Album", endpoints: [Endpoint("all"), byID], saving: .init(isIdempotent: true))])
        server.put("Album", 1, ["title": "Help!"])
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addCachedStore(server.connection("A"), at: nil)
        context = coordinator.context()
    }

    private func titles(_ results: RemoteResultIDs<NSManagedObject>?) async -> [String]? {
        guard let results else { return nil }
        return await context.perform { [context] in results.objects(in: context).map { $0.value(forKey: "title") as? String ?? "nil" } }
    }

    /// Lets the cache have what the server has now.
    private func fill() async throws {
        let request = fetchRequest("Album", by: ["title"])
        request.cachePolicy = .networkOnly
        let other = coordinator.context()
        try await other.perform { _ = try other.fetch(request) }
    }

    @Test("The cached answer comes first, while the server is awaited, and then the fresh one", arguments: [true, false])
    func twoAnswers(mergesAutomatically: Bool) async throws {
        await context.perform { [context] in context.automaticallyMergesChangesFromParent = mergesAutomatically }
        try await fill()
        server.change("Album", 1, ["title": "Help"])
        server.put("Album", 2, ["title": "Debut"])
        server.network.script { _ in .held }
        var iterator = context.results(for: fetchRequest("Album", by: ["title"])).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(await titles(first) == ["Help!"])
        #expect(first?.isFresh == false && first?.error == nil)
        await server.network.untilHeld()
        server.network.script { _ in .delivered }
        server.network.deliverAll()
        // Where the context merges by itself, the merge may come before the end of the request is told.
        var latest = try await iterator.next()
        while await titles(latest) != ["Debut", "Help"] { latest = try await iterator.next() }
        #expect(latest?.error == nil)
    }

    @Test("An answer that is what the cache had is not shown again; a change after it is")
    func nothingNew() async throws {
        try await fill()
        let asked = Guarded(0)
        server.network.script { message in
            if message.isAnswer { asked.withValue { $0 += 1 } }
            return .delivered
        }
        let seen = Guarded<[[String]]>([])
        let results = context.results(for: fetchRequest("Album", by: ["title"]))
        let task = Task {
            for try await found in results {
                let titles = await titles(found) ?? []
                seen.withValue { $0.append(titles) }
            }
        }
        while asked.withValue({ $0 }) == 0 || seen.withValue({ $0.isEmpty }) { await Task.yield() }
        await context.perform { [context] in
            NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("New", forKey: "title")
            context.processPendingChanges()
        }
        while seen.withValue({ $0.last?.count }) != 2 { await Task.yield() }
        task.cancel()
        _ = await task.result
        expect(seen.withValue { $0 }, equals: [["Help!"], ["Help!", "New"]])
    }

    @Test("What another context's save has made match is shown, though this context has not read it", .timeLimit(.minutes(30)))
    func changeOfAnotherContext() async throws {
        server.put("Album", 2, ["title": "Debut", "year": 1993])
        server.put("Album", 3, ["title": "Post", "year": 1960])
        try await fill()
        await context.perform { [context] in context.automaticallyMergesChangesFromParent = true }
        let request = fetchRequest("Album", "year < 1970", by: ["title"])
        request.cachePolicy = .cacheOnly
        var iterator = context.results(for: request).makeAsyncIterator()
        #expect(await titles(try await iterator.next()) == ["Post"])
        let editor = coordinator.context()
        try await editor.perform {
            let debut = fetchRequest("Album", "title == 'Debut'")
            debut.cachePolicy = .cacheOnly
            try editor.fetch(debut)[0].setValue(1965, forKey: "year")
            try editor.save()
        }
        var latest = try await iterator.next()
        while await titles(latest) == ["Post"] { latest = try await iterator.next() }
        #expect(await titles(latest) == ["Debut", "Post"])
    }

    @Test("A server that does not answer is told with the results of before, and changes still follow")
    func offline() async throws {
        try await fill()
        server.network.setConnected(false, "A")
        var iterator = context.results(for: fetchRequest("Album", by: ["title"])).makeAsyncIterator()
        var latest = try await iterator.next()
        #expect(await titles(latest) == ["Help!"])
        while latest?.error == nil { latest = try await iterator.next() }
        #expect((latest?.error as? NSError)?.code == NSURLErrorNotConnectedToInternet && latest?.isFresh == false)
        #expect(await titles(latest) == ["Help!"])
        await context.perform { [context] in
            NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("New", forKey: "title")
            context.processPendingChanges()
        }
        #expect(await titles(try await iterator.next()) == ["Help!", "New"])
    }

    @Test("The sequence ends by the server's error if it is to, and where there is no cached answer to show", arguments: [true, false])
    func ending(endsOnError: Bool) async throws {
        try await fill()
        server.network.setConnected(false, "A")
        let request = fetchRequest("Album", by: ["title"])
        if !endsOnError { request.cachePolicy = .networkOnly }
        let results = context.results(for: request, endsOnError: endsOnError)
        let error = await #expect(throws: NSError.self) { for try await _ in results {} }
        expect(error?.code, equals: NSURLErrorNotConnectedToInternet)
    }

    @Test("With the cache only, the server is not asked; with the network only, the first element is the server's answer")
    func policies() async throws {
        let request = fetchRequest("Album", by: ["title"])
        request.cachePolicy = .cacheOnly
        let asked = Guarded(0)
        server.network.script { _ in
            asked.withValue { $0 += 1 }
            return .delivered
        }
        var local = context.results(for: request).makeAsyncIterator()
        #expect(await titles(try await local.next()) == [])
        expect(asked.withValue { $0 }, equals: 0)
        request.cachePolicy = .networkOnly
        var remote = context.results(for: request).makeAsyncIterator()
        let first = try await remote.next()
        #expect(await titles(first) == ["Help!"])
        expect(first?.isFresh, equals: true)
    }
}
