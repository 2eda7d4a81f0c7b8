import CoreData
import TestSupport
import Testing

@Suite("Live results") struct LiveResultsTests {
    private func request() -> NSFetchRequest<Album> {
        let request = NSFetchRequest<Album>()
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    private func insert(_ title: String, into context: NSManagedObjectContext) async {
        await context.perform { Album(context: context).title = title }
    }

    private func titles(_ results: LiveResultIDs<Album>?, _ context: NSManagedObjectContext) async -> [String]? {
        guard let results else { return nil }
        return await context.perform { results.objects(in: context).map(\.title) }
    }

    @Test("The first element is what the fetch finds, each further one what a change has made of it")
    func changes() async throws {
        let context = try Music.context()
        await insert("b", into: context)
        var results = context.liveResults(for: request()).makeAsyncIterator()
        #expect(try await titles(results.next(), context) == ["b"])
        await insert("a", into: context)
        #expect(try await titles(results.next(), context) == ["a", "b"])
        try await context.perform {
            context.delete(try context.all(Album.self, "title == \"b\"")[0])
        }
        let last = try #require(try await results.next())
        expect(last.count, equals: 1)
        #expect(await context.perform { context.object(with: last[0]).title } == "a")
    }

    @Test("Who asks rarely gets the newest results only")
    func conflation() async throws {
        let context = try Music.context()
        var results = context.liveResults(for: request()).makeAsyncIterator()
        #expect(try await results.next()?.isEmpty == true)
        for title in ["c", "a", "b"] { await insert(title, into: context) }
        #expect(try await titles(results.next(), context) == ["a", "b", "c"])
        await insert("d", into: context)
        #expect(try await titles(results.next(), context) == ["a", "b", "c", "d"])
    }

    /// What another context does, so that an album comes into a list or leaves it.
    enum Change: CaseIterable { case insertion, value, relatedValue, relationship, deletion }

    @Test(
        "What another context's save has made match is in the list, and in a controller, also an object that nobody has read there",
        .timeLimit(.minutes(30)), arguments: [NSInMemoryStoreType, NSSQLiteStoreType], Change.allCases)
    func changesOfOthers(type: String, change: Change) async throws {
        for isRead in [false, true] {
            let folder = try ScratchFolder("live")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : folder.file("music.sqlite"))
            let (editor, watching) = (Music.context(coordinator), Music.context(coordinator))
            try await editor.perform {
                try editor.saveBand("Can", albums: ["a", "late"])
                try editor.saveBand("Neu!", albums: ["b"])
                try editor.all(Album.self, "title == 'late'")[0].year = 2010
                try editor.save()
                editor.reset()
            }
            let (request, listener) = (self.request(), ResultsListener())
            request.predicate = NSPredicate(format: "band.name == 'Can' AND year < 2005")
            let controller = try await watching.perform {
                watching.automaticallyMergesChangesFromParent = true
                watching.retainsRegisteredObjects = true
                if isRead { for album in try watching.all(Album.self) { _ = (album.year, album.band?.name) } }
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: watching, sectionNameKeyPath: nil, cacheName: nil)
                controller.delegate = listener
                try controller.performFetch()
                return Guarded(controller)
            }
            var results = watching.liveResults(for: request).makeAsyncIterator()
            #expect(try await titles(results.next(), watching) == ["a"])
            let expected = try await editor.perform { () -> [String] in
                func album(_ title: String) throws -> Album { try editor.all(Album.self, "title == '\(title)'")[0] }
                defer { #expect(throws: Never.self) { try editor.save() } }
                switch change {
                case .insertion:
                    let new = Album(context: editor)
                    (new.title, new.band) = ("new", try album("a").band)
                    return ["a", "new"]
                case .value:
                    try album("late").year = 2001
                    return ["a", "late"]
                case .relatedValue:
                    try album("b").band?.name = "Can"
                    return ["a", "b"]
                case .relationship:
                    try album("b").band = album("a").band
                    return ["a", "b"]
                case .deletion:
                    editor.delete(try album("a"))
                    return []
                }
            }
            #expect(try await titles(results.next(), watching) == expected, "read before: \(isRead)")
            await watching.perform {
                let shown = controller.withValue { $0.fetchedObjects ?? [] }
                expect(shown.map(\.title), equals: expected, "read before: \(isRead)")
            }
            withExtendedLifetime(listener) {}
            try coordinator.remove(store)
            folder.remove()
        }
    }

    @Test("They go on after a reset, with objects that live in the context")
    func reset() async throws {
        let context = try Music.context()
        try await context.perform { _ = try context.saveBand("Low", albums: ["a"]) }
        var results = context.liveResults(for: request()).makeAsyncIterator()
        _ = try await results.next()
        await context.perform { context.reset() }
        #expect(try await titles(results.next(), context) == ["a"])
        await insert("b", into: context)
        #expect(try await titles(results.next(), context) == ["a", "b"])
    }

    @Test("The iteration ends when its task is cancelled")
    func cancellation() async throws {
        let context = try Music.context()
        let request = NSFetchRequest<Album>()
        let sequence = context.liveResults(for: request)
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for try await _ in sequence {
                count += 1
                signal.yield()
            }
            return count
        }
        for await _ in started { break }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test("A fetch that cannot be executed throws its error")
    func errors() async throws {
        let context = try Music.context()
        let request = NSFetchRequest<Album>()
        request.predicate = NSPredicate(format: "nonsense == 1")
        var results = context.liveResults(for: request).makeAsyncIterator()
        await #expect(throws: (any Error).self) { _ = try await results.next() }
    }
}
