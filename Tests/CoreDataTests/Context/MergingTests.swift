import CoreData
import TestSupport
import Testing

@Suite("Merging what others have saved") struct MergingTests {
    /// Collects the notifications of one name that a context posts.
    private func notifications(
        _ name: Notification.Name, of context: NSManagedObjectContext, during body: () throws -> Void
    ) rethrows -> [[AnyHashable: Any]] {
        nonisolated(unsafe) var seen: [[AnyHashable: Any]] = []
        let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { seen.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
        return seen
    }

    /// What a save of `context` posts.
    private func save(_ context: NSManagedObjectContext, ids: Bool = false) throws -> Notification {
        nonisolated(unsafe) var seen: Notification?
        let name = ids ? NSManagedObjectContext.didSaveObjectIDsNotification : NSManagedObjectContext.didSaveObjectsNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { seen = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.save()
        return try #require(seen)
    }

    @Test("Inserted, updated and deleted objects are merged, with one notification of each set", arguments: [false, true])
    func merge(_ byID: Bool) throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust", "Drums and Guns"]) }
            let (low, albums) = try second.performAndWait {
                let albums = try second.all(Album.self, by: "title")
                expect(albums.map(\.title), equals: ["Drums and Guns", "Trust"])
                let low = try #require(albums[0].band)
                expect(low.albums.count, equals: 2)
                return (low, albums)
            }
            let saved = try first.performAndWait {
                let mine = try first.all(Album.self, by: "title")
                first.delete(mine[0])
                mine[1].title = "Trust, remastered"
                let new = Album(context: first)
                new.title = "Hey What"
                new.band = mine[1].band
                return try save(first, ids: byID)
            }
            try second.performAndWait {
                let merged = try notifications(NSManagedObjectContext.didMergeChangesObjectIDsNotification, of: second) {
                    let changes = notifications(NSManagedObjectContext.didChangeObjectsNotification, of: second) {
                        second.mergeChanges(fromContextDidSave: saved)
                    }
                    expect(changes.count, equals: 1)
                    let inserted = try #require(changes.first?[NSInsertedObjectsKey] as? Set<NSManagedObject>)
                    expect(inserted.map { ($0 as? Album)?.title }, equals: ["Hey What"])
                    expect(changes.first?[NSRefreshedObjectsKey] as? Set<NSManagedObject>, equals: [low, albums[1]])
                    expect(changes.first?[NSDeletedObjectsKey] as? Set<NSManagedObject>, equals: [albums[0]])
                    #expect(changes.first?[NSUpdatedObjectsKey] == nil)
                }
                let deleted = merged.first?[NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue]
                expect(deleted as? Set<NSManagedObjectID>, equals: [albums[0].objectID])
                expect(albums[1].title, equals: "Trust, remastered")
                #expect(albums[0].managedObjectContext == nil)
                expect(Set(low.albums.map(\.title)), equals: ["Hey What", "Trust, remastered"])
                #expect(!second.hasChanges)
            }
        }
    }

    @Test("Unsaved changes stay above merged ones, and the next save has no conflict")
    func localEditsStay() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            let album = try second.performAndWait {
                let album = try #require(try second.all(Album.self).first)
                album.rating = 5
                album.tags = [Tag(context: second)]
                return album
            }
            let saved = try first.performAndWait {
                let mine = try #require(try first.all(Album.self).first)
                mine.year = 2002
                mine.tags = [Tag(context: first)]
                return try save(first)
            }
            try second.performAndWait {
                let changes = notifications(NSManagedObjectContext.didChangeObjectsNotification, of: second) {
                    second.processPendingChanges()
                    second.mergeChanges(fromContextDidSave: saved)
                }
                #expect((changes.last?[NSUpdatedObjectsKey] as? Set<NSManagedObject>)?.contains(album) ?? false)
                expect(album.year, equals: 2002)
                expect(album.rating, equals: 5)
                expect(album.tags.count, equals: 2)
                expect(second.updatedObjects, equals: [album])
                try second.save()
            }
            try first.performAndWait {
                let mine = try #require(try first.all(Album.self).first)
                first.refresh(mine, mergeChanges: false)
                expect(mine.rating, equals: 5)
                expect(mine.tags.count, equals: 2)
            }
        }
    }

    @Test("An object that others have deleted goes, edited or not, and so does what leads to it unsaved")
    func deletedThere() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            let (album, tag) = try second.performAndWait {
                let album = try #require(try second.all(Album.self).first)
                album.title = "mine"
                let tag = Tag(context: second)
                album.tags = [tag]
                return (album, tag)
            }
            let saved = try first.performAndWait {
                first.delete(try #require(try first.all(Album.self).first))
                return try save(first)
            }
            try second.performAndWait {
                second.mergeChanges(fromContextDidSave: saved)
                expect(second.updatedObjects, equals: [])
                expect(tag.value(forKey: "albums") as? Set<NSManagedObject>, equals: [])
                expect(second.insertedObjects, equals: [tag])
                #expect(album.managedObjectContext == nil)
                try second.save()
                try expect(second.all(Album.self), equals: [])
            }
        }
    }

    @Test("What others relate to an object that is deleted here loses it by the delete rule")
    func deletedHere() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            let low = try second.performAndWait {
                let low = try #require(try second.all(Band.self).first)
                second.delete(low)
                second.processPendingChanges()
                return low
            }
            let saved = try first.performAndWait {
                let album = Album(context: first)
                album.band = try first.all(Band.self).first
                return try save(first)
            }
            try second.performAndWait {
                second.mergeChanges(fromContextDidSave: saved)
                #expect(second.deletedObjects.contains(low))
                try second.save()
                try expect(second.all(Album.self), equals: [])
            }
        }
    }

    @Test("IDs and URIs of a remote save are merged under either kind of key; the store is queried again")
    func remote() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let ids = (1...3).map { store.put("Tag", $0, ["label": "old \($0)"]) }
        let parent = Music.context(coordinator)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let tags = try parent.performAndWait { try parent.all(Tag.self, by: nil) }
        let below = try child.performAndWait { try child.all(Tag.self) }
        parent.performAndWait { expect(tags.map(\.label), equals: ["old 1", "old 2", "old 3"]) }
        child.performAndWait { expect(below.map(\.label), equals: ["old 1", "old 2", "old 3"]) }
        for key in 1...2 { store.put("Tag", key, ["label": "new \(key)"]) }
        store.records[ids[2]] = nil
        let new = store.put("Tag", 4, ["label": "new 4"])
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSInsertedObjectsKey: [new.uriRepresentation()], NSUpdatedObjectsKey: [ids[0].uriRepresentation()],
                NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue: Set([ids[1]]), NSDeletedObjectsKey: Set([ids[2]]),
            ], into: [child, parent])
        for (context, tags) in [(parent, tags), (child, below)] {
            context.performAndWait {
                expect(tags.prefix(2).map(\.label), equals: ["new 1", "new 2"])
                #expect(tags[2].managedObjectContext == nil)
                expect((context.object(with: new) as? Tag)?.label, equals: "new 4")
                #expect(!context.hasChanges)
            }
        }
    }

    @Test(
        "Each key of a remote save brings its objects up to date, whether it holds objects' IDs or URIs, in an array or a set",
        arguments: [
            NSUpdatedObjectsKey, NSRefreshedObjectsKey, "invalidated", NSInsertedObjectsKey, "updated_objectIDs", "refreshed_objectIDs",
            "invalidated_objectIDs", "inserted_objectIDs", NSInvalidatedAllObjectsKey,
        ])
    func remoteKeys(_ key: String) throws {
        for form in 0..<4 {
            try DictionaryStore.run { store, context in
                let ids = (1...2).map { store.put("Tag", $0, ["label": "old \($0)"]) }
                let tags = try context.all(Tag.self)
                expect(tags.map(\.label), equals: ["old 1", "old 2"])
                tags[1].label = "mine"
                for number in 1...2 { store.put("Tag", number, ["label": "new \(number)"]) }
                let uris = ids.map { $0.uriRepresentation() }
                let values: [Any] = [ids, Set(ids), uris, Set(uris)]
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [key: key == NSInvalidatedAllObjectsKey ? true : values[form]], into: [context])
                expect(tags.map(\.label), equals: ["new 1", "mine"])
                expect(context.updatedObjects, equals: [tags[1]])
                try context.save()
                expect(store.records[ids[1]]?.values["label"] as? String, equals: "mine")
            }
        }
    }

    @Test("The keys of deletions take the objects away, edited or not", arguments: [NSDeletedObjectsKey, "deleted_objectIDs"])
    func remoteDeletions(_ key: String) throws {
        try DictionaryStore.run { store, context in
            let ids = (1...2).map { store.put("Tag", $0, ["label": "\($0)"]) }
            let tags = try context.all(Tag.self)
            expect(tags.map(\.label), equals: ["1", "2"])
            tags[1].label = "mine"
            for id in ids { store.records[id] = nil }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids.map { $0.uriRepresentation() }], into: [context])
            #expect(tags.allSatisfy { $0.managedObjectContext == nil })
            #expect(context.registeredObjects.isEmpty)
            #expect(!context.hasChanges)
        }
    }

    @Test("What a remote save names that no store of the context has, or no key of Core Data, is passed over")
    func remoteUnknown() throws {
        try DictionaryStore.run { store, context in
            let id = store.put("Tag", 1, ["label": "old"])
            let tag = try #require(try context.all(Tag.self).first)
            expect(tag.label, equals: "old")
            store.put("Tag", 1, ["label": "new"])
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSUpdatedObjectsKey: [URL(string: "x-coredata://elsewhere/Tag/p1")!], "something": [id], NSDeletedObjectsKey: "text",
                ], into: [context])
            expect(tag.label, equals: "old")
            expect(context.registeredObjects, equals: [tag])
        }
    }

    @Test("A context that merges by itself shows what other contexts save, and no one else does")
    func automatic() throws {
        let coordinator = try Music.coordinator()
        let (writer, listener, deaf) = (Music.context(coordinator), Music.context(coordinator), Music.context(coordinator))
        listener.automaticallyMergesChangesFromParent = true
        try writer.performAndWait { _ = try writer.saveBand("Low", albums: ["Trust"]) }
        let albums = try [listener, deaf].map { context in try context.performAndWait { try #require(try context.all(Album.self).first) } }
        for (context, album) in zip([listener, deaf], albums) { context.performAndWait { expect(album.title, equals: "Trust") } }
        try writer.performAndWait {
            try #require(try writer.all(Album.self).first).title = "Distrust"
            try writer.save()
        }
        listener.performAndWait { expect(albums[0].title, equals: "Distrust") }
        deaf.performAndWait { expect(albums[1].title, equals: "Trust") }
        listener.automaticallyMergesChangesFromParent = false
        try writer.performAndWait {
            try #require(try writer.all(Album.self).first).title = "Mistrust"
            try writer.save()
        }
        listener.performAndWait { expect(albums[0].title, equals: "Distrust") }
    }

    @Test("A save reaches children over several levels, and a child's save its siblings")
    func automaticOverLevels() throws {
        let coordinator = try Music.coordinator()
        let (writer, top) = (Music.context(coordinator), Music.context(coordinator))
        func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            child.automaticallyMergesChangesFromParent = true
            return child
        }
        top.automaticallyMergesChangesFromParent = true
        let middle = child(of: top)
        let (left, right) = (child(of: middle), child(of: middle))
        try writer.performAndWait { _ = try writer.saveBand("Low") }
        let bands = try [left, right].map { context in try context.performAndWait { try #require(try context.all(Band.self).first) } }
        for (context, band) in zip([left, right], bands) { context.performAndWait { expect(band.name, equals: "Low") } }
        try writer.performAndWait {
            try #require(try writer.all(Band.self).first).name = "Lower"
            try writer.save()
        }
        for context in [top, middle] { context.performAndWait {} }
        for (context, band) in zip([left, right], bands) { context.performAndWait { expect(band.name, equals: "Lower") } }
        try left.performAndWait {
            bands[0].name = "Lowest"
            let album = Album(context: left)
            album.band = bands[0]
            try left.save()
        }
        try right.performAndWait {
            expect(bands[1].name, equals: "Lowest")
            expect(bands[1].albums.map(\.title), equals: ["Untitled"])
            #expect(!right.hasChanges)
            expect(bands[1].albums.first?.objectID.isTemporaryID, equals: true)
            try middle.performAndWait { try middle.save() }
            try top.performAndWait { try top.save() }
        }
        right.performAndWait { expect(bands[1].albums.first?.objectID.isTemporaryID, equals: false) }
    }

    @Test("A context that has gone is told nothing, and keeps nothing alive")
    func released() throws {
        let coordinator = try Music.coordinator()
        weak var gone: NSManagedObjectContext?
        do {
            let context = Music.context(coordinator)
            context.automaticallyMergesChangesFromParent = true
            gone = context
        }
        #expect(gone == nil)
        let writer = Music.context(coordinator)
        try writer.performAndWait { _ = try writer.saveBand("Low") }
    }

    @Test("A container's contexts merge the saves of others when they are told to")
    func container() throws {
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        container.loadPersistentStores { #expect($1 == nil) }
        #expect(!container.newBackgroundContext().automaticallyMergesChangesFromParent)
        #expect(!container.viewContext.automaticallyMergesChangesFromParent)
        expect(container.viewContext.concurrencyType, equals: .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test("The coordinator runs blocks on its queue, also from there")
    func coordinatorQueue() async throws {
        let coordinator = try Music.coordinator()
        let nested = coordinator.performAndWait { coordinator.performAndWait { 1 } + 1 }
        expect(nested, equals: 2)
        #expect(await coordinator.perform { coordinator.persistentStores.count } == 1)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in coordinator.perform { done.resume() } }
        await #expect(throws: CocoaError.self) { try await coordinator.perform { throw CocoaError(.fileNoSuchFile) } }
    }
}
