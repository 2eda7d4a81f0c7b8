import CoreData
import TestSupport
import Testing

@Suite("A mutable set of a relationship") struct RelationshipSetTests {
    @Test("Changing it changes the relationship and its inverse, and it shows what others change")
    func unordered() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["A", "B"])
            let set = band.mutableSetValue(forKey: "albums")
            let new = Album(context: context)
            set.add(new)
            set.add(new)
            #expect(new.band === band)
            #expect(set.count == 3 && set.contains(new))
            let first = try #require(set.first { ($0 as? Album)?.title == "A" } as? Album)
            set.remove(first)
            #expect(first.band == nil)
            first.band = band
            expect(set.count, equals: 3)
            set.minus([new])
            set.intersect([first])
            expect(set.set, equals: [first])
            set.setSet([new])
            expect(band.albums, equals: [new])
            set.union([first])
            expect(Set(set.allObjects), equals: [first, new])
            set.removeAllObjects()
            #expect(set.anyObject() == nil && new.band == nil)
            set.add("text")
            expect(failure { try context.save() }?.key, equals: "albums")
        }
    }

    @Test("An order takes insertions, moves, replacements and exchanges, each object once")
    func ordered() throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = (0..<6).map { context.insert("Track", ["title": "\($0)"]) }
            let order = album.mutableOrderedSetValue(forKey: "tracks")
            func titles() -> String { order.map { $0.value(forKey: "title") as? String ?? "?" }.joined() }
            order.addObjects(from: Array(tracks[0..<4]))
            order.add(tracks[1])
            expect(titles(), equals: "0123")
            order.insert(tracks[4], at: 1)
            order.insert(tracks[4], at: 0)
            expect(titles(), equals: "04123")
            #expect(tracks[4].value(forKey: "album") as? Album === album)
            order.moveObjects(at: [0, 1], to: 2)
            expect(titles(), equals: "12043")
            order.exchangeObject(at: 0, withObjectAt: 4)
            expect(titles(), equals: "32041")
            order.replaceObject(at: 1, with: tracks[5])
            expect(titles(), equals: "35041")
            #expect(tracks[2].value(forKey: "album") == nil)
            order.replaceObject(at: 0, with: tracks[5])
            expect(titles(), equals: "35041")
            order.removeObject(at: 0)
            order.remove(tracks[4])
            expect(titles(), equals: "501")
            #expect(order.index(of: tracks[0]) == 1 && order[0] === tracks[5])
            order.sort { left, right in
                let titles = [left, right].map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String ?? "" }
                return titles[0] < titles[1] ? .orderedAscending : .orderedDescending
            }
            expect(titles(), equals: "015")
            try context.save()
            context.refreshAllObjects()
            expect(titles(), equals: "015")
        }
    }

    @Test("The generated methods' helpers do the same by key, and key paths lead to the sets")
    func helpers() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["A"])
            let album = try #require(band.albums.first)
            let tracks = (0..<4).map { context.insert("Track", ["title": "\($0)"]) }
            album.addObjects(tracks[0...1], toRelationship: "tracks")
            album.insertObjects([tracks[2], tracks[3]], at: [0, 2], intoRelationship: "tracks")
            expect(album.tracks?.array as? [NSManagedObject], equals: [tracks[2], tracks[0], tracks[3], tracks[1]])
            album.removeObjects(at: [0, 3], fromRelationship: "tracks")
            album.replaceObjects(at: [1], with: [tracks[1]], inRelationship: "tracks")
            expect(album.tracks?.array as? [NSManagedObject], equals: [tracks[0], tracks[1]])
            tracks[0].mutableOrderedSetValue(forKeyPath: "album.tracks")?.add(tracks[3])
            tracks[0].mutableSetValue(forKeyPath: "album.band.albums")?.add(Album(context: context))
            #expect(tracks[3].value(forKey: "album") as? Album === album)
            expect(band.albums.count, equals: 2)
            album.band = nil
            #expect(tracks[0].mutableSetValue(forKeyPath: "album.band.albums") == nil)
            band.removeObjects(band.albums, fromRelationship: "albums")
            #expect(band.albums.isEmpty)
        }
    }

    @Test("An array with an object twice is refused by an order, and is a set to the others")
    func duplicates() throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = (0..<10).map { _ in context.insert("Track") }
            album.setValue(tracks + [tracks[0]], forKey: "tracks")
            expect(album.tracks?.count, equals: 0)
            expect(failure { try context.save() }?.key, equals: "tracks")
            album.setValue(tracks, forKey: "tracks")
            let tag = Tag(context: context)
            album.setValue([tag, tag], forKey: "tags")
            expect(album.tags, equals: [tag])
            try context.save()
        }
    }

    @Test("What is not a to-many relationship, or has no order, stops the program with a message")
    func mistakes() async {
        await #expect(processExitsWith: .failure) { try withMusic { _ = Album(context: $0).mutableSetValue(forKey: "title") } }
        await #expect(processExitsWith: .failure) { try withMusic { _ = Band(context: $0).mutableOrderedSetValue(forKey: "albums") } }
        await #expect(processExitsWith: .failure) {
            try withMusic { context in
                Album(context: context).insertObjects([context.insert("Track")], at: [1], intoRelationship: "tracks")
            }
        }
    }

    @Test("Adding and removing asks the store for no more than the inverse needs")
    func storeCalls() throws {
        try DictionaryStore.run { store, context in
            let ids = (2...4).map { store.put("Album", $0, ["title": "\($0)", "band": NSNull()]) }
            let bandID = store.put("Band", 1, ["name": "Low", "albums": Array(ids[0...1])])
            for id in ids[0...1] { store.put("Album", (id.uriRepresentation().lastPathComponent as NSString).integerValue, ["title": "x"]) }
            _ = bandID
            let band = context.object(with: bandID)
            store.calls = []
            band.addObjects([context.object(with: ids[2])], toRelationship: "albums")
            #expect(!store.calls.contains("newValue albums"))
            expect(
                store.calls.filter { $0.hasPrefix("newValues") }.count, equals: 1, "Only the album says what band it has: \(store.calls)")
        }
    }
}
