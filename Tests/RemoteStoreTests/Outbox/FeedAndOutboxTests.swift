import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("What a change feed tells of objects with pending changes") struct FeedAndOutboxTests {
    /// A server with a note that is called a, and a program that follows its change feed.
    private final class World {
        let server: SimulatedServer
        let network = SimulatedNetwork()
        let clock = ManualClock()
        let coordinator: NSPersistentStoreCoordinator
        let store: CachedStore
        let context: NSManagedObjectContext
        let note: NSManagedObject

        init(
            _ saving: Resource.Saving = .init(isIdempotent: true), _ versions: ScriptedBackend.Versions = .tags,
            conflicts: ConflictResolution = .setAside
        ) async throws {
            let model = Notebook.model()
            let resources = Notebook.resources(saving, pageSize: nil).map { resource in
                var resource = resource
                resource.incarnation = "mark"
                return resource
            }
            server = SimulatedServer(model, resources, network: network, clock: clock)
            server.options.versions = versions
            server.options.reusesIdentifiers = true
            server.put("Note", 1, ["mark": "a", "text": "base"])
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: clock)
            (options.conflicts, options.sendsAutomatically) = (conflicts, false)
            store = try coordinator.addCachedStore(server.connection("A"), at: nil, options: options)
            context = coordinator.context()
            for entity in ["Folder", "Note"] { try Self.fetch(entity, .networkOnly, coordinator.context()) }
            note = try #require(try Self.fetch("Note", .cacheOnly, context).first)
            try await hear()
            clock.advance(by: .seconds(61))
        }

        @discardableResult
        private static func fetch(_ entity: String, _ policy: CachePolicy, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            let request = fetchRequest(entity)
            request.cachePolicy = policy
            return try context.performAndWait { try context.fetch(request) }
        }

        func hear() async throws { try await coordinator.mergeRemoteChanges(of: store) }

        func read() throws { try Self.fetch("Note", .networkOnly, coordinator.context()) }

        func insert(_ mark: String) throws {
            try context.performAndWait {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(mark, forKey: "mark")
                try context.save()
            }
        }

        func edit(_ text: String) throws {
            try context.performAndWait {
                note.setValue(text, forKey: "text")
                try context.save()
            }
        }

        /// The marks of the notes that are shown.
        func shown() throws -> [String] {
            let context = coordinator.context()
            let notes = try Self.fetch("Note", .cacheOnly, context)
            return context.performAndWait { notes.map { $0.value(forKey: "mark") as? String ?? "?" } }.sorted()
        }

        /// The texts of the notes that are shown.
        func texts() throws -> [String] {
            let context = coordinator.context()
            let notes = try Self.fetch("Note", .cacheOnly, context)
            return context.performAndWait { notes.map { $0.value(forKey: "text") as? String ?? "?" } }.sorted()
        }

        /// Lets answers to saves be lost, or the requests.
        func lose(answers: Bool) { network.script { $0.isSave && $0.isAnswer == answers ? .lost : .delivered } }
        func loseNothing() { network.script { _ in .delivered } }
    }

    @Test("Where the tokens have expired, a deletion is found also of what was just made here") func justMade() async throws {
        let world = try await World()
        try world.insert("b")
        try await world.store.sendPending()
        try await world.hear()
        world.server.remove("Note", try #require(world.server.ids("Note").last))
        world.server.expireChangeTokens()
        // The answer without it may be that of a copy that lags.
        try await world.hear()
        try expect(world.shown(), equals: ["a", "b"])
        world.clock.advance(by: .seconds(61))
        try await world.hear()
        try expect(world.shown(), equals: ["a"])
        // From here on the feed tells.
        world.server.put("Note", 7, ["mark": "c"])
        try await world.hear()
        try expect(world.shown(), equals: ["a", "c"])
    }

    @Test("Where the tokens have expired while the answer to a new object is outstanding, the deletions of others are found afterwards")
    func outstanding() async throws {
        let world = try await World()
        try world.insert("b")
        world.lose(answers: true)
        try await world.store.sendPending()
        world.loseNothing()
        world.server.remove("Note", 1)
        world.server.expireChangeTokens()
        try await world.hear()
        try await world.store.sendPending()
        world.clock.advance(by: .seconds(61))
        try await world.hear()
        try expect(world.shown(), equals: ["b"])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("A new object stays that got the identifier of one whose deletion is not known, by a second attempt", arguments: [true, false])
    func secondAttempt(arrived: Bool) async throws {
        let world = try await World()
        world.server.remove("Note", 1)
        try world.insert("b")
        world.lose(answers: arrived)
        try await world.store.sendPending()
        world.loseNothing()
        try await world.store.sendPending()
        expect(world.server.ids("Note"), equals: [1])
        try expect(world.shown(), equals: ["b"])
        try await world.hear()
        try expect(world.shown(), equals: ["b"])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("What others change of a new object before the answer to it comes is shown, though the answer is older")
    func changedBeforeAnswer() async throws {
        let world = try await World(.init(identity: .newUUID, isIdempotent: true), .numbers)
        try world.insert("b")
        world.network.script { $0.isSave && $0.isAnswer ? .held : .delivered }
        let sending = Task { [store = world.store] in try await store.sendPending() }
        await world.network.untilHeld()
        world.server.change("Note", try #require(world.server.ids("Note").last), ["text": "theirs"])
        try await world.hear()
        world.network.deliverAll()
        try await sending.value
        try await world.hear()
        try expect(world.texts(), equals: ["base", "theirs"])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("A new object that a read finds after the answer was lost is shown as others have changed it since")
    func foundChanged() async throws {
        let world = try await World(.init(identity: .newUUID))
        try world.insert("b")
        world.lose(answers: true)
        try await world.store.sendPending()
        world.loseNothing()
        world.server.change("Note", try #require(world.server.ids("Note").last), ["text": "theirs"])
        try await world.store.sendPending()
        try expect(world.texts(), equals: ["base", "theirs"])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("A new object whose first attempt was lost stays when it gets the identifier of one that was read meanwhile")
    func readMeanwhile() async throws {
        let world = try await World()
        try world.insert("b")
        world.lose(answers: false)
        try await world.store.sendPending()
        world.loseNothing()
        world.server.put("Note", 2, ["mark": "c"])
        try await world.hear()
        world.server.remove("Note", 2)
        try await world.store.sendPending()
        expect(world.server.ids("Note"), equals: [1, 2])
        try expect(world.shown(), equals: ["a", "b"])
        try await world.hear()
        try expect(world.shown(), equals: ["a", "b"])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test(
        "A new object is gone when the answer to it tells late of an identifier that another one has got since, or nobody has any more",
        arguments: [true, false])
    func readAfterwards(isThere: Bool) async throws {
        let world = try await World()
        try world.insert("b")
        world.lose(answers: true)
        try await world.store.sendPending()
        world.loseNothing()
        let id = try #require(world.server.ids("Note").last)
        world.server.remove("Note", id)
        world.server.put("Note", id, ["mark": "c"])
        try await world.hear()
        if !isThere { world.server.remove("Note", id) }
        try await world.store.sendPending()
        try await world.hear()
        try expect(world.shown(), equals: (isThere ? ["a", "c"] : ["a"]))
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("What others do is shown while the application has yet to decide about a new object of unknown fate", arguments: [true, false])
    func undecided(hears: Bool) async throws {
        let world = try await World(.init(isIdempotent: false))
        world.server.options.changesPerAnswer = 1
        try world.insert("b")
        world.lose(answers: true)
        try await world.store.sendPending()
        world.loseNothing()
        try expect(world.store.pendingChanges().map(\.state), equals: [.unknown])
        world.server.remove("Note", 1)
        world.server.put("Note", 7, ["mark": "c"])
        if hears { try await world.hear() } else { try world.read() }
        // The second b is the one that has arrived: only the application can tell that.
        try expect(world.shown(), equals: ["b", "b", "c"])
    }

    @Test("A new object that others have deleted before the answer came is not shown, though its identifier was that of another one before")
    func deletedAtOnce() async throws {
        let world = try await World()
        world.server.remove("Note", 1)
        try world.insert("b")
        world.lose(answers: true)
        try await world.store.sendPending()
        world.loseNothing()
        expect(world.server.ids("Note"), equals: [1])
        world.server.remove("Note", 1)
        try await world.hear()
        try await world.store.sendPending()
        try await world.hear()
        try expect(world.shown(), equals: [])
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("An edit of a new object goes onto it, also where the feed tells late of the object that had its identifier before")
    func lateDeletion() async throws {
        let world = try await World(conflicts: .preferMine)
        world.server.remove("Note", 1)
        try world.insert("b")
        try await world.store.sendPending()
        world.server.change("Note", 1, ["color": "theirs"])
        try world.context.performAndWait {
            let request = fetchRequest("Note")
            request.cachePolicy = .cacheOnly
            try #require(try world.context.fetch(request).first).setValue("mine", forKey: "text")
            try world.context.save()
        }
        try await world.hear()
        try await world.store.sendPending()
        expect(world.server.ids("Note").count, equals: 1)
        let values = world.server.values("Note", 1)
        expect([values?["mark"], values?["text"], values?["color"]], equals: ["b", "mine", "theirs"])
        try expect(world.shown(), equals: ["b"])
    }

    @Test("What others have made under the identifier of a new object is shown when that is given up", arguments: [true, false])
    func givenUp(isDropped: Bool) async throws {
        let world = try await World(.init(identity: .newUUID), .numbers, conflicts: .preferMine)
        try world.edit("mine")
        world.server.remove("Note", 1)
        // It is to be made anew, under the identifier that it had.
        try await world.hear()
        world.server.put("Note", 1, ["mark": "theirs"])
        try await world.hear()
        try await world.store.sendPending()
        try expect(world.store.pendingChanges().map(\.state), equals: [.failed])
        if isDropped {
            try world.store.drop(world.note.objectID)
        } else {
            try world.context.performAndWait {
                world.context.delete(world.note)
                try world.context.save()
            }
        }
        try await world.hear()
        try expect(world.shown(), equals: ["theirs"])
        try expect(world.store.pendingCount(), equals: 0)
    }
}
