import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Saving") struct SavingTests {
    private func backend(
        _ saving: Resource.Saving = .init(), albums: Resource.Saving? = nil, versions: ScriptedBackend.Versions = .numbers
    ) -> ScriptedBackend {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let tags = Endpoint.Embedding("tags", isAlwaysThere: true)
        let backend = ScriptedBackend(
            Shop.model(),
            ["Band", "Track", "Tag"].map { Resource($0, endpoints: [Endpoint("all"), byID], saving: saving) } + [
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint("all", embeddings: [tags]),
                        Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)], embeddings: [tags]),
                        Endpoint("tagged", parameters: [Parameter("ANY tags", isRequired: true)]),
                    ], saving: albums ?? saving)
            ])
        backend.setVersions(versions)
        return backend
    }

    private func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
    }

    @Test("A reference to an object in no context is an error that names both, and nothing is sent", arguments: [false, true])
    func danglingReference(isAwaited: Bool) async throws {
        let backend = backend()
        let context = try backend.context()
        await context.perform {
            let band = self.insert("Band", ["name": "Beatles"], context)
            let entity = context.persistentStoreCoordinator!.managedObjectModel.entitiesByName["Album"]!
            band.mutableSetValue(forKey: "albums").add(NSManagedObject(entity: entity, insertInto: nil))
        }
        await #expect {
            if isAwaited { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
        } throws: {
            ($0 as NSError).code == NSManagedObjectValidationError
        }
        #expect(backend.saves.isEmpty)
    }

    @Test("Identifiers are assigned with the save, and references follow", arguments: [false, true])
    func assignedIdentifiers(isAwaited: Bool) async throws {
        let backend = backend()
        let context = try backend.context()
        let (band, album) = await context.perform { () -> (NSManagedObjectID, NSManagedObjectID) in
            let band = self.insert("Band", ["name": "Beatles"], context)
            let album = self.insert("Album", ["title": "Help!", "band": band], context)
            return (band.objectID, album.objectID)
        }
        if isAwaited { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
        expect(backend.saves.map { $0.map(\.entity) }, equals: [["Band"], ["Album"]])
        #expect(backend.saves[1][0].values["band"] == .one(.init(try #require(backend.ids("Band").first))))
        let uris = try await context.perform { () -> [String] in
            let saved = context.object(with: band)
            let album = context.object(with: album)
            #expect(!saved.objectID.isTemporaryID && !album.objectID.isTemporaryID)
            #expect(!context.hasChanges)
            #expect(album.value(forKey: "band") as? NSManagedObject === saved)
            context.refreshAllObjects()
            expect(album.value(forKey: "title") as? String, equals: "Help!")
            expect((album.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") as? String, equals: "Beatles")
            // The same objects are found by a fetch.
            let fetched = try context.fetch(fetchRequest("Album"))
            expect(fetched, equals: [album])
            return [saved.objectID, album.objectID].map { $0.uriRepresentation().lastPathComponent }
        }
        expect(uris, equals: ["p1001", "p1002"])
        // Another context sees the saved rows without a request for the references.
        let other = try #require(context.persistentStoreCoordinator?.context())
        try expect(other.texts(fetchRequest("Album", "band.name == 'Beatles'")), equals: ["Help!"])
    }

    @Test("An update sends what was changed, or everything where the service wants that")
    func changedValues() throws {
        for isWhole in [false, true] {
            let backend = backend(.init(sendsWholeObjects: isWhole))
            backend.put("Album", 1, ["title": "Help", "year": 1965, "rating": 4.5])
            let context = try backend.context()
            try context.performAndWait {
                let album = try context.fetch(fetchRequest("Album"))[0]
                album.setValue("Help!", forKey: "title")
                try context.save()
                album.setValue(nil, forKey: "rating")
                try context.save()
            }
            expect(backend.saves[0][0].changedProperties, equals: ["title"])
            expect(
                Set(backend.saves[0][0].values.keys),
                equals: (isWhole ? ["title", "year", "rating", "isLive", "notes", "band"] : ["title"]))
            expect(backend.saves[1][0].values["rating"], equals: ResourceValue.value(.null))
            expect(backend.values("Album", 1)?["year"], equals: 1965)
            expect(backend.values("Album", 1)?["rating"]?.isNull, equals: true)
            // The version of each save is that of the next one's base.
            #expect(backend.saves[1][0].version != backend.saves[0][0].version)
        }
    }

    @Test("Identifiers that the client makes are known before the save")
    func ownIdentifiers() throws {
        let backend = backend(.init(identity: .newUUID), albums: .init(identity: .attribute("title")))
        let context = try backend.context()
        try context.performAndWait {
            let band = insert("Band", ["name": "Björk"], context)
            let album = insert("Album", ["title": "Post", "band": band], context)
            try context.obtainPermanentIDs(for: [album])
            expect(album.objectID.uriRepresentation().lastPathComponent, equals: "pPost")
            try context.save()
            let nameless = insert("Album", [:], context)
            let error = try #require(failure { try context.save() })
            #expect(error.localizedDescription.contains("title"))
            context.delete(nameless)
            try context.save()
        }
        expect(backend.ids("Album"), equals: ["Post"])
        guard case .uuid? = backend.ids("Band").first else {
            Issue.record("no UUID")
            return
        }
        // One that the backend assigns cannot be obtained before.
        let late = try self.backend().context()
        try late.performAndWait {
            let album = insert("Album", ["title": "Debut"], late)
            expect(failure { try late.obtainPermanentIDs(for: [album]) }?.code, equals: NSPersistentStoreOperationError)
            try late.save()
            #expect(!album.objectID.isTemporaryID)
        }
    }

    @Test("Changes go together up to what a call takes, after those that they refer to; deletions go last, owners after what they own")
    func order() throws {
        let backend = backend(.init(maximumChanges: 2))
        let context = try backend.context()
        try context.performAndWait {
            let band = insert("Band", ["name": "A"], context)
            for number in 0..<3 { _ = insert("Album", ["title": "Album \(number)", "band": band], context) }
            _ = insert("Tag", ["label": "x"], context)
            try context.save()
            expect(Set(backend.saves.prefix(2).map { $0[0].entity }), equals: ["Band", "Tag"])
            expect(backend.saves.dropFirst(2).map(\.count).sorted(), equals: [1, 2])
            backend.forgetRequests()
            for album in try context.fetch(fetchRequest("Album")) { context.delete(album) }
            context.delete(band)
            try context.save()
            expect(backend.saves.map { $0[0].entity }, equals: ["Album", "Album", "Band"])
        }
        #expect(backend.ids("Album").isEmpty && backend.ids("Band").isEmpty)
    }

    @Test("Many-to-many relationships are sent from one end")
    func manyToMany() throws {
        let backend = backend()
        let context = try backend.context()
        try context.performAndWait {
            let tag = insert("Tag", ["label": "live"], context)
            let album = insert("Album", ["title": "A", "tags": Set([tag])], context)
            try context.save()
            expect(backend.values("Album", 1002)?["tags"], equals: .many([1001]))
            let other = insert("Tag", ["label": "rare"], context)
            album.setValue(Set([tag, other]), forKey: "tags")
            try context.save()
            expect(backend.values("Album", 1002)?["tags"], equals: .many([1001, 1003]))
            album.setValue(Set([other]), forKey: "tags")
            try context.save()
            expect(backend.values("Album", 1002)?["tags"], equals: .many([1003]))
            #expect(backend.values("Tag", 1003)?["albums"] == nil)
        }
    }

    @Test("Others' changes are a conflict, which merge policies resolve with the current row", arguments: ["numbers", "tags"])
    func conflicts(versions: String) throws {
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback] {
            let backend = backend(versions: versions == "tags" ? .tags : .numbers)
            backend.put("Album", 1, ["title": "Help", "year": 1965])
            let context = try backend.context()
            context.mergePolicy = policy
            try context.performAndWait {
                let album = try context.fetch(fetchRequest("Album"))[0]
                album.setValue("Help!", forKey: "title")
                backend.change("Album", 1, ["title": "HELP", "year": 1966])
                if policy === NSMergePolicy.error {
                    let error = try #require(failure { try context.save() })
                    expect(error.code, equals: NSManagedObjectMergeError)
                    let conflict = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
                    expect(conflict.persistedSnapshot?["title"] as? String, equals: "HELP")
                    return
                }
                try context.save()
                let values = backend.values("Album", 1)
                let isStore = policy === NSMergePolicy.mergeByPropertyStoreTrump || policy === NSMergePolicy.rollback
                expect(values?["title"], equals: (isStore ? "HELP" : "Help!"))
                expect(album.value(forKey: "title") as? String, equals: (isStore ? "HELP" : "Help!"))
                if policy === NSMergePolicy.mergeByPropertyObjectTrump { expect(album.value(forKey: "year") as? Int, equals: 1966) }
                // The object as a whole: a cached store does the same, see `OutboxConflictTests`.
                if policy === NSMergePolicy.overwrite { expect(values?["year"], equals: 1965) }
                album.setValue(1967, forKey: "year")
                try context.save()
                expect(backend.values("Album", 1)?["year"], equals: 1967)
            }
        }
    }

    @Test(
        "What others have deleted and the policy keeps is a new resource, under the identifier that the backend gives it",
        arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func keptAfterDeletion(policy: NSMergePolicy) throws {
        let backend = backend(versions: .numbers)
        backend.put("Band", 1, ["name": "Beatles"])
        backend.put("Album", 2, ["title": "Help", "year": 1965, "band": .one(1)])
        let context = try backend.context()
        context.mergePolicy = policy
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            let band = try #require(album.value(forKey: "band") as? NSManagedObject)
            album.setValue(1966, forKey: "year")
            band.setValue("The Beatles", forKey: "name")
            backend.remove("Album", 2)
            backend.remove("Band", 1)
            try context.save()
            let (ids, bands) = (backend.ids("Album"), backend.ids("Band"))
            try #require(ids.count == 1 && bands.count == 1 && ids[0] != 2 && bands[0] != 1, "\(ids) \(bands)")
            expect(backend.values("Album", ids[0])?["band"], equals: .one(.init(bands[0])))
            expect(album.objectID, equals: try context.fetch(fetchRequest("Album"))[0].objectID)
            album.setValue("Help!", forKey: "title")
            try context.save()
            expect(backend.ids("Album"), equals: ids)
            expect(backend.values("Album", ids[0])?["title"], equals: "Help!")
        }
    }

    @Test("Where the service checks nothing, the store reads and compares before it writes")
    func readBeforeWrite() throws {
        let backend = backend(.init(conflicts: .byReading), versions: .none)
        backend.put("Album", 1, ["title": "Help", "year": 1965])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            album.setValue("Help!", forKey: "title")
            backend.change("Album", 1, ["year": 1966])
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        expect(backend.values("Album", 1), equals: ["title": "Help!", "year": 1966])
        let careless = self.backend(.init(conflicts: .none), versions: .none)
        careless.put("Album", 1, ["title": "Help"])
        let other = try careless.context()
        try other.performAndWait {
            let album = try other.fetch(fetchRequest("Album"))[0]
            album.setValue("Help!", forKey: "title")
            careless.change("Album", 1, ["title": "HELP"])
            try other.save()
        }
        #expect(careless.values("Album", 1)?["title"] == "Help!" && careless.requests.count == 1)
    }

    @Test("Each change has its outcome: what was accepted is clean, the rest is dirty and says why", arguments: [false, true])
    func outcomes(isAwaited: Bool) async throws {
        let backend = backend(.init(maximumChanges: 10, isIdempotent: true))
        let context = try backend.context()
        backend.scriptOutcomes { change in
            switch change.values["title"]?.string {
            case "refused": .refused(ServiceFailure("no"))
            case "unknown": .unknown(ServiceFailure("lost"))
            default: nil
            }
        }
        let titles = ["fine", "refused", "unknown", "fine too"]
        await context.perform {
            for title in titles { _ = self.insert("Album", ["title": title], context) }
            // A track of an album that is refused cannot be saved either.
            let refused = context.insertedObjects.first { $0.value(forKey: "title") as? String == "refused" }
            _ = self.insert("Track", ["title": "of the refused", "album": refused as Any], context)
        }
        var error: NSError?
        do {
            if isAwaited { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
        } catch let thrown { error = thrown as NSError }
        expect(error?.code, equals: NSPersistentStoreIncompleteSaveError)
        expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count, equals: 3)
        let dirty = await context.perform { Set(context.insertedObjects.compactMap { $0.value(forKey: "title") as? String }) }
        expect(dirty, equals: ["refused", "unknown", "of the refused"])
        expect(backend.ids("Album").count, equals: 2)
        backend.scriptOutcomes { _ in nil }
        if isAwaited { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
        #expect(backend.ids("Album").count == 4 && backend.ids("Track").count == 1)
        let isClean = await context.perform { !context.hasChanges }
        #expect(isClean)
    }

    @Test("A lost answer is unknown, and the same change is sent again with the same key, so that it is saved once")
    func idempotency() throws {
        let backend = backend(.init(isIdempotent: true))
        let context = try backend.context()
        backend.scriptSaves { _ in .loseAnswer(ServiceFailure("gone")) }
        try context.performAndWait {
            _ = insert("Album", ["title": "Once"], context)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSPersistentStoreIncompleteSaveError)
            #expect(context.hasChanges)
            backend.scriptSaves { _ in .answer }
            try context.save()
        }
        expect(backend.ids("Album").count, equals: 1)
        expect(Set(backend.saves.map { $0[0].idempotencyKey }).count, equals: 1)
        // An answer without an outcome is no success.
        backend.scriptSaves { _ in .half }
        try context.performAndWait {
            _ = insert("Album", ["title": "Half"], context)
            #expect(failure { try context.save() } != nil)
            backend.scriptSaves { _ in .answer }
            try context.save()
        }
        expect(backend.ids("Album").count, equals: 2)
    }

    @Test("The error of a call that fails reaches whoever saves, and nothing is lost")
    func failures() throws {
        let backend = backend()
        let context = try backend.context()
        backend.scriptSaves { _ in .fail(ServiceFailure("offline")) }
        try context.performAndWait {
            _ = insert("Album", ["title": "Later"], context)
            var thrown: (any Error)?
            do { try context.save() } catch { thrown = error }
            expect(thrown as? ServiceFailure, equals: ServiceFailure("offline"))
            expect(context.insertedObjects.count, equals: 1)
            backend.scriptSaves { _ in .answer }
            try context.save()
        }
        expect(backend.ids("Album").count, equals: 1)
    }

    @Test("Conflicts beside saved changes are resolved too, and the rest is saved again", arguments: [false, true])
    func conflictsInPart(isAwaited: Bool) async throws {
        let backend = backend()
        for number in 1...3 { backend.put("Album", number, ["title": "old", "year": 1]) }
        let context = try backend.context()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try await context.perform {
            for album in try context.fetch(fetchRequest("Album")) { album.setValue("new", forKey: "title") }
        }
        backend.change("Album", 2, ["year": 2])
        if isAwaited { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
        expect((1...3).map { backend.values("Album", $0)?["title"] }, equals: ["new", "new", "new"])
        expect(backend.values("Album", 2)?["year"], equals: 2)
        expect(backend.saves.count, equals: 4)
        let isClean = await context.perform { !context.hasChanges }
        #expect(isClean)
    }

    @Test("New objects that refer to each other are saved, one of them twice")
    func circles() throws {
        let model = Shop.model()
        let band = try #require(model.entitiesByName["Band"])
        let first = NSRelationshipDescription(name: "best", destination: try #require(model.entitiesByName["Album"]))
        band.properties.append(first)
        let all = Endpoint("all")
        let backend = ScriptedBackend(
            model, [Resource("Band", endpoints: [all], saving: .init()), Resource("Album", endpoints: [all], saving: .init())])
        let context = try backend.context(model)
        try context.performAndWait {
            let band = insert("Band", ["name": "A"], context)
            band.setValue(insert("Album", ["title": "B", "band": band], context), forKey: "best")
            try context.save()
            #expect(!context.hasChanges)
        }
        let (bandID, albumID) = (try #require(backend.ids("Band").first), try #require(backend.ids("Album").first))
        expect(backend.values("Band", bandID)?["best"], equals: .one(.init(albumID)))
        expect(backend.values("Album", albumID)?["band"], equals: .one(.init(bandID)))
        expect(backend.saves.count, equals: 3)
    }

    @Test("What the backend has not declared is refused before anything is sent")
    func readOnly() throws {
        let backend = backend(.init([.insert, .update]))
        backend.put("Album", 1, ["title": "Here"])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            context.delete(album)
            _ = insert("Band", ["name": "New"], context)
            let error = try #require(failure { try context.save() })
            #expect(error.localizedDescription.contains("Album"))
            context.rollback()
            // No entity of people was described at all.
            _ = insert("Person", ["name": "X"], context)
            expect(failure { try context.save() }?.localizedDescription.contains("Person"), equals: true)
        }
        #expect(backend.saves.isEmpty)
    }
}
