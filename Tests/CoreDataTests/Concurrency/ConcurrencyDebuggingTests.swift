import CoreData
import TestSupport
import Testing

@Suite("Debugging concurrency") struct ConcurrencyDebuggingTests {
    private static func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    // Set once, in a process of one test.
    nonisolated(unsafe) private static var kept: NSManagedObjectContext?

    /// A context with one object, made on its queue, in a program that debugs concurrency.
    private static func album(named name: String) throws -> Album {
        setenv("COREDATA_CONCURRENCY_DEBUG", "1", 1)
        let context = try Music.context()
        context.name = name
        Self.kept = context
        return try context.performAndWait {
            let album = Album(context: context)
            album.title = "right"
            try context.save()
            expect(album.title, equals: "right")
            return album
        }
    }

    @Test("Reading a property elsewhere stops the program with a message that names property, object, context and queue")
    func reading() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let album = try Self.album(named: "background work")
            _ = album.title
        }
        let message = Self.message(result)
        #expect(message.contains("“Album.title” of <Album x-coredata://"))
        #expect(message.contains("“background work”"))
        #expect(message.contains("the private queue “NSManagedObjectContext”"))
        #expect(message.contains("perform"))
    }

    @Test("So does writing one, in whatever way, and using the context itself")
    func others() async throws {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Self.album(named: "x").title = "wrong"
        }
        #expect(Self.message(result).contains("is written"))
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Self.album(named: "x").setValue("wrong", forKey: "title")
        }
        #expect(Self.message(result).contains("is written"))
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let album = try Self.album(named: "x")
            _ = try album.managedObjectContext?.fetch(NSFetchRequest<Album>())
        }
        #expect(Self.message(result).contains("fetch(_:) is called"))
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let album = try Self.album(named: "x")
            let other = try Music.context()
            other.performAndWait { _ = album.title }
            other.perform { _ = album.title }
        }
        #expect(Self.message(result).contains("the queue “NSManagedObjectContext” of the context “unnamed”"))
    }

    @Test("What stays on its queue, or in a block that the queue waits for, is let be")
    func rightUse() async {
        await #expect(processExitsWith: .success) {
            let album = try Self.album(named: "x")
            let context = album.managedObjectContext!
            try await context.perform {
                album.title = "changed"
                try context.save()
            }
            let other = try Music.context()
            context.performAndWait { other.performAndWait { _ = album.title } }
        }
    }

    @Test("Nothing is checked unless it is asked for")
    func off() async {
        await #expect(processExitsWith: .success) {
            unsetenv("COREDATA_CONCURRENCY_DEBUG")
            let context = try Music.context()
            let album = context.performAndWait { Album(context: context) }
            _ = album.title
        }
    }
}
