import CoreData
import TestSupport
import Testing

@Suite("The age of rows, and how long objects live") struct RowAgeTests {
    private func twoContexts(_ body: (DictionaryStore, NSManagedObjectID, [NSManagedObjectContext]) throws -> Void) throws {
        let (store, coordinator) = try DictionaryStore.make()
        let id = store.put("Tag", 1, ["label": "old"])
        try body(store, id, [Music.context(coordinator), Music.context(coordinator)])
    }

    /// What each context reads, the store having changed in between.
    private func labels(_ interval: TimeInterval) throws -> [String?] {
        var labels: [String?] = []
        try twoContexts { store, id, contexts in
            contexts[1].stalenessInterval = interval
            let tags = contexts.map { context in context.performAndWait { context.object(with: id) as? Tag } }
            labels.append(contexts[0].performAndWait { tags[0]?.label })
            store.put("Tag", 1, ["label": "new"])
            labels.append(contexts[1].performAndWait { tags[1]?.label })
        }
        return labels
    }

    @Test("A row that is young enough serves another context; one that is too old does not")
    func staleness() throws {
        try expect(labels(-1), equals: ["old", "old"])
        try expect(labels(3600), equals: ["old", "old"])
        try expect(labels(0), equals: ["old", "new"])
        try expect(labels(1e-9), equals: ["old", "new"])
    }

    @Test("Values that an object has stay whatever the interval is")
    func valuesStay() throws {
        try twoContexts { store, id, contexts in
            contexts[0].stalenessInterval = 0
            try contexts[0].performAndWait {
                let tag = try #require(contexts[0].object(with: id) as? Tag)
                expect(tag.label, equals: "old")
                store.put("Tag", 1, ["label": "new"])
                expect(tag.label, equals: "old")
            }
        }
    }

    @Test("A context releases objects without other references, unless it retains registered objects", arguments: [false, true])
    func retaining(_ retains: Bool) throws {
        let coordinator = try Music.coordinator()
        let writer = Music.context(coordinator)
        try writer.performAndWait { _ = try writer.saveBand("Low", albums: ["Trust", "Hey What"]) }
        let context = Music.context(coordinator)
        try context.performAndWait {
            context.retainsRegisteredObjects = retains
            _ = try context.all(Album.self)
            expect(context.registeredObjects.count, equals: (retains ? 2 : 0))
            let tag = Tag(context: context)
            try context.save()
            withExtendedLifetime(tag) {}
            if retains {
                context.delete(tag)
                try context.save()
                expect(context.registeredObjects.count, equals: 2)
                context.retainsRegisteredObjects = false
                expect(context.registeredObjects.count, equals: 0)
            }
            context.retainsRegisteredObjects = retains
            _ = try context.all(Album.self)
            context.reset()
            expect(context.registeredObjects, equals: [])
        }
    }

    @Test(
        "Objects that are here take the store's values on a fetch only when it says so, and keep what is unsaved", arguments: [false, true])
    func refetched(_ refreshes: Bool) throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            let album = try second.performAndWait {
                let album = try #require(try second.all(Album.self).first)
                expect(album.title, equals: "Trust")
                album.rating = 5
                return album
            }
            try first.performAndWait {
                let mine = try #require(try first.all(Album.self).first)
                mine.title = "Distrust"
                try first.save()
            }
            try second.performAndWait {
                let request = NSFetchRequest<Album>(entityName: "Album")
                request.shouldRefreshRefetchedObjects = refreshes
                let found = try second.fetch(request)
                expect(found, equals: [album])
                expect(album.title, equals: (refreshes ? "Distrust" : "Trust"))
                expect(album.rating, equals: 5)
            }
        }
    }

    @Test("Refetched objects of an incremental store are refreshed by one question")
    func refetchedTogether() throws {
        try DictionaryStore.run { store, context in
            store.answersMany = true
            for key in 1...100 { store.put("Tag", key, ["label": "old"]) }
            let tags = try context.all(Tag.self)
            #expect(tags.allSatisfy { $0.label == "old" })
            for key in 1...100 { store.put("Tag", key, ["label": "new"]) }
            store.calls = []
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            request.shouldRefreshRefetchedObjects = true
            _ = try context.fetch(request)
            #expect(tags.allSatisfy { $0.label == "new" })
            expect(store.calls, equals: ["fetch Tag", "newValues of 100"])
        }
    }

    @Test("A refresh of everything drops what is read and keeps what is unsaved")
    func refreshAll() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            try second.performAndWait {
                let band = try #require(try second.all(Band.self).first)
                let album = try #require(band.albums.first)
                album.rating = 5
                try first.performAndWait {
                    let mine = try #require(try first.all(Band.self).first)
                    mine.name = "Lower"
                    try #require(mine.albums.first).year = 1999
                    try first.save()
                }
                second.refreshAllObjects()
                #expect(band.isFault)
                expect(band.name, equals: "Lower")
                expect(album.year, equals: 1999)
                expect(album.rating, equals: 5)
                expect(second.updatedObjects, equals: [album])
            }
        }
    }
}
