import CoreData
import TestSupport
import Testing

@Suite("The life of an object") struct LifecycleTests {
    @Test("A new object awakes once, and what it sets then is saved")
    func awakeFromInsert() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            expect(scrap.calls, equals: ["awakeFromInsert"])
            expect(scrap.value(forKey: "note") as? String, equals: "set on awaking")
            try context.save()
            context.refresh(scrap, mergeChanges: false)
            expect(scrap.value(forKey: "note") as? String, equals: "set on awaking")
        }
    }

    @Test("A fetched object awakes when its fault fires, not when it is fetched, and not as a new one")
    func awakeFromFetch() throws {
        let coordinator = try Scraps.coordinator()
        let first = Music.context(coordinator)
        try first.performAndWait {
            _ = Scrap(context: first)
            try first.save()
        }
        let second = Music.context(coordinator)
        try second.performAndWait {
            let scrap = try #require(try second.all(Scrap.self).first)
            expect(scrap.calls, equals: [])
            _ = scrap.value(forKey: "text")
            _ = scrap.value(forKey: "tiny")
            expect(scrap.calls, equals: ["awakeFromFetch"])
        }
    }

    @Test("Objects that do not come as faults have awoken")
    func awakeWithValues() throws {
        let coordinator = try Scraps.coordinator()
        let first = Music.context(coordinator)
        try first.performAndWait {
            _ = Scrap(context: first)
            try first.save()
        }
        let second = Music.context(coordinator)
        try second.performAndWait {
            let request = NSFetchRequest<Scrap>(entityName: "Scrap")
            request.returnsObjectsAsFaults = false
            let scrap = try #require(try second.fetch(request).first)
            #expect(!scrap.isFault)
            expect(scrap.calls, equals: ["awakeFromFetch"])
        }
    }

    @Test("What an object sets when it awakes makes it no changed one")
    func awakeSetsValues() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            try context.save()
            context.refresh(scrap, mergeChanges: false)
            Scrap.$onAwake.withValue(.init { $0.setValue("cached", forKey: "draft") }) {
                expect(scrap.value(forKey: "draft") as? String, equals: "cached")
            }
            #expect(!scrap.hasChanges)
            #expect(scrap.changedValues().isEmpty)
            #expect(!context.hasChanges)
            scrap.setValue("text", forKey: "text")
            expect(context.updatedObjects, equals: [scrap])
            expect(scrap.value(forKey: "draft") as? String, equals: "cached")
        }
    }

    @Test("A save calls willSave before and didSave after")
    func willAndDidSave() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.calls = []
            try context.save()
            expect(scrap.calls, equals: ["willSave", "didSave"])
            try context.save()
            expect(scrap.calls, equals: ["willSave", "didSave"], "Nothing has changed since.")
        }
    }

    @Test("Changes made in willSave are saved, and it is called again for them")
    func willSaveChanges() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.calls = []
            scrap.onWillSave = { if $0.value(forKey: "text") == nil { $0.setValue("stamped", forKey: "text") } }
            try context.save()
            expect(scrap.calls, equals: ["willSave", "willSave", "didSave"])
            #expect(!context.hasChanges)
            context.refresh(scrap, mergeChanges: false)
            expect(scrap.value(forKey: "text") as? String, equals: "stamped")
        }
    }

    @Test("Objects inserted and deleted in willSave are saved, too")
    func willSaveInserts() throws {
        try Scraps.run { context in
            let doomed = Scrap(context: context)
            try context.save()
            let scrap = Scrap(context: context)
            scrap.onWillSave = { scrap in
                scrap.onWillSave = nil
                Scrap(context: scrap.managedObjectContext!).setValue("extra", forKey: "text")
                scrap.managedObjectContext!.delete(doomed)
            }
            try context.save()
            #expect(!context.hasChanges)
            try expect(context.all(Scrap.self, "text == 'extra'").count, equals: 1)
            try expect(context.all(Scrap.self).count, equals: 2)
        }
    }

    @Test("A willSave that changes its object every time makes the save fail, not hang")
    func endlessWillSave() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.onWillSave = { $0.setValue(UUID().uuidString, forKey: "text") }
            let error = try #require(failure { try context.save() })
            #expect(error.localizedDescription.contains("willSave"))
            #expect(context.hasChanges)
            #expect(scrap.objectID.isTemporaryID)
            scrap.onWillSave = nil
            try context.save()
            #expect(!scrap.objectID.isTemporaryID)
        }
    }

    @Test("An object is notified of its deletion once, while it still has its relationships")
    func prepareForDeletion() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            try context.save()
            scrap.calls = []
            var wasThere = false
            scrap.onPrepareForDeletion = { wasThere = !$0.isDeleted && $0.managedObjectContext != nil }
            context.delete(scrap)
            context.delete(scrap)
            expect(scrap.calls, equals: ["prepareForDeletion"])
            #expect(wasThere)
            try context.save()
            expect(scrap.calls, equals: ["prepareForDeletion", "willSave", "didSave"])
        }
    }

    @Test("Turning into a fault is announced before and after")
    func turningIntoFault() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            try context.save()
            scrap.calls = []
            context.refresh(scrap, mergeChanges: false)
            expect(scrap.calls, equals: ["willTurnIntoFault", "didTurnIntoFault"])
        }
    }

    @Test("The flags follow an object from its insertion to its end")
    func flags() throws {
        try withMusic { context in
            let band = Band(context: context)
            #expect(band.isInserted && !band.isUpdated && !band.isDeleted && band.hasChanges && !band.isFault)
            band.name = "Low"
            #expect(band.isInserted && !band.isUpdated)
            try context.save()
            #expect(!band.isInserted && !band.isUpdated && !band.hasChanges && !band.isFault)
            band.name = "High"
            #expect(band.isUpdated && band.hasChanges && band.hasPersistentChangedValues)
            expect(context.updatedObjects, equals: [band])
            context.delete(band)
            #expect(band.isDeleted && !band.isUpdated)
            expect(context.deletedObjects, equals: [band])
            #expect(context.updatedObjects.isEmpty)
            try context.save()
            #expect(!band.isDeleted)
            #expect(band.managedObjectContext == nil)
            #expect(try context.all(Band.self).isEmpty)
        }
    }

    @Test("An object outside a context takes values, and keeps them when it is inserted")
    func outsideAContext() throws {
        try withMusic { context in
            let entity = try #require(NSEntityDescription.entity(forEntityName: "Album", in: context))
            let album = Album(entity: entity, insertInto: nil)
            album.title = "Trust"
            #expect(album.managedObjectContext == nil)
            #expect(!context.hasChanges)
            context.insert(album)
            #expect(album.isInserted)
            try context.save()
            context.refresh(album, mergeChanges: false)
            expect(album.title, equals: "Trust")
            expect(album.year, equals: 2001)
        }
    }

    @Test("An abstract entity has no objects of its own, and an unknown entity has none at all")
    func abstract() async {
        await #expect(processExitsWith: .failure) {
            let shape = NSEntityDescription(name: "Shape")
            shape.isAbstract = true
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [shape]))
            let context = Music.context(coordinator)
            context.performAndWait { _ = NSManagedObject(entity: shape, insertInto: context) }
        }
        await #expect(processExitsWith: .failure) { try withMusic { _ = $0.insert("Nothing") } }
    }
}
