import CoreData
import TestSupport
import Testing

@Suite("A relationship") struct InverseTests {
    /// One store of the music model, worked on before a save, after it, and by faults of another context.
    private func everyWay(_ body: (NSManagedObjectContext, _ settle: () throws -> Void) throws -> Void) throws {
        try withMusic { context in try body(context) {} }
        try withMusic { context in try body(context) { try context.save() } }
        try withMusic { context in
            try body(context) {
                try context.save()
                context.refreshAllObjects()
            }
        }
    }

    @Test("One-to-many: setting either end sets the other, and moving takes the object from its old place")
    func oneToMany() throws {
        try everyWay { context, settle in
            let low = Band(context: context)
            low.name = "Low"
            let high = Band(context: context)
            high.name = "High"
            let albums = ["A", "B"].map { title in
                let album = Album(context: context)
                album.title = title
                return album
            }
            albums[0].band = low
            expect(low.albums, equals: [albums[0]])
            try settle()
            low.albums.insert(albums[1])
            #expect(albums[1].band === low)
            try settle()
            high.albums = [albums[0]]
            #expect(albums[0].band === high)
            expect(low.albums, equals: [albums[1]])
            try settle()
            albums[1].band = high
            #expect(low.albums.isEmpty)
            expect(high.albums, equals: Set(albums))
            try settle()
            high.albums = []
            #expect(albums.allSatisfy { $0.band == nil })
            try context.save()
            context.refreshAllObjects()
            #expect(albums.allSatisfy { $0.band == nil })
            #expect(low.albums.isEmpty && high.albums.isEmpty)
        }
    }

    @Test("One-to-one: a rival loses its partner, at both ends")
    func oneToOne() throws {
        try everyWay { context, settle in
            let albums = [Album(context: context), Album(context: context)]
            let tracks = [context.insert("Track"), context.insert("Track")]
            func hit(_ album: Int) -> NSManagedObject? { albums[album].value(forKey: "hit") as? NSManagedObject }
            func hitOf(_ track: Int) -> Album? { tracks[track].value(forKey: "hitOf") as? Album }
            albums[0].setValue(tracks[0], forKey: "hit")
            tracks[1].setValue(albums[1], forKey: "hitOf")
            #expect(hitOf(0) === albums[0])
            #expect(hit(1) === tracks[1])
            try settle()
            albums[0].setValue(tracks[1], forKey: "hit")
            #expect(hit(0) === tracks[1])
            #expect(hit(1) == nil)
            #expect(hitOf(0) == nil)
            #expect(hitOf(1) === albums[0])
            try settle()
            tracks[0].setValue(albums[0], forKey: "hitOf")
            #expect(hit(0) === tracks[0])
            #expect(hitOf(1) == nil)
            try context.save()
            context.refreshAllObjects()
            #expect(hit(0) === tracks[0])
            #expect(hit(1) == nil)
            #expect(hitOf(1) == nil)
        }
    }

    @Test("Many-to-many: both ends follow")
    func manyToMany() throws {
        try everyWay { context, settle in
            let albums = [Album(context: context), Album(context: context)]
            let tags = (0..<3).map { _ in Tag(context: context) }
            func tagged(_ tag: Tag) -> Set<NSManagedObject>? { tag.value(forKey: "albums") as? Set<NSManagedObject> }
            albums[0].tags = [tags[0], tags[1]]
            try settle()
            tags[1].setValue(Set(albums), forKey: "albums")
            tags[2].setValue([albums[1]], forKey: "albums")
            expect(albums[1].tags, equals: [tags[1], tags[2]])
            try settle()
            albums[0].tags = [tags[2]]
            expect(tagged(tags[0]), equals: [])
            expect(tagged(tags[1]), equals: [albums[1]])
            expect(tagged(tags[2]), equals: Set(albums))
            try context.save()
            context.refreshAllObjects()
            expect(albums[0].tags, equals: [tags[2]])
            expect(tagged(tags[2]), equals: Set(albums))
            expect(tagged(tags[0]), equals: [])
        }
    }

    @Test("Ordered: the order survives, and a reorder is a change")
    func ordered() throws {
        try withTwoContexts { first, second in
            let id = try first.performAndWait {
                let album = Album(context: first)
                let tracks = (0..<12).map { first.insert("Track", ["title": "\($0)"]) }
                album.tracks = NSOrderedSet(array: tracks.reversed())
                try first.save()
                album.tracks = NSOrderedSet(array: [tracks[3]] + tracks.filter { $0 !== tracks[3] })
                #expect(first.hasChanges)
                first.insert("Track", ["title": "last"]).setValue(album, forKey: "album")
                tracks[5].setValue(nil, forKey: "album")
                try first.save()
                return album.objectID
            }
            try second.performAndWait {
                let album = try #require(try second.existingObject(with: id) as? Album)
                let titles = album.tracks?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
                expect(titles, equals: ["3", "0", "1", "2", "4", "6", "7", "8", "9", "10", "11", "last"])
            }
        }
    }

    @Test("Self-referential, to-one and to-many, and no object is lost or doubled")
    func selfReferential() throws {
        let person = NSEntityDescription(name: "Person")
        let friends = NSRelationshipDescription(name: "friends", destination: person, toMany: true)
        friends.inverse(to: friends)
        let spouse = NSRelationshipDescription(name: "spouse", destination: person)
        spouse.inverse(to: spouse)
        let boss = NSRelationshipDescription(name: "boss", destination: person)
        let reports = NSRelationshipDescription(name: "reports", destination: person, toMany: true)
        boss.inverse(to: reports)
        person.properties = [friends, spouse, boss, reports]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [person]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let people = (0..<3).map { _ in context.insert("Person") }
            func set(_ index: Int, _ key: String) -> Set<NSManagedObject>? { people[index].value(forKey: key) as? Set<NSManagedObject> }
            people[0].setValue(Set([people[1], people[0]]), forKey: "friends")
            expect(set(1, "friends"), equals: [people[0]])
            expect(set(0, "friends"), equals: [people[0], people[1]])
            people[0].setValue(people[1], forKey: "spouse")
            people[2].setValue(people[1], forKey: "spouse")
            #expect(people[1].value(forKey: "spouse") as? NSManagedObject === people[2])
            #expect(people[0].value(forKey: "spouse") == nil)
            people[1].setValue(people[1], forKey: "spouse")
            #expect(people[1].value(forKey: "spouse") as? NSManagedObject === people[1])
            #expect(people[2].value(forKey: "spouse") == nil)
            people[0].setValue(people[0], forKey: "boss")
            people[1].setValue(people[0], forKey: "boss")
            expect(set(0, "reports"), equals: [people[0], people[1]])
            try context.save()
            context.refreshAllObjects()
            expect(set(0, "reports"), equals: [people[0], people[1]])
            expect(set(1, "friends"), equals: [people[0]])
            #expect(people[1].value(forKey: "spouse") as? NSManagedObject === people[1])
        }
    }

    @Test("An object that was its own partner gets another one at both ends, and none stays behind when it is deleted")
    func ownPartner() throws {
        let person = NSEntityDescription(name: "Person")
        let spouse = NSRelationshipDescription(name: "spouse", destination: person)
        spouse.inverse(to: spouse)
        person.properties = [spouse]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [person]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let people = (0..<3).map { _ in context.insert("Person") }
            func spouse(_ index: Int) -> NSManagedObject? { people[index].value(forKey: "spouse") as? NSManagedObject }
            people[0].setValue(people[0], forKey: "spouse")
            people[2].setValue(people[2], forKey: "spouse")
            try context.save()
            people[0].setValue(people[1], forKey: "spouse")
            #expect(spouse(0) === people[1])
            #expect(spouse(1) === people[0])
            people[1].setValue(people[2], forKey: "spouse")
            #expect(spouse(0) == nil)
            #expect(spouse(1) === people[2])
            #expect(spouse(2) === people[1])
            try context.save()
            context.delete(people[2])
            try context.save()
            #expect(spouse(1) == nil)
        }
    }

    @Test("Without an inverse each end stands for itself")
    func withoutInverse() throws {
        let owner = NSEntityDescription(name: "Owner")
        let thing = NSEntityDescription(name: "Thing")
        owner.properties = [
            NSRelationshipDescription(name: "favourite", destination: thing),
            NSRelationshipDescription(name: "things", destination: thing, toMany: true),
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [owner, thing]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let owners = [context.insert("Owner"), context.insert("Owner")]
            let shared = context.insert("Thing")
            for owner in owners {
                owner.setValue(shared, forKey: "favourite")
                owner.setValue(Set([shared]), forKey: "things")
            }
            try context.save()
            context.refreshAllObjects()
            for owner in owners {
                #expect(owner.value(forKey: "favourite") as? NSManagedObject === shared)
                expect(owner.value(forKey: "things") as? Set<NSManagedObject>, equals: [shared])
            }
            context.delete(shared)
            try context.save()
            #expect(try context.all("Thing").isEmpty)
        }
    }

    @Test("A relationship to a superentity may contain a subentity's object, as its own class")
    func polymorphic() throws {
        try withTwoContexts { first, second in
            try first.performAndWait {
                let duo = first.insert("Duo", ["name": "Two"])
                Album(context: first).setValue(duo, forKey: "band")
                try first.save()
            }
            try second.performAndWait {
                let album = try #require(try second.all(Album.self).first)
                expect(album.band?.entity.name, equals: "Duo")
                expect(album.band?.value(forKey: "name") as? String, equals: "Two")
            }
        }
    }

    @Test("An object of another entity is refused, and the save names the property")
    func wrongEntity() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            album.setValue(Tag(context: context), forKey: "band")
            #expect(album.band === band)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectValidationError)
            expect(error.key, equals: "band")
            album.band = nil
            album.setValue(Set([band]), forKey: "tags")
            #expect(album.tags.isEmpty)
            expect(failure { try context.save() }?.key, equals: "tags")
            album.setValue("text", forKey: "tags")
            expect(failure { try context.save() }?.key, equals: "tags")
            album.tags = []
            try context.save()
        }
    }

    @Test("Several objects for a to-one relationship are refused")
    func manyForOne() throws {
        try withMusic { context in
            let bands = [Band(context: context), Band(context: context)]
            for band in bands { band.name = "Low" }
            let album = Album(context: context)
            album.setValue(Set(bands), forKey: "band")
            #expect(album.band == nil)
            expect(failure { try context.save() }?.key, equals: "band")
        }
    }

    @Test("An object of another context is refused, and the save says so")
    func otherContext() throws {
        try withTwoContexts { first, second in
            let band = try first.performAndWait { try first.saveBand("Low") }
            try second.performAndWait {
                let album = Album(context: second)
                album.band = band
                #expect(album.band == nil)
                let error = try #require(failure { try second.save() })
                #expect(error.localizedDescription.contains("context"))
                expect(error.key, equals: "band")
                album.band = second.object(with: band.objectID) as? Band
                try second.save()
                expect(album.band?.name, equals: "Low")
            }
        }
    }

    @Test("Adding by the inverse does not ask the store for the others")
    func addingToAFault() throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, ["name": "Low", "albums": [store.put("Album", 2, ["title": "Old"])]])
            let object = context.object(with: band)
            for _ in 0..<3 { Album(context: context).setValue(object, forKey: "band") }
            #expect(!store.calls.contains("newValue albums"))
            expect((object.value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 4)
            expect(store.calls.filter { $0 == "newValue albums" }.count, equals: 1)
        }
    }
}
