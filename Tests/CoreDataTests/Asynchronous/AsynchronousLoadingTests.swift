import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@Suite("Loading from a store that loads asynchronously") struct AsynchronousLoadingTests {
    /// A server with bands, each with so many albums, and a context that has read nothing yet.
    static func server(bands: Int, albums: Int) async throws -> (ServerStore, NSManagedObjectContext) {
        let (store, coordinator) = try ServerStore.make()
        let writer = Music.context(coordinator)
        await writer.perform {
            for number in 0..<bands {
                let band = Band(context: writer)
                band.name = "Band \(number)"
                for album in 0..<albums {
                    let made = Album(context: writer)
                    made.title = "Album \(number).\(album)"
                    made.band = band
                }
            }
        }
        try await writer.saveAsynchronously()
        store.forgetQuestions()
        return (store, Music.context(coordinator))
    }

    private func bands(_ keyPaths: String...) -> NSFetchRequest<Band> {
        let request = NSFetchRequest<Band>(entityName: "Band")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.relationshipKeyPathsForPrefetching = keyPaths
        return request
    }

    @Test("A fetch that prefetches asks one question for the objects, one for the relationship and one for what is at its other end")
    func prefetching() async throws {
        let (store, context) = try await Self.server(bands: 100, albums: 3)
        let bands = try await context.fetchAsynchronously(bands("albums"))
        let titles = await context.perform { bands.map { band in [band.name] + band.albums.map(\.title).sorted() } }
        expect(titles.count, equals: 100)
        expect(titles.first, equals: ["Band 0", "Album 0.0", "Album 0.1", "Album 0.2"])
        expect(store.questions, equals: ["fetch Band", "albums 100", "rows 300"])
    }

    @Test("Objects whose rows did not come with the answer are asked for together where they are not to be faults")
    func withoutRows() async throws {
        let (store, context) = try await Self.server(bands: 100, albums: 0)
        store.configure { $0.answersWithRows = false }
        let request = bands()
        request.returnsObjectsAsFaults = false
        let found = try await context.fetchAsynchronously(request)
        #expect(await context.perform { found.allSatisfy { !$0.isFault } })
        expect(store.questions, equals: ["fetch Band", "rows 100"])
    }

    @Test("What is loaded before it is read asks one question for each relationship, and its values, of all objects")
    func loading() async throws {
        let (store, context) = try await Self.server(bands: 100, albums: 2)
        let bands = try await context.fetchAsynchronously(bands())
        try await context.load(bands, \.albums, \.name)
        let count = await context.perform { bands.reduce(0) { $0 + $1.albums.filter { $0.title.hasPrefix("Album") }.count } }
        expect(count, equals: 200)
        expect(store.questions, equals: ["fetch Band", "albums 100", "rows 200"])
        let albums = try await context.fetchAsynchronously(NSFetchRequest<Album>(entityName: "Album"))
        store.forgetQuestions()
        try await context.load(albums, "band.albums", "tags")
        expect(store.questions, equals: ["tags 200"])
    }

    @Test("One object loads a relationship; the others that came with it are left alone")
    func loadingOne() async throws {
        let (store, context) = try await Self.server(bands: 10, albums: 2)
        let bands = try await context.fetchAsynchronously(bands())
        let first = try #require(bands.first)
        try await first.load(\.albums)
        expect(store.questions, equals: ["fetch Band", "albums 1", "rows 2"])
        #expect(
            await context.perform { !first.hasFault(forRelationshipNamed: "albums") && bands[1].hasFault(forRelationshipNamed: "albums") })
        await #expect(throws: (any Error).self) { try await first.load("labels") }
    }

    @Test("A child loads by its parent")
    func child() async throws {
        let (store, parent) = try await Self.server(bands: 20, albums: 2)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let bands = try await child.fetchAsynchronously(bands())
        try await child.load(bands, \.albums)
        let titles = await child.perform { bands.map { $0.albums.map(\.title).sorted() } }
        expect(titles.first, equals: ["Album 0.0", "Album 0.1"])
        expect(store.questions, equals: ["fetch Band", "albums 20", "rows 40"])
    }

    @Test("A property that is read before it is loaded waits, and asks for all that came together")
    func waiting() async throws {
        let (store, context) = try await Self.server(bands: 20, albums: 2)
        let count = try await context.perform { try context.fetch(self.bands()).reduce(0) { $0 + $1.albums.count } }
        expect(count, equals: 40)
        expect(store.questions, equals: ["fetch Band", "albums 20"])
    }

    @Test("While a fetch is suspended the context runs other blocks, and what they change and save counts")
    func meanwhile() async throws {
        let (store, context) = try await Self.server(bands: 3, albums: 0)
        store.configure { $0.heldBack = ["fetch"] }
        let request = bands()
        let names = Task {
            let found = try await context.fetchAsynchronously(request)
            return await context.perform { found.map(\.name) }
        }
        await store.untilHeld()
        await context.perform { Band(context: context).name = "Band 7" }
        try await context.saveAsynchronously()
        await context.perform { Band(context: context).name = "Band 8" }
        store.release()
        #expect(try await names.value == ["Band 0", "Band 1", "Band 2", "Band 7", "Band 8"])
    }

    @Test("A fetch that the store answered before its context saved counts what was saved since")
    func answeredBefore() async throws {
        let (_, context) = try await Self.server(bands: 3, albums: 0)
        let held = try await context.fetchAsynchronously(bands())
        let gate = ServerGate(answersAtOnce: true)
        let request = bands()
        request.predicate = NSPredicate(format: "name != 'Band X'")
        let names = Task {
            let found = try await ServerGate.$current.withValue(gate) { try await context.fetchAsynchronously(request) }
            return await context.perform { found.map(\.name) }
        }
        while gate.question == nil { await Task.yield() }
        await context.perform {
            Band(context: context).name = "Band 7"
            context.delete(held[0])
            held[1].name = "Band X"
            held[2].name = "Band 1.5"
        }
        try await context.saveAsynchronously()
        gate.open()
        #expect(try await names.value == ["Band 1.5", "Band 7"])
    }

    @Test("A fetch of a page that others would leave too little of asks again")
    func page() async throws {
        let (store, context) = try await Self.server(bands: 5, albums: 0)
        let held = try await context.fetchAsynchronously(bands())
        store.configure { $0.heldBack = ["fetch"] }
        let request = bands()
        request.fetchLimit = 2
        let names = Task {
            let found = try await context.fetchAsynchronously(request)
            return await context.perform { found.map(\.name) }
        }
        await store.untilHeld()
        await context.perform { context.delete(held[0]) }
        store.release()
        #expect(try await names.value == ["Band 1", "Band 2"])
    }

    @Test("A cancelled fetch throws, and the context goes on")
    func cancelling() async throws {
        let (store, context) = try await Self.server(bands: 2, albums: 0)
        store.configure { $0.delay = .seconds(3600) }
        let task = Task { try await context.fetchAsynchronously(bands()).count }
        while store.questions.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        store.configure { $0.delay = nil }
        #expect(try await context.fetchAsynchronously(bands()).count == 2)
    }

    @Test("A refresh that merges asks once, keeps what is unsaved, and what is changed while it is suspended")
    func refreshing() async throws {
        let (store, context) = try await Self.server(bands: 1, albums: 0)
        nonisolated(unsafe) let band = try #require(try await context.fetchAsynchronously(bands()).first)
        await context.perform { band.founded = Date(timeIntervalSince1970: 0) }
        let other = Music.context(context.persistentStoreCoordinator!)
        let same = try #require(try await other.fetchAsynchronously(bands()).first)
        await other.perform { same.name = "Renamed" }
        try await other.saveAsynchronously()
        store.forgetQuestions()
        store.configure { $0.heldBack = ["rows"] }
        let refresh = Task { try await context.refreshAsynchronously(band, mergeChanges: true) }
        await store.untilHeld()
        await context.perform { band.founded = Date(timeIntervalSince1970: 60) }
        store.release()
        try await refresh.value
        #expect(await context.perform { [band.name, "\(band.founded!.timeIntervalSince1970)"] } == ["Renamed", "60.0"])
        expect(store.questions, equals: ["rows 1"])
    }

    @Test("Over an incremental store that answers for many, an awaited fetch asks as few questions as the other")
    func incremental() async throws {
        let (store, coordinator) = try DictionaryStore.make()
        for number in 0..<100 { store.put("Album", number, ["title": "Album \(number)", "year": 2018]) }
        store.answersMany = true
        let context = Music.context(coordinator)
        let albums = try await context.fetchAsynchronously(NSFetchRequest<Album>(entityName: "Album"))
        let count = await context.perform { albums.filter { $0.title.hasPrefix("Album") }.count }
        expect(count, equals: 100)
        expect(store.calls.filter { $0.hasPrefix("newValues") }, equals: ["newValues of 100"])
    }
}
