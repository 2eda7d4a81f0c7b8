import CoreData
import TestSupport
import Testing

@Suite("What an incremental store is asked") struct IncrementalCallTests {
    @Test("Permanent IDs come before the save, once, and the saved objects have them")
    func saveOrder() throws {
        try DictionaryStore.run { store, context in
            let album = Album(context: context)
            let tag = Tag(context: context)
            album.tags = [tag]
            var temporary: [Bool] = []
            store.calls = []
            store.saveAnswer = { request in
                temporary = (request.insertedObjects ?? []).map(\.objectID.isTemporaryID)
                return [Any]()
            }
            try context.save()
            expect(store.calls, equals: ["obtainPermanentIDs 2", "save"])
            expect(temporary, equals: [false, false])
        }
    }

    @Test("References to new objects are permanent when the store sees them")
    func references() throws {
        try DictionaryStore.run { store, context in
            let band = Band(context: context)
            band.name = "Low"
            let album = Album(context: context)
            album.band = band
            try context.save()
            expect(store.records[album.objectID]?.values["band"] as? NSManagedObjectID, equals: band.objectID)
            expect(store.records[band.objectID]?.values["albums"] as? [NSManagedObjectID], equals: [album.objectID])
            context.refreshAllObjects()
            #expect(album.band === band)
            expect(band.albums, equals: [album])
        }
    }

    @Test("A second context is answered from the row cache")
    func rowCache() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let album = store.put("Album", 2, ["title": "Trust"])
        let band = store.put("Band", 1, ["name": "Low", "albums": [album]])
        let contexts = [Music.context(coordinator), Music.context(coordinator)]
        let held = contexts.map { context in
            context.performAndWait { () -> Band? in
                let object = context.object(with: band) as? Band
                expect(object?.name, equals: "Low")
                expect(object?.albums.first?.title, equals: "Trust")
                return object
            }
        }
        expect(store.calls.filter { $0 == "newValues 1" }.count, equals: 1)
        expect(store.calls.filter { $0 == "newValues 2" }.count, equals: 1)
        expect(store.calls.filter { $0 == "newValue albums" }.count, equals: 1)
        withExtendedLifetime(held) {}
    }

    @Test("A second context sees what the first saved, without asking the store for the row")
    func rowCacheAfterSave() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let first = Music.context(coordinator)
        let tag = try first.performAndWait { () -> Tag in
            let tag = Tag(context: first)
            tag.label = "slow"
            try first.save()
            tag.label = "slower"
            try first.save()
            return tag
        }
        let second = Music.context(coordinator)
        second.performAndWait { expect((second.object(with: tag.objectID) as? Tag)?.label, equals: "slower") }
        #expect(!store.calls.contains { $0.hasPrefix("newValues") })
    }

    @Test("A refresh makes the store be asked again")
    func refresh() throws {
        try DictionaryStore.run { store, context in
            let id = store.put("Tag", 1, ["label": "slow"])
            let tag = try #require(context.object(with: id) as? Tag)
            expect(tag.label, equals: "slow")
            store.put("Tag", 1, ["label": "slower"])
            expect(tag.label, equals: "slow")
            context.refresh(tag, mergeChanges: true)
            expect(tag.label, equals: "slower")
            expect(store.calls.filter { $0 == "newValues 1" }.count, equals: 2)
        }
    }

    @Test("A to-one relationship in the node is not asked for, one that is missing is asked for once")
    func toOne() throws {
        for inNode in [true, false] {
            try DictionaryStore.run { store, context in
                store.answersToOneInNodes = inNode
                let band = store.put("Band", 1, ["name": "Low"])
                let album = store.put("Album", 2, ["title": "Trust", "band": band])
                let lonely = store.put("Album", 3, ["title": "Lonely", "band": NSNull()])
                let object = try #require(context.object(with: album) as? Album)
                expect(object.title, equals: "Trust")
                expect(object.hasFault(forRelationshipNamed: "band"), equals: !inNode)
                #expect(!store.calls.contains("newValue band"))
                for _ in 0..<2 { expect(object.band?.name, equals: "Low") }
                expect(store.calls.filter { $0 == "newValue band" }.count, equals: (inNode ? 0 : 1))
                #expect((context.object(with: lonely) as? Album)?.band == nil)
                #expect(context.pendingFaultError == nil)
            }
        }
    }

    @Test("The relationships of a deleted row are empty, so that the conflict of its deletion can be resolved")
    func relationshipOfNothing() throws {
        try DictionaryStore.run { store, context in
            let album = try #require(context.object(with: store.put("Album", 1, ["title": "Trust"])) as? Album)
            store.answersToOneInNodes = false
            expect(album.title, equals: "Trust")
            store.relationshipAnswer = { _, _ in
                throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError)
            }
            context.delete(album)
            try context.throwPendingFaultError()
            expect(context.deletedObjects, equals: [album])
        }
    }

    @Test("A changed object keeps a to-one relationship that was never asked for")
    func unresolvedToOneSurvivesSave() throws {
        try DictionaryStore.run { store, context in
            store.answersToOneInNodes = false
            let band = store.put("Band", 1, ["name": "Low"])
            let album = store.put("Album", 2, ["title": "Trust", "band": band])
            let object = try #require(context.object(with: album) as? Album)
            object.title = "Distrust"
            try context.save()
            expect(store.records[album]?.values["band"] as? NSManagedObjectID, equals: band)
            context.refresh(object, mergeChanges: false)
            expect(object.band?.name, equals: "Low")
        }
    }

    @Test("Each object is told to be registered once and unregistered once")
    func registration() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let album = store.put("Album", 2, ["title": "Trust"])
        store.put("Band", 1, ["name": "Low", "albums": [album]])
        do {
            let context = Music.context(coordinator)
            try context.performAndWait {
                let band = try #require(try context.all(Band.self).first)
                expect(band.albums.count, equals: 1)
                _ = context.object(with: band.objectID)
                expect(Set(store.registered), equals: [band.objectID, album])
                let new = Tag(context: context)
                let early = Tag(context: context)
                try context.obtainPermanentIDs(for: [early])
                try context.save()
                #expect(store.registered.contains(new.objectID))
                #expect(store.registered.contains(early.objectID))
                let doomed = Tag(context: context)
                try context.save()
                context.delete(doomed)
                try context.save()
                _ = try context.all(Album.self)
            }
        }
        expect(store.registered.count, equals: 5)
        expect(Set(store.registered).count, equals: 5)
        expect(store.unregistered.sorted { $0.hash < $1.hash }, equals: store.registered.sorted { $0.hash < $1.hash })
    }

    @Test("A failed save leaves registrations in balance")
    func registrationAfterFailure() throws {
        let (store, coordinator) = try DictionaryStore.make()
        do {
            let context = Music.context(coordinator)
            try context.performAndWait {
                _ = Tag(context: context)
                store.saveAnswer = { _ in throw NSError(domain: "disk", code: 28) }
                #expect(failure { try context.save() } != nil)
                context.processPendingChanges()
                store.saveAnswer = nil
                try context.save()
            }
        }
        expect(Set(store.registered), equals: Set(store.unregistered))
        expect(store.registered.count, equals: store.unregistered.count)
    }

    @Test("The store is given an erased fetch request, with its entity, whatever type it was asked with")
    func erasedRequest() throws {
        try DictionaryStore.run { store, context in
            var seen: NSFetchRequest<any NSFetchRequestResult>?
            store.fetchAnswer = { request, _ in
                seen = request
                return [Any]()
            }
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.predicate = NSPredicate(format: "year > 2000")
            request.fetchLimit = 3
            _ = try context.fetch(request)
            #expect(seen?.entity === store.entity("Album"))
            expect(seen?.predicate, equals: request.predicate)
            expect(seen?.fetchLimit, equals: 3)
        }
    }

    @Test("A store may use the context that asks it")
    func reentry() throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, ["name": "Low"])
            store.fetchAnswer = { request, context in
                store.fetchAnswer = nil
                let found = try context.fetch(request)
                return found.filter { ($0 as? Band)?.name == "Low" }
            }
            let bands = try context.all(Band.self)
            expect(bands.map(\.objectID), equals: [band])
        }
    }

    @Test("Locked objects of a save request reach the store as such")
    func lockedObjects() throws {
        try DictionaryStore.run { store, context in
            let tag = Tag(context: context)
            try context.save()
            var seen: NSSaveChangesRequest?
            store.saveAnswer = {
                seen = $0
                return [Any]()
            }
            let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: [tag])
            _ = try context.persistentStoreCoordinator?.execute(request, with: context)
            expect(seen?.lockedObjects, equals: [tag])
            #expect(seen?.insertedObjects == nil)
            #expect(seen?.updatedObjects == nil)
            #expect(seen?.deletedObjects == nil)
        }
    }

    @Test("A conflict that the store finds itself goes to the merge policy")
    func storeConflict() throws {
        try DictionaryStore.run { store, context in
            let tag = Tag(context: context)
            tag.label = "mine"
            try context.save()
            tag.label = "edited"
            var refusals = 0
            store.saveAnswer = { request in
                refusals += 1
                store.saveAnswer = nil
                let conflict = NSMergeConflict(
                    source: tag, newVersion: 7, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: ["label": "theirs"])
                throw NSError(
                    domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
                    userInfo: [NSPersistentStoreSaveConflictsErrorKey: [conflict]])
            }
            let answer = store.saveAnswer
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
            store.saveAnswer = answer
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            expect(refusals, equals: 2)
            expect(store.records[tag.objectID]?.values["label"] as? String, equals: "edited")
            #expect(!context.hasChanges)
        }
    }
}
