import CoreData
import TestSupport
import Testing

@Suite("Faults that come in batches, counted in store calls") struct FaultBatchTests {
    /// A store with bands of two albums with three tracks each, that answers for many objects at once unless told otherwise.
    private func withBands(
        _ count: Int, many: Bool = true, _ body: (DictionaryStore, NSManagedObjectContext) throws -> Void
    ) throws {
        try DictionaryStore.run { store, context in
            var key = 0
            func next() -> Int {
                key += 1
                return key
            }
            for band in 0..<count {
                let id = store.put("Band", next(), ["name": "band \(band)"])
                let albums = (0..<2).map { album in
                    let albumID = store.put("Album", next(), ["title": "album \(album)", "band": id])
                    let tracks = (0..<3).map { store.put("Track", next(), ["title": "track \($0)", "seconds": 60, "album": albumID]) }
                    store.records[albumID]!.values["tracks"] = tracks
                    return albumID
                }
                store.records[id]!.values["albums"] = albums
            }
            store.answersMany = many
            store.calls = []
            try body(store, context)
        }
    }

    @Test("The first fault of a fetch fetches the rows of all; those stay faults until they are read")
    func rows() throws {
        try withBands(500) { store, context in
            let albums = try context.all(Album.self)
            expect(store.calls, equals: ["fetch Album"])
            expect(albums[0].title, equals: "album 0")
            #expect(!albums[0].isFault)
            #expect(albums[1].isFault)
            expect(albums.count, equals: 1000)
            #expect(albums.allSatisfy { $0.title == "album 0" || $0.title == "album 1" })
            #expect(albums.count { $0.title == "album 1" } == 500)
            expect(store.calls, equals: ["fetch Album", "newValues of 1000"])
        }
    }

    @Test("Walking from each of many objects down two relationships and up two more costs a handful of calls")
    func walking() throws {
        try withBands(500) { store, context in
            var seconds = 0
            for band in try context.all(Band.self) {
                #expect(band.name.hasPrefix("band"))
                for album in band.albums {
                    #expect(album.band === band)
                    for case let track as NSManagedObject in album.tracks ?? [] {
                        seconds += track.value(forKey: "seconds") as? Int ?? 0
                        #expect((track.value(forKey: "album") as? Album)?.band === band)
                    }
                }
            }
            expect(seconds, equals: 500 * 2 * 3 * 60)
            #expect(store.calls.count <= 10, "\(store.calls)")
            #expect(!store.calls.contains { $0.hasPrefix("newValue ") && !$0.contains(" of ") })
        }
    }

    @Test("A refresh of everything lets go of what only relationships of objects that are gone have loaded")
    func refreshedDestinations() throws {
        try withBands(20) { _, context in
            for album in try context.all(Album.self) { #expect(album.band?.name.hasPrefix("band") == true) }
            context.refreshAllObjects()
            expect(context.registeredObjects.count, equals: 0)
        }
    }

    @Test("To-one relationships of a batch are loaded together, from rows or by a query", arguments: [true, false])
    func toOne(_ inNodes: Bool) throws {
        try withBands(200) { store, context in
            store.answersToOneInNodes = inNodes
            let names = Set(try context.all(Album.self).compactMap { $0.band?.name })
            expect(names.count, equals: 200)
            let expected = ["fetch Album", "newValues of 400"] + (inNodes ? [] : ["newValue band of 400"]) + ["newValues of 200"]
            expect(store.calls, equals: expected)
        }
    }

    @Test("A store that answers for one object at a time is asked for one at a time, and only for what is read")
    func oneAtATime() throws {
        try withBands(50, many: false) { store, context in
            let albums = try context.all(Album.self)
            expect(albums[7].title, equals: "album 1")
            expect(store.calls.filter { $0.hasPrefix("newValues") }.count, equals: 1)
            for album in albums { #expect(album.band?.name != nil) }
            expect(store.calls.count, equals: 1 + 100 + 50)
        }
    }

    @Test("A batch size is the number of objects that are read together; the array holds plain faults")
    func batchSize() throws {
        try withBands(50) { store, context in
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.fetchBatchSize = 20
            request.returnsObjectsAsFaults = false
            let albums = try context.fetch(request)
            expect(store.calls, equals: ["fetch Album"])
            #expect(albums.allSatisfy { $0.isFault })
            expect(albums[45].title, equals: "album 1")
            for index in 40..<60 { #expect(albums[index].title.hasPrefix("album")) }
            expect(store.calls, equals: ["fetch Album", "newValues of 20"])
            for album in albums { #expect(album.title.hasPrefix("album")) }
            expect(store.calls.count, equals: 1 + 5)
            for album in albums { #expect(album.band != nil) }
            expect(albums[99].band?.name, equals: "band 49")
            #expect(store.calls.count <= 1 + 5 + 5)
        }
    }

    @Test("A long fetch is asked for in parts")
    func parts() throws {
        try withBands(1500) { store, context in
            let albums = try context.all(Album.self)
            for album in albums.reversed() { #expect(!album.title.isEmpty) }
            expect(store.calls, equals: ["fetch Album"] + Array(repeating: "newValues of 1000", count: 3))
        }
    }

    @Test("The objects of one to-many relationship are one batch")
    func relationship() throws {
        try withBands(1) { store, context in
            let band = try #require(try context.all(Band.self).first)
            expect(band.albums.count, equals: 2)
            for album in band.albums { #expect(!album.title.isEmpty) }
            expect(store.calls, equals: ["fetch Band", "newValue albums", "newValues of 2"])
        }
    }

    @Test("Objects that are wanted with values come with values, in one call more; without property values they stay faults")
    func notAsFaults() throws {
        for includes in [true, false] {
            try withBands(100) { store, context in
                let request = NSFetchRequest<Album>(entityName: "Album")
                request.returnsObjectsAsFaults = false
                request.includesPropertyValues = includes
                let albums = try context.fetch(request)
                #expect(albums.allSatisfy { $0.isFault != includes })
                expect(store.calls, equals: ["fetch Album"] + (includes ? ["newValues of 200"] : []))
            }
        }
    }

    @Test("Prefetched key paths cost two calls a relationship, and walking them none", arguments: [true, false])
    func prefetching(_ many: Bool) throws {
        try withBands(100, many: many) { store, context in
            let request = NSFetchRequest<Band>(entityName: "Band")
            request.relationshipKeyPathsForPrefetching = ["albums.tracks"]
            let bands = try context.fetch(request)
            if many {
                expect(
                    store.calls,
                    equals: [
                        "fetch Band", "newValue albums of 100", "newValues of 200", "newValue tracks of 200", "newValues of 600",
                    ])
            }
            store.calls = []
            for album in bands.flatMap(\.albums) {
                #expect(!album.title.isEmpty)
                for case let track as NSManagedObject in album.tracks ?? [] { #expect(track.value(forKey: "title") != nil) }
            }
            expect(store.calls, equals: [])
        }
    }

    @Test("A path that is not a relationship cannot be prefetched, in whichever store")
    func wrongPath() throws {
        try withMusic { context in
            let request = NSFetchRequest<Band>(entityName: "Band")
            request.relationshipKeyPathsForPrefetching = ["albums.title"]
            let error = try #require(failure { _ = try context.fetch(request) })
            #expect(error.localizedDescription.contains("“Album” has no relationship “title”"))
        }
    }

    @Test("A failure of many says nothing of each: it is asked for by itself")
    func failing() throws {
        try withBands(10) { store, context in
            let albums = try context.all(Album.self)
            store.manyError = NSError(domain: "net", code: 5)
            expect(albums[0].title, equals: "album 0")
            expect(albums[1].title, equals: "album 1")
            #expect(context.pendingFaultError == nil)
            expect(store.calls.count, equals: 4, "\(store.calls)")
            expect(Array(store.calls.prefix(2)), equals: ["fetch Album", "newValues of 20"])
        }
    }

    @Test("A row that has gone is an inaccessible fault, and the others of its batch are read all the same")
    func missing() throws {
        try withBands(5) { store, context in
            let albums = try context.all(Album.self)
            store.records[albums[3].objectID] = nil
            expect(albums.map(\.title).filter { !$0.isEmpty }.count, equals: 9)
            expect(store.calls, equals: ["fetch Album", "newValues of 10", "newValues \(store.referenceObject(for: albums[3].objectID))"])
            #expect(context.pendingFaultError == nil)
        }
    }

    @Test("Nodes that were not asked for break the contract")
    func strangers() throws {
        final class Wrong: DictionaryStore {
            override class var typeName: String { "WrongNodes" }
            override func newValuesForObjects(
                with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
            ) throws -> [NSIncrementalStoreNode]? {
                [NSIncrementalStoreNode(objectID: newObjectID(for: entity("Tag"), referenceObject: 99), withValues: [:], version: 1)]
            }
        }
        let (store, coordinator) = try Wrong.make()
        for key in 1...2 { store.put("Tag", key, [:]) }
        let context = Music.context(coordinator)
        try context.performAndWait {
            let tags = try context.all(Tag.self)
            let error = try #require(failure { try tags[0].fulfillFault() })
            expect(error.code, equals: NSPersistentStoreOperationError)
            #expect(error.localizedDescription.contains("newValuesForObjects"))
        }
    }

    @Test("Refreshed objects are read together again")
    func refreshed() throws {
        try withBands(100) { store, context in
            let albums = try context.all(Album.self)
            for _ in 0..<3 {
                for album in albums { #expect(!album.title.isEmpty) }
                context.refreshAllObjects()
            }
            expect(store.calls, equals: ["fetch Album"] + Array(repeating: "newValues of 200", count: 3))
        }
    }

    @Test("Objects that no one refers to are released, batch or not, and thousands of small batches leave nothing behind")
    func released() throws {
        try withBands(1) { store, context in
            for _ in 0..<3000 { _ = try context.all(Album.self) }
            _ = Tag(context: context)
            context.processPendingChanges()
            expect(context.registeredObjects.count, equals: 1)
            weak var album: Album?
            do {
                let albums = try context.all(Album.self)
                expect(albums[0].title, equals: "album 0")
                album = albums[0]
                #expect(album != nil)
            }
            #expect(album == nil)
        }
    }

    @Test("A child walks its parent's batches")
    func child() throws {
        try withBands(100) { store, context in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                for album in try child.all(Album.self) { #expect(album.band?.name != nil) }
            }
            #expect(store.calls.count <= 5, "\(store.calls)")
        }
    }

    @Test("A child reads what one relationship of one object leads to in batches of its own, over however many levels", arguments: [1, 2])
    func childOfOne(_ levels: Int) throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, ["name": "band"])
            let albums = (0..<300).map { store.put("Album", 10 + $0, ["title": "album \($0)", "band": band]) }
            store.records[band]!.values["albums"] = albums
            for (index, album) in albums.enumerated() {
                let track = store.put("Track", 1000 + index, ["title": "track", "seconds": index, "album": album])
                store.records[album]!.values["tracks"] = [track]
            }
            store.answersMany = true
            var contexts = [context]
            for _ in 0..<levels {
                contexts.append(NSManagedObjectContext(.privateQueue))
                contexts[contexts.count - 1].parent = contexts[contexts.count - 2]
            }
            let child = contexts[levels]
            try child.performAndWait {
                let band = try #require(try child.existingObject(with: band) as? Band)
                store.calls = []
                var seconds = 0
                for album in band.albums {
                    #expect(album.title.hasPrefix("album"))
                    for case let track as NSManagedObject in album.tracks ?? [] { seconds += track.value(forKey: "seconds") as? Int ?? 0 }
                }
                expect(seconds, equals: (0..<300).reduce(0, +))
                try child.throwPendingFaultError()
            }
            #expect(store.calls.count <= 4, "\(store.calls)")
        }
    }
}
