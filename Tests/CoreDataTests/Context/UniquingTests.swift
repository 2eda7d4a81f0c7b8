import CoreData
import TestSupport
import Testing

@Suite("Identity in a context") struct UniquingTests {
    @Test("An object fetched twice is one instance")
    func fetchedTwice() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust", "Secret"]) }
            try second.performAndWait {
                let band = try #require(try second.all(Band.self).first)
                #expect(try second.all(Band.self).first === band)
                #expect(second.object(with: band.objectID) === band)
                #expect(try second.existingObject(with: band.objectID) === band)
                let album = try #require(try second.all(Album.self, "title == 'Trust'").first)
                #expect(album.band === band)
                #expect(band.albums.contains { $0 === album })
                #expect(try second.all(Album.self).contains { $0 === album })
            }
        }
    }

    @Test("A new object is the same instance after its save")
    func newObject() throws {
        try withMusic { context in
            let band = try context.saveBand("Low")
            #expect(try context.all(Band.self).first === band)
        }
    }

    @Test("Two contexts have an instance each, and the second sees what the first saved")
    func twoContexts() throws {
        try withTwoContexts { first, second in
            let band = try first.performAndWait { try first.saveBand("Low") }
            try second.performAndWait {
                let other = try #require(try second.all(Band.self).first)
                #expect(other !== band)
                expect(other.objectID, equals: band.objectID)
                expect(other.name, equals: "Low")
                try expect(second.count(for: NSFetchRequest<Band>(entityName: "Band")), equals: 1)
            }
        }
    }

    @Test("An object nobody holds is deallocated and gone from the context")
    func weakRegistration() throws {
        try withMusic { context in
            weak var released: Band?
            let id = try {
                let band = try context.saveBand("Low")
                context.processPendingChanges()
                released = band
                return band.objectID
            }()
            #expect(released == nil)
            #expect(context.registeredObjects.isEmpty)
            #expect(context.registeredObject(for: id) == nil)
            try expect(context.existingObject(with: id).value(forKey: "name") as? String, equals: "Low")
        }
    }

    @Test("An object with changes is kept until it is saved")
    func changedObjectsAreKept() throws {
        try withMusic { context in
            weak var released: Band?
            try {
                let band = try context.saveBand("Low")
                band.name = "High"
                released = band
            }()
            #expect(released != nil)
            #expect(context.hasChanges)
            try context.save()
            #expect(released == nil)
            try expect(context.all(Band.self).map(\.name), equals: ["High"])
        }
    }

    @Test("A context that nobody holds goes, though its objects are held")
    func contextIsNotKept() throws {
        let coordinator = try Music.coordinator()
        var context: NSManagedObjectContext? = Music.context(coordinator)
        weak let released = context
        let band = try context?.performAndWait { try context?.saveBand("Low") }
        // The end of the event, which the queue was given, holds the context while it runs.
        context?.performAndWait {}
        context = nil
        #expect(released == nil)
        #expect(band?.managedObjectContext == nil)
        expect(band?.name, equals: "Low")
    }

    @Test("Objects that lead to each other go with their context, saved or not")
    func cyclesGoWithTheContext() throws {
        final class Witness {
            weak var band: Band?
            weak var album: Album?
            weak var new: Album?
        }
        let witness = Witness()
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            let new = Album(context: context)
            new.band = band
            #expect(album.band === band)
            expect(band.albums, equals: [album, new])
            (witness.band, witness.album, witness.new) = (band, album, new)
        }
        #expect(witness.band == nil)
        #expect(witness.album == nil)
        #expect(witness.new == nil)
    }

    @Test("Objects that lead to each other go once they are deleted or rolled back")
    func cyclesGoWithTheirObjects() throws {
        final class Witness {
            weak var band: Band?
            weak var album: Album?
        }
        let witnesses = [Witness(), Witness(), Witness()]
        try withMusic { context in
            for (round, witness) in witnesses.enumerated() {
                try {
                    let band = Band(context: context)
                    band.name = "Low"
                    let album = Album(context: context)
                    album.band = band
                    if round == 0 { try context.save() }
                    if round < 2 { context.delete(band) } else { context.rollback() }
                    (witness.band, witness.album) = (band, album)
                }()
                try context.save()
                context.processPendingChanges()
            }
            for witness in witnesses {
                #expect(witness.band == nil)
                #expect(witness.album == nil)
            }
        }
    }

    @Test("An unknown ID gives a fault at once, and an error when it must exist")
    func unknownObject() throws {
        try withTwoContexts { first, second in
            let id = try first.performAndWait {
                let band = try first.saveBand("Low")
                first.delete(band)
                try first.save()
                return band.objectID
            }
            second.performAndWait {
                let ghost = second.object(with: id)
                #expect(ghost.isFault)
                #expect(second.object(with: id) === ghost)
                expect(failure { _ = try second.existingObject(with: id) }?.code, equals: NSManagedObjectReferentialIntegrityError)
            }
        }
    }

    @Test("Objects are told apart by entity where their keys are the same")
    func sameKeyInTwoEntities() throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, ["name": "Low"])
            let tag = store.put("Tag", 1, ["label": "slow"])
            expect((context.object(with: band) as? Band)?.name, equals: "Low")
            expect((context.object(with: tag) as? Tag)?.label, equals: "slow")
            #expect(context.registeredObjects.count <= 2)
        }
    }

    @Test("A thousand objects are counted after a reset and from a second context")
    func thousand() throws {
        try withTwoContexts { first, second in
            try first.performAndWait {
                for number in 0..<1000 { Tag(context: first).label = "\(number)" }
                try first.save()
                first.reset()
                try expect(first.all(Tag.self).count, equals: 1000)
                for tag in try first.all(Tag.self, "label ENDSWITH '7'").prefix(10) { first.delete(tag) }
                try first.save()
            }
            try second.performAndWait {
                let count = try second.count(for: NSFetchRequest<Tag>(entityName: "Tag"))
                expect(count, equals: 990)
                let ids = Set(try second.all(Tag.self).map(\.objectID))
                expect(ids.count, equals: 990)
            }
        }
    }
}
