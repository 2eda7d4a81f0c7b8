import CoreData
import TestSupport
import Testing

// Code as it is written for Apple's platforms. Nothing in it is for our sake.

private class Person: NSManagedObject {
    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSince1970: 0), forKey: "created")
    }
}

private final class PersistenceController {
    let container: NSPersistentContainer

    init(inMemory: Bool = true) {
        let model = NSManagedObjectModel()
        let person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClass = Person.self
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = false
        let age = NSAttributeDescription()
        age.name = "age"
        age.attributeType = .integer16AttributeType
        age.defaultValue = 18
        age.isOptional = true
        age.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["too young"])
        let created = NSAttributeDescription()
        created.name = "created"
        created.attributeType = .dateAttributeType
        let friends = NSRelationshipDescription()
        friends.name = "friends"
        friends.destinationEntity = person
        friends.inverseRelationship = friends
        friends.minCount = 0
        friends.maxCount = 0
        friends.deleteRule = .nullifyDeleteRule
        person.properties = [name, age, created, friends]
        person.uniquenessConstraints = [["name"]]
        model.entities = [person]

        container = NSPersistentContainer(name: "People", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        if inMemory { description.url = URL(fileURLWithPath: "/dev/null") }
        description.shouldAddStoreAsynchronously = false
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores(completionHandler: { (storeDescription, error) in
            if let error = error as NSError? { fatalError("Unresolved error \(error), \(error.userInfo)") }
        })
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        context.undoManager = UndoManager()
        context.stalenessInterval = -1
        return context
    }
}

private final class PeopleList: NSFetchedResultsControllerDelegate {
    var log: [String] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { log.append("will") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        switch type {
        case .insert: log.append("insert \(newIndexPath!)")
        case .delete: log.append("delete \(indexPath!)")
        case .update: log.append("update \(indexPath!)")
        case .move: log.append("move \(indexPath!) \(newIndexPath!)")
        @unknown default: break
        }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { log.append("did") }
}

@Suite("Code written for Apple's platforms") struct AppleCodeTests {
    @Test("A stack in memory, inserts, fetches, undo and batch requests")
    func stack() throws {
        let controller = PersistenceController()
        let context = controller.newContext()
        try context.performAndWait {
            let ada = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            ada.setValue("Ada", forKey: "name")
            let bo = Person(context: context)
            bo.setValue("Bo", forKey: "name")
            ada.mutableSetValue(forKey: "friends").add(bo)
            try context.save()
            expect((bo.value(forKey: "friends") as? Set<NSManagedObject>), equals: [ada])
            expect(bo.value(forKey: "created") as? Date, equals: Date(timeIntervalSince1970: 0))

            let request: NSFetchRequest<Person> = NSFetchRequest(entityName: "Person")
            request.predicate = NSPredicate(format: "%K BEGINSWITH[cd] %@ AND age >= %d", "name", "a", 18)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchBatchSize = 20
            request.relationshipKeyPathsForPrefetching = ["friends"]
            request.returnsObjectsAsFaults = false
            try expect(context.fetch(request).count, equals: 1)

            bo.setValue(40, forKey: "age")
            context.processPendingChanges()
            context.undo()
            expect(bo.value(forKey: "age") as? Int, equals: 18)
            context.redo()
            expect(bo.value(forKey: "age") as? Int, equals: 40)
            expect(bo.changedValues()["age"] as? Int, equals: 40)
            expect(bo.committedValues(forKeys: ["age"])["age"] as? Int, equals: 18)
            context.rollback()

            ada.setValue(-1, forKey: "age")
            do {
                try context.save()
                Issue.record("An age below zero was saved.")
            } catch let error as NSError {
                expect(error.domain, equals: NSCocoaErrorDomain)
                expect(error.code, equals: NSValidationNumberTooSmallError)
                expect(error.userInfo[NSValidationKeyErrorKey] as? String, equals: "age")
            }
            context.rollback()

            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person"))
            delete.resultType = .resultTypeObjectIDs
            let result = try context.execute(delete) as? NSBatchDeleteResult
            let ids = try #require(result?.result as? [NSManagedObjectID])
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
            expect(ids.count, equals: 2)
            try expect(context.count(for: request), equals: 0)
        }
    }

    @Test("A view context that follows a background task, and a fetched results controller over it")
    @MainActor
    func viewContext() async throws {
        let controller = PersistenceController()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let results = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: controller.container.viewContext, sectionNameKeyPath: nil, cacheName: nil)
        let list = PeopleList()
        results.delegate = list
        try results.performFetch()
        expect(results.fetchedObjects?.count, equals: 0)
        try await controller.container.performBackgroundTask { @Sendable context in
            let person = Person(context: context)
            person.setValue("Cleo", forKey: "name")
            try context.save()
        }
        // The merge has been put on the main queue by the save; what is put there now comes after it.
        await controller.container.viewContext.perform(schedule: .enqueued) { @Sendable in }
        expect(results.fetchedObjects?.first?.value(forKey: "name") as? String, equals: "Cleo")
        expect(results.sections?.first?.numberOfObjects, equals: 1)
        expect(list.log, equals: ["will", "insert [0, 0]", "did"])
    }
}
