import CoreData
import Foundation
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

/// The lists of a cache, and members that go.
@Suite("Cache: members that are deleted") struct DeletedMemberTests {
    @Test("A list that was read before the backend has confirmed the deletion of a member does not show the member afterwards")
    func confirmedMeanwhile() async throws {
        let world = try OutboxWorld()
        world.backend.put("Band", 1, ["name": "Blur"])
        for (id, title) in [(1, "Parklife"), (2, "13")] {
            world.backend.put("Album", id, ["title": .value(.string(title)), "band": .one(ResourceReference(.integer(1)))])
        }
        let context = try #require(world.context)
        let (band, album) = try await context.perform {
            let band = try #require(context.fetch(fetchRequest("Band")).first)
            expect((band.value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 2)
            let album = try #require(context.fetch(fetchRequest("Album", "title == '13'")).first)
            return (band.objectID, album.objectID)
        }
        let store = try #require(world.store)
        let owner = try #require(store.file.key(ofOuter: band))
        let relationship = try #require(owner.entity.inner.relationshipsByName["albums"])
        try await context.perform {
            context.delete(context.object(with: album))
            try context.save()
        }
        let lists = try store.file.related(relationship, of: [owner])
        expect(lists[owner]?.count, equals: 2)
        try await store.sendPending()
        try expect(store.pendingCount(), equals: 0)
        let shown = try #require(try store.shown(lists)[band])
        #expect(shown.count == 1 && !shown.contains(album))
    }
}
