import CoreData
import Palettes
import SampleService
import Testing

@Suite("The caching store") struct CachingIncrementalStoreTests {
    private let service: SampleService
    private let stack: Stack<CachingIncrementalStore>
    private let refreshes: Refreshes
    private var context: NSManagedObjectContext { stack.context }

    init() async throws {
        service = try await SampleService.start()
        stack = try .caching(service)
        refreshes = Refreshes(of: stack.store)
    }

    /// Fills the cache with the first palettes, and keeps them in the context.
    private func fill(_ count: Int = 5) async throws -> [Palette] {
        let context = context
        _ = try await context.perform { try context.fetch(palettes(limit: count)).count }
        let refresh = try #require(await refreshes.next())
        #expect(refresh.inserted.count == count && refresh.updated.isEmpty && refresh.error == nil)
        nonisolated(unsafe) let found = try await context.perform { try context.fetch(palettes(limit: count)) }
        let second = try #require(await refreshes.next())
        #expect(second.inserted.isEmpty && second.updated.isEmpty && second.error == nil)
        service.resetRequests()
        return found
    }

    @Test("The first fetch is answered at once with what the cache has, nothing; the next one has what the refresh brought")
    func firstFetch() async throws {
        service.setDelay(.milliseconds(50))
        let expected = service.palettes.prefix(5).map(\.title)
        let context = context
        try await context.perform {
            let found = try context.fetch(palettes(limit: 5))
            #expect(found.isEmpty)
            // A refresh ends on this very queue: none can have ended yet.
            #expect(stack.store.statistics.refreshes == 0)
        }

        let refresh = try #require(await refreshes.next())
        #expect(refresh.inserted.count == 5)
        #expect(refresh.error == nil)
        #expect(service.requestCount() == 1)

        try await context.perform {
            let found = try context.fetch(palettes(limit: 5))
            #expect(found.map(\.name) == expected)
            #expect(found.allSatisfy { !$0.colors.isEmpty && $0.colors.count == $0.widths.count })
            #expect(!context.hasChanges)
        }
        #expect(stack.store.statistics.objects == 5)
    }

    @Test("A change on the server shows in the object that the context has, once the refresh has ended") func serverChange() async throws {
        let context = context
        let found = try await fill()
        let id = service.palettes[1].id
        await context.perform { #expect(found[1].rank == 2) }
        try service.updatePalette(id: id, title: "Renamed")
        service.setDelay(.milliseconds(50))

        try await context.perform {
            let again = try context.fetch(palettes(limit: 5))
            #expect(again == found)
            #expect(found[1].name != "Renamed")
        }
        let refresh = try #require(await refreshes.next())
        #expect(refresh.inserted.isEmpty)
        await context.perform {
            #expect(refresh.updated == [found[1].objectID])
            #expect(found[1].name == "Renamed")
            #expect(!context.hasChanges)
        }
        #expect(service.requestCount() == 1)
    }

    @Test("Unsaved edits survive a refresh, while what was not edited is brought up to date") func localEdits() async throws {
        let context = context
        let found = try await fill()
        await context.perform { found[0].name = "My own name" }
        try service.updatePalette(id: service.palettes[0].id) { palette in
            palette.title = "Renamed"
            palette.userName = "somebody"
        }
        _ = try await context.perform { try context.fetch(palettes(limit: 5)).count }
        let refresh = try #require(await refreshes.next())
        #expect(refresh.updated.count == 1)
        await context.perform {
            #expect(found[0].name == "My own name")
            #expect(found[0].username == "somebody")
            #expect(context.updatedObjects == [found[0]])
            context.rollback()
            #expect(found[0].name == "Renamed")
        }
    }

    @Test("A palette that is new on the server is in the next answer") func newPalette() async throws {
        let context = context
        let before = try await fill(60)
        service.addPalette(SamplePalette(id: 5, title: "Newcomer", rank: 61))
        try await context.perform {
            let count = try context.count(for: palettes())
            #expect(count == 60)
        }
        let refresh = try #require(await refreshes.next())
        #expect(refresh.inserted.count == 1)
        try await context.perform {
            let found = try context.fetch(palettes())
            #expect(found.last?.name == "Newcomer")
            #expect(found.dropLast() == before[...])
        }
    }

    @Test("A refresh that fails says so, and the cache goes on answering") func failingRefresh() async throws {
        let context = context
        let found = try await fill()
        service.failNext(status: 503)
        try await context.perform {
            let again = try context.fetch(palettes(limit: 5))
            #expect(again == found)
        }
        let refresh = try #require(await refreshes.next())
        #expect(refresh.inserted.isEmpty && refresh.updated.isEmpty)
        #expect((refresh.error as NSError?)?.domain == PaletteErrorDomain)
        #expect(refresh.error?.localizedDescription.hasSuffix("HTTP status 503.") == true)

        await service.stop()
        _ = try await context.perform { try context.fetch(palettes(limit: 5)).count }
        let second = try #require(await refreshes.next())
        #expect((second.error as NSError?)?.code == PaletteErrorCode.unreachable.rawValue)
        try await service.restart()
        _ = try await context.perform { try context.fetch(palettes(limit: 5)).count }
        let third = try #require(await refreshes.next())
        #expect(third.error == nil)
    }

    @Test("The cache filters, sorts, pages and counts by itself, in every form of result") func cacheAnswers() async throws {
        let context = context
        _ = try await fill(60)
        let expected = service.palettes.filter { $0.userName == "ada" }.sorted { $0.title < $1.title }.map(\.title)
        try await context.perform {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: Palette.entityName)
            request.predicate = NSPredicate(format: "username == 'ada'")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let objects = try context.fetch(request).compactMap { $0 as? Palette }
            #expect(objects.map(\.name) == expected)
            let count = try context.count(for: request)
            #expect(count == expected.count)
            request.resultType = .managedObjectIDResultType
            let ids = try context.fetch(request).compactMap { $0 as? NSManagedObjectID }
            #expect(ids == objects.map(\.objectID))
            request.resultType = .dictionaryResultType
            request.fetchLimit = 1
            let dictionaries = try context.fetch(request).compactMap { $0 as? NSDictionary }
            #expect(dictionaries.first?["name"] as? String == expected.first)
            #expect(dictionaries.first?.allKeys.count == 6)
            let same = try context.fetch(palettes(NSPredicate(format: "SELF == %@", objects[0])))
            #expect(same == [objects[0]])
        }
        for _ in 0..<5 { #expect(await refreshes.next()?.error == nil) }
        #expect(service.requestCount(path: "/api/palettes/top") == 4)
        #expect(service.requestCount(path: "/api/palette/") == 1)
    }

    @Test("Two contexts that fetch at once insert no palette twice") func twoContexts() async throws {
        let first = context
        let second = NSManagedObjectContext(.privateQueue)
        second.persistentStoreCoordinator = stack.coordinator
        async let one = first.perform { try first.fetch(palettes(limit: 20)).count }
        async let two = second.perform { try second.fetch(palettes(limit: 20)).count }
        _ = try await (one, two)
        let inserted = [await refreshes.next(), await refreshes.next()].reduce(0) { $0 + ($1?.inserted.count ?? 0) }
        #expect(inserted == 20)
        try await second.perform {
            let count = try second.count(for: palettes())
            #expect(count == 20)
        }
        _ = await refreshes.next()
    }
}
