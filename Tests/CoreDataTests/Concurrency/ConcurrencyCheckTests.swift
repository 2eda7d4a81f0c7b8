import CoreData
import Testing

/// A use of a context or an object that belongs to the context's queue.
private enum Use: String, CaseIterable, Codable, Sendable {
    case registeredObject, existingObject, insert, assign, obtainPermanentIDs, refresh, refreshAllObjects, rollback, reset, undo, redo
    case processPendingChanges, detectConflicts, mergeChanges, execute, hasChanges, insertedObjects, updatedObjects, deletedObjects
    case registeredObjects, performFetch
    case changedValues, changedValuesForCurrentEvent, committedValues, hasPersistentChangedValues, primitiveValue, setPrimitiveValue
    case willChangeValue, willAccessValue, validateValue, validateForInsert, validateForUpdate, validateForDelete, hasFault, objectIDs
    case members, fulfillFault

    /// What the message names.
    var call: String {
        switch self {
        case .hasChanges, .insertedObjects, .updatedObjects, .deletedObjects, .registeredObjects: "\(rawValue) is read"
        case .hasPersistentChangedValues: rawValue
        case .willAccessValue, .members: "is read"
        case .willChangeValue: "is written"
        default: rawValue + "("
        }
    }

    func run(_ album: Album, _ context: NSManagedObjectContext) throws {
        switch self {
        case .registeredObject: _ = context.registeredObject(for: album.objectID)
        case .existingObject: _ = try context.existingObject(with: album.objectID)
        case .insert: context.insert(NSManagedObject(entity: album.entity, insertInto: nil))
        case .assign: context.assign(album, to: context.persistentStoreCoordinator!.persistentStores[0])
        case .obtainPermanentIDs: try context.obtainPermanentIDs(for: [album])
        case .refresh: context.refresh(album, mergeChanges: true)
        case .refreshAllObjects: context.refreshAllObjects()
        case .rollback: context.rollback()
        case .reset: context.reset()
        case .undo: context.undo()
        case .redo: context.redo()
        case .processPendingChanges: context.processPendingChanges()
        case .detectConflicts: context.detectConflicts(for: album)
        case .mergeChanges: context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
        case .execute: _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<Album>(entityName: "Album")))
        case .hasChanges: _ = context.hasChanges
        case .insertedObjects: _ = context.insertedObjects
        case .updatedObjects: _ = context.updatedObjects
        case .deletedObjects: _ = context.deletedObjects
        case .registeredObjects: _ = context.registeredObjects
        case .performFetch:
            let request = NSFetchRequest<Album>()
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            try NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil
            ).performFetch()
        case .changedValues: _ = album.changedValues()
        case .changedValuesForCurrentEvent: _ = album.changedValuesForCurrentEvent()
        case .committedValues: _ = album.committedValues(forKeys: nil)
        case .hasPersistentChangedValues: _ = album.hasPersistentChangedValues
        case .primitiveValue: _ = album.primitiveValue(forKey: "title")
        case .setPrimitiveValue: album.setPrimitiveValue("x", forKey: "title")
        case .willChangeValue: album.willChangeValue(forKey: "title")
        case .willAccessValue: album.willAccessValue(forKey: "title")
        case .validateValue:
            var title: Any? = "x"
            try album.validateValue(&title, forKey: "title")
        case .validateForInsert: try album.validateForInsert()
        case .validateForUpdate: try album.validateForUpdate()
        case .validateForDelete: try album.validateForDelete()
        case .hasFault: _ = album.hasFault(forRelationshipNamed: "tags")
        case .objectIDs: _ = album.objectIDs(forRelationshipNamed: "tags")
        case .members: _ = album.mutableSetValue(forKey: "tags").count
        case .fulfillFault: try album.fulfillFault()
        }
    }

    /// Runs it in a program that debugs concurrency, elsewhere than on the context's queue or there.
    func runDebugged(elsewhere: Bool) throws {
        setenv("COREDATA_CONCURRENCY_DEBUG", "1", 1)
        let context = try Music.context()
        let album = try context.performAndWait {
            let album = Album(context: context)
            album.title = "right"
            try context.save()
            if self == .fulfillFault { context.refresh(album, mergeChanges: false) }
            return album
        }
        if elsewhere { try run(album, context) } else { try context.performAndWait { try run(album, context) } }
    }
}

@Suite("What debugging concurrency checks") struct ConcurrencyCheckTests {
    @Test("Every use of a context and its objects elsewhere than on its queue stops the program with a message", arguments: Use.allCases)
    fileprivate func elsewhere(_ use: Use) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [use = use as Use] in
            try use.runDebugged(elsewhere: true)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains(use.call))
        #expect(message.contains("use it and its objects inside perform or performAndWait"))
    }

    @Test("A context can be set up wherever it is made, and its name, its policy and an object's ID be read anywhere")
    func settingUp() async {
        await #expect(processExitsWith: .success) {
            setenv("COREDATA_CONCURRENCY_DEBUG", "1", 1)
            let coordinator = try Music.coordinator()
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.name = "set up here"
            context.undoManager = UndoManager()
            context.undoManager = nil
            context.mergePolicy = NSMergePolicy.overwrite
            context.automaticallyMergesChangesFromParent = true
            context.shouldDeleteInaccessibleFaults = false
            context.stalenessInterval = 0
            context.retainsRegisteredObjects = true
            context.isObservationEnabled = true
            context.transactionAuthor = "someone"
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            let album = context.performAndWait { Album(context: context) }
            _ = (album.objectID, album.managedObjectContext?.name, album.entity, album.isFault, album.hasChanges, album.isDeleted)
            _ = album.description
        }
    }

    @Test("All of it passes on the queue")
    func onTheQueue() async {
        await #expect(processExitsWith: .success) {
            for use in Use.allCases { try use.runDebugged(elsewhere: false) }
        }
    }
}
