import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Pending changes and new versions of the model") struct OutboxMigrationTests {
    private func model(_ isNew: Bool) -> NSManagedObjectModel {
        let album = NSEntityDescription(name: "Album")
        let title = NSAttributeDescription(name: isNew ? "name" : "title", type: .string)
        if isNew { title.renamingIdentifier = "title" }
        album.properties = [
            title, NSAttributeDescription(name: isNew ? "rating" : "gone", type: .integer64),
            NSAttributeDescription(name: "year", type: .integer64),
        ]
        return NSManagedObjectModel(entities: [album])
    }

    @Test("Pending changes get the names of the new version, and what it does not have is left out") func renamed() async throws {
        let folder = try ScratchFolder("outbox")
        defer { folder.remove() }
        let place = folder.file("outbox.sqlite")
        var options = CachedStoreOptions(clock: ManualClock())
        options.sendsAutomatically = false
        func open(_ isNew: Bool) throws -> (ScriptedBackend, CachedStore, NSManagedObjectContext) {
            let backend = ScriptedBackend(
                model(isNew), [Resource("Album", endpoints: [Endpoint("all")], saving: .init(isIdempotent: true))])
            backend.put("Album", 1, [isNew ? "name" : "title": "base", "year": 1])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(isNew))
            let store = try coordinator.addCachedStore(backend, at: place, options: options)
            return (backend, store, coordinator.context())
        }
        let (_, store, context) = try open(false)
        try await context.perform {
            let album = try #require(try context.fetch(fetchRequest("Album")).first)
            album.setValue("edited", forKey: "title")
            album.setValue(7, forKey: "gone")
            let new = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            new.setValue("new", forKey: "title")
            try context.save()
        }
        try expect(store.pendingCount(), equals: 2)
        try context.persistentStoreCoordinator?.remove(store)

        let (backend, moved, later) = try open(true)
        try expect(moved.pendingCount(), equals: 2)
        let request = fetchRequest("Album", by: ["name"])
        request.cachePolicy = .cacheOnly
        let names = try await later.perform { try later.fetch(request).map { $0.value(forKey: "name") as? String } }
        expect(names, equals: ["edited", "new"])
        try await moved.sendPending()
        try expect(moved.pendingCount(), equals: 0)
        expect(backend.values("Album", 1), equals: ["name": "edited", "year": 1])
        expect(backend.ids("Album").count, equals: 2)
        try later.persistentStoreCoordinator?.remove(moved)
    }
}
