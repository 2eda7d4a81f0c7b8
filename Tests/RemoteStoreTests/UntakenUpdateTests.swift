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

    @Test("A cached store shows what is there, and tells the application", arguments: versions)
    func cached(versions: ScriptedBackend.Versions) async throws {
        let folder = try ScratchFolder("untaken")
        defer { folder.remove() }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12))
        options.sendsAutomatically = false
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        options.didFail = { continuation.yield($0.localizedDescription) }
        let store = try coordinator.addCachedStore(Self.backend(versions), at: folder.file("cache.sqlite"), options: options)
        let context = coordinator.context()
        try await context.perform {
            let album = try #require(try context.fetch(fetchRequest("Album")).first)
            // It is read alone, with its version.
            context.stalenessInterval = 0
            context.refresh(album, mergeChanges: false)
            #expect(album.value(forKey: "year") as? Int == 1964)
            context.stalenessInterval = -1
            album.setValue(1965, forKey: "year")
            try context.save()
        }
        try await store.sendPending()
        continuation.finish()
        var told: [String] = []
        for await text in stream { told.append(text) }
        #expect(told.contains { $0.contains("was not made") }, "\(told)")
        try expect(store.pendingCount(), equals: 0)
        let other = coordinator.context()
        let year = try await other.perform { try other.fetch(fetchRequest("Album")).first?.value(forKey: "year") as? Int }
        expect(year, equals: 1964)
    }
}
