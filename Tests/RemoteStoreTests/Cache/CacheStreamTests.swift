import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A cache that follows a stream of events, as a server sends them: `text/event-stream`, one connection after the other.
@Suite("Cache: streamed changes") struct CacheStreamTests {
    /// A backend whose changes are told by server-sent events.
    private final class Streaming: ChangeSignallingBackend {
        let backend: ScriptedBackend
        private let connections = Guarded<[AsyncThrowingStream<Void, any Error>.Continuation]>([])
        private let begun = AsyncStream.makeStream(of: Int.self)

        init(_ backend: ScriptedBackend) { self.backend = backend }

        var location: URL { backend.location }
        var resources: [Resource] { backend.resources }
        var hasChangeFeed: Bool { true }
        func answer(_ request: BackendRequest) async throws -> BackendAnswer { try await backend.answer(request) }
        func changes(_ request: ChangesRequest) async throws -> BackendChanges { try await backend.changes(request) }

        func changeSignals() -> AsyncThrowingStream<Void, any Error> {
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: Void.self)
            let count = connections.withValue { connections in
                connections.append(continuation)
                return connections.count
            }
            begun.continuation.yield(count)
            return stream
        }

        /// Waits until a connection is there.
        func untilConnected(_ number: Int) async { for await count in begun.stream where count >= number { return } }

        /// Sends a part of the stream: each `data` that is followed by a blank line is an event, comments are none.
        func send(_ text: String) {
            let connection = connections.withValue { $0.last }
            for event in text.components(separatedBy: "\n\n") where event.split(separator: "\n").contains(where: { $0.hasPrefix("data:") })
            {
                connection?.yield()
            }
        }

        func end(_ error: (any Error)? = nil) { connections.withValue { $0.last }?.finish(throwing: error) }
    }

    private func program(_ at: URL? = nil) throws -> (
        streaming: Streaming, store: CachedStore, context: NSManagedObjectContext, clock: ManualClock, errors: Guarded<[any Error]>
    ) {
        let backend = CachedShop.makeBackend(Shop.model())
        backend.setChangeFeed(pages: .max)
        let streaming = Streaming(backend)
        let (clock, errors) = (ManualClock(), Guarded<[any Error]>([]))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        var options = CachedStoreOptions(defaultPolicy: .immutable, clock: clock)
        options.didFail = { error in errors.withValue { $0.append(error) } }
        let store = try coordinator.addCachedStore(streaming, at: at, options: options)
        let context = coordinator.context()
        context.automaticallyMergesChangesFromParent = true
        return (streaming, store, context, clock, errors)
    }

    /// Waits until a context shows something.
    private func until(_ context: NSManagedObjectContext, _ isShown: @escaping @Sendable () -> Bool) async {
        while await !context.perform(isShown) { await Task.yield() }
    }

    @Test("Each event brings what has changed into the contexts, once; nothing is asked between them", .timeLimit(.minutes(30)))
    func events() async throws {
        let (streaming, store, context, _, errors) = try program()
        let objects = try await context.perform { Held(try context.fetch(fetchRequest("Album", by: ["year"]))) }
        store.followChanges(every: .seconds(60))
        await streaming.untilConnected(1)
        streaming.send(": hello\n\n")
        streaming.backend.change("Album", 1, ["title": "Help"])
        streaming.send("event: change\ndata: 1\n\n")
        await until(context) { objects.all[0].value(forKey: "title") as? String == "Help" }
        streaming.backend.remove("Album", 2)
        streaming.backend.put("Album", 9, ["title": "Think Tank", "year": .value(.int64(2003))])
        streaming.send("data: 2\n\ndata: 3\n\n")
        await until(context) { objects.all[1].managedObjectContext == nil || objects.all[1].isDeleted }
        let titles = try context.texts(fetchRequest("Album", by: ["year"]))
        expect(titles, equals: ["Help", "Let It Be", "Parklife", "Blur", "Think Tank"])
        #expect(errors.withValue { $0.isEmpty })
        try context.persistentStoreCoordinator?.remove(store)
    }

    @Test("A stream that ends or breaks is begun again after a while, and what has changed meanwhile comes", .timeLimit(.minutes(30)))
    func broken() async throws {
        let (streaming, store, context, clock, errors) = try program()
        let objects = try await context.perform { Held(try context.fetch(fetchRequest("Album", by: ["year"]))) }
        store.followChanges(every: .seconds(60))
        await streaming.untilConnected(1)
        for (number, error) in [ServiceFailure("the connection is gone"), nil].enumerated() {
            streaming.end(error)
            await clock.untilSleeping()
            streaming.backend.change("Album", 1, ["title": .value(.string("Title \(number)"))])
            clock.advance(by: .seconds(60))
            await until(context) { objects.all[0].value(forKey: "title") as? String == "Title \(number)" }
            expect(errors.withValue { $0.count }, equals: 1)
        }
        try context.persistentStoreCoordinator?.remove(store)
    }
}

/// Objects on their way to their queue.
// Unchecked: used on the queue of their context.
private final class Held: @unchecked Sendable {
    let all: [NSManagedObject]
    init(_ all: [NSManagedObject]) { self.all = all }
}
