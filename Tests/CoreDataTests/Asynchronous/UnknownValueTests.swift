import CoreData
import TestSupport
import Testing

@Suite("Values that a store which loads asynchronously has left unknown") struct UnknownValueTests {
    /// A hundred bands whose names the server says only when it is asked for them.
    private func server() async throws -> (ServerStore, NSManagedObjectContext, [Band]) {
        let (store, context) = try await AsynchronousLoadingTests.server(bands: 100, albums: 1)
        store.configure { $0.lazyAttributes = ["name"] }
        let bands = try await context.fetchAsynchronously(NSFetchRequest<Band>(entityName: "Band"))
        expect(store.questions, equals: ["fetch Band"])
        store.forgetQuestions()
        return (store, context, bands)
    }

    @Test("Loading an unknown value asks once for all objects, while the context runs other blocks, and reading it asks nothing")
    func loading() async throws {
        let (store, context, bands) = try await server()
        store.configure { $0.heldBack = ["values"] }
        nonisolated(unsafe) let sent = bands
        let load = Task { try await context.load(sent, \.name) }
        await store.untilHeld()
        // Were the queue held, this would not come to an end before the release.
        await context.perform { Band(context: context).name = "New" }
        store.release()
        try await load.value
        let names = await context.perform { Set(bands.map(\.name)) }
        expect(names, equals: Set((0..<100).map { "Band \($0)" }))
        expect(store.questions, equals: ["values name 100"])
    }

    @Test("A value that was set while it was being loaded stays, and the store's comes under it")
    func settingMeanwhile() async throws {
        let (store, context, bands) = try await server()
        store.configure { $0.heldBack = ["values"] }
        nonisolated(unsafe) let sent = bands
        let load = Task { try await context.load(sent, \.name) }
        await store.untilHeld()
        await context.perform { bands[0].name = "Mine" }
        store.release()
        try await load.value
        await context.perform {
            expect(bands[0].name, equals: "Mine")
            expect(bands[0].committedValues(forKeys: ["name"])["name"] as? String, equals: "Band 0")
            expect(context.updatedObjects, equals: [bands[0]])
        }
        expect(store.questions, equals: ["values name 100"])
    }

    @Test("What a fetch has left unknown is read for all that came together by one question, also in a child")
    func reading() async throws {
        let (store, context, bands) = try await server()
        let first = await context.perform { bands.map(\.name) }
        expect(Set(first).count, equals: 100)
        expect(store.questions, equals: ["values name 100"])
        let (other, parent, _) = try await server()
        let child = NSManagedObjectContext(.privateQueue)
        await child.perform { child.parent = parent }
        let found = try await child.fetchAsynchronously(NSFetchRequest<Band>(entityName: "Band"))
        other.forgetQuestions()
        try await child.load(found, \.name)
        let names = await child.perform { Set(found.map(\.name)) }
        expect(names.count, equals: 100)
        expect(other.questions, equals: ["values name 100"])
    }

    @Test("Objects at the end of a path have their unknown values loaded by one question")
    func paths() async throws {
        let (store, context, _) = try await server()
        let albums = try await context.fetchAsynchronously(NSFetchRequest<Album>(entityName: "Album"))
        store.forgetQuestions()
        try await context.load(albums, "band.name")
        let names = await context.perform { Set(albums.compactMap { $0.band?.name }) }
        expect(names.count, equals: 100)
        expect(store.questions, equals: ["rows 100", "values name 100"])
    }

    @Test("A failed load of unknown values is thrown, and leaves them unknown; the next one asks again")
    func failure() async throws {
        let (store, context, bands) = try await server()
        store.configure { $0.failure = NSError(domain: "net", code: 7) }
        await #expect(throws: NSError.self) { try await context.load(bands, \.name) }
        store.configure { $0.failure = nil }
        try await context.load(bands, \.name)
        let names = await context.perform { Set(bands.map(\.name)) }
        expect(names.count, equals: 100)
        expect(store.questions, equals: ["values name 100", "values name 100"])
    }
}
