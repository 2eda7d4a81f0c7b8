import CoreData
import Foundation
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

@Suite("Pending changes at a backend that takes none of them for a while, and saves that wait") struct BusyBackendTests {
    private struct Busy: PassingError { let mayPass = true }

    private func until(_ condition: () throws -> Bool) async throws {
        while try !condition() { await Task.yield() }
    }

    @Test("Many changes at a backend that is too busy cost few requests, ever fewer, and go out once it is not", arguments: [false, true])
    func storm(failsWhole: Bool) async throws {
        let world = try OutboxWorld(isAutomatic: true)
        let isBusy = Guarded(true)
        world.backend.scriptSaves { _ in failsWhole && isBusy.withValue { $0 } ? .fail(Busy()) : .answer }
        world.backend.scriptOutcomes { _ in isBusy.withValue { $0 } ? .refused(Busy()) : nil }
        let context = try #require(world.context)
        try await context.perform {
            for number in 0..<60 {
                NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("\(number)", forKey: "title")
            }
            try context.save()
        }
        /// Lets time pass, and the sender do what is due, until nothing is pending.
        func pass(_ seconds: Int) async throws {
            let end = world.clock.uptime + .seconds(seconds)
            while world.clock.uptime < end {
                while world.clock.sleepers == 0 {
                    if try world.store.pendingCount() == 0 { return }
                    await Task.yield()
                }
                world.clock.advanceToNextSleeper()
            }
        }
        try await pass(60)
        let first = world.backend.saves.count
        #expect((1...40).contains(first), "\(first) requests in the first minute")
        try await pass(60)
        #expect(world.backend.saves.count - first <= 2)
        isBusy.withValue { $0 = false }
        try await pass(300)
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.backend.ids("Album").count, equals: 60)
    }

    @Test("A change that is put off again and again does not hold up the others") func poison() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        world.backend.scriptOutcomes { $0.values["title"] == "bad" ? .refused(Busy()) : nil }
        try world.insert("Album", ["title": "bad"])
        for number in 0..<20 {
            await world.store.sender.waitUntilIdle()
            world.clock.advance(by: .seconds(1))
            try world.insert("Album", ["title": "good \(number)"])
            await world.store.sender.waitUntilIdle()
            try expect(world.store.pendingCount(), equals: 1)
        }
    }

    @Test("A save that waits sends, also where nothing is sent by itself, and goes on trying") func asked() async throws {
        let world = try OutboxWorld(isAutomatic: false)
        let attempts = Guarded(0)
        world.backend.scriptOutcomes { _ in
            attempts.withValue {
                $0 += 1
                return $0
            } < 3 ? .refused(Busy()) : nil
        }
        let context = try #require(world.context)
        await context.perform { NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("a", forKey: "title") }
        let saving = Task { try await context.save(until: .acknowledged) }
        for number in 1...2 {
            try await until { attempts.withValue { $0 } == number }
            await world.clock.untilSleeping()
            world.clock.advance(by: .seconds(10))
        }
        let outcomes = try await saving.value
        expect(outcomes.count, equals: 1)
        guard case .accepted? = outcomes.values.first else {
            Issue.record("\(outcomes)")
            return
        }
        // Afterwards it is as before.
        try world.insert("Album", ["title": "b"])
        await world.store.sender.waitUntilIdle()
        try expect(world.store.pendingCount(), equals: 1)
    }

    @Test("A save that waits is told which object waits for one that was set aside, through whatever others", arguments: [false, true])
    func held(isUnknown: Bool) async throws {
        let world = try OutboxWorld(.init(isIdempotent: true), isAutomatic: true)
        world.backend.scriptOutcomes { change in
            guard change.entity == "Band" else { return nil }
            return isUnknown ? .unknown(UnreadAnswer(ServiceFailure("nothing can be read"))) : .refused(ServiceFailure("no"))
        }
        let context = try #require(world.context)
        let objects = await context.perform {
            let band = NSEntityDescription.insertNewObject(forEntityName: "Band", into: context)
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue(band, forKey: "band")
            let track = NSEntityDescription.insertNewObject(forEntityName: "Track", into: context)
            track.setValue(album, forKey: "album")
            return QueueValue([band, album, track])
        }
        let saving = Task { try await context.save(until: .acknowledged) }
        let isDone = Guarded(false)
        let ending = Task {
            _ = try? await saving.value
            isDone.withValue { $0 = true }
        }
        while !isDone.withValue({ $0 }) {
            world.clock.advance(by: .seconds(60))
            await Task.yield()
        }
        await ending.value
        let outcomes = try await saving.value
        let ids = await context.perform { objects.value.map(\.objectID) }
        let names = ids.map { id in
            switch outcomes[id] {
            case .rejected?, .unknown?: "set aside"
            case .waiting(let error)?: error.localizedDescription.isEmpty ? "no reason" : "waiting"
            default: "\(String(describing: outcomes[id]))"
            }
        }
        expect(names, equals: ["set aside", "waiting", "waiting"])
        try expect(world.store.pendingCount(), equals: 3)
    }
}
