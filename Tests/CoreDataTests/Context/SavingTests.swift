import CoreData
import TestSupport
import Testing

@Suite("A save") struct SavingTests {
    @Test("Inserted then deleted before the save is never there")
    func annihilation() throws {
        try DictionaryStore.run { store, context in
            let tag = Tag(context: context)
            context.delete(tag)
            context.processPendingChanges()
            #expect(!context.hasChanges)
            #expect(tag.managedObjectContext == nil)
            try context.save()
            #expect(!store.calls.contains("save"))
            #expect(try context.all(Tag.self).isEmpty)
        }
    }

    @Test("Nothing is sent to the store where nothing has changed")
    func nothingToSave() throws {
        try DictionaryStore.run { store, context in
            Tag(context: context).label = "slow"
            try context.save()
            store.calls = []
            try context.save()
            #expect(store.calls.isEmpty)
        }
    }

    @Test("A failed save leaves everything as it was, with temporary IDs, and can be repeated")
    func failedSave() throws {
        try DictionaryStore.run { store, context in
            let old = Tag(context: context)
            old.label = "old"
            let doomed = Tag(context: context)
            doomed.label = "doomed"
            try context.save()
            let new = Tag(context: context)
            new.label = "new"
            let album = Album(context: context)
            album.tags = [new, old]
            old.label = "edited"
            context.delete(doomed)
            let temporary = new.objectID
            store.saveAnswer = { _ in throw NSError(domain: "disk", code: 28) }
            let error = try #require(failure { try context.save() })
            expect(error.domain, equals: "disk")
            expect(error.code, equals: 28)
            expect(context.insertedObjects, equals: [new, album])
            expect(context.updatedObjects, equals: [old])
            expect(context.deletedObjects, equals: [doomed])
            #expect(new.objectID === temporary)
            #expect(new.isInserted && old.isUpdated && doomed.isDeleted)
            #expect(context.registeredObject(for: temporary) === new)
            #expect(context.object(with: temporary) === new)
            expect(old.changedValues()["label"] as? String, equals: "edited")
            try expect(context.all(Tag.self).count, equals: 2)
            store.saveAnswer = nil
            try context.save()
            #expect(!context.hasChanges)
            #expect(!new.objectID.isTemporaryID)
            expect(Set(try context.all(Tag.self).map(\.label)), equals: ["edited", "new"])
            expect(album.tags, equals: [new, old])
        }
    }

    @Test("A failed save can be rolled back to what the store has")
    func rollbackAfterFailure() throws {
        try DictionaryStore.run { store, context in
            let old = Tag(context: context)
            old.label = "old"
            try context.save()
            old.label = "edited"
            _ = Tag(context: context)
            store.saveAnswer = { _ in throw NSError(domain: "disk", code: 28) }
            #expect(failure { try context.save() } != nil)
            context.rollback()
            #expect(!context.hasChanges)
            expect(old.label, equals: "old")
            try expect(context.all(Tag.self), equals: [old])
        }
    }

    @Test("Ten rounds of edit and save succeed, and the version counts them")
    func versions() throws {
        try DictionaryStore.run { store, context in
            let tag = Tag(context: context)
            for round in 1...10 {
                tag.label = "\(round)"
                try context.save()
                expect(store.records[tag.objectID]?.version, equals: UInt64(round))
            }
            context.refresh(tag, mergeChanges: false)
            expect(tag.label, equals: "10")
        }
    }

    @Test("Permanent IDs may be had before the save, which then keeps them")
    func obtainPermanentIDs() throws {
        try DictionaryStore.run { store, context in
            let tag = Tag(context: context)
            let temporary = tag.objectID
            try context.obtainPermanentIDs(for: [tag])
            let permanent = tag.objectID
            #expect(!permanent.isTemporaryID)
            #expect(tag.isInserted)
            #expect(store.records.isEmpty)
            #expect(context.object(with: temporary) === tag)
            #expect(context.object(with: permanent) === tag)
            try context.save()
            #expect(tag.objectID === permanent)
            expect(store.calls.filter { $0.hasPrefix("obtain") }, equals: ["obtainPermanentIDs 1"])
            try context.obtainPermanentIDs(for: [tag])
            #expect(tag.objectID === permanent)
        }
    }

    @Test("Only changed objects reach the store, each in its set")
    func changeSets() throws {
        try DictionaryStore.run { store, context in
            let tags = (0..<4).map { number in
                let tag = Tag(context: context)
                tag.label = "\(number)"
                return tag
            }
            try context.save()
            tags[0].label = "edited"
            tags[1].label = "edited"
            context.delete(tags[1])
            let new = Tag(context: context)
            var seen: NSSaveChangesRequest?
            store.saveAnswer = {
                seen = $0
                return [Any]()
            }
            try context.save()
            let request = try #require(seen)
            expect(request.insertedObjects, equals: [new])
            expect(request.updatedObjects, equals: [tags[0]])
            expect(request.deletedObjects, equals: [tags[1]])
            #expect(request.lockedObjects == nil)
        }
    }

    @Test("A store opened for reading only refuses a save and says why")
    func readOnly() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: [NSReadOnlyPersistentStoreOption: true])
        let context = Music.context(coordinator)
        context.performAndWait {
            Tag(context: context).label = "slow"
            let error = failure { try context.save() }
            expect(error?.code, equals: NSPersistentStoreSaveError)
            #expect(context.hasChanges)
        }
    }

    @Test("A save without a store is an error, and nothing is lost")
    func noStore() throws {
        let context = Music.context(NSPersistentStoreCoordinator(managedObjectModel: Music.model()))
        context.performAndWait {
            Tag(context: context).label = "slow"
            expect(failure { try context.save() }?.localizedDescription.contains("Tag"), equals: true)
            expect(context.insertedObjects.count, equals: 1)
        }
    }

    @Test("A relationship to an object outside every context is refused and named, see DanglingReferenceTests")
    func unregisteredTarget() throws {
        try withMusic { context in
            let album = Album(context: context)
            album.band = Band(entity: try #require(NSEntityDescription.entity(forEntityName: "Band", in: context)), insertInto: nil)
            let error = try #require(failure { try context.save() })
            expect(error.parts.contains { $0.code == NSManagedObjectValidationError && $0.key == "band" }, equals: true)
            #expect(error.localizedDescription.contains("Album.band"))
            #expect(album.objectID.isTemporaryID)
        }
    }
}
