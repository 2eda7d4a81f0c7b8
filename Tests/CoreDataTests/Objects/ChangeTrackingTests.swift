import CoreData
import TestSupport
import Testing

@Suite("Change tracking") struct ChangeTrackingTests {
    @Test("A property set back to what the store has is not a changed value, and the save writes nothing")
    func setBack() throws {
        try DictionaryStore.run { store, context in
            let id = store.put("Album", 1, ["title": "Trust", "year": 2002])
            let album = try #require(context.object(with: id) as? Album)
            album.title = "Distrust"
            album.title = "Trust"
            #expect(album.changedValues().isEmpty)
            #expect(!album.hasPersistentChangedValues)
            #expect(album.isUpdated && album.hasChanges)
            #expect(context.hasChanges)
            try context.save()
            #expect(!store.calls.contains("save"))
            #expect(!album.hasChanges)
        }
    }

    @Test("A relationship set back to what the store has is none either")
    func relationshipSetBack() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust", "Secret"])
            let album = try #require(band.albums.first)
            album.band = nil
            expect(Set(album.changedValues().keys), equals: ["band"])
            expect(Set(band.changedValues().keys), equals: ["albums"])
            album.band = band
            #expect(!album.hasPersistentChangedValues)
            #expect(!band.hasPersistentChangedValues)
            #expect(band.hasChanges)
        }
    }

    @Test("Text of other scalars is a changed value though it reads the same")
    func scalars() throws {
        try withMusic { context in
            let album = Album(context: context)
            album.title = "\u{e9}"
            try context.save()
            album.title = "e\u{301}"
            #expect(album.hasPersistentChangedValues)
            try context.save()
            context.refreshAllObjects()
            expect(album.title.unicodeScalars.count, equals: 2)
        }
    }

    @Test("Transient properties are not changed values")
    func transient() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            try context.save()
            scrap.setValue("draft", forKey: "draft")
            #expect(scrap.hasChanges)
            #expect(!scrap.hasPersistentChangedValues)
            #expect(scrap.changedValues().isEmpty)
        }
    }

    @Test("The current event's changes are told with their old values, until the notification is over")
    func currentEvent() throws {
        try withMusic { context in
            let low = try context.saveBand("Low", albums: ["Trust"])
            let high = try context.saveBand("High")
            let album = try #require(low.albums.first)
            album.year = 1999
            context.processPendingChanges()
            #expect(album.changedValuesForCurrentEvent().isEmpty)
            album.title = "Distrust"
            album.title = "Mistrust"
            album.band = high
            var seen: [NSManagedObject: [String: Any]] = [:]
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { [seen = Handed(value: { seen[$0] = $1 })] note in
                for object in note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [] {
                    seen.value(object, object.changedValuesForCurrentEvent())
                }
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            expect(album.changedValuesForCurrentEvent()["title"] as? String, equals: "Trust")
            context.processPendingChanges()
            expect(Set(seen.keys), equals: [album, low, high])
            expect(Set(seen[album]?.keys.map { $0 } ?? []), equals: ["title", "band"])
            expect(seen[album]?["title"] as? String, equals: "Trust")
            #expect(seen[album]?["band"] as? Band === low)
            expect(seen[low]?["albums"] as? Set<NSManagedObject>, equals: [album])
            expect(seen[high]?["albums"] as? Set<NSManagedObject>, equals: [])
            #expect(album.changedValuesForCurrentEvent().isEmpty)
            expect(album.changedValues()["title"] as? String, equals: "Mistrust")
        }
    }

    @Test("A new object's old values are its defaults")
    func currentEventOfNew() throws {
        try withMusic { context in
            let album = Album(context: context)
            album.title = "Trust"
            album.band = Band(context: context)
            let values = album.changedValuesForCurrentEvent()
            expect(Set(values.keys), equals: ["title", "band"])
            expect(values["title"] as? String, equals: "Untitled")
            #expect(values["band"] is NSNull)
        }
    }

    @Test("A new object that is deleted leaves nothing behind, in one event or in two")
    func annihilation() throws {
        for processes in [true, false] {
            try DictionaryStore.run { store, context in
                let album = Album(context: context)
                if processes { context.processPendingChanges() }
                context.delete(album)
                context.processPendingChanges()
                #expect(!context.hasChanges)
                #expect(album.managedObjectContext == nil)
                try context.save()
                expect(store.calls, equals: ["loadMetadata"])
            }
        }
    }

    @Test("A custom accessor's change of a relationship reaches the other end")
    func customAccessors() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust", "Secret"])
            let albums = band.albums.sorted { $0.title < $1.title }
            band.willChangeValue(forKey: "albums", withSetMutation: .minus, using: [albums[0]])
            band.setPrimitiveValue(Set([albums[1]]), forKey: "albums")
            band.didChangeValue(forKey: "albums", withSetMutation: .minus, using: [albums[0]])
            #expect(albums[0].band == nil)
            #expect(albums[1].band === band)
            albums[0].willChangeValue(forKey: "band")
            albums[0].setPrimitiveValue(band, forKey: "band")
            albums[0].didChangeValue(forKey: "band")
            expect(band.albums, equals: Set(albums))
            #expect(!band.hasPersistentChangedValues)
        }
    }

    @Test("With delete rules deferred, nothing is cascaded before the save")
    func deferredDeletes() throws {
        try withMusic { context in
            context.propagatesDeletesAtEndOfEvent = false
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            let new = Album(context: context)
            new.tags = [Tag(context: context)]
            let tag = try #require(new.tags.first)
            context.delete(band)
            context.delete(new)
            context.processPendingChanges()
            #expect(!album.isDeleted)
            expect((tag.value(forKey: "albums") as? Set<NSManagedObject>), equals: [new])
            try context.save()
            #expect(try context.all(Album.self).isEmpty)
            expect((tag.value(forKey: "albums") as? Set<NSManagedObject>), equals: [])
        }
    }
}

/// Carries a closure into a notification that is posted on the same queue.
struct Handed<Value>: @unchecked Sendable {
    // Called on the queue that it was made on only.
    let value: Value
}
