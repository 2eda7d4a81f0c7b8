import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Contexts over one cached store conflict as over every store") struct ContextConflictTests {
    /// A world with one album that the backend has, and the album in a second context that has read it.
    private func world(_ saving: Resource.Saving = .init(isIdempotent: true)) throws -> (
        world: OutboxWorld, id: NSManagedObjectID, second: NSManagedObjectContext, object: NSManagedObject
    ) {
        let world = try OutboxWorld(saving)
        world.backend.put("Album", 1, ["title": "Help!", "year": 1965, "notes": "base"])
        let id = try #require(try world.fetch("Album").first)
        let second = world.coordinator.context()
        let object = try second.performAndWait {
            let object = try second.existingObject(with: id)
            _ = object.value(forKey: "title")
            return object
        }
        return (world, id, second, object)
    }

    private func error(_ context: NSManagedObjectContext) -> NSError? {
        context.performAndWait {
            do {
                try context.save()
                return nil
            } catch { return error as NSError }
        }
    }

    @Test("What another context has saved since is a conflict by the object, after it was sent and in another run of the file too")
    func saved() async throws {
        for isSent in [false, true] {
            let (world, id, second, object) = try world()
            try world.update(id, ["year": 1966])
            if isSent { try await world.store.sendPending() }
            second.performAndWait { object.setValue("mine", forKey: "notes") }
            let found = try #require(error(second))
            expect(found.code, equals: NSManagedObjectMergeError)
            let conflict = try #require((found.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
            expect(conflict.persistedSnapshot?["year"] as? Int, equals: 1966)
            second.performAndWait { second.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
            #expect(error(second) == nil)
            try await world.store.sendPending()
            expect(world.backend.values("Album", 1), equals: ["title": "Help!", "year": 1966, "notes": "mine"])
        }
    }

    @Test("What only the backend has changed meanwhile is a conflict where the same property was changed") func refreshed() async throws {
        let (world, _, second, object) = try world()
        world.backend.change("Album", 1, ["notes": "theirs"])
        try world.fetch("Album")
        second.performAndWait { object.setValue(1966, forKey: "year") }
        #expect(error(second) == nil)
        expect(second.performAndWait { object.value(forKey: "notes") as? String }, equals: "theirs")
        world.backend.change("Album", 1, ["notes": "theirs again"])
        try await world.store.sendPending()
        try world.fetch("Album")
        second.performAndWait { object.setValue("mine", forKey: "notes") }
        expect(error(second)?.code, equals: NSManagedObjectMergeError)
        second.performAndWait { second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        #expect(error(second) == nil)
        try await world.store.sendPending()
        expect(world.backend.values("Album", 1), equals: ["title": "Help!", "year": 1966, "notes": "mine"])
    }

    @Test("A deletion of what another context has saved or deleted since is a conflict; one of what the backend has deleted is none")
    func deleted() async throws {
        for isSent in [false, true] {
            let (world, id, second, object) = try world()
            try world.delete(id)
            if isSent { try await world.store.sendPending() }
            second.performAndWait { second.delete(object) }
            expect(error(second)?.code, equals: NSManagedObjectMergeError)
        }
        let (world, id, second, object) = try world()
        try world.update(id, ["year": 1966])
        second.performAndWait { second.delete(object) }
        expect(error(second)?.code, equals: NSManagedObjectMergeError)
        let other = try self.world()
        other.world.backend.remove("Album", 1)
        try other.world.fetch("Album")
        other.second.performAndWait { other.second.delete(other.object) }
        #expect(error(other.second) == nil)
    }

    /// How far the deletion of an object has come.
    enum Progress: CaseIterable, Sendable { case waits, hasArrived, isUnderWay, isDone }

    @Test(
        "An object that another context has deleted comes back where the policy says so, however far its deletion has come",
        arguments: Progress.allCases)
    func broughtBack(progress: Progress) async throws {
        let (world, id, second, object) = try world()
        let tag = try world.insert("Tag", ["label": "rock"])
        try await world.store.sendPending()
        try second.performAndWait {
            object.setValue(NSSet(object: try second.existingObject(with: tag)), forKey: "tags")
            try second.save()
        }
        world.context.performAndWait { world.context.refreshAllObjects() }
        try await world.store.sendPending()
        try world.delete(id)
        var sending: Task<Void, any Error>?
        switch progress {
        case .waits: break
        case .isDone: try await world.store.sendPending()
        case .hasArrived:
            world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
            try await world.store.sendPending()
            world.backend.scriptSaves { _ in .answer }
        case .isUnderWay:
            world.backend.scriptSaves { _ in .hold }
            let store = world.store!
            sending = Task { try await store.sendPending() }
            await world.backend.untilHeld()
            world.backend.scriptSaves { _ in .answer }
        }
        second.performAndWait {
            object.setValue("mine", forKey: "notes")
            second.mergePolicy = NSMergePolicy.overwrite
        }
        #expect(error(second) == nil)
        try expect(world.text(id, "notes"), equals: "mine")
        world.backend.release()
        try await sending?.value
        world.clock.advance(by: .seconds(1000))
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        let values = try world.only()
        #expect(values["title"] == "Help!" && values["notes"] == "mine", "\(values)")
        expect(values["tags"], equals: .many(world.backend.ids("Tag").map { ResourceReference($0) }), "\(values)")
        try world.fetch("Album")
        try expect(world.shown(id, "tags") as? Set<NSManagedObjectID>, equals: [tag])
    }
}
