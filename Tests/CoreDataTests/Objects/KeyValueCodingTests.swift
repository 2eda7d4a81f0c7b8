import CoreData
import TestSupport
import Testing

final class Gauge: NSManagedObject {
    override func setNilValueForKey(_ key: String) {
        if key == "level" { setValue(7, forKey: key) } else { super.setNilValueForKey(key) }
    }
}

@Suite("Key-value coding") struct KeyValueCodingTests {
    private func discography(_ context: NSManagedObjectContext) -> Band {
        let band = Band(context: context)
        band.name = "Low"
        for (title, year, rating) in [("Curtain", 2001, 3.0), ("Secret", 2003, 4.0), ("Trust", 2003, 5.0)] {
            let album = Album(context: context)
            album.title = title
            album.year = Int16(year)
            album.rating = rating
            album.band = band
        }
        return band
    }

    @Test("Values are read and written by key, relationships in their public forms")
    func values() throws {
        try withMusic { context in
            let band = discography(context)
            let album = try #require(band.albums.first { $0.title == "Trust" })
            let track = context.insert("Track", ["title": "Amazing"])
            album.setValue(NSOrderedSet(object: track), forKey: "tracks")
            expect(album.value(forKey: "title") as? String, equals: "Trust")
            expect(album.value(forKey: "year") as? Int16, equals: 2003)
            expect(album.value(forKey: "year") as? Int, equals: 2003)
            #expect(album.value(forKey: "band") as? Band === band)
            #expect((album.value(forKey: "tracks") as? NSOrderedSet)?.array.first as? NSManagedObject === track)
            expect((band.value(forKey: "albums") as? Set<NSManagedObject>)?.contains(album), equals: true)
            #expect(track.value(forKey: "album") as? Album === album)
        }
    }

    @Test("Nil for a number goes by the method that a class may override; without that it is nil")
    func nilForNumbers() throws {
        let entity = NSEntityDescription(name: "Gauge", managedObjectClass: Gauge.self)
        let names = ["level", "weight", "isOn", "name"]
        entity.properties = zip(names, [.integer16, .double, .boolean, .string]).map {
            NSAttributeDescription(name: $0, type: $1, defaultValue: $0 == "name" ? "old" : 1)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        context.performAndWait {
            let gauge = Gauge(context: context)
            for name in names { gauge.setValue(nil, forKey: name) }
            expect(gauge.value(forKey: "level") as? Int, equals: 7)
            #expect(gauge.value(forKey: "weight") == nil)
            #expect(gauge.value(forKey: "isOn") == nil)
            #expect(gauge.value(forKey: "name") == nil)
            gauge.setValuesForKeys(["level": NSNull(), "weight": 2.5])
            expect(gauge.value(forKey: "level") as? Int, equals: 7)
            expect(gauge.value(forKey: "weight") as? Double, equals: 2.5)
        }
    }

    @Test("A path leads through to-one relationships, and through to-many ones to all values")
    func paths() throws {
        try withMusic { context in
            let band = discography(context)
            let album = try #require(band.albums.first)
            expect(album.value(forKeyPath: "band.name") as? String, equals: "Low")
            let titles = band.value(forKeyPath: "albums.title") as? Set<String>
            expect(titles, equals: ["Curtain", "Secret", "Trust"])
            album.setValue("High", forKeyPath: "band.name")
            expect(band.name, equals: "High")
            let lonely = Album(context: context)
            #expect(lonely.value(forKeyPath: "band.name") == nil)
            lonely.setValue("nobody", forKeyPath: "band.name")
            #expect(lonely.band == nil)
        }
    }

    @Test("Collection operators count, add, average and compare")
    func operators() throws {
        try withMusic { context in
            let band = discography(context)
            expect(band.value(forKeyPath: "albums.@count") as? Int, equals: 3)
            expect(band.value(forKeyPath: "albums.@sum.year") as? Int, equals: 6007)
            expect(band.value(forKeyPath: "albums.@avg.rating") as? Double, equals: 4)
            expect(band.value(forKeyPath: "albums.@min.year") as? Int, equals: 2001)
            expect(band.value(forKeyPath: "albums.@max.rating") as? Double, equals: 5)
            expect(band.value(forKeyPath: "albums.@max.title") as? String, equals: "Trust")
            let years = band.value(forKeyPath: "albums.@distinctUnionOfObjects.year") as? [Int]
            expect(years?.sorted(), equals: [2001, 2003])
            expect((band.value(forKeyPath: "albums.@unionOfObjects.year") as? [Int])?.count, equals: 3)
        }
    }

    @Test("Operators on nothing give zero or nil")
    func operatorsOnNothing() throws {
        try withMusic { context in
            let band = Band(context: context)
            expect(band.value(forKeyPath: "albums.@count") as? Int, equals: 0)
            expect(band.value(forKeyPath: "albums.@sum.year") as? Int, equals: 0)
            #expect(band.value(forKeyPath: "albums.@max.year") == nil)
            #expect(band.value(forKeyPath: "albums.@avg.year") == nil)
        }
    }

    @Test("NSNull stands for nil in dictionaries of values")
    func dictionaries() throws {
        try withMusic { context in
            let album = Album(context: context)
            album.setValuesForKeys(["title": "Trust", "rating": NSNull()])
            let values = album.dictionaryWithValues(forKeys: ["title", "rating"])
            expect(values["title"] as? String, equals: "Trust")
            #expect(values["rating"] is NSNull)
        }
    }

    @Test("A key that is not a property goes to the object's own answer")
    func undefinedKey() throws {
        try Scraps.run { context in
            expect(Scrap(context: context).value(forKey: "colour") as? String, equals: "undefined colour")
        }
    }

    @Test("A key that is not a property stops the program where the object has no answer")
    func undefinedKeyTraps() async {
        await #expect(processExitsWith: .failure) { try withMusic { _ = Band(context: $0).value(forKey: "colour") } }
        await #expect(processExitsWith: .failure) { try withMusic { Band(context: $0).setValue(1, forKey: "colour") } }
    }

    @Test("A primitive value is set without a word to the context")
    func primitiveValues() throws {
        try withMusic { context in
            let band = try context.saveBand("Low")
            band.setPrimitiveValue("High", forKey: "name")
            expect(band.primitiveValue(forKey: "name") as? String, equals: "High")
            expect(band.name, equals: "High")
            #expect(!band.hasChanges)
            #expect(!context.hasChanges)
            band.willChangeValue(forKey: "name")
            band.setPrimitiveValue("Higher", forKey: "name")
            band.didChangeValue(forKey: "name")
            #expect(band.hasChanges)
            try context.save()
            context.refresh(band, mergeChanges: false)
            expect(band.name, equals: "Higher")
        }
    }

    @Test("Changed values are those since the last save, committed values those the store has")
    func changedAndCommitted() throws {
        try withMusic { context in
            let band = discography(context)
            try context.save()
            let album = try #require(band.albums.first { $0.title == "Trust" })
            #expect(album.changedValues().isEmpty)
            album.title = "Distrust"
            album.rating = nil
            album.band = nil
            expect(Set(album.changedValues().keys), equals: ["title", "rating", "band"])
            expect(album.changedValues()["title"] as? String, equals: "Distrust")
            #expect(album.changedValues()["rating"] is NSNull)
            #expect(album.changedValues()["band"] is NSNull)
            let committed = album.committedValues(forKeys: ["title", "rating", "band"])
            expect(committed["title"] as? String, equals: "Trust")
            expect(committed["rating"] as? Double, equals: 5)
            #expect(committed["band"] as? Band === band)
            expect((band.committedValues(forKeys: ["albums"])["albums"] as? Set<NSManagedObject>)?.count, equals: 3)
            expect(band.albums.count, equals: 2)
            try context.save()
            #expect(album.changedValues().isEmpty)
            expect(album.committedValues(forKeys: ["title"])["title"] as? String, equals: "Distrust")
        }
    }

    @Test("Committed values of a new object are its defaults or nil, never its unsaved values")
    func committedOfNew() throws {
        try withMusic { context in
            let album = Album(context: context)
            album.title = "Trust"
            #expect(album.committedValues(forKeys: ["title"])["title"] as? String != "Trust")
        }
    }
}
