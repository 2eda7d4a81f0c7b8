import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("What may have been accepted") struct LostThenRefusedTests {
    /// What becomes of an attempt.
    enum Fate: CaseIterable { case lost, never, busy, failed }

    /// What the program does between two attempts.
    enum Meanwhile: CaseIterable { case nothing, edit, delete, restart }

    private static func behaviour(_ fate: Fate) -> ScriptedBackend.Behaviour {
        switch fate {
        case .lost: .loseAnswer(OutboxWorld.lost)
        case .never: .loseRequest(OutboxWorld.lost)
        case .busy: .refuse(SimulatedNetwork.busy)
        case .failed: .fail(SimulatedNetwork.busy)
        }
    }

    @Test(
        "A new object whose answer was lost, and that was refused for now after that, is there once, or not at all after its deletion",
        arguments: Meanwhile.allCases)
    func outbox(_ meanwhile: Meanwhile) async throws {
        let world = try OutboxWorld(.init(isIdempotent: true))
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        var id = try world.insert("Album", ["title": "Help!", "year": 1964])
        try await world.store.sendPending()
        world.backend.scriptSaves { _ in .refuse(SimulatedNetwork.busy) }
        try await world.store.sendPending()
        switch meanwhile {
        case .nothing: break
        case .edit: try world.update(id, ["year": 1965])
        case .delete: try world.delete(id)
        case .restart:
            try world.restart()
            id = try world.same(id)
        }
        world.goOnline()
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(600))
            try await world.store.sendPending()
        }
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        if meanwhile == .delete { return expect(world.backend.ids("Album"), equals: [], "\(world.backend.saves)") }
        try expect(world.only()["year"], equals: meanwhile == .edit ? 1965 : 1964, "\(world.backend.saves)")
    }

    @Test("Whatever becomes of attempts one after another, an object is there once, with what was edited last")
    func random() async throws {
        let base = TestSeed.current(for: "Lost, then refused")
        for round in TestRounds(seconds: 1.5, atLeast: 20) {
            let seed = base &+ UInt64(round)
            var random = SeededGenerator(seed: seed)
            let world = try OutboxWorld(.init(maximumChanges: 1 + random.below(3), isAtomic: random.chance(0.3), isIdempotent: true))
            var ids: [String: NSManagedObjectID] = [:]
            var years: [String: Int] = [:]
            var log: [String] = []
            for number in 0...random.below(3) {
                let title = "t\(number)"
                ids[title] = try world.insert("Album", ["title": title, "year": 0])
                years[title] = 0
            }
            for _ in 0..<6 {
                let fate = Fate.allCases.randomElement(using: &random)!
                log.append("\(fate)")
                world.backend.scriptSaves { _ in Self.behaviour(fate) }
                world.clock.advance(by: .seconds(600))
                try await world.store.sendPending()
                let title = ids.keys.sorted().randomElement(using: &random)
                switch Meanwhile.allCases.randomElement(using: &random)! {
                case .nothing: break
                case .edit:
                    guard let title, let id = ids[title] else { continue }
                    years[title]! += 1
                    try world.update(id, ["year": years[title]!])
                    log.append("edit \(title)")
                case .delete where random.chance(0.4):
                    guard let title, let id = ids[title] else { continue }
                    try world.delete(id)
                    (ids[title], years[title]) = (nil, nil)
                    log.append("delete \(title)")
                case .delete: break
                case .restart:
                    try world.restart()
                    ids = try ids.mapValues { try world.same($0) }
                    log.append("restart")
                }
            }
            world.goOnline()
            for _ in 0..<4 {
                world.clock.advance(by: .seconds(600))
                try await world.store.sendPending()
            }
            let comment: Comment = "seed \(seed): \(log.joined(separator: ", ")) \(world.pending)"
            try expect(world.store.pendingCount(), equals: 0, comment)
            let found = world.backend.ids("Album").compactMap { world.backend.values("Album", $0) }
            let there = Dictionary(grouping: found) { $0["title"]?.string ?? "?" }.mapValues { $0.map { $0["year"] } }
            expect(there, equals: years.mapValues { [ResourceValue.value(.int64(Int64($0)))] }, comment)
        }
    }

    @Test("A plain save that was lost, and refused for now when it was repeated, saves once", arguments: [true, false])
    func plainSave(isEdited: Bool) async throws {
        let backend = OutboxWorld.backend(.init(isIdempotent: true), .numbers)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(backend)
        let context = coordinator.context()
        try await context.perform {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue("Help!", forKey: "title")
            backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
            #expect(throws: NSError.self) { try context.save() }
            backend.scriptSaves { _ in .refuse(SimulatedNetwork.busy) }
            #expect(throws: NSError.self) { try context.save() }
            if isEdited { album.setValue("Help", forKey: "title") }
            backend.scriptSaves { _ in .answer }
            try context.save()
        }
        let titles = backend.ids("Album").map { backend.values("Album", $0)?["title"] }
        expect(titles, equals: [isEdited ? "Help" : "Help!"])
    }
}
