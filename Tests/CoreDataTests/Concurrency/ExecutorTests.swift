import CoreData
import TestSupport
import Testing

private actor Library {
    let context: NSManagedObjectContext
    nonisolated var unownedExecutor: UnownedSerialExecutor { context.unownedExecutor }
    private var album: Album?

    init(_ context: NSManagedObjectContext) { self.context = context }

    func insert(_ title: String) -> TypedObjectID<Album> {
        let album = Album(context: context)
        album.title = title
        self.album = album
        return album.typedID
    }

    func save() throws { try context.save() }
    func title() -> String? { album?.title }
    func all() throws -> [String] { try context.all(Album.self, by: "title").map(\.title) }
    nonisolated func titleAtOnce() -> String? { assumeIsolated { $0.album?.title } }
}

@Suite("Contexts as executors") struct ExecutorTests {
    @Test("An actor works on its context's queue, and keeps objects in its state")
    func actorOnContext() async throws {
        let library = Library(try Music.context())
        let id = await library.insert("b")
        _ = await library.insert("a")
        try await library.save()
        #expect(await library.title() == "a")
        #expect(try await library.all() == ["a", "b"])
        let context = library.context
        #expect(await context.perform { context.object(with: id).title } == "b")
    }

    @Test("On the context's queue an actor's isolation may be assumed")
    func assumedIsolation() async throws {
        let library = Library(try Music.context())
        _ = await library.insert("a")
        #expect(await library.context.perform { library.titleAtOnce() } == "a")
        expect(library.context.performAndWait { library.titleAtOnce() }, equals: "a")
        // Within a block that the queue waits for, too.
        let other = try Music.context()
        expect(library.context.performAndWait { other.performAndWait { library.titleAtOnce() } }, equals: "a")
    }

    @Test("What an actor changes is processed when it comes to rest")
    func events() async throws {
        let context = try Music.context()
        var changes = context.objectChanges.makeAsyncIterator()
        let library = Library(context)
        let id = await library.insert("a")
        #expect(await changes.next()?.inserted == [id.objectID])
    }

    @Test("A main-queue context serves the actor on the main queue")
    func mainQueue() async throws {
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = try Music.coordinator()
        let library = Library(context)
        _ = await library.insert("a")
        #expect(await library.title() == "a")
    }

    @Test("Assuming isolation elsewhere stops the program")
    func wrongIsolation() async {
        await #expect(processExitsWith: .failure) {
            let library = Library(try Music.context())
            _ = library.titleAtOnce()
        }
    }
}
