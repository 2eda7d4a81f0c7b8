import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Lists that are read while the other end is sent") struct ListsOfBothEndsTests {
    /// Reads a relationship, from the backend. No thread of the tasks waits for it.
    private func members(_ id: NSManagedObjectID, _ name: String, _ coordinator: NSPersistentStoreCoordinator) async throws -> Set<URL> {
        let context = coordinator.context()
        let same = try #require(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        return try await context.perform {
            context.stalenessInterval = 0
            let members = try context.existingObject(with: same).value(forKey: name) as? Set<NSManagedObject> ?? []
            return Set(members.map { $0.objectID.uriRepresentation() })
        }
    }

    @Test(
        "What was taken out of a list at its other end does not come back with an answer from before: pending, or acknowledged since",
        arguments: [false, true])
    func takenOut(isAcknowledged: Bool) async throws {
        let world = try OutboxWorld()
        let tag = try world.insert("Tag", ["label": "rock"])
        let album = try world.insert("Album", ["title": "Help!", "tags": Set([tag])])
        try await world.store.sendPending()
        world.clock.advance(by: .seconds(100))
        try world.update(album, ["tags": Set<NSManagedObjectID>()])
        world.backend.script { $0.entity == "Album" ? .holdAnswer : .answer }
        let coordinator: NSPersistentStoreCoordinator = world.coordinator
        async let found = members(tag, "albums", coordinator)
        await world.backend.untilHeld()
        world.backend.script { _ in .answer }
        if isAcknowledged { try await world.store.sendPending() }
        world.backend.release()
        #expect(try await found == [])
        try expect(world.shown(album, "tags") as? Set<NSManagedObjectID>, equals: [])
        try await world.store.sendPending()
        #expect(try await members(tag, "albums", coordinator) == [])
    }

    @Test("What others put into a list comes also while something else of the member is pending") func putIn() async throws {
        let world = try OutboxWorld()
        let tag = try world.insert("Tag", ["label": "rock"])
        let album = try world.insert("Album", ["title": "Help!"])
        try await world.store.sendPending()
        world.clock.advance(by: .seconds(100))
        let (own, other) = (try #require(world.backend.ids("Album").first), try #require(world.backend.ids("Tag").first))
        world.backend.change("Album", own, ["tags": .many([ResourceReference(other)])])
        try world.update(album, ["notes": "mine"])
        #expect(try await members(tag, "albums", world.coordinator) == [album.uriRepresentation()])
    }

    @Test("What another program with the same file has sent is in a list that was asked for before") func sentElsewhere() async throws {
        let world = try OutboxWorld()
        world.backend.put("Band", 1, ["name": "The Beatles"])
        let band = try #require(try world.fetch("Band").first)
        let (other, second) = try world.openAnother()
        world.clock.advance(by: .seconds(100))
        let album = try world.insert("Album", ["title": "Help!", "band": band])
        world.backend.script { $0.entity == "Album" ? .holdAnswer : .answer }
        async let found = members(band, "albums", second)
        await world.backend.untilHeld()
        world.backend.script { _ in .answer }
        try await world.store.sendPending()
        world.backend.release()
        #expect(try await found == [album.uriRepresentation()])
        try expect(world.shown(album, "band") as? NSManagedObjectID, equals: band)
        try second.remove(other)
    }
}
