import CoreData
import ExampleSupport
import Foundation
import Palettes
import RemoteStore
import SampleService
import TestSupport
import Testing

@Suite("The palettes' cache in one line, beside the one by hand") struct CachedPalettesTests {
    private let service: SampleService

    init() async throws { service = try await SampleService.start() }

    private func open(_ file: URL? = nil) throws -> (context: NSManagedObjectContext, store: CachedStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PaletteModel.make())
        let store = try coordinator.addCachedPalettes(at: service.baseURL, cachedAt: file, transport: networkTransport())
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
        return (context, store)
    }

    private func names(_ context: NSManagedObjectContext, limit: Int) async throws -> [String] {
        try await context.perform { try context.fetch(palettes(limit: limit)).map(\.name) }
    }

    @Test("Both answer at once with what they have, and the same object shows the fresh name once the service has answered")
    func refreshed() async throws {
        let byHand = try Stack<CachingIncrementalStore>.caching(service)
        let refreshes = Refreshes(of: byHand.store)
        let (context, store) = try open()
        _ = try await names(byHand.context, limit: 5)
        _ = await refreshes.next()
        let first = service.palettes.prefix(5).map(\.title)
        // By hand the first fetch finds nothing, and the second what has come meanwhile. The cached store asks, for it knows that it knows nothing.
        #expect(try await names(byHand.context, limit: 5) == first)
        _ = await refreshes.next()
        #expect(try await names(context, limit: 5) == first)

        let shown = try await context.perform { Shown(try context.fetch(palettes(limit: 5))) }
        try service.updatePalette(id: service.palettes[1].id, title: "Renamed")
        #expect(try await names(byHand.context, limit: 5) == first)
        var names: [[String]] = []
        for try await element in context.results(for: palettes(limit: 5)) {
            names.append(await context.perform { element.objects(in: context).map(\.name) })
            if names.last?[1] == "Renamed" { break }
        }
        #expect(names.first == first)
        await context.perform { #expect(shown.palettes[1].name == "Renamed" && !context.hasChanges) }
        #expect(try #require(await refreshes.next()).updated.count == 1)
        _ = store
    }

    @Test("What the service has deleted is gone, which the one by hand does not notice; what is held is not asked for")
    func deleted() async throws {
        let byHand = try Stack<CachingIncrementalStore>.caching(service)
        let refreshes = Refreshes(of: byHand.store)
        let (context, _) = try open()
        let count = service.palettes.count
        for _ in 0..<2 {
            _ = try await byHand.context.perform { try byHand.context.fetch(palettes()).count }
            _ = await refreshes.next()
        }
        #expect(try await names(context, limit: 0).count == count)
        service.resetRequests()
        let (held, fresh) = (palettes(NSPredicate(format: "rank < 4")), palettes())
        held.cachePolicy = .cacheFirst(maximumAge: 600)
        fresh.cachePolicy = .networkOnly
        #expect(try await context.perform { try context.fetch(held).count } == 3)
        #expect(service.requestCount() == 0)

        try service.removePalette(id: service.palettes[2].id)
        #expect(try await context.perform { try context.fetch(fresh).count } == count - 1)
        #expect(try await context.perform { try context.fetch(held).count } == 2)
        for _ in 0..<2 {
            #expect(try await byHand.context.perform { try byHand.context.fetch(palettes()).count } == count)
            _ = await refreshes.next()
        }
    }

    @Test("In the next run the palettes are there without the service") func nextRun() async throws {
        let scratch = try ScratchFolder("palettes")
        defer { scratch.remove() }
        let folder = scratch.url
        let file = folder.appendingPathComponent("palettes.sqlite")
        let first = try open(file)
        let expected = try await names(first.context, limit: 5)
        try first.context.persistentStoreCoordinator?.remove(first.store)
        await service.stop()
        let second = try open(file)
        #expect(try await names(second.context, limit: 5) == expected && expected.count == 5)
    }
}

/// Objects on their way to their queue and back.
// Unchecked: used on the queue of their context.
private final class Shown: @unchecked Sendable {
    let palettes: [Palette]
    init(_ palettes: [Palette]) { self.palettes = palettes }
}
