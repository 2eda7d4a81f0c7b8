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

    /// Uses a context and an object elsewhere than on their queue, twice.
    private static func misuse(_ setting: String?) throws {
        if let setting { setenv("COREDATA_CONCURRENCY_DEBUG", setting, 1) } else { unsetenv("COREDATA_CONCURRENCY_DEBUG") }
        let context = try Music.context()
        context.name = "background work"
        let album = context.performAndWait { Album(context: context) }
        for _ in 0..<2 {
            _ = album.title
            _ = try context.fetch(NSFetchRequest<Album>(entityName: "Album"))
            context.refreshAllObjects()
            try context.save()
        }
    }

    @Test("Unless it is asked for, nothing is stopped, and a debug build logs the first call of each of a context's methods")
    func byDefault() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { try Self.misuse(nil) }
        let lines = Self.message(result).split(separator: "\n").filter { $0.contains("perform or performAndWait") }
        #if DEBUG
        expect(lines.count, equals: 3)
        for (line, method) in zip(lines, ["fetch(_:)", "refreshAllObjects()", "save()"]) {
            #expect(line.contains("warning"))
            #expect(line.contains("\(method) is called on "))
            #expect(line.contains("“background work”"))
        }
        #else
        expect(lines, equals: [])
        #endif
    }

    @Test("Where it is turned off, nothing is logged")
    func off() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { try Self.misuse("0") }
        #expect(!Self.message(result).contains("performAndWait"))
    }

    @Test("Calls on the queue, of a child and by await are not logged")
    func rightUseIsNotLogged() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            unsetenv("COREDATA_CONCURRENCY_DEBUG")
            let context = try Music.context()
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try await child.perform {
                Album(context: child).title = "Debut"
                try child.save()
                _ = try child.fetch(NSFetchRequest<Album>(entityName: "Album"))
                child.refreshAllObjects()
            }
            let albums = try await context.fetchAsynchronously(NSFetchRequest<Album>(entityName: "Album"))
            expect(albums.count, equals: 1)
            try await context.saveAsynchronously()
            try await context.refreshAllObjectsAsynchronously()
            try await context.perform { try context.save() }
        }
        #expect(!Self.message(result).contains("performAndWait"))
    }
}
