import CoreData
import TestSupport
import Testing

@Suite("A typed property") struct ManagedPropertyTests {
    @Test("Every type reads what was written, by type and by key")
    func types() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            let now = Date()
            let key = UUID()
            let link = try #require(URL(string: "https://example.com"))
            scrap[Scrap.tinyProperty] = -5
            scrap[Scrap.smallProperty] = 70_000
            scrap[Scrap.bigProperty] = .max
            scrap[Scrap.realProperty] = 0.1
            scrap[Scrap.singleProperty] = 0.1
            scrap[Scrap.textProperty] = "text"
            scrap[Scrap.flagProperty] = true
            scrap[Scrap.momentProperty] = now
            scrap[Scrap.bytesProperty] = Data([1, 2])
            scrap[Scrap.keyProperty] = key
            scrap[Scrap.linkProperty] = link
            scrap[Scrap.amountProperty] = Decimal(string: "1.23")!
            scrap[Scrap.listProperty] = ["a", "b"]
            try context.save()
            context.refresh(scrap, mergeChanges: false)
            expect(scrap[Scrap.tinyProperty], equals: -5)
            expect(scrap[Scrap.smallProperty], equals: 70_000)
            expect(scrap[Scrap.smallAsIntProperty], equals: 70_000)
            expect(scrap[Scrap.bigProperty], equals: .max)
            expect(scrap[Scrap.realProperty], equals: 0.1)
            expect(scrap[Scrap.singleProperty], equals: 0.1)
            expect(scrap[Scrap.textProperty], equals: "text")
            #expect(scrap[Scrap.flagProperty])
            expect(scrap[Scrap.momentProperty], equals: now)
            expect(scrap[Scrap.bytesProperty], equals: Data([1, 2]))
            expect(scrap[Scrap.keyProperty], equals: key)
            expect(scrap[Scrap.linkProperty], equals: link)
            expect(scrap[Scrap.amountProperty], equals: Decimal(string: "1.23"))
            expect(scrap[Scrap.listProperty], equals: ["a", "b"])
            expect(scrap.value(forKey: "big") as? Int64, equals: .max)
            expect(scrap.value(forKey: "key") as? UUID, equals: key)
        }
    }

    @Test("Nil reads as nil where the type is optional and as zero where it is not")
    func nils() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            #expect(scrap[Scrap.tinyProperty] == nil)
            expect(scrap[Scrap.smallProperty], equals: 0)
            #expect(scrap[Scrap.textProperty] == nil)
            expect(scrap[Scrap.amountProperty], equals: 0)
            expect(scrap[Scrap.listProperty], equals: [])
            scrap[Scrap.tinyProperty] = 0
            expect(scrap[Scrap.tinyProperty], equals: 0)
            scrap[Scrap.tinyProperty] = nil
            #expect(scrap[Scrap.tinyProperty] == nil)
            #expect(scrap.value(forKey: "tiny") == nil)
        }
    }

    @Test("Enumerations are kept by their raw values; one that is not a case reads as nil")
    func enumerations() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            #expect(scrap[Scrap.moodProperty] == nil)
            expect(scrap[Scrap.gradeProperty], equals: .low)
            scrap[Scrap.moodProperty] = .loud
            scrap[Scrap.gradeProperty] = .high
            expect(scrap.value(forKey: "mood") as? String, equals: "loud")
            expect(scrap.value(forKey: "grade") as? Int, equals: 2)
            scrap.setValue("odd", forKey: "mood")
            #expect(scrap[Scrap.moodProperty] == nil)
        }
    }

    @Test("A property of a superentity serves its subentities, whichever is met first")
    func subentities() throws {
        for duoFirst in [true, false] {
            try withMusic { context in
                // A property of its own for each order, for it remembers what it has resolved.
                let name = ManagedProperty<String>("name")
                let second = ManagedProperty<String?>("second")
                let band = context.insert("Band")
                let duo = context.insert("Duo")
                for object in duoFirst ? [duo, band, duo] : [band, duo, band] { object[name] += "x" }
                duo[second] = "two"
                expect(duo.value(forKey: "name") as? String, equals: (duoFirst ? "xx" : "x"))
                expect(band.value(forKey: "name") as? String, equals: (duoFirst ? "x" : "xx"))
                expect(duo.value(forKey: "second") as? String, equals: "two")
                #expect(duo is Band)
            }
        }
    }

    @Test("Properties of one name in unrelated entities are told apart")
    func unrelatedEntities() throws {
        try withMusic { context in
            let title = ManagedProperty<String?>("title")
            let album = context.insert("Album")
            let track = context.insert("Track")
            for _ in 0..<2 {
                album[title] = "album"
                track[title] = "track"
                expect(album[title], equals: "album")
                expect(track[title], equals: "track")
            }
        }
    }

    @Test("Relationships are read and written as objects and sets, and keep their inverses")
    func relationships() throws {
        try withMusic { context in
            let band = Band(context: context)
            let album = Album(context: context)
            band.albums = [album]
            #expect(album.band === band)
            album.band = nil
            #expect(band.albums.isEmpty)
            let tag = Tag(context: context)
            album.tags = [tag]
            expect((tag.value(forKey: "albums") as? Set<NSManagedObject>), equals: [album])
            let track = context.insert("Track")
            album.tracks = NSOrderedSet(array: [track])
            #expect(track.value(forKey: "album") as? Album === album)
        }
    }

    @Test("A type that the attribute does not have stops the program, and so does an unknown name")
    func mismatches() async {
        await #expect(processExitsWith: .failure) { try withMusic { _ = Band(context: $0)[ManagedProperty<Int64>("name")] } }
        await #expect(processExitsWith: .failure) { try withMusic { _ = Band(context: $0)[ManagedProperty<String>("nothing")] } }
        await #expect(processExitsWith: .failure) { try withMusic { _ = Album(context: $0)[ManagedProperty<Date>("rating")] } }
    }

    @Test("More properties than fit one word of bits are told apart")
    func manyProperties() throws {
        let wide = NSEntityDescription(name: "Wide")
        wide.properties = (0..<150).map { NSAttributeDescription(name: "p\($0)", type: .integer64) }
        let wider = NSEntityDescription(name: "Wider")
        wider.properties = (0..<70).map { NSAttributeDescription(name: "q\($0)", type: .string) }
        wide.subentities = [wider]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [wide, wider]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let object = context.insert("Wider")
            for number in stride(from: 0, to: 150, by: 2) { object.setValue(number, forKey: "p\(number)") }
            for number in stride(from: 1, to: 70, by: 2) { object.setValue("\(number)", forKey: "q\(number)") }
            try context.save()
            #expect(!object.hasChanges)
            object[ManagedProperty<Int64?>("p149")] = 149
            object[ManagedProperty<String?>("q68")] = "68"
            expect(Set(object.changedValues().keys), equals: ["p149", "q68"])
            context.refresh(object, mergeChanges: true)
            for number in 0..<150 {
                expect(object.value(forKey: "p\(number)") as? Int, equals: (number % 2 == 0 || number == 149 ? number : nil))
            }
            for number in 0..<70 {
                expect(object.value(forKey: "q\(number)") as? String, equals: (number % 2 == 1 || number == 68 ? "\(number)" : nil))
            }
            expect(object[ManagedProperty<Int64?>("p148")], equals: 148)
            #expect(object[ManagedProperty<Int64?>("p1")] == nil)
        }
    }
}
