import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Identifiers that a backend gives to several objects, one after the other") struct ReusedIdentifierTests {
    /// How a program learns of the changes of others.
    enum Hearing: CaseIterable { case fetches, feed }

    /// A server, and a program with a cache that has its only note, which is called a and has the identifier 1.
    private struct World {
        let server: SimulatedServer
        let coordinator: NSPersistentStoreCoordinator
        let store: CachedStore
        let context: NSManagedObjectContext
        let note: NSManagedObject
        let hearing: Hearing

        init(
            _ conflicts: ConflictResolution = .setAside, _ versions: ScriptedBackend.Versions = .numbers, _ hearing: Hearing = .fetches,
            incarnation: String? = nil, network: SimulatedNetwork = SimulatedNetwork(), concurrentRequests: Int = 8,
            isIdempotent: Bool = true
        ) async throws {
            let (clock, model) = (ManualClock(), Notebook.model())
            let resources = Notebook.resources(.init(isIdempotent: isIdempotent), pageSize: nil).map { resource in
                var resource = resource
                resource.incarnation = incarnation
                return resource
            }
            server = SimulatedServer(model, resources, network: network, clock: clock)
            server.options.versions = versions
            server.put("Note", 1, ["mark": "a", "text": "base"])
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: clock)
            (options.conflicts, options.sendsAutomatically) = (conflicts, false)
            options.remote.concurrentRequests = concurrentRequests
            store = try coordinator.addCachedStore(server.connection("A"), at: nil, options: options)
            context = coordinator.context()
            self.hearing = hearing
            _ = try Self.fetch("Folder", .networkOnly, coordinator.context())
            note = try #require(try Self.fetch("Note", .networkOnly, context).first)
            if hearing == .feed { try await coordinator.mergeRemoteChanges(of: store) }
            // An answer without what was just read may be that of a copy that lags.
            clock.advance(by: .seconds(61))
        }

        private static func fetch(_ entity: String, _ policy: CachePolicy, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            let request = fetchRequest(entity)
            request.cachePolicy = policy
            return try context.performAndWait { try context.fetch(request) }
        }

        /// Learns of the changes of others.
        func hear() async throws {
            switch hearing {
            case .fetches: for entity in ["Folder", "Note"] { _ = try Self.fetch(entity, .networkOnly, coordinator.context()) }
            case .feed: try await coordinator.mergeRemoteChanges(of: store)
            }
        }

        /// What is shown: the values of a property, by the marks of the notes.
        func shown(_ key: String = "text") throws -> [String: String] {
            let context = coordinator.context()
            let notes = try Self.fetch("Note", .cacheOnly, context)
            return context.performAndWait {
                Dictionary(
                    notes.map { ($0.value(forKey: "mark") as? String ?? "?", $0.value(forKey: key) as? String ?? "nil") },
                    uniquingKeysWith: { _, _ in "twice" })
            }
        }

        /// What the server has: the texts of the notes by their marks.
        var texts: [String: String] {
            Dictionary(
                server.ids("Note").map { id in
                    let values = server.values("Note", id) ?? [:]
                    return (values["mark"]?.string ?? "?", values["text"]?.string ?? "nil")
                }, uniquingKeysWith: { _, _ in "twice" })
        }

        func edit(_ text: String) throws {
            try context.performAndWait {
                note.setValue(text, forKey: "text")
                try context.save()
            }
        }

        /// Lets others delete the note, and make another one that gets its identifier.
        func replace() {
            server.remove("Note", 1)
            server.put("Note", 1, ["mark": "b", "text": "other"])
        }

        /// Looks what has come of an edit of the deleted note, under each rule.
        func settle(_ rule: ConflictResolution) async throws {
            try await store.sendPending()
            if case .setAside = rule {
                try expect(store.syncState(of: note.objectID), equals: .conflicting)
                try expect(shown(), equals: ["a": "mine", "b": "other"])
                try store.retry(note.objectID)
            }
            try await store.sendPending()
            try await hear()
            var expected = ["b": "other"]
            if case .preferTheirs = rule {} else { expected["a"] = "mine" }
            expect(texts, equals: expected)
            try expect(shown(), equals: expected)
            try expect(store.pendingCount(), equals: 0)
        }
    }

    private static let rules: [ConflictResolution] = [.setAside, .preferMine, .preferTheirs]

    @Test(
        "An edit of an object that is known to be deleted does not go onto the one that has got its identifier", arguments: Hearing.allCases
    )
    func known(hearing: Hearing) async throws {
        for versions in [ScriptedBackend.Versions.numbers, .tags, .none] {
            for rule in Self.rules {
                let world = try await World(rule, versions, hearing)
                try world.edit("mine")
                world.server.remove("Note", 1)
                try await world.hear()
                world.server.put("Note", 1, ["mark": "b", "text": "other"])
                try await world.hear()
                try await world.settle(rule)
            }
        }
    }

    @Test("A change feed that tells a deletion along with the new object is understood") func replacedInFeed() async throws {
        for versions in [ScriptedBackend.Versions.numbers, .tags, .none] {
            for rule in Self.rules {
                let world = try await World(rule, versions, .feed)
                try world.edit("mine")
                world.replace()
                try await world.hear()
                try await world.settle(rule)
            }
        }
    }

    @Test("An attribute that tells objects apart does so without a word of the deletion", arguments: Hearing.allCases)
    func toldApart(hearing: Hearing) async throws {
        for versions in [ScriptedBackend.Versions.numbers, .tags] {
            for (rule, sendsFirst) in Self.rules.flatMap({ [($0, false), ($0, true)] }) {
                let world = try await World(rule, versions, hearing, incarnation: "mark")
                world.server.options.tellsReplacements = false
                try world.edit("mine")
                world.replace()
                if sendsFirst { try await world.store.sendPending() }
                try await world.hear()
                try await world.settle(rule)
            }
        }
    }

    @Test("An object that takes the identifier of another one is another object, with an ID of its own") func otherID() async throws {
        for hearing in Hearing.allCases {
            let world = try await World(.setAside, .numbers, hearing, incarnation: "mark")
            world.replace()
            try await world.hear()
            let other = try #require(try world.store.objectID(for: 1, entityName: "Note"))
            #expect(other != world.note.objectID)
            try expect(world.shown(), equals: ["b": "other"])
        }
    }

    @Test("A deletion of an object that others have deleted spares the one that has got its identifier") func deletion() async throws {
        for rule in Self.rules {
            let world = try await World(rule, incarnation: "mark")
            try world.context.performAndWait {
                world.context.delete(world.note)
                try world.context.save()
            }
            world.replace()
            try await world.store.sendPending()
            expect(world.texts, equals: ["b": "other"])
            try expect(world.store.pendingCount(), equals: 0)
            try await world.hear()
            try expect(world.shown(), equals: ["b": "other"])
        }
    }

    @Test("A new object that gets the identifier of one whose deletion is not known yet takes its place") func newObject() async throws {
        for (incarnation, versions) in [(nil, .numbers), ("mark", .numbers), ("mark", ScriptedBackend.Versions.tags)] {
            for isEdited in [false, true] {
                // One after the other: side by side, the edit may come after the new object, and the versions of both are numbers that begin with 1.
                let world = try await World(.setAside, versions, incarnation: incarnation, concurrentRequests: 1)
                world.server.options.reusesIdentifiers = true
                world.server.remove("Note", 1)
                if isEdited { try world.edit("mine") }
                try world.context.performAndWait {
                    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: world.context)
                    note.setValue("c", forKey: "mark")
                    note.setValue("new", forKey: "text")
                    try world.context.save()
                }
                try await world.store.sendPending()
                try await world.hear()
                expect(world.texts, equals: ["c": "new"])
                try expect(world.shown(), equals: (isEdited ? ["a": "mine", "c": "new"] : ["c": "new"]))
                try expect(world.store.pendingChanges().map(\.state), equals: (isEdited ? [.conflicting] : []))
            }
        }
    }

    @Test("A new object that is sent once more gets the identifier of one that was read since the first attempt, and takes its place")
    func repeatedWithoutKey() async throws {
        let network = SimulatedNetwork()
        for versions in [ScriptedBackend.Versions.numbers, .tags] {
            let world = try await World(.preferMine, versions, incarnation: "mark", network: network, isIdempotent: false)
            world.server.options.reusesIdentifiers = true
            try world.context.performAndWait {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: world.context)
                note.setValue("c", forKey: "mark")
                note.setValue("new", forKey: "text")
                try world.context.save()
            }
            network.script { _ in .lost }
            try? await world.store.sendPending()
            network.script { _ in .delivered }
            world.server.put("Note", 2, ["mark": "b", "text": "other"])
            try await world.hear()
            world.server.remove("Note", 2)
            let change = try #require(try world.store.pendingChanges().first)
            expect(change.state, equals: .unknown)
            try world.store.retry(change.objectID)
            try await world.store.sendPending()
            expect(world.texts, equals: ["a": "base", "c": "new"])
            try expect(world.shown(), equals: ["a": "base", "c": "new"], "\(versions), before the next read")
            try await world.hear()
            try expect(world.shown(), equals: ["a": "base", "c": "new"], "\(versions)")
            try expect(world.store.pendingCount(), equals: 0)
        }
    }

    @Test("A reference to an object that others have deleted does not lead to the one that has got its identifier")
    func reference() async throws {
        let world = try await World(.setAside, .numbers, .feed)
        world.server.put("Folder", 5, ["mark": "old"])
        try await world.hear()
        try world.context.performAndWait {
            let request = fetchRequest("Folder")
            request.cachePolicy = .cacheOnly
            world.note.setValue(try world.context.fetch(request).first, forKey: "folder")
            try world.context.save()
        }
        world.server.remove("Folder", 5)
        try await world.hear()
        world.server.put("Folder", 5, ["mark": "new"])
        try await world.hear()
        try await world.store.sendPending()
        let change = try #require(try world.store.pendingChanges().first)
        expect(change.state, equals: .failed)
        expect(change.error?.localizedDescription.contains("Note"), equals: true)
        #expect(world.server.values("Note", 1)?["folder"]?.id == nil)
        try world.store.drop(change.objectID)
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("What the change feed tells while a change is acknowledged is not passed over", arguments: [false, true])
    func bookmark(isDeleted: Bool) async throws {
        let network = SimulatedNetwork()
        let world = try await World(.setAside, .tags, .feed, network: network)
        try world.edit("mine")
        network.script { _ in .held }
        let executor = SeededExecutor(seed: 1)
        let (coordinator, store) = (world.coordinator, world.store)
        let merging = executor.start { _ = try await coordinator.mergeRemoteChanges(of: store) }
        let sending = executor.start { try await store.sendPending() }
        func deliver(isSave: Bool, isAnswer: Bool) throws {
            executor.run()
            network.settle(try #require(network.messages.first { $0.isSave == isSave && $0.isAnswer == isAnswer }), .delivered)
            executor.run()
        }
        try deliver(isSave: true, isAnswer: false)
        if isDeleted { world.server.remove("Note", 1) } else { world.server.change("Note", 1, ["color": "theirs"]) }
        try deliver(isSave: false, isAnswer: false)
        // The change is acknowledged while the feed's answer, which is newer, is on its way.
        try deliver(isSave: true, isAnswer: true)
        while !merging.isDone || !sending.isDone {
            network.deliverAll()
            executor.run()
        }
        network.script { _ in .delivered }
        try await world.hear()
        try expect(world.shown("color"), equals: (isDeleted ? [:] : ["a": "theirs"]))
    }
}
