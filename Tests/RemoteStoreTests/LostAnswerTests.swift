import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Saves whose answers are lost") struct LostAnswerTests {
    private func backend(_ saving: Resource.Saving, versions: ScriptedBackend.Versions = .numbers) -> ScriptedBackend {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let tags = Endpoint.Embedding("tags", isAlwaysThere: true)
        var others = saving
        if case .attribute = saving.identity { others.identity = .assignedByBackend }
        others.isIdempotent = true
        let byTags = Endpoint("info", parameters: byID.parameters, embeddings: [tags])
        let backend = ScriptedBackend(
            Shop.model(),
            ["Band", "Track", "Tag"].map { Resource($0, endpoints: [Endpoint("all"), byID], saving: others) } + [
                Resource("Album", endpoints: [Endpoint("all", embeddings: [tags]), byTags], saving: saving)
            ])
        backend.setVersions(versions)
        return backend
    }

    private func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
    }

    private func save(_ context: NSManagedObjectContext, isAwaited: Bool) async -> NSError? {
        do {
            if isAwaited { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
            return nil
        } catch { return error as NSError }
    }

    /// What loses an answer: before or after the backend has done what it was asked.
    private static let losses: [ScriptedBackend.Behaviour] = [.loseAnswer(ServiceFailure()), .loseRequest(ServiceFailure())]

    @Test(
        "A new object that is edited after its answer was lost is sent again as it was, and the edit follows",
        arguments: [false, true], ["assigned", "uuid", "title"])
    func editedInsert(isAwaited: Bool, identity: String) async throws {
        let identities: [String: Resource.Saving.Identity] = [
            "assigned": .assignedByBackend, "uuid": .newUUID, "title": .attribute("title"),
        ]
        for (isIdempotent, loss) in [(true, 0), (true, 1), (false, 0), (false, 1)] where isIdempotent || identity != "assigned" {
            let backend = backend(.init(identity: identities[identity]!, isIdempotent: isIdempotent))
            let context = try backend.context()
            backend.scriptSaves { _ in Self.losses[loss] }
            let album = await context.perform {
                QueueValue(self.insert("Album", ["title": "Help!", "year": 1964, "notes": "?"], context))
            }
            #expect(await save(context, isAwaited: isAwaited)?.code == NSPersistentStoreIncompleteSaveError)
            backend.scriptSaves { _ in .answer }
            await context.perform {
                album.value.setValue(1965, forKey: "year")
                album.value.setValue(nil, forKey: "notes")
                album.value.setValue(self.insert("Band", ["name": "Beatles"], context), forKey: "band")
            }
            #expect(await save(context, isAwaited: isAwaited) == nil)
            let (ids, bands) = (backend.ids("Album"), backend.ids("Band"))
            try #require(ids.count == 1 && bands.count == 1, "\(backend.saves)")
            let values = try #require(backend.values("Album", ids[0]))
            #expect(values["title"] == "Help!" && values["year"] == 1965 && values["notes"]?.isNull ?? true)
            expect(values["band"], equals: .one(.init(bands[0])))
            let isClean = await context.perform { !context.hasChanges }
            #expect(isClean)
            // One key for the new object, however often it was sent.
            let inserts = backend.saves.joined().filter { $0.entity == "Album" && $0.kind == .insert }
            #expect(Set(inserts.map(\.idempotencyKey)).count == 1 || !isIdempotent)
            // The next save is based on the version that it has now.
            await context.perform { album.value.setValue("great", forKey: "notes") }
            #expect(await save(context, isAwaited: isAwaited) == nil)
            expect(backend.values("Album", ids[0])?["notes"], equals: "great")
        }
    }

    @Test(
        "A new object whose answer was lost, and which a fetch has found since, is one object when it has been sent again",
        arguments: [false, true])
    func fetchedMeanwhile(isAwaited: Bool) async throws {
        for isEdited in [false, true] {
            let backend = backend(.init(isIdempotent: true))
            let context = try backend.context()
            backend.put("Band", 1, ["name": "Beatles"])
            backend.scriptSaves { changes in changes.contains { $0.entity == "Album" } ? .loseAnswer(ServiceFailure()) : .answer }
            let objects = try await context.perform {
                let band = try #require(try context.fetch(fetchRequest("Band")).first)
                return QueueValue((band: band, album: self.insert("Album", ["title": "Help!", "band": band], context)))
            }
            #expect(await save(context, isAwaited: isAwaited)?.code == NSPersistentStoreIncompleteSaveError)
            backend.scriptSaves { _ in .answer }
            let found = try await context.perform {
                let found = try #require(try context.fetch(fetchRequest("Album")).first { !$0.objectID.isTemporaryID })
                if isEdited { found.setValue("lost", forKey: "notes") }
                return QueueValue(found)
            }
            let error = await save(context, isAwaited: isAwaited)
            try await context.perform {
                let (band, album) = objects.value
                #expect(error?.code == nil || isEdited)
                #expect(album.managedObjectContext === context && !album.objectID.isTemporaryID)
                #expect(found.value.managedObjectContext == nil && found.value.isDeleted)
                // A change to the other one is not lost without a word.
                let next = failure { _ = try context.fetch(fetchRequest("Album")) }
                #expect(!isEdited || (error ?? next) != nil || backend.values("Album", backend.ids("Album")[0])?["notes"] == "lost")
                let all = try context.fetch(fetchRequest("Album"))
                expect(all, equals: [album])
                expect(band.value(forKey: "albums") as? Set<NSManagedObject>, equals: [album])
                #expect(album.value(forKey: "band") as? NSManagedObject === band)
            }
            expect(backend.ids("Album").count, equals: 1)
        }
    }

    @Test("Where the backend would save a new object twice, it is not sent again, and the error says what to do")
    func notIdempotent() throws {
        for loss in Self.losses {
            let backend = backend(.init())
            let context = try backend.context()
            backend.scriptSaves { _ in loss }
            try context.performAndWait {
                let album = insert("Album", ["title": "Once"], context)
                #expect(failure { try context.save() } != nil)
                backend.scriptSaves { _ in .answer }
                let error = try #require(failure { try context.save() })
                #expect("\(error.userInfo)".contains("is not sent again"))
                expect(backend.saves.count, equals: 1)
                // As the error says: it is looked for, and inserted again where it is not.
                context.delete(album)
                if try context.count(for: fetchRequest("Album", "title == 'Once'")) == 0 { _ = insert("Album", ["title": "Once"], context) }
                try context.save()
            }
            expect(backend.ids("Album").count, equals: 1)
        }
    }

    @Test("An edit after a lost answer is neither lost nor a conflict with itself", arguments: [0, 1], [true, false])
    func editedUpdate(loss: Int, isIdempotent: Bool) throws {
        let backend = backend(.init(isIdempotent: isIdempotent))
        backend.put("Album", 1, ["title": "Help", "year": 1964, "notes": "?"])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            album.setValue("Help!", forKey: "title")
            album.setValue("!", forKey: "notes")
            backend.scriptSaves { _ in Self.losses[loss] }
            #expect(failure { try context.save() } != nil)
            backend.scriptSaves { _ in .answer }
            album.setValue(1965, forKey: "year")
            album.setValue("?", forKey: "notes")
            // Where the backend has it already, it is seen to be the program's own change.
            try context.save()
            #expect(!context.hasChanges)
        }
        let values = try #require(backend.values("Album", 1))
        #expect(values["title"] == "Help!" && values["year"] == 1965)
        expect(values["notes"], equals: "?")
    }

    @Test("What follows a change that was sent again stays unsaved until it is saved", arguments: [0, 1])
    func refusedFollower(loss: Int) throws {
        let backend = backend(.init(isIdempotent: true))
        backend.put("Album", 1, ["title": "Help", "year": 1964, "notes": "?"])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            let new = insert("Album", ["title": "New", "year": 1], context)
            album.setValue(1965, forKey: "year")
            backend.scriptSaves { _ in Self.losses[loss] }
            #expect(failure { try context.save() } != nil)
            for object in [album, new] { object.setValue("!", forKey: "notes") }
            // What was sent first arrives, and what follows does not.
            backend.scriptSaves { changes in changes[0].values["notes"] == "!" ? .fail(ServiceFailure()) : .answer }
            #expect(failure { try context.save() } != nil)
            #expect(album.hasChanges && new.hasChanges)
            backend.scriptSaves { _ in .answer }
            try context.save()
            #expect(!context.hasChanges)
        }
        expect(backend.ids("Album").count, equals: 2)
        for id in backend.ids("Album") { expect(backend.values("Album", id)?["notes"], equals: "!") }
        expect(backend.values("Album", 1)?["year"], equals: 1965)
    }

    @Test("An edit that is taken back after the answers of two saves were lost is taken back", arguments: [true, false])
    func takenBack(isIdempotent: Bool) throws {
        let backend = backend(.init(isIdempotent: isIdempotent))
        backend.put("Album", 1, ["title": "Help", "year": 1964, "notes": "?"])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            album.setValue(1965, forKey: "year")
            backend.scriptSaves { _ in isIdempotent ? Self.losses[0] : Self.losses[1] }
            #expect(failure { try context.save() } != nil)
            album.setValue("!", forKey: "notes")
            // The first change arrives now, and the answer to the one that follows is lost.
            backend.scriptSaves { changes in changes[0].values["notes"] == nil ? .answer : Self.losses[0] }
            #expect(failure { try context.save() } != nil)
            backend.scriptSaves { _ in .answer }
            album.setValue("?", forKey: "notes")
            try context.save()
            #expect(!context.hasChanges)
        }
        expect(backend.values("Album", 1), equals: ["title": "Help", "year": 1965, "notes": "?"])
    }

    @Test("A deletion whose answer was lost is done again, and what is gone is deleted", arguments: [0, 1], [true, false])
    func deletion(loss: Int, isIdempotent: Bool) throws {
        let backend = backend(.init(isIdempotent: isIdempotent))
        backend.put("Album", 1, ["title": "Help"])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album"))[0]
            album.setValue("Help!", forKey: "title")
            backend.scriptSaves { _ in Self.losses[1] }
            #expect(failure { try context.save() } != nil)
            context.delete(album)
            backend.scriptSaves { _ in Self.losses[loss] }
            #expect(failure { try context.save() } != nil)
            backend.scriptSaves { _ in .answer }
            try context.save()
            #expect(!context.hasChanges)
        }
        #expect(backend.ids("Album").isEmpty)
    }

    @Test("What was to follow a new object is sent when it is saved again, and the object is not", arguments: [false, true])
    func lostFollower(isIdempotent: Bool) throws {
        let model = Shop.model()
        let band = try #require(model.entitiesByName["Band"])
        band.properties.append(NSRelationshipDescription(name: "best", destination: try #require(model.entitiesByName["Album"])))
        let all = Endpoint("all")
        let saving = Resource.Saving(isIdempotent: isIdempotent)
        let backend = ScriptedBackend(
            model, [Resource("Band", endpoints: [all], saving: saving), Resource("Album", endpoints: [all], saving: saving)])
        let context = try backend.context(model)
        try context.performAndWait {
            let band = insert("Band", ["name": "A"], context)
            band.setValue(insert("Album", ["title": "B", "band": band], context), forKey: "best")
            // The update that closes the circle is refused.
            backend.scriptSaves { changes in changes[0].kind == .update ? .fail(ServiceFailure()) : .answer }
            #expect(failure { try context.save() } != nil)
            backend.scriptSaves { _ in .answer }
            band.setValue("C", forKey: "name")
            try context.save()
            #expect(!context.hasChanges)
        }
        let (bandID, albumID) = (try #require(backend.ids("Band").first), try #require(backend.ids("Album").first))
        #expect(backend.ids("Band").count == 1 && backend.ids("Album").count == 1)
        expect(backend.values("Band", bandID)?["best"], equals: .one(.init(albumID)))
        expect(backend.values("Band", bandID)?["name"], equals: "C")
    }
}

/// A value that is used on the queue of its context only.
// The tests take the value within `perform`.
struct QueueValue<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
