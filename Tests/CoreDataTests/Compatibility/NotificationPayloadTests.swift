import CoreData
import TestSupport
import Testing

// What observers of contexts on Apple's platforms find in notifications, and rely on.

/// Writes down what a context tells.
// `lock` guards `told`.
private final class Payloads: @unchecked Sendable {
    private let lock = NSLock()
    private var told: [[AnyHashable: Any]] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, of context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] notification in
            lock.withLock { told.append(notification.userInfo ?? [:]) }
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

    var all: [[AnyHashable: Any]] { lock.withLock { told } }
    func objects(_ key: String) -> [Set<NSManagedObject>] { all.map { $0[key] as? Set<NSManagedObject> ?? [] } }
    func ids(_ key: NSManagedObjectContext.NotificationKey) -> [Set<NSManagedObjectID>] {
        all.map { $0[key.rawValue] as? Set<NSManagedObjectID> ?? [] }
    }
}

@Suite("What notifications of contexts carry") struct NotificationPayloadTests {
    @Test("A reset tells once, with the IDs of every object that it has made invalid")
    func reset() throws {
        try withMusic { context in
            let saved = try context.saveBand("Low", albums: ["Trust"])
            let new = Album(context: context)
            context.processPendingChanges()
            let payloads = Payloads(.NSManagedObjectContextObjectsDidChange, of: context)
            let ids = Set(context.registeredObjects.map(\.objectID))
            #expect(ids.isSuperset(of: [saved.objectID, new.objectID]))
            context.reset()
            expect(payloads.all.count, equals: 1)
            expect((payloads.all[0][NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]).map(Set.init), equals: ids)
            expect((payloads.all[0][NSInvalidatedAllObjectsKey] as? [NSManagedObjectID])?.count, equals: ids.count)
            context.reset()
            expect(payloads.all.count, equals: 1)
        }
    }

    @Test("Refreshing all objects tells of all of them at once")
    func refreshAll() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust", "Ones"])
            let registered = context.registeredObjects
            expect(registered.count, equals: 3)
            band.name = "changed"
            context.processPendingChanges()
            let payloads = Payloads(NSManagedObjectContext.didChangeObjectsNotification, of: context)
            context.refreshAllObjects()
            expect(payloads.objects(NSRefreshedObjectsKey), equals: [registered])
            expect(payloads.all[0].keys.count, equals: 1)
            #expect(!band.isFault)
            expect(band.name, equals: "changed")
            expect(registered.filter(\.isFault), equals: registered.subtracting([band]))
            withExtendedLifetime(registered) {}
        }
    }

    @Test("A save tells of what was inserted, updated and deleted, in objects and in permanent IDs")
    func save() throws {
        try withMusic { context in
            let albums = (0..<2).map { _ in Album(context: context) }
            try context.save()
            let objects = Payloads(.NSManagedObjectContextDidSave, of: context)
            let ids = Payloads(.NSManagedObjectContextDidSaveObjectIDs, of: context)
            let will = Payloads(.NSManagedObjectContextWillSave, of: context)
            let new = (0..<2).map { _ in Album(context: context) }
            albums[0].title = "changed"
            context.delete(albums[1])
            try context.save()
            expect(will.all.count, equals: 1)
            expect(objects.objects(NSInsertedObjectsKey), equals: [Set(new)])
            expect(objects.objects(NSUpdatedObjectsKey), equals: [[albums[0]]])
            expect(objects.objects(NSDeletedObjectsKey), equals: [[albums[1]]])
            expect(ids.ids(.insertedObjectIDs), equals: [Set(new.map(\.objectID))])
            expect(ids.ids(.updatedObjectIDs), equals: [[albums[0].objectID]])
            expect(ids.ids(.deletedObjectIDs), equals: [[albums[1].objectID]])
            #expect(!new.contains { $0.objectID.isTemporaryID })
            // One without changes tells of none.
            try context.save()
            expect(objects.all.count, equals: 2)
            expect(objects.objects(NSInsertedObjectsKey), equals: [Set(new), []])
        }
    }

    @Test("Each save of a child is one change of the parent; the child's IDs are temporary until the parent has saved")
    func children() throws {
        let parent = try Music.context()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        let changes = Payloads(.NSManagedObjectContextObjectsDidChange, of: parent)
        let ids = Payloads(.NSManagedObjectContextDidSaveObjectIDs, of: child)
        try child.performAndWait {
            let albums = (0..<2).map { _ in Album(context: child) }
            try child.save()
            albums[0].title = "changed"
            try child.save()
            child.delete(albums[1])
            try child.save()
        }
        expect(changes.objects(NSInsertedObjectsKey).map(\.count), equals: [2, 0, 0])
        expect(changes.objects(NSUpdatedObjectsKey).map(\.count), equals: [0, 1, 0])
        expect(changes.objects(NSDeletedObjectsKey).map(\.count), equals: [0, 0, 1])
        expect(ids.ids(.insertedObjectIDs)[0].count, equals: 2)
        #expect(!ids.ids(.insertedObjectIDs)[0].contains { !$0.isTemporaryID })
        let saved = Payloads(.NSManagedObjectContextDidSave, of: parent)
        try parent.performAndWait { try parent.save() }
        expect(saved.objects(NSInsertedObjectsKey).map(\.count), equals: [1])
    }
}
