import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Answers that are kept for as long as they are fresh, and how newer values are asked for nevertheless.
@Suite("Freshness") struct FreshnessTests {
    private func backend(_ more: [Endpoint] = []) -> ScriptedBackend {
        let backend = ScriptedBackend(
            Shop.model(), [Resource("Album", endpoints: [Endpoint("dump", freshness: .seconds(60))] + more)])
        for number in 0..<5 { backend.put("Album", number, ["title": .value(.string("Album \(number)"))]) }
        return backend
    }

    @Test("A kept answer does not hide a row that was asked for since", arguments: [false, true])
    func newerRows(isAwaited: Bool) async throws {
        let search = Endpoint("search", parameters: [Parameter("title", isRequired: true)], cost: .init(expectedRows: 1))
        let backend = backend([search])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let clock = TestClock()
        try coordinator.addRemoteStore(backend, options: RemoteStoreOptions(now: { clock.now }))
        let (first, second) = (coordinator.context(), coordinator.context())
        #expect(try await first.fetchAsynchronously(fetchRequest("Album")).count == 5)
        backend.change("Album", 3, ["title": "newer"])
        clock.advance(.seconds(2))
        second.stalenessInterval = 1
        let id = try await second.perform { try #require(try second.fetch(fetchRequest("Album", "title == 'newer'")).first).objectID }
        expect(backend.requests.map(\.endpoint), equals: ["dump", "search"])
        backend.forgetRequests()
        // The second context still has the object, and with it the newer row.
        let third = coordinator.context()
        if isAwaited { _ = try await third.fetchAsynchronously(fetchRequest("Album", by: ["title"])) }
        try await third.perform {
            if !isAwaited { _ = try third.fetch(fetchRequest("Album", by: ["title"])) }
            let title = try third.existingObject(with: id).value(forKey: "title") as? String
            expect(title, equals: "newer")
        }
        #expect(backend.requests.isEmpty)
        await second.perform { second.reset() }
    }

    @Test("A refreshed object is asked for anew, whatever is kept", arguments: [false, true])
    func refreshed(all: Bool) throws {
        let backend = backend()
        let context = try backend.context()
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            backend.change("Album", 3, ["title": "changed"])
            try expect(context.fetch(fetchRequest("Album", by: ["title"])).count, equals: 5)
            expect(albums[3].value(forKey: "title") as? String, equals: "Album 3")
            expect(backend.requests.count, equals: 1)
            if all { context.refreshAllObjects() } else { context.refresh(albums[3], mergeChanges: false) }
            expect(albums[3].value(forKey: "title") as? String, equals: "changed")
            expect(albums[1].value(forKey: "title") as? String, equals: "Album 1")
            expect(backend.requests.count, equals: 2)
            // The new answer is kept as the old one was.
            try expect(context.fetch(fetchRequest("Album", "title == 'changed'")).count, equals: 1)
            expect(backend.requests.count, equals: 2)
        }
    }

    @Test("A fetch after a refresh does not answer with what was kept before")
    func fetchAfterRefresh() throws {
        let backend = backend()
        let context = try backend.context()
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            backend.change("Album", 3, ["title": "changed"])
            context.refreshAllObjects()
            try expect(fetchRequest("Album").explain(in: context).usesKeptAnswer, equals: false)
            try expect(context.fetch(fetchRequest("Album", "title == 'changed'")), equals: [albums[3]])
            expect(backend.requests.count, equals: 2)
        }
    }

    @Test("One object that is read anew by its identifier leaves the kept answer to the others")
    func readByIdentifier() throws {
        let backend = backend([Endpoint("info", parameters: [Parameter("SELF", isRequired: true)])])
        let context = try backend.context()
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            backend.change("Album", 3, ["title": "changed"])
            context.refresh(albums[3], mergeChanges: false)
            expect(albums[3].value(forKey: "title") as? String, equals: "changed")
            try expect(context.fetch(fetchRequest("Album")).count, equals: 5)
            expect(albums[3].value(forKey: "title") as? String, equals: "changed")
            expect(backend.requests.map(\.endpoint), equals: ["dump", "info"])
        }
    }

    @Test("With a staleness interval of 0 every fetch asks, and a negative one takes what is kept")
    func stalenessInterval() throws {
        let backend = backend()
        let context = try backend.context()
        try context.performAndWait {
            _ = try context.fetch(fetchRequest("Album"))
            _ = try context.fetch(fetchRequest("Album"))
            expect(backend.requests.count, equals: 1)
            context.stalenessInterval = 0
            backend.change("Album", 3, ["title": "changed"])
            try expect(context.count(for: fetchRequest("Album", "title == 'changed'")), equals: 1)
            expect(backend.requests.count, equals: 2)
        }
    }
}
