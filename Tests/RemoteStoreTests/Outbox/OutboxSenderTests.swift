import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("The sender of pending changes") struct OutboxSenderTests {
    /// Suspends until something holds.
    private func until(_ condition: () throws -> Bool) async throws {
        while try !condition() { await Task.yield() }
    }

    @Test("Saves online are sent at once, by themselves") func automatic() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        let id = try world.insert("Album", ["title": "Help!"])
        try await until { try world.store.pendingCount() == 0 }
        try expect(world.only()["title"], equals: "Help!")
        try expect(world.store.syncState(of: id), equals: .fresh)
    }

    @Test("What could not be sent is sent after a wait that grows, and at once when the connection is back") func waits() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        world.goOffline()
        try world.insert("Album", ["title": "Help!"])
        try await until { world.backend.saves.count == 1 }
        try await until { try !world.store.status().isOnline }
        await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(1))
        try await until { world.backend.saves.count == 2 }
        await world.clock.untilSleeping()
        // Not yet.
        world.clock.advance(by: .milliseconds(900))
        expect(world.backend.saves.count, equals: 2)
        world.goOnline()
        world.store.connectionDidReturn()
        try await until { try world.store.pendingCount() == 0 }
        try expect(world.store.status(), equals: CachedStoreStatus())
    }

    @Test("A connection that returns while an attempt is failing is not overlooked: the next attempt begins without a wait")
    func returnsMeanwhile() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        let attempts = Guarded(0)
        let store = try #require(world.store)
        world.backend.scriptSaves { _ in
            let number = attempts.withValue {
                $0 += 1
                return $0
            }
            if number > 1 { return .answer }
            store.connectionDidReturn()
            return .fail(OutboxWorld.offline)
        }
        try world.insert("Album", ["title": "Help!"])
        // The clock stands still.
        try await until { try world.store.pendingCount() == 0 }
        expect(attempts.withValue { $0 }, equals: 2)
    }

    @Test("A backend that is busy is asked again when it has said, and not before") func retryAfter() async throws {
        struct Busy: PassingError {
            let mayPass = true
            let retryAfter: Duration? = .seconds(60)
        }
        let world = try OutboxWorld(isAutomatic: true)
        world.backend.scriptOutcomes { _ in .refused(Busy()) }
        try world.insert("Album", ["title": "Help!"])
        try await until { world.backend.saves.count == 1 }
        await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(59))
        world.backend.scriptOutcomes { _ in nil }
        expect(world.backend.saves.count, equals: 1)
        world.clock.advance(by: .seconds(2))
        try await until { try world.store.pendingCount() == 0 }
        expect(world.backend.saves.count, equals: 2)
    }

    @Test("A save that waits for the backend gets the outcome of each object") func acknowledged() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        world.backend.put("Album", 1, ["title": "Base", "year": 1])
        let known = try #require(try world.fetch("Album").first)
        world.backend.change("Album", 1, ["notes": "theirs"])
        world.backend.scriptOutcomes { $0.values["year"] == 9 ? .refused(ServiceFailure("no")) : nil }
        let (context, clock) = (try #require(world.context), world.clock)
        let objects = await context.perform {
            let good = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            good.setValue("good", forKey: "title")
            let bad = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            bad.setValue(9, forKey: "year")
            context.object(with: known).setValue(2, forKey: "year")
            return QueueValue([good, bad])
        }
        _ = clock
        let outcomes = try await context.save(until: .acknowledged)
        let ids = await context.perform { objects.value.map(\.objectID) }
        func name(_ id: NSManagedObjectID) -> String {
            switch outcomes[id] {
            case .accepted?: "accepted"
            case .merged?: "merged"
            case .rejected?: "rejected"
            case .unknown?: "unknown"
            case .waiting?: "waiting"
            case nil: "none"
            }
        }
        expect(ids.map(name), equals: ["accepted", "rejected"])
        expect(name(known), equals: "merged")
        expect(outcomes.count, equals: 3)
    }

    @Test("Whoever waits for the backend may stop waiting; the change stays") func cancelled() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        world.goOffline()
        let context = try #require(world.context)
        await context.perform { NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("a", forKey: "title") }
        let task = Task { _ = try await context.save(until: .acknowledged) }
        try await until { try world.store.pendingCount() == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try expect(world.store.pendingCount(), equals: 1)
    }

    @Test("What another program with the same file has deleted at the backend is not shown again by an answer from before")
    func deletedElsewhere() async throws {
        let world = try OutboxWorld()
        world.backend.put("Album", 1, ["title": "Help!"])
        let id = try #require(try world.fetch("Album").first)
        let (other, coordinator) = try world.openAnother()
        try world.delete(id)
        world.backend.script { _ in .holdAnswer }
        let context = coordinator.context()
        let request = fetchRequest("Album")
        request.cachePolicy = .networkOnly
        // No thread of the tasks waits for it.
        async let found = context.perform { try context.fetch(request).map(\.objectID) }
        await world.backend.untilHeld()
        world.backend.script { _ in .answer }
        try await world.store.sendPending()
        world.backend.release()
        let ids = try await found
        #expect(ids.isEmpty)
        #expect(!world.isShown(id))
        try coordinator.remove(other)
    }

    @Test("What another program with the same file deletes and sends while an answer is on its way is not shown again by it")
    func deletedElsewhereMeanwhile() async throws {
        let world = try OutboxWorld()
        world.backend.put("Album", 1, ["title": "Help!"])
        let id = try #require(try world.fetch("Album").first)
        let (other, coordinator) = try world.openAnother()
        world.backend.script { _ in .holdAnswer }
        let context = coordinator.context()
        let request = fetchRequest("Album")
        request.cachePolicy = .networkOnly
        async let found = context.perform { try context.fetch(request).map(\.objectID) }
        await world.backend.untilHeld()
        world.backend.script { _ in .answer }
        // Nothing of it was pending when the other one asked.
        try world.delete(id)
        try await world.store.sendPending()
        world.backend.release()
        let ids = try await found
        #expect(ids.isEmpty)
        #expect(!world.isShown(id))
        try coordinator.remove(other)
    }

    @Test("What another program with the same file edits and sends while an answer is on its way stays, without versions, too")
    func editedElsewhereMeanwhile() async throws {
        let world = try OutboxWorld(versions: .none)
        world.backend.put("Album", 1, ["title": "Help!"])
        let id = try #require(try world.fetch("Album").first)
        let (other, coordinator) = try world.openAnother()
        world.backend.script { _ in .holdAnswer }
        let context = coordinator.context()
        let request = fetchRequest("Album")
        request.cachePolicy = .networkOnly
        async let found = context.perform { try context.fetch(request).map { $0.value(forKey: "title") as? String } }
        await world.backend.untilHeld()
        world.backend.script { _ in .answer }
        try world.update(id, ["title": "Revolver"])
        try await world.store.sendPending()
        world.backend.release()
        let titles = try await found
        expect(titles, equals: ["Revolver"])
        let request2 = fetchRequest("Album")
        request2.cachePolicy = .cacheOnly
        let shown = try await context.perform {
            context.reset()
            return try context.fetch(request2).map { $0.value(forKey: "title") as? String }
        }
        expect(shown, equals: ["Revolver"])
        try coordinator.remove(other)
    }

    @Test("Two programs with one file settle changes by turns, and both know it") func turns() async throws {
        let world = try OutboxWorld()
        let (other, coordinator) = try world.openAnother()
        for round in 0..<6 {
            try world.insert("Album", ["title": "\(round)"])
            try await (round % 2 == 0 ? world.store! : other).sendPending()
            try expect(world.store.pendingCount(), equals: 0)
            try expect(other.pendingCount(), equals: 0)
        }
        expect(world.backend.ids("Album").count, equals: 6)
        try coordinator.remove(other)
    }

    @Test("Of two programs with one file one sends, and each change is sent once") func lease() async throws {
        let world = try OutboxWorld()
        try world.insert("Album", ["title": "Help!"])
        let (other, coordinator) = try world.openAnother()
        world.backend.scriptSaves { _ in .hold }
        async let sending: Void = world.store.sendPending()
        await world.backend.untilHeld()
        try await other.sendPending()
        expect(world.backend.saves.count, equals: 1)
        world.backend.release()
        try await sending
        try await other.sendPending()
        expect(world.backend.saves.count, equals: 1)
        expect(world.backend.ids("Album").count, equals: 1)
        try coordinator.remove(other)
    }

    @Test("Independent changes are under way side by side, those of one object one after the other") func sideBySide() async throws {
        let world = try OutboxWorld()
        let ids = try (0..<3).map { try world.insert("Album", ["title": "\($0)"]) }
        world.backend.scriptSaves { _ in .hold }
        async let sending: Void = world.store.sendPending()
        await world.backend.untilHeld(3)
        try world.update(ids[0], ["title": "edited"])
        try expect(world.store.syncState(of: ids[0]), equals: .sending)
        #expect(throws: (any Error).self) { try world.store.drop(ids[0]) }
        world.backend.scriptSaves { _ in .answer }
        world.backend.release()
        try await sending
        expect(world.backend.saves.joined().map(\.kind), equals: [.insert, .insert, .insert, .update])
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }

    @Test("The states of a store are told to those who watch") func statuses() async throws {
        let world = try OutboxWorld()
        var states = world.store.statuses.makeAsyncIterator()
        #expect(await states.next() == CachedStoreStatus())
        try world.insert("Album", ["title": "Help!"])
        #expect(await states.next()?.pendingCount == 1)
        try await world.store.sendPending()
        while let state = await states.next() { if state.pendingCount == 0 { break } }
    }

    @Test("Objects are fetched and sorted by their state and their age") func stateQueries() async throws {
        let world = try OutboxWorld()
        world.backend.scriptOutcomes { $0.values["year"] == 9 ? .refused(ServiceFailure("no")) : nil }
        let good = try world.insert("Album", ["title": "good"])
        let bad = try world.insert("Album", ["title": "bad", "year": 9])
        try await world.store.sendPending()
        world.clock.advance(by: .seconds(100))
        let new = try world.insert("Album", ["title": "new"])
        func fetch(_ format: String, by keys: [String] = ["title"]) throws -> [NSManagedObjectID] {
            try world.context.performAndWait { try world.context.fetch(fetchRequest("Album", format, by: keys)).map(\.objectID) }
        }
        try expect(fetch("syncState == 'failed'"), equals: [bad])
        try expect(fetch("syncState == 'pending' AND title != 'x'"), equals: [new])
        try expect(fetch("syncState IN {'fresh', 'failed'}"), equals: [bad, good])
        try expect(fetch("syncState != 'failed'"), equals: [good, new])
        try expect(fetch("age > 60"), equals: [good])
        try expect(fetch("age < 60"), equals: [])
        try expect(fetch("TRUEPREDICATE", by: ["-syncState"]), equals: [bad, new, good])
        expect(failure { _ = try fetch("syncState CONTAINS 'f'") }?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test("Signing out with pending changes is refused, unless it is said what becomes of them") func signOut() async throws {
        let world = try OutboxWorld()
        world.goOffline()
        let id = try world.insert("Album", ["title": "Help!"])
        await #expect(throws: (any Error).self) { try await world.store.signOut() }
        await #expect(throws: (any Error).self) { try await world.store.signOut(pending: .send) }
        #expect(world.isShown(id))
        world.goOnline()
        try await world.store.signOut(pending: .send)
        expect(world.backend.ids("Album").count, equals: 1)
        try expect(world.store.pendingCount(), equals: 0)

        let other = try OutboxWorld()
        try other.insert("Album", ["title": "Help!"])
        try await other.store.signOut(pending: .keep)
        try other.restart()
        try expect(other.store.pendingCount(), equals: 1)
        try await other.store.signOut(pending: .discard)
        try other.restart()
        try expect(other.store.pendingCount(), equals: 0)
        #expect(other.backend.saves.isEmpty)
    }

    @Test("What waits for another attempt is sent by itself, though something else waits for what is set aside") func waitsBesideSetAside()
        async throws
    {
        struct Busy: PassingError {
            let mayPass = true
            let retryAfter: Duration? = .seconds(60)
        }
        let world = try OutboxWorld(isAutomatic: true)
        world.backend.scriptOutcomes { change in
            change.entity == "Band" ? .refused(ServiceFailure()) : change.entity == "Tag" ? .refused(Busy()) : nil
        }
        let band = try world.insert("Band", ["name": "?"])
        try world.insert("Album", ["title": "Help!", "band": band])
        try world.insert("Tag", ["label": "a"])
        try await until { world.backend.saves.joined().contains { $0.entity == "Tag" } }
        try await until { try world.store.syncState(of: band) == .failed }
        world.backend.scriptOutcomes { _ in nil }
        await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(61))
        try await until { world.backend.ids("Tag").count == 1 }
        #expect(world.backend.ids("Album").isEmpty)
    }

    @Test("A save whose change is given up while it waits for the backend is told so") func droppedWhileWaiting() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        world.goOffline()
        let context = try #require(world.context)
        await context.perform { NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("a", forKey: "title") }
        let task = Task { try await context.save(until: .acknowledged) }
        try await until { try world.store.pendingCount() == 1 && !world.store.status().isOnline && !world.store.status().isSending }
        let id = try #require(try world.store.pendingChanges().first?.objectID)
        try world.store.drop(id)
        let outcomes = try await task.value
        guard case .rejected? = outcomes[id] else { return #expect(Bool(false), "\(outcomes)") }
    }
}
