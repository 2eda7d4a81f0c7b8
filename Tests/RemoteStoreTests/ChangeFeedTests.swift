import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Changes of others") struct ChangeFeedTests {
    private struct Shelf {
        let backend: ScriptedBackend
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
        let context: NSManagedObjectContext
    }

    private func shelf(versions: ScriptedBackend.Versions = .numbers, pages: Int = .max, properties: Set<String>? = nil) throws -> Shelf {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource("Band", endpoints: [Endpoint("all"), byID], saving: .init()),
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint("all", freshness: .seconds(3600)), byID, Endpoint("of", parameters: [Parameter("band", isRequired: true)]),
                    ],
                    saving: .init()),
            ])
        backend.setVersions(versions)
        backend.setChangeFeed(pages: pages)
        backend.put("Band", 1, ["name": "Beatles"])
        backend.put("Band", 2, ["name": "Björk"])
        backend.put("Album", 10, ["title": "Help!", "year": 1965, "band": .one(1)])
        backend.put("Album", 11, ["title": "Debut", "year": 1993, "band": .one(2)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let store = try coordinator.addRemoteStore(backend)
        return Shelf(backend: backend, coordinator: coordinator, store: store, context: coordinator.context())
    }

    private func titles(_ band: NSManagedObject) -> [String] {
        (band.value(forKey: "albums") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "title") as? String }.sorted()
    }

    @Test("New values, new objects and deletions reach contexts without a request for them", arguments: ["none", "numbers", "tags"])
    func merging(versions: String) async throws {
        let shelf = try shelf(versions: versions == "none" ? .none : versions == "tags" ? .tags : .numbers)
        let (backend, context) = (shelf.backend, shelf.context)
        let first = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        #expect(first.isWhole && first.updatedObjectIDs.isEmpty)
        let albums = try await context.perform { QueueValue(try context.fetch(fetchRequest("Album", by: ["year"]))) }
        await context.perform { for album in albums.value { _ = album.value(forKey: "title") } }
        backend.change("Album", 10, ["title": "HELP!"])
        backend.remove("Album", 11)
        backend.put("Album", 12, ["title": "Post", "year": 1995, "band": .one(2)])
        backend.forgetRequests()
        let changes = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        #expect(!changes.isWhole)
        expect(changes.updatedObjectIDs.map { $0.uriRepresentation().lastPathComponent }, equals: ["p10"])
        expect(changes.deletedObjectIDs.map { $0.uriRepresentation().lastPathComponent }, equals: ["p11"])
        expect(changes.insertedObjectIDs.map { $0.uriRepresentation().lastPathComponent }, equals: ["p12"])
        let id = changes.insertedObjectIDs[0]
        try await context.perform {
            expect(albums.value[0].value(forKey: "title") as? String, equals: "HELP!")
            #expect(albums.value[1].managedObjectContext == nil || albums.value[1].isDeleted)
            let new = try context.existingObject(with: id)
            expect(new.value(forKey: "title") as? String, equals: "Post")
            #expect(backend.requests.isEmpty)
            // The answer that was kept is not shown any more.
            let all = try context.fetch(fetchRequest("Album"))
            expect(Set(all.compactMap { $0.value(forKey: "title") as? String }), equals: ["HELP!", "Post"])
        }
        // Nothing more has changed.
        let none = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        #expect(none.userInfo.isEmpty)
    }

    @Test("Lists of relationships follow the rows that have moved, and unsaved edits stay")
    func relationships() async throws {
        let shelf = try shelf()
        let (backend, context) = (shelf.backend, shelf.context)
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        let bands = try await context.perform { QueueValue(try context.fetch(fetchRequest("Band", by: ["name"]))) }
        let album = try await context.perform { () -> QueueValue<NSManagedObject> in
            expect(bands.value.map(titles), equals: [["Help!"], ["Debut"]])
            let album = try context.fetch(fetchRequest("Album", "title == 'Debut'"))[0]
            album.setValue("unsaved", forKey: "notes")
            return QueueValue(album)
        }
        backend.change("Album", 11, ["band": .one(1), "year": 1994])
        let changes = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        expect(changes.refreshedObjectIDs.count, equals: 2)
        try await context.perform {
            expect(bands.value.map(titles), equals: [["Debut", "Help!"], []])
            expect(album.value.value(forKey: "year") as? Int, equals: 1994)
            expect(album.value.value(forKey: "notes") as? String, equals: "unsaved")
            try context.save()
        }
        expect(backend.values("Album", 11)?["notes"], equals: "unsaved")
    }

    @Test("Contexts that merge automatically do, and the notification of remote changes is posted")
    func automatically() async throws {
        let shelf = try shelf(pages: 1)
        let (backend, context) = (shelf.backend, shelf.context)
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        await context.perform { context.automaticallyMergesChangesFromParent = true }
        let albums = try await context.perform { QueueValue(try context.fetch(fetchRequest("Album", by: ["year"]))) }
        await context.perform { for album in albums.value { _ = album.value(forKey: "title") } }
        let posted = Guarded(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: shelf.coordinator, queue: nil
        ) { _ in posted.withValue { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        backend.change("Album", 10, ["title": "HELP!"])
        backend.remove("Album", 11)
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        // The merge was enqueued before.
        await context.perform {
            expect(albums.value[0].value(forKey: "title") as? String, equals: "HELP!")
            #expect(albums.value[1].managedObjectContext == nil || albums.value[1].isDeleted)
        }
        // A notification for each answer that brought something.
        expect(posted.withValue { $0 }, equals: 2)
    }

    @Test("Fetched results follow what others insert, change and delete")
    func fetchedResults() async throws {
        let shelf = try shelf()
        let (backend, context) = (shelf.backend, shelf.context)
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        let controller = try await context.perform { () -> QueueValue<NSFetchedResultsController<NSManagedObject>> in
            let controller = NSFetchedResultsController(
                fetchRequest: fetchRequest("Album", by: ["title"]), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let delegate = FollowingDelegate()
            controller.delegate = delegate
            try controller.performFetch()
            return QueueValue(controller)
        }
        backend.change("Album", 10, ["title": "Zebra"])
        backend.put("Album", 12, ["title": "Post"])
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        let delegate = FollowingDelegate()
        await context.perform { controller.value.delegate = delegate }
        backend.remove("Album", 11)
        backend.put("Album", 13, ["title": "Alpha"])
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        await context.perform {
            let titles = (controller.value.fetchedObjects ?? []).map { $0.value(forKey: "title") as? String }
            expect(titles, equals: ["Alpha", "Post", "Zebra"])
        }
    }

    @Test("A token that has expired, or an answer that fails, loses nothing")
    func expiry() async throws {
        let shelf = try shelf()
        let (backend, context) = (shelf.backend, shelf.context)
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        let albums = try await context.perform { QueueValue(try context.fetch(fetchRequest("Album", by: ["year"]))) }
        await context.perform { for album in albums.value { _ = album.value(forKey: "title") } }
        backend.change("Album", 10, ["title": "HELP!"])
        backend.remove("Album", 11)
        backend.expireChangeTokens()
        // Everything that is shown is read anew, which fails at first.
        backend.script { _ in .fail(ServiceFailure("offline")) }
        await #expect(throws: ServiceFailure.self) { try await shelf.coordinator.mergeRemoteChanges(of: shelf.store) }
        backend.script { _ in .answer }
        let changes = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        #expect(changes.isWhole && changes.updatedObjectIDs.count == 1 && changes.deletedObjectIDs.count == 1)
        await context.perform {
            expect(albums.value[0].value(forKey: "title") as? String, equals: "HELP!")
            #expect(albums.value[1].managedObjectContext == nil || albums.value[1].isDeleted)
        }
        backend.change("Album", 10, ["title": "help"])
        let next = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        #expect(!next.isWhole && next.updatedObjectIDs.count == 1)
    }

    @Test("What this program has saved is no change of others, and a store without a feed says so")
    func ownChanges() async throws {
        let shelf = try shelf()
        try await shelf.coordinator.mergeRemoteChanges(of: shelf.store)
        let context = shelf.context
        let album = try await context.perform { () -> QueueValue<NSManagedObject> in
            let album = try context.fetch(fetchRequest("Album", by: ["year"]))[0]
            album.setValue("mine", forKey: "notes")
            try context.save()
            return QueueValue(album)
        }
        let changes = try await shelf.coordinator.mergeRemoteChanges(of: shelf.store, into: [context])
        #expect(changes.updatedObjectIDs.isEmpty && changes.insertedObjectIDs.isEmpty)
        await context.perform { expect(album.value.value(forKey: "notes") as? String, equals: "mine") }

        let silent = ScriptedBackend(Shop.model(), [Resource("Band", endpoints: [Endpoint("all")])], at: URL(string: "scripted:silent"))
        let store = try shelf.coordinator.addRemoteStore(silent)
        await #expect { try await shelf.coordinator.mergeRemoteChanges(of: store) } throws: { error in
            (error as NSError).code == NSPersistentStoreUnsupportedRequestTypeError
        }
    }
}

private final class FollowingDelegate: NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}
