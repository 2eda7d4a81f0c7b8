import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("A copy of the backend that lags, and what was pending") struct LaggingCopyTests {
    /// A server whose reads a copy may answer, a program with a cache, and a note that both have.
    private struct World {
        let server: SimulatedServer
        let clock = ManualClock()
        let coordinator: NSPersistentStoreCoordinator
        let store: CachedStore
        let context: NSManagedObjectContext
        let note: NSManagedObject

        init(_ versions: ScriptedBackend.Versions, _ conflicts: ConflictResolution) throws {
            let model = Notebook.model()
            server = SimulatedServer(model, Notebook.resources(.init(isIdempotent: true), pageSize: nil), clock: clock)
            server.options.versions = versions
            server.options.replicaLag = .seconds(5)
            server.put("Note", 1, ["mark": "a", "text": "base"])
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: clock)
            (options.conflicts, options.sendsAutomatically) = (conflicts, false)
            store = try coordinator.addCachedStore(server.connection("A"), at: nil, options: options)
            context = coordinator.context()
            clock.advance(by: .seconds(10))
            note = try #require(try Self.fetch(context).first)
        }

        static func fetch(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            let request = fetchRequest("Note")
            request.cachePolicy = .networkOnly
            return try context.performAndWait { try context.fetch(request) }
        }

        func texts() throws -> [String] {
            let context = coordinator.context()
            return try Self.fetch(context).map { note in context.performAndWait { note.value(forKey: "text") as? String ?? "nil" } }
        }

        func edit(_ text: String) throws {
            try context.performAndWait {
                note.setValue(text, forKey: "text")
                try context.save()
            }
        }
    }

    @Test(
        "What a conflict has told is not replaced by the earlier values that a copy still has",
        arguments: [ScriptedBackend.Versions.numbers, .tags])
    func conflict(versions: ScriptedBackend.Versions) async throws {
        let world = try World(versions, .preferTheirs)
        try world.edit("mine")
        world.server.change("Note", 1, ["text": "theirs"])
        try await world.store.sendPending()
        world.server.options.staleReads = 1
        try expect(world.texts(), equals: ["theirs"])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test(
        "What others have deleted, and what is made anew here, is not shown twice because a copy still has it",
        arguments: [ScriptedBackend.Versions.numbers, .tags])
    func deleted(versions: ScriptedBackend.Versions) async throws {
        let world = try World(versions, .preferMine)
        try world.edit("mine")
        world.server.remove("Note", 1)
        try await world.store.sendPending()
        expect(world.server.ids("Note").count, equals: 1)
        world.server.options.staleReads = 1
        try expect(world.texts(), equals: ["mine"])
        // It does not say either that the new one is gone.
        world.server.options.staleReads = 0
        try expect(world.texts(), equals: ["mine"])
    }

    @Test("An answer without a new object, which was given at once and comes late, does not say that it is gone")
    func lateAnswer() async throws {
        let world = try World(.numbers, .preferMine)
        let (context, network) = (world.context, world.server.network)
        let id = try context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("b", forKey: "mark")
            try context.save()
            return note.objectID
        }
        try await world.store.sendPending()
        world.server.options.staleReads = 1
        network.script { $0.isAnswer ? .held : .delivered }
        let reading = Task {
            await context.perform {
                context.stalenessInterval = 0
                let note = context.object(with: id)
                context.refresh(note, mergeChanges: false)
                return note.value(forKey: "mark") as? String
            }
        }
        await network.untilHeld()
        world.clock.advance(by: .seconds(70))
        network.deliverAll()
        #expect(await reading.value == "b")
        let request = fetchRequest("Note")
        request.cachePolicy = .cacheOnly
        try expect(world.coordinator.context().texts(request, "mark").sorted(), equals: ["a", "b"])
    }
}
