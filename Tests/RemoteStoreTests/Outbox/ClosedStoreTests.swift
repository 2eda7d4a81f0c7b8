import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Stores that are closed while something is sent") struct ClosedStoreTests {
    private func until(_ condition: () throws -> Bool) async throws {
        while try !condition() { await Task.yield() }
    }

    @Test(
        "A store that is closed while a new object is sent takes the answer that comes: it is not unknown, and not sent twice",
        arguments: [true, false])
    func answered(opensEarly: Bool) async throws {
        // Nothing tells such a backend that a change comes twice.
        let world = try OutboxWorld(.init())
        let id = try world.insert("Album", ["title": "Help!"])
        world.backend.scriptSaves { _ in .hold }
        async let sending: Void = world.store.sendPending()
        await world.backend.untilHeld()
        try world.coordinator.remove(world.store)
        try await sending
        var other = opensEarly ? try world.openAnother() : nil
        if let other {
            // The one that was closed still has the right to send.
            try await other.store.sendPending()
            try expect(other.store.pendingChanges().map(\.state), equals: [.sending])
        }
        world.backend.release()
        let (store, coordinator) = try other ?? world.openAnother()
        other = nil
        try await until { try store.pendingCount() == 0 }
        expect(world.backend.saves.count, equals: 1)
        expect(world.backend.ids("Album").count, equals: 1)
        let same = try #require(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        try expect(store.resourceID(for: same), equals: world.backend.ids("Album").first)
        let request = fetchRequest("Album")
        request.cachePolicy = .networkOnly
        let context = coordinator.context()
        try expect(context.performAndWait { try context.fetch(request).map(\.objectID) }, equals: [same])
    }

    @Test("The identifier of an object and its state are what another store over the same file has written last")
    func writtenElsewhere() async throws {
        let world = try OutboxWorld()
        let other = try world.openAnother()
        for number in 1...5 {
            let id = try world.insert("Album", ["title": "\(number)"])
            let same = try #require(other.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
            #expect(try other.store.resourceID(for: same) == nil)
            try await world.store.sendPending()
            let assigned = try #require(try world.store.resourceID(for: id))
            try expect(other.store.resourceID(for: same), equals: assigned)
            try expect(other.store.syncState(of: same), equals: .fresh)
            try world.update(id, ["year": 1965])
            try expect(other.store.syncState(of: same), equals: .pending)
            try await world.store.sendPending()
            try expect(other.store.syncState(of: same), equals: .fresh)
        }
    }
}
