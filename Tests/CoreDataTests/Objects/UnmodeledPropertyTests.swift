import CoreData
import TestSupport
import Testing

/// An album with a property that the model does not know.
private class Sleeve: NSManagedObject {
    var colour = "" {
        willSet { willChangeValue(forKey: "colour") }
        didSet { didChangeValue(forKey: "colour") }
    }
}

private final class TellingSleeve: Sleeve {
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
}

@Suite("Properties that the model does not have") struct UnmodeledPropertyTests {
    private func withSleeve(_ type: Sleeve.Type, _ body: (NSManagedObjectContext, Sleeve) throws -> Void) throws {
        let entity = NSEntityDescription(name: "Sleeve", managedObjectClass: type)
        entity.properties = [NSAttributeDescription(name: "title", type: .string)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let sleeve = type.init(entity: entity, insertInto: context)
            try context.save()
            try body(context, sleeve)
        }
    }

    @Test("A change of one leaves the object unchanged unless its class says otherwise")
    func ignored() throws {
        #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
        try withSleeve(Sleeve.self) { context, sleeve in
            sleeve.colour = "red"
            #expect(!sleeve.hasChanges)
            #expect(!context.hasChanges)
        }
    }

    @Test("Where the class wants it, the object counts as updated, observers are told, and a save writes nothing of it")
    func noticed() throws {
        try withSleeve(TellingSleeve.self) { context, sleeve in
            nonisolated(unsafe) var told: [Set<NSManagedObject>] = []
            let token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
            ) { told.append($0.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []) }
            defer { NotificationCenter.default.removeObserver(token) }
            sleeve.colour = "red"
            sleeve.colour = "blue"
            #expect(sleeve.isUpdated)
            expect(context.updatedObjects, equals: [sleeve])
            #expect(!sleeve.hasPersistentChangedValues)
            #expect(sleeve.changedValues().isEmpty)
            context.processPendingChanges()
            expect(told, equals: [[sleeve]])
            try context.save()
            #expect(!context.hasChanges)
            expect(sleeve.colour, equals: "blue")
        }
    }
}
