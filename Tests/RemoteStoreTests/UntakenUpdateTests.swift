import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Updates that a backend tells to be saved, without a version, and does not save") struct UntakenUpdateTests {
    private static let versions: [ScriptedBackend.Versions] = [.numbers, .tags]

    private static func backend(_ versions: ScriptedBackend.Versions) -> ScriptedBackend {
        let backend = OutboxWorld.backend(.init(), versions)
        backend.put("Album", 1, ["title": "Help!", "year": 1964])
        backend.scriptOutcomes { $0.kind == .update ? .saved() : nil }
        return backend
    }

    @Test("A plain save throws where the read after it shows the values and the version of before", arguments: versions)
    func plainSave(versions: ScriptedBackend.Versions) async throws {
        let context = try Self.backend(versions).context()
        await context.perform {
            let error = #expect(throws: NSError.self) {
                try context.fetch(fetchRequest("Album")).first?.setValue(1965, forKey: "year")
                try context.save()
            }
            let told = "\(error?.localizedDescription ?? "") \(error?.userInfo ?? [:])"
            #expect(told.contains("“year”") && context.hasChanges, "\(told)")
        }
    }

    /// A program with a cache over the backend, which has changed the album.
    private struct Cached {
        let folder: ScratchFolder
        let store: CachedStore
        let coordinator: NSPersistentStoreCoordinator
        let id: NSManagedObjectID

        init(_ backend: ScriptedBackend) async throws {
            folder = try ScratchFolder("untaken")
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12))
            options.sendsAutomatically = false
            store = try coordinator.addCachedStore(backend, at: folder.file("cache.sqlite"), options: options)
            let context = coordinator.context()
            id = try await context.perform {
                let album = try #require(try context.fetch(fetchRequest("Album")).first)
                // It is read alone, with its version.
                context.stalenessInterval = 0
                context.refresh(album, mergeChanges: false)
                #expect(album.value(forKey: "year") as? Int == 1964)
                context.stalenessInterval = -1
                album.setValue(1965, forKey: "year")
                try context.save()
                return album.objectID
            }
        }

        func year() async throws -> Int? {
            let context = coordinator.context()
            return try await context.perform { try context.fetch(fetchRequest("Album")).first?.value(forKey: "year") as? Int }
        }

        /// Sends until the change is set aside, or nothing is pending.
        func sendAll() async throws {
            for _ in 0..<12 where try !store.pendingChanges().allSatisfy({ $0.state != .pending }) { try await store.sendPending() }
        }
    }

    @Test(
        "A cached store looks again, and says then that the change has failed: the edit stays, to be retried or dropped",
        arguments: versions, [false, true])
    func cached(versions: ScriptedBackend.Versions, retries: Bool) async throws {
        let backend = Self.backend(versions)
        let program = try await Cached(backend)
        defer { program.folder.remove() }
        try await program.store.sendPending()
        // A copy may lag.
        try expect(program.store.syncState(of: program.id), equals: .pending)
        try await program.sendAll()
        try expect(program.store.syncState(of: program.id), equals: .failed)
        let told = try program.store.error(of: program.id)?.localizedDescription ?? ""
        #expect(told.contains("was not made") && told.contains("“year”"), "\(told)")
        expect(try await program.year(), equals: 1965)
        if retries {
            backend.scriptOutcomes { _ in nil }
            try program.store.retry(program.id)
            try await program.store.sendPending()
            try expect(program.store.pendingCount(), equals: 0)
            expect(backend.values("Album", 1)?["year"], equals: 1965)
        } else {
            try program.store.drop(program.id)
            expect(try await program.year(), equals: 1964)
        }
    }

    @Test("What is seen by a later read is saved, and is not sent again", arguments: versions)
    func seenLater(versions: ScriptedBackend.Versions) async throws {
        let backend = Self.backend(versions)
        let program = try await Cached(backend)
        defer { program.folder.remove() }
        try await program.store.sendPending()
        backend.scriptOutcomes { _ in .refused(URLError(.badServerResponse)) }
        backend.change("Album", 1, ["year": 1965])
        try await program.store.sendPending()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        expect(try await program.year(), equals: 1965)
    }
}
