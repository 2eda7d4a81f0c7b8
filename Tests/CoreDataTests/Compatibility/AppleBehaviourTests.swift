import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

/// Behaviour that open-source apps and libraries rely on, which their tests show on Apple's platforms.
@Suite("Behaviour that apps rely on") struct AppleBehaviourTests {
    private let place: Scratchpad

    init() throws { place = try Scratchpad() }

    // MARK: The model

    private static func makeModel() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band")
        let album = NSEntityDescription(name: "Album")
        let albums = NSRelationshipDescription()
        let owner = NSRelationshipDescription()
        albums.name = "albums"
        albums.destinationEntity = album
        albums.inverseRelationship = owner
        albums.isOptional = false
        albums.deleteRule = .cascadeDeleteRule
        owner.name = "band"
        owner.destinationEntity = band
        owner.inverseRelationship = albums
        owner.maxCount = 1
        let mood = NSAttributeDescription(name: "mood", type: .string, defaultValue: "calm")
        mood.isTransient = true
        band.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "rank", type: .integer64, defaultValue: 0),
            mood, albums,
        ]
        album.properties = [NSAttributeDescription(name: "title", type: .string), owner]
        return NSManagedObjectModel(entities: [band, album])
    }

    private func container() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Behaviour", managedObjectModel: Self.makeModel())
        let description = NSPersistentStoreDescription(url: place.store)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    /// Runs `body` with a new context of a new container.
    private func withContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let container = try container()
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    // MARK: Saving

    @Test("An empty to-many relationship that is not optional saves if its minimum is 0")
    func emptyRelationship() throws {
        try withContext { context in
            _ = context.insert("Band")
            try context.save()
        }
    }

    @Test("Metadata set on the coordinator is written by the next save, with and without changes")
    func metadata() throws {
        let container = try container()
        let (coordinator, context) = (container.persistentStoreCoordinator, container.newBackgroundContext())
        func stored() throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: place.store, options: nil)
        }
        func set(_ value: String) {
            var metadata = coordinator.metadata(for: coordinator.persistentStores[0])
            metadata["key"] = value
            coordinator.setMetadata(metadata, for: coordinator.persistentStores[0])
        }
        set("first")
        try context.performAndWait { try context.save() }
        try expect(stored()["key"] as? String, equals: "first")
        set("second")
        try context.performAndWait {
            _ = context.insert("Band")
            try context.save()
        }
        try expect(stored()["key"] as? String, equals: "second")
    }

    @Test("`saveAsynchronously()` without changes writes new metadata too")
    func metadataAsynchronously() async throws {
        let container = try container()
        let (coordinator, context) = (container.persistentStoreCoordinator, container.newBackgroundContext())
        var metadata = coordinator.metadata(for: coordinator.persistentStores[0])
        metadata["key"] = "value"
        coordinator.setMetadata(metadata, for: coordinator.persistentStores[0])
        try await context.saveAsynchronously()
        let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: place.store, options: nil)
        expect(stored["key"] as? String, equals: "value")
    }

    @Test("A did-save notification has the new history token and the query generation")
    func tokensInDidSave() throws {
        try withContext { context in
            let found = GuardedState<[Notification]>([])
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: context, queue: nil
            ) { note in found.withLock { $0.append(note) } }
            defer { NotificationCenter.default.removeObserver(observer) }
            _ = context.insert("Band")
            try context.save()
            let info = try #require(found.withLock { $0.first?.userInfo })
            let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
            #expect(token != nil)
            expect(info["newChangeToken"] as? NSPersistentHistoryToken, equals: token)
            #expect(info[NSManagedObjectContextQueryGenerationKey] is NSQueryGenerationToken)
        }
    }

    @Test("A remote change notification comes for the coordinator's own saves too", .timeLimit(.minutes(30)))
    func remoteChange() async throws {
        let container = try container()
        let context = container.newBackgroundContext()
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
        ) { _ in arrival.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await context.perform {
            _ = context.insert("Band")
            try context.save()
        }
        #expect(await arrivals.first { true } != nil)
    }

    // MARK: Objects

    @Test("A child obtains permanent IDs from the store, also for objects that its parent has")
    func permanentIDs() throws {
        let parent = try container().newBackgroundContext()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        let (id, name) = try child.performAndWait {
            let first = child.insert("Band", ["name": "first"])
            try child.obtainPermanentIDs(for: [first])
            #expect(!first.objectID.isTemporaryID)
            let second = child.insert("Band", ["name": "second"])
            try child.save()
            #expect(second.objectID.isTemporaryID)
            try child.obtainPermanentIDs(for: [second])
            #expect(!second.objectID.isTemporaryID)
            let third = child.insert("Band", ["name": "third"])
            try child.save()
            try parent.performAndWait { try parent.save() }
            try child.obtainPermanentIDs(for: [third])
            #expect(!third.objectID.isTemporaryID)
            return (second.objectID, second.value(forKey: "name") as? String)
        }
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = parent.persistentStoreCoordinator
        try other.performAndWait {
            let count = try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Band"))
            let found = try other.existingObject(with: id).value(forKey: "name") as? String
            expect(count, equals: 3)
            expect(found, equals: name)
        }
    }

    @Test("A new object that was deleted in an earlier block says that it is deleted")
    func deletedBeforeSaved() throws {
        let context = try container().newBackgroundContext()
        let band = context.performAndWait { context.insert("Band") }
        context.performAndWait { context.delete(band) }
        context.performAndWait {
            #expect(band.isDeleted)
            #expect(band.managedObjectContext == nil)
            context.insert(band)
            #expect(!band.isDeleted)
        }
    }

    @Test("The changed values of a new object include those set as primitives")
    func primitivesOfNewObjects() throws {
        try withContext { context in
            let band = context.insert("Band")
            band.setPrimitiveValue("p", forKey: "name")
            expect(band.changedValues()["name"] as? String, equals: "p")
            #expect(band.changedValues()["rank"] == nil)
        }
    }

    @Test("Objects are faults without a context after a reset")
    func faultsAfterReset() throws {
        try withContext { context in
            let band = context.insert("Band", ["name": "Alder"])
            try context.save()
            context.reset()
            #expect(band.isFault)
            #expect(band.managedObjectContext == nil)
        }
    }

    @Test("A transient attribute has its default value after a refresh, a reset and in a fetch")
    func transientDefaults() throws {
        try withContext { context in
            let band = context.insert("Band")
            try context.save()
            let id = band.objectID
            band.setValue("wild", forKey: "mood")
            context.refresh(band, mergeChanges: false)
            expect(band.value(forKey: "mood") as? String, equals: "calm")
            #expect(!band.hasChanges)
            context.reset()
            try expect(context.existingObject(with: id).value(forKey: "mood") as? String, equals: "calm")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Band")
            request.returnsObjectsAsFaults = false
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            let mood = try other.performAndWait { try other.fetch(request).first?.value(forKey: "mood") as? String }
            expect(mood, equals: "calm")
        }
    }

    @Test("A background context keeps the values that it holds, also when it fetches")
    func heldValues() throws {
        let container = try container()
        let (one, two) = (container.newBackgroundContext(), container.newBackgroundContext())
        let id = try one.performAndWait {
            let band = one.insert("Band", ["rank": 30])
            try one.save()
            return band.objectID
        }
        let held = try two.performAndWait {
            let band = try two.existingObject(with: id)
            expect(band.value(forKey: "rank") as? Int, equals: 30)
            return band
        }
        try one.performAndWait {
            try one.existingObject(with: id).setValue(31, forKey: "rank")
            try one.save()
        }
        try two.performAndWait {
            let count = try two.all("Band").count
            expect(count, equals: 1)
            expect(held.value(forKey: "rank") as? Int, equals: 30)
        }
    }

    // MARK: Requests

    @Test(
        "A dictionary fetch of an aggregate ignores sort descriptors on other columns", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func sortedAggregate(type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : place.store)
        let context = Music.context(coordinator)
        try context.performAndWait {
            _ = context.insert("Band", ["rank": 3])
            _ = context.insert("Band", ["rank": 4])
            try context.save()
            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expressionResultType = .integer64AttributeType
            sum.expression = CoreData.NSExpression(format: "sum:(rank)")
            let request = NSFetchRequest<NSDictionary>(entityName: "Band")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [sum]
            request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
            try expect(context.fetch(request).map { $0["sum"] as? Int }, equals: [7])
        }
    }

    @Test("A batch request in a child bears the author of the root")
    func authorOfBatches() throws {
        let root = try container().newBackgroundContext()
        root.transactionAuthor = "root"
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = root
        child.transactionAuthor = "child"
        try child.performAndWait { _ = try child.execute(NSBatchInsertRequest(entityName: "Band", objects: [["name": "Z"]])) }
        try root.performAndWait {
            let history = try root.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            let transactions = (history as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            expect(transactions?.map(\.author), equals: ["root"])
        }
    }

    @Test("A predicate selects the transaction of a history token")
    func historyByToken() throws {
        try withContext { context in
            for name in ["first", "second"] {
                _ = context.insert("Band", ["name": name])
                try context.save()
            }
            let token = try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
            let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
            request.predicate = NSPredicate(format: "token = %@", token)
            let history = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request))
            let transactions = (history as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            expect(transactions?.map(\.token), equals: [token])
        }
    }

    @Test("A fetched results controller accepts an empty array of sort descriptors")
    func unsortedResults() throws {
        try withContext { context in
            _ = context.insert("Band")
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Band")
            request.sortDescriptors = []
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            expect(controller.fetchedObjects?.count, equals: 1)
        }
    }

    // MARK: Files

    @Test("A destroyed store leaves an empty file, in which a new store can be made")
    func destroyed() throws {
        let coordinator = try container().persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        try coordinator.destroyPersistentStore(at: place.store, ofType: NSSQLiteStoreType, options: nil)
        try expect(FileManager.default.attributesOfItem(atPath: place.store.path)[.size] as? Int, equals: 0)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place.store)
        let context = Music.context(coordinator)
        let count = try context.performAndWait { try context.all("Band").count }
        expect(count, equals: 0)
    }

    @Test(
        "A store that was destroyed is destroyed again, as is one that never was",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType])
    func destroyedTwice(type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        let nowhere = place.url.appendingPathComponent("nowhere/none.store")
        try coordinator.destroyPersistentStore(at: nowhere, ofType: type, options: nil)
        #expect(!FileManager.default.fileExists(atPath: nowhere.path))
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place.store)
        // Another coordinator that has let go of it.
        let other = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try other.remove(other.addPersistentStore(ofType: type, configurationName: nil, at: place.store))
        for _ in 0..<3 { try coordinator.destroyPersistentStore(at: place.store, ofType: type, options: nil) }
        try other.destroyPersistentStore(at: place.store, ofType: type, options: nil)
        let forced = [NSPersistentStoreForceDestroyOption: true]
        try other.destroyPersistentStore(at: place.store, ofType: type, options: forced)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place.store)
        let context = Music.context(coordinator)
        let count = try context.performAndWait { try context.all("Band").count }
        expect(count, equals: 0)
    }

    @Test("A store that the coordinator has open is destroyed, and can be added again")
    func destroyedWhileOpen() throws {
        let coordinator = try container().persistentStoreCoordinator
        try coordinator.destroyPersistentStore(at: place.store, ofType: NSSQLiteStoreType, options: nil)
        #expect(coordinator.persistentStores.isEmpty)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place.store)
        expect(coordinator.persistentStores.count, equals: 1)
    }

    // MARK: Code that compiles

    @Test("Generic code creates objects, and a generated fetch request needs no type")
    func genericCode() throws {
        func make<Object: NSManagedObject>(_ type: Object.Type, in context: NSManagedObjectContext) -> Object { Object(context: context) }
        try withMusic { context in
            expect(make(Band.self, in: context).entity.name, equals: "Band")
            expect(Album.made(in: context).entity.name, equals: "Album")
            let request = Band.fetchRequest()
            request.fetchLimit = 1
        }
    }

    @Test("A value at a key path through a set is a set, through an ordered set an ordered one")
    func keyPathsThroughSets() throws {
        try withContext { context in
            let band = context.insert("Band", ["name": "Alder"])
            for title in ["one", "two", "two"] { context.insert("Album", ["title": title]).setValue(band, forKey: "band") }
            expect(band.value(forKeyPath: "albums.title") as? Set<String>, equals: ["one", "two"])
        }
    }

    // MARK: Models

    @Test("The class of an attribute's values follows its type")
    func valueClasses() {
        let attribute = NSAttributeDescription(name: "a", type: .integer16)
        expect(attribute.attributeValueClassName, equals: "NSNumber")
        attribute.attributeType = .dateAttributeType
        expect(attribute.attributeValueClassName, equals: "NSDate")
        attribute.attributeType = .transformableAttributeType
        #expect(attribute.attributeValueClassName == nil)
        attribute.attributeValueClassName = "NSArray"
        expect(attribute.attributeValueClassName, equals: "NSArray")
    }
}

extension NSManagedObject {
    fileprivate static func made(in context: NSManagedObjectContext) -> Self { Self(context: context) }
}

extension Band {
    /// As Xcode generates it.
    fileprivate class func fetchRequest() -> NSFetchRequest<Band> { NSFetchRequest<Band>(entityName: "Band") }
}
