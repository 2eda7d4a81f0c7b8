import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Changes that are sent again, since their answers were lost") struct RepeatedChangeTests {
    private func world(
        _ versions: ScriptedBackend.Versions, _ conflicts: ConflictResolution = .setAside, isIdempotent: Bool = true
    ) throws -> (world: OutboxWorld, id: NSManagedObjectID) {
        let world = try OutboxWorld(.init(isIdempotent: isIdempotent), versions: versions, conflicts: conflicts)
        world.backend.put("Album", 1, ["title": "Help!", "year": 1965, "notes": "base"])
        return (world, try #require(try world.fetch("Album").first))
    }

    @Test(
        "A change that may have arrived is sent again, though a read has brought what others have made of the same: then its conflict is settled",
        arguments: [ScriptedBackend.Versions.numbers, .tags], [true, false])
    func contested(versions: ScriptedBackend.Versions, deletes: Bool) async throws {
        for rule in [ConflictResolution.setAside, .preferMine, .rollback] {
            let (world, id) = try world(versions, rule)
            if deletes { try world.delete(id) } else { try world.update(id, ["notes": "mine"]) }
            world.backend.scriptSaves { _ in .loseRequest(OutboxWorld.lost) }
            try await world.store.sendPending()
            world.backend.change("Album", 1, ["notes": "theirs"])
            try world.fetch("Album")
            world.goOnline()
            try await world.store.sendPending()
            try await world.store.sendPending()
            switch rule {
            case .setAside: try expect(world.store.pendingChanges().map(\.state), equals: [.conflicting])
            case .preferMine:
                expect(world.backend.values("Album", 1)?["notes"], equals: (deletes ? nil : "mine"))
                try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
            default:
                try expect(world.text(id, "notes"), equals: "theirs")
                try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
            }
        }
    }

    @Test(
        "What is sent by a call is sent by it, also where it is looked first whether an earlier attempt has arrived, and another one was not due",
        arguments: [true, false])
    func lookedFor(isNew: Bool) async throws {
        let world = try OutboxWorld(.init(identity: .newUUID))
        world.backend.put("Album", ResourceID.uuid(UUID()), ["title": "Help!", "year": 1965, "notes": "base"])
        let id = try #require(try world.fetch("Album").first)
        if isNew { try world.insert("Album", ["title": "mine"]) } else { try world.update(id, ["title": "mine"]) }
        // The backend was reached: the next attempt is due after a while.
        world.backend.scriptSaves { _ in .loseRequest(ServiceFailure("busy")) }
        for _ in 0..<3 { try await world.store.sendPending() }
        try expect(world.store.pendingChanges().map(\.attempts), equals: [3])
        world.goOnline()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        expect(world.backend.ids("Album").count, equals: (isNew ? 2 : 1))
        #expect(world.backend.ids("Album").contains { world.backend.values("Album", $0)?["title"] == "mine" })
    }

    @Test(
        "What others have made of a change that was saved, and whose answer was lost, is no conflict with it",
        arguments: [ScriptedBackend.Versions.numbers, .tags])
    func followed(versions: ScriptedBackend.Versions) async throws {
        let (world, id) = try world(versions)
        try world.update(id, ["notes": "mine"])
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        try await world.store.sendPending()
        world.backend.change("Album", 1, ["notes": "theirs"])
        try world.fetch("Album")
        world.goOnline()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        try expect(world.text(id, "notes"), equals: "theirs")
        try world.fetch("Album")
        try expect(world.text(id, "notes"), equals: "theirs")
        // The version is that of the read, too.
        try world.update(id, ["notes": "mine again"])
        try await world.store.sendPending()
        expect(world.backend.values("Album", 1)?["notes"], equals: "mine again")
    }

    @Test(
        "The answer to a new object that was sent again is older than what a read has brought of it",
        arguments: [ScriptedBackend.Versions.numbers, .tags])
    func adopted(versions: ScriptedBackend.Versions) async throws {
        let world = try OutboxWorld(.init(isIdempotent: true), versions: versions)
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        let id = try world.insert("Album", ["title": "Help!", "notes": "first"])
        try await world.store.sendPending()
        let resource = try #require(world.backend.ids("Album").first)
        world.backend.change("Album", resource, ["notes": "theirs"])
        // A reference makes a row of it that is no more than its identity; a read by identifier fills it.
        world.backend.put("Track", 7, ["title": "Yesterday", "album": .one(.init(resource))])
        let track = try #require(try world.fetch("Track").first)
        let other = try #require(try world.shown(track, "album") as? NSManagedObjectID)
        #expect(other != id)
        try expect(world.text(other, "notes"), equals: "theirs")
        world.goOnline()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        try expect(world.text(id, "notes"), equals: "theirs")
        try expect(world.shown(track, "album") as? NSManagedObjectID, equals: id)
        try world.update(id, ["notes": "mine"])
        try await world.store.sendPending()
        expect(world.backend.values("Album", resource)?["notes"], equals: "mine")
    }

    @Test("While a new object is to be sent again, a fetch shows it once") func echoes() async throws {
        let world = try OutboxWorld()
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        let id = try world.insert("Album", ["title": "Help!"])
        try await world.store.sendPending()
        try expect(world.fetch("Album"), equals: [id])
        world.goOnline()
        try await world.store.sendPending()
        try expect(world.fetch("Album"), equals: [id])
        expect(world.backend.ids("Album").count, equals: 1)
    }
}
