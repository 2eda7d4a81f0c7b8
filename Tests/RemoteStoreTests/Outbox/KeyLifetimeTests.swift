import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("A backend that forgets the keys of changes after a time") struct KeyLifetimeTests {
    /// A program and a backend that knows keys for an hour.
    private final class World {
        static let lifetime = 3600.0
        let world: OutboxWorld
        /// When each key came first.
        private let keys = Guarded<[UUID: Double]>([:])

        init(_ identity: Resource.Saving.Identity = .assignedByBackend) throws {
            world = try OutboxWorld(.init(identity: identity, isIdempotent: true, keyLifetime: Self.lifetime))
        }

        /// Sets what becomes of attempts.
        func script(_ behaviour: ScriptedBackend.Behaviour) {
            let (clock, keys) = (world.clock, keys)
            world.backend.scriptSaves { changes in
                for change in changes { keys.withValue { $0[change.idempotencyKey] = $0[change.idempotencyKey] ?? clock.now } }
                return behaviour
            }
        }

        /// Lets time pass, in which the backend forgets.
        func wait(_ seconds: Double) {
            world.clock.advance(by: .milliseconds(Int64(seconds * 1000)))
            let now = world.clock.now
            world.backend.forgetKeys(Set(keys.withValue { $0 }.filter { now - $0.value >= Self.lifetime }.keys))
        }

        func send() async throws { try await world.store.sendPending() }

        func titles() -> [String] {
            world.backend.ids("Album").compactMap { world.backend.values("Album", $0)?["title"]?.string }.sorted()
        }
    }

    @Test(
        "Within that time a change whose answer was lost is sent again, after it the application decides about a new object",
        arguments: [false, true])
    func newObject(isLate: Bool) async throws {
        let one = try World()
        let id = try one.world.insert("Album", ["title": "Help!"])
        one.script(.loseAnswer(OutboxWorld.lost))
        try await one.send()
        one.script(.answer)
        one.wait(isLate ? 3600 : 3599)
        try await one.send()
        expect(one.titles(), equals: ["Help!"])
        try expect(one.world.store.pendingCount(), equals: isLate ? 1 : 0, "\(one.world.pending)")
        guard isLate else { return }
        let error = try #require(try one.world.store.error(of: id))
        #expect("\(error)".contains("does not know its key any more"), "\(error)")
        // As after a restart.
        try one.world.restart()
        try await one.send()
        expect(one.titles(), equals: ["Help!"])
    }

    @Test("A time that a restart has outlived counts from the first attempt, also where later ones were refused")
    func restarted() async throws {
        let one = try World()
        try one.world.insert("Album", ["title": "Help!"])
        one.script(.loseAnswer(OutboxWorld.lost))
        try await one.send()
        for _ in 0..<5 {
            one.script(.refuse(SimulatedNetwork.busy))
            one.wait(900)
            try await one.send()
            try one.world.restart()
        }
        one.script(.answer)
        try await one.send()
        expect(one.titles(), equals: ["Help!"])
    }

    @Test(
        "An object with an identifier is looked up then, and saved once, with what was edited since",
        arguments: ["insert", "update", "delete"])
    func lookedUp(kind: String) async throws {
        let one = try World(.newUUID)
        var id = try one.world.insert("Album", ["title": "Help!", "year": 1964])
        if kind != "insert" {
            one.script(.answer)
            try await one.send()
            if kind == "update" { try one.world.update(id, ["year": 1966]) } else { try one.world.delete(id) }
        }
        one.script(.loseAnswer(OutboxWorld.lost))
        try await one.send()
        one.wait(4000)
        try one.world.restart()
        id = try one.world.same(id)
        if kind != "delete" { try one.world.update(id, ["notes": "great"]) }
        one.script(.answer)
        for _ in 0..<3 {
            try await one.send()
            one.wait(600)
        }
        try expect(one.world.store.pendingCount(), equals: 0, "\(one.world.pending)")
        if kind == "delete" { return expect(one.titles(), equals: []) }
        let values = try one.world.only()
        #expect(values["notes"] == "great" && values["year"] == (kind == "update" ? 1966 : 1964), "\(values)")
    }

    @Test("However attempts and time go, no object is there twice, and none is missing that is neither pending nor left to the application")
    func random() async throws {
        let base = TestSeed.current(for: "Lifetimes of keys")
        for round in TestRounds(seconds: 1, atLeast: 15) {
            let seed = base &+ UInt64(round)
            var random = SeededGenerator(seed: seed)
            let one = try World(random.chance(0.5) ? .newUUID : .assignedByBackend)
            var years: [String: Int] = [:]
            var ids: [String: NSManagedObjectID] = [:]
            var log: [String] = []
            for number in 0...random.below(3) {
                let title = "t\(number)"
                ids[title] = try one.world.insert("Album", ["title": title, "year": 0])
                years[title] = 0
            }
            for _ in 0..<7 {
                let fates: [(String, ScriptedBackend.Behaviour)] = [
                    ("lost", .loseAnswer(OutboxWorld.lost)), ("never", .loseRequest(OutboxWorld.lost)),
                    ("busy", .refuse(SimulatedNetwork.busy)),
                    ("answered", .answer),
                ]
                let (name, fate) = fates.randomElement(using: &random)!
                one.script(fate)
                log.append(name)
                try await one.send()
                one.wait(Double(random.below(2500)))
                if random.chance(0.4), let (title, id) = ids.sorted(by: { $0.key < $1.key }).randomElement(using: &random) {
                    years[title]! += 1
                    try one.world.update(id, ["year": years[title]!])
                    log.append("edit \(title)")
                }
                if random.chance(0.3) {
                    try one.world.restart()
                    ids = try ids.mapValues { try one.world.same($0) }
                    log.append("restart")
                }
            }
            one.script(.answer)
            for _ in 0..<4 {
                try await one.send()
                one.wait(600)
            }
            let comment: Comment = "seed \(seed): \(log.joined(separator: ", ")) \(one.world.pending)"
            let titles = one.titles()
            expect(titles, equals: Set(titles).sorted(), comment)
            let left = try one.world.store.pendingChanges()
            #expect(left.allSatisfy { $0.state == .unknown }, comment)
            // What has arrived may be shown beside what waits for a decision.
            let decided = Set(left.map(\.objectID))
            for (title, id) in ids where !decided.contains(id) {
                let values = one.world.backend.ids("Album").compactMap { one.world.backend.values("Album", $0) }.first {
                    $0["title"]?.string == title
                }
                expect(values?["year"], equals: .value(.int64(Int64(years[title]!))), comment)
            }
        }
    }

    @Test("A plain save looks an object up whose key is older, and is an error where it cannot", arguments: [false, true], [false, true])
    func plainSave(hasIdentifier: Bool, isLate: Bool) async throws {
        let saving = Resource.Saving(
            identity: hasIdentifier ? .newUUID : .assignedByBackend, isIdempotent: true, keyLifetime: World.lifetime)
        let backend = OutboxWorld.backend(saving, .numbers)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let clock = ManualClock()
        try coordinator.addRemoteStore(backend, options: RemoteStoreOptions(now: { clock.uptime }))
        let context = coordinator.context()
        try await context.perform {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue("Help!", forKey: "title")
            backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
            #expect(throws: NSError.self) { try context.save() }
            clock.advance(by: .seconds(1800))
            #expect(throws: NSError.self) { try context.save() }
            clock.advance(by: .seconds(isLate ? 1800 : 1799))
            if isLate { backend.forgetKeys(Set(backend.saves.joined().map(\.idempotencyKey))) }
            backend.scriptSaves { _ in .answer }
            album.setValue("Help", forKey: "title")
            if isLate, !hasIdentifier {
                #expect(throws: NSError.self) { try context.save() }
            } else {
                try context.save()
            }
        }
        let titles = backend.ids("Album").map { backend.values("Album", $0)?["title"] }
        expect(titles, equals: [isLate && !hasIdentifier ? "Help!" : "Help"])
    }
}
