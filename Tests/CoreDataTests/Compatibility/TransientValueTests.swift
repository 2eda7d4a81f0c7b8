import CoreData
import TestSupport
import Testing

@Suite("Transient values and what was committed, as on Apple's platforms") struct TransientValueTests {
    private func cars() throws -> NSManagedObjectContext {
        let car = NSEntityDescription(name: "Car")
        let speed = NSAttributeDescription(name: "speed", type: .integer32)
        speed.isTransient = true
        car.properties = [NSAttributeDescription(name: "plate", type: .string), speed]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [car]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return Music.context(coordinator)
    }

    @Test("A transient change makes an object changed, but leaves nothing to store")
    func transientChange() throws {
        let context = try cars()
        try context.performAndWait {
            let car = context.insert("Car", ["plate": "1", "speed": 50])
            try context.save()
            expect(car.value(forKey: "speed") as? Int, equals: 50)
            car.setValue(10, forKey: "speed")
            #expect(car.hasChanges)
            #expect(!car.hasPersistentChangedValues)
            #expect(context.hasChanges)
            try context.save()
            #expect(!context.hasChanges)
            expect(car.value(forKey: "speed") as? Int, equals: 10)
            context.refreshAllObjects()
            #expect(car.value(forKey: "speed") == nil)
        }
    }

    @Test("A child's save brings transient values to its parent, alone too; a child that reads from its parent gets none")
    func children() throws {
        let parent = try cars()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        let id = try child.performAndWait {
            let car = child.insert("Car", ["plate": "1", "speed": 50])
            try child.save()
            return car.objectID
        }
        let car = try parent.performAndWait {
            let car = try parent.existingObject(with: id)
            expect(car.value(forKey: "speed") as? Int, equals: 50)
            try parent.save()
            return car
        }
        try child.performAndWait {
            let car = child.object(with: id)
            expect(car.value(forKey: "plate") as? String, equals: "1")
            child.refresh(car, mergeChanges: false)
            #expect(car.value(forKey: "speed") == nil)
            car.setValue(30, forKey: "speed")
            try child.save()
        }
        try parent.performAndWait {
            expect(car.value(forKey: "speed") as? Int, equals: 30)
            #expect(parent.hasChanges)
            #expect(!car.hasPersistentChangedValues)
            try parent.save()
        }
        let other = Music.context(parent.persistentStoreCoordinator!)
        try other.performAndWait {
            let stored = try #require(try other.all("Car").first)
            #expect(stored.value(forKey: "speed") == nil)
            expect(stored.value(forKey: "plate") as? String, equals: "1")
        }
    }

    @Test("A new object has committed nothing; a saved one its persistent values")
    func committed() throws {
        let context = try cars()
        try context.performAndWait {
            let car = context.insert("Car")
            #expect(car.changedValues().isEmpty)
            car.setValuesForKeys(["plate": "1", "speed": 5])
            expect(car.changedValues().keys.sorted(), equals: ["plate"])
            #expect(car.committedValues(forKeys: nil).isEmpty)
            #expect(car.committedValues(forKeys: ["plate"])["plate"] == nil)
            try context.save()
            #expect(car.changedValues().isEmpty)
            car.setValue("2", forKey: "plate")
            expect(car.committedValues(forKeys: ["plate", "speed"]) as? [String: String], equals: ["plate": "1"])
            expect(car.changedValues() as? [String: String], equals: ["plate": "2"])
            try context.save()
            expect(car.committedValues(forKeys: nil) as? [String: String], equals: ["plate": "2"])
        }
    }
}
