import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Transformable values in pending changes") struct TransformablePendingTests {
    private func model() -> NSManagedObjectModel {
        let photo = NSEntityDescription(name: "Photo")
        let marks = NSAttributeDescription(name: "marks", type: .transformable)
        marks.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        photo.properties = [NSAttributeDescription(name: "title", type: .string), marks]
        return NSManagedObjectModel(entities: [photo])
    }

    @Test("They are kept by their transformer over a restart, compared, sent, and shown again when a change is given up")
    func kept() async throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let place = folder.file("cache.sqlite")
        defer { try? FileManager.default.removeItem(at: place.deletingLastPathComponent()) }
        var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: ManualClock())
        options.sendsAutomatically = false
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let backend = ScriptedBackend(
            model(), [Resource("Photo", endpoints: [Endpoint("all"), byID], saving: .init(isIdempotent: true))])
        let first: NSDictionary = ["x": 1, "names": ["a", "b"]]
        let second: NSDictionary = ["x": 2]
        func open() throws -> (CachedStore, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
            return (try coordinator.addCachedStore(backend, at: place, options: options), coordinator.context())
        }
        var (store, context) = try open()
        let uri = try context.performAndWait {
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
            photo.setValue(first, forKey: "marks")
            try context.save()
            return photo.objectID.uriRepresentation()
        }
        func sent() -> NSDictionary? {
            backend.ids("Photo").first.flatMap { backend.values("Photo", $0)?["marks"]?.value.any as? NSDictionary }
        }
        // What was sent is on the disk while its outcome is not known.
        backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        try await store.sendPending()
        try context.persistentStoreCoordinator?.remove(store)
        (store, context) = try open()
        backend.scriptSaves { _ in .answer }
        try await store.sendPending()
        try expect(store.pendingCount(), equals: 0)
        expect(sent(), equals: first)

        try context.performAndWait {
            let found = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
            context.object(with: try #require(found)).setValue(second, forKey: "marks")
            try context.save()
        }
        try context.persistentStoreCoordinator?.remove(store)
        (store, context) = try open()
        let again = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
        try expect(store.drop(again).count, equals: 1)
        let other = try #require(context.persistentStoreCoordinator).context()
        try expect(other.performAndWait { try other.existingObject(with: again).value(forKey: "marks") as? NSDictionary }, equals: first)
        try expect(store.pendingCount(), equals: 0)
    }
}
