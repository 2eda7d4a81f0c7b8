import CoreData
import Foundation
import TestSupport
import Testing

@Suite("A save that is suspended") struct AsynchronousSavingTests {
    private func held() async throws -> (ServerStore, NSManagedObjectContext, Band) {
        let (store, context) = try await AsynchronousLoadingTests.server(bands: 2, albums: 1)
        let request = NSFetchRequest<Band>(entityName: "Band")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let bands = try await context.fetchAsynchronously(request)
        try await context.load(bands, \.albums)
        store.configure { $0.heldBack = ["save"] }
        return (store, context, bands[0])
    }

    /// Saves, and calls `body` while the server holds its answer back.
    private func saving(_ context: NSManagedObjectContext, to store: ServerStore, _ body: () async throws -> Void) async throws {
        let save = Task { try await context.saveAsynchronously() }
        await store.untilHeld()
        try await body()
        store.release()
        try await save.value
    }

    /// The names of the bands that the server has.
    private func stored(_ context: NSManagedObjectContext) async throws -> [String] {
        let other = Music.context(context.persistentStoreCoordinator!)
        let bands = try await other.fetchAsynchronously(NSFetchRequest<Band>(entityName: "Band"))
        return await other.perform { bands.map(\.name).sorted() }
    }

    @Test("What is changed after it has begun stays pending, over what was saved")
    func laterEdits() async throws {
        let (store, context, band) = try await held()
        await context.perform { band.name = "First" }
        try await saving(context, to: store) {
            await context.perform {
                #expect(!context.hasChanges)
                band.name = "Second"
                Band(context: context).name = "New"
            }
        }
        #expect(try await stored(context) == ["Band 1", "First"])
        await context.perform {
            expect(context.updatedObjects, equals: [band])
            expect(band.changedValues()["name"] as? String, equals: "Second")
            expect(band.committedValues(forKeys: ["name"])["name"] as? String, equals: "First")
        }
        try await context.saveAsynchronously()
        #expect(try await stored(context) == ["Band 1", "New", "Second"])
    }

    @Test("A value that is set back to what it was before the save is a change of what was saved")
    func setBack() async throws {
        let (store, context, band) = try await held()
        await context.perform { band.name = "First" }
        try await saving(context, to: store) {
            await context.perform { band.name = "Band 0" }
        }
        try await context.saveAsynchronously()
        #expect(try await stored(context) == ["Band 0", "Band 1"])
    }

    @Test("A failed save leaves everything pending, what was changed meanwhile too")
    func failure() async throws {
        let (store, context, band) = try await held()
        await context.perform {
            band.name = "First"
            Band(context: context).name = "New"
        }
        store.configure { $0.failure = NSError(domain: "net", code: 7) }
        let save = Task { try await context.saveAsynchronously() }
        await store.untilHeld()
        await context.perform { band.founded = Date(timeIntervalSince1970: 0) }
        store.release()
        await #expect(throws: NSError.self) { try await save.value }
        await context.perform {
            expect(context.insertedObjects.count, equals: 1)
            expect(Set(band.changedValues().keys), equals: ["name", "founded"])
        }
        store.configure { $0.failure = nil }
        try await context.saveAsynchronously()
        #expect(try await stored(context) == ["Band 1", "First", "New"])
    }

    @Test("A failed save of a relationship that was changed again leaves both changes")
    func failureOfRelationship() async throws {
        let (store, context, band) = try await held()
        let (first, second) = await context.perform {
            let albums = (0..<2).map { _ in Album(context: context) }
            band.albums.insert(albums[0])
            return (albums[0], albums[1])
        }
        store.configure { $0.failure = NSError(domain: "net", code: 7) }
        let save = Task { try await context.saveAsynchronously() }
        await store.untilHeld()
        await context.perform { _ = band.albums.insert(second) }
        store.release()
        await #expect(throws: NSError.self) { try await save.value }
        await context.perform { #expect(band.albums.isSuperset(of: [first, second])) }
        store.configure { $0.failure = nil }
        try await context.saveAsynchronously()
        let other = Music.context(context.persistentStoreCoordinator!)
        let id = await context.perform { band.objectID }
        #expect(try await other.perform { (try other.existingObject(with: id) as! Band).albums.count } == 3)
    }

    @Test("A rollback discards later changes; the changes being saved stay")
    func rollback() async throws {
        let (store, context, band) = try await held()
        let album = await context.perform {
            band.name = "First"
            let album = Album(context: context)
            album.band = band
            return album
        }
        try await saving(context, to: store) {
            await context.perform {
                band.name = "Second"
                band.albums.remove(album)
                context.rollback()
                expect(band.name, equals: "First")
                #expect(band.albums.contains(album))
            }
        }
        await context.perform {
            #expect(!context.hasChanges)
            #expect(band.name == "First" && band.albums.count == 2)
        }
    }

    @Test("A new object that is deleted while it is being saved is deleted by the next save")
    func deletionOfNew() async throws {
        let (store, context, _) = try await held()
        let band = await context.perform {
            let band = Band(context: context)
            band.name = "New"
            return band
        }
        try await saving(context, to: store) {
            await context.perform { context.delete(band) }
        }
        #expect(try await stored(context) == ["Band 0", "Band 1", "New"])
        try await context.saveAsynchronously()
        #expect(try await stored(context) == ["Band 0", "Band 1"])
    }

    @Test("A reset forgets the objects, and the save goes on")
    func reset() async throws {
        let (store, context, band) = try await held()
        await context.perform { band.name = "First" }
        try await saving(context, to: store) {
            await context.perform { context.reset() }
        }
        #expect(try await stored(context) == ["Band 1", "First"])
    }

    @Test("Saves go one after the other, also a synchronous one that comes meanwhile")
    func order() async throws {
        let (store, context, band) = try await held()
        await context.perform { band.name = "First" }
        let first = Task { try await context.saveAsynchronously() }
        await store.untilHeld()
        await context.perform { band.name = "Second" }
        let second = Task { try await context.saveAsynchronously() }
        let third = Task {
            try await context.perform {
                Band(context: context).name = "New"
                try context.save()
            }
        }
        store.release()
        try await first.value
        try await second.value
        try await third.value
        #expect(try await stored(context) == ["Band 1", "New", "Second"])
        #expect(await context.perform { !context.hasChanges })
    }

    @Test("A synchronous save, an undo of a deletion and a refresh wait for it")
    func waiting() async throws {
        let (store, context, band) = try await held()
        await context.perform { band.name = "First" }
        let save = Task { try await context.saveAsynchronously() }
        await store.untilHeld()
        nonisolated(unsafe) let sent = band
        let block = Task {
            try await context.perform {
                context.refresh(sent, mergeChanges: false)
                expect(sent.name, equals: "First")
                sent.name = "Second"
                try context.save()
            }
        }
        store.release()
        try await block.value
        try await save.value
        #expect(try await stored(context) == ["Band 1", "Second"])
    }

    @Test("A save that others make meanwhile is merged when it is done")
    func merging() async throws {
        let (store, context, band) = try await held()
        await context.perform {
            context.automaticallyMergesChangesFromParent = true
            band.name = "First"
        }
        let other = Music.context(context.persistentStoreCoordinator!)
        let request = NSFetchRequest<Band>(entityName: "Band")
        request.predicate = NSPredicate(format: "name == 'Band 1'")
        let rival = try #require(try await other.fetchAsynchronously(request).first)
        try await saving(context, to: store) {
            store.configure { $0.heldBack = [] }
            await other.perform { rival.name = "Theirs" }
            try await other.saveAsynchronously()
        }
        let id = await other.perform { rival.objectID }
        #expect(await context.perform { [band.name, (context.object(with: id) as! Band).name] } == ["First", "Theirs"])
    }

    @Test("The merge policy resolves a conflict, and the save is repeated")
    func conflict() async throws {
        let (store, context, band) = try await held()
        await context.perform {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            band.name = "Ours"
        }
        store.release()
        let other = Music.context(context.persistentStoreCoordinator!)
        let id = await context.perform { band.objectID }
        try await other.perform {
            let same = try other.existingObject(with: id) as! Band
            same.name = "Theirs"
            same.founded = Date(timeIntervalSince1970: 0)
        }
        try await other.saveAsynchronously()
        try await context.saveAsynchronously()
        #expect(await context.perform { band.name == "Ours" && band.founded != nil && !context.hasChanges })
        #expect(try await stored(context) == ["Band 1", "Ours"])
    }

    @Test("A child saves into its parent while both queues go on")
    func child() async throws {
        let (store, parent, band) = try await held()
        store.release()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let id = await parent.perform { band.objectID }
        try await child.perform {
            let same = try child.existingObject(with: id) as! Band
            same.name = "From below"
            let album = Album(context: child)
            album.band = same
        }
        try await child.saveAsynchronously()
        #expect(await parent.perform { band.name == "From below" && band.albums.count == 2 && parent.hasChanges })
        try await parent.saveAsynchronously()
        #expect(try await stored(parent) == ["Band 1", "From below"])
    }

    @Test("A cancelled task does not cancel a save that has begun, but one that has not")
    func cancelling() async throws {
        let (store, context, band) = try await held()
        await context.perform { band.name = "First" }
        let first = Task { try await context.saveAsynchronously() }
        await store.untilHeld()
        await context.perform { band.name = "Second" }
        let second = Task { try await context.saveAsynchronously() }
        first.cancel()
        second.cancel()
        store.release()
        try await first.value
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(try await stored(context) == ["Band 1", "First"])
    }

    @Test(
        "Where a store accepts a part, that is clean and the rest is pending, and the next save sends the rest", arguments: [true, false])
    func incomplete(isAsynchronous: Bool) async throws {
        let (store, context, band) = try await held()
        store.release()
        let (refused, id) = await context.perform {
            band.name = "First"
            let refused = Band(context: context)
            refused.name = "Refused"
            Band(context: context).name = "Accepted"
            return (refused, band.objectID)
        }
        store.configure { $0.isRefused = { $0 != id && $0.uriRepresentation().lastPathComponent.hasSuffix("5") } }
        func save() async throws {
            if isAsynchronous { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
        }
        do {
            try await save()
            Issue.record("The save did not throw.")
        } catch let error as NSError {
            expect(error.code, equals: 134_040)
        }
        await context.perform {
            expect(context.insertedObjects, equals: [refused])
            #expect(context.updatedObjects.isEmpty)
        }
        store.configure { $0.isRefused = nil }
        try await save()
        expect(store.saves.last?.count, equals: 1)
        #expect(try await stored(context) == ["Accepted", "Band 1", "First", "Refused"])
    }

    @Test("Over a store that holds a thread the context's queue is free meanwhile too", arguments: [GraphStore.inMemory, .sqlite])
    func synchronousStores(_ kind: GraphStore) async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try kind.add(to: coordinator)
        let context = Music.context(coordinator)
        let band = await context.perform {
            let band = Band(context: context)
            band.name = "First"
            return band
        }
        try await context.saveAsynchronously()
        await context.perform { band.name = "Second" }
        try await context.saveAsynchronously()
        try await context.refreshAsynchronously(band, mergeChanges: true)
        try await band.load(\.albums, \.name)
        #expect(try await stored(context) == ["Second"])
        #expect(await context.perform { !context.hasChanges })
    }
}
