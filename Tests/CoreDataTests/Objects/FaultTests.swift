import CoreData
import TestSupport
import Testing

@Suite("A fault") struct FaultTests {
    private func second(_ body: (NSManagedObjectContext, Band) throws -> Void) throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust", "Secret"]) }
            try second.performAndWait { try body(second, try #require(try second.all(Band.self).first)) }
        }
    }

    @Test("Reading an attribute fires the object, not its relationships")
    func attribute() throws {
        try second { _, band in
            #expect(band.isFault)
            #expect(band.faultingState != 0)
            #expect(band.hasFault(forRelationshipNamed: "albums"))
            expect(band.name, equals: "Low")
            #expect(!band.isFault)
            expect(band.faultingState, equals: 0)
            #expect(band.hasFault(forRelationshipNamed: "albums"))
            let album = try #require(band.albums.first)
            #expect(!band.hasFault(forRelationshipNamed: "albums"))
            #expect(album.isFault)
            #expect(["Trust", "Secret"].contains(album.title))
            #expect(!album.isFault)
        }
    }

    @Test(
        "A new object that is refreshed without merging is a fault with the defaults of its entity, has empty relationships, and is still inserted"
    )
    func new() throws {
        try withMusic { context in
            let band = Band(context: context)
            let album = Album(context: context)
            (album.title, album.band, album.tags) = ("Trust", band, [Tag(context: context)])
            context.refresh(album, mergeChanges: true)
            #expect(!album.isFault && album.title == "Trust")
            context.refresh(album, mergeChanges: false)
            #expect(album.isFault && album.isInserted)
            #expect(band.albums.isEmpty)
            try expect(context.count(for: NSFetchRequest<Album>(entityName: "Album")), equals: 1)
            #expect(album.tags.isEmpty && album.band == nil)
            #expect(!album.isFault)
            expect(album.title, equals: "Untitled")
            #expect(album.changedValues().isEmpty)
            context.refresh(album, mergeChanges: false)
            album.band = band
            expect(band.albums, equals: [album])
            album.title = "Secret"
            band.name = "Low"
            try context.save()
            context.reset()
            try expect(context.all(Album.self).map(\.title), equals: ["Secret"])
        }
    }

    @Test("A child reads a new object of its parent that was refreshed without merging")
    func newInParent() throws {
        try withMusic { parent in
            let band = Band(context: parent)
            band.name = "Low"
            parent.refresh(band, mergeChanges: false)
            let id = band.objectID
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            try child.performAndWait {
                let object = try child.existingObject(with: id)
                #expect(object.value(forKey: "name") == nil)
            }
        }
    }

    @Test("The IDs of a relationship are told without making objects of them")
    func objectIDs() throws {
        try second { context, band in
            let ids = band.objectIDs(forRelationshipNamed: "albums")
            expect(ids.count, equals: 2)
            expect(context.registeredObjects, equals: [band])
            #expect(band.hasFault(forRelationshipNamed: "albums"))
            let album = try #require(try context.existingObject(with: ids[0]) as? Album)
            expect(album.objectIDs(forRelationshipNamed: "band"), equals: [band.objectID])
            expect(album.objectIDs(forRelationshipNamed: "hit"), equals: [])
        }
    }

    @Test("A new object has no relationship faults")
    func newObject() throws {
        try withMusic { context in
            let band = Band(context: context)
            #expect(!band.isFault)
            #expect(!band.hasFault(forRelationshipNamed: "albums"))
            expect(band.objectIDs(forRelationshipNamed: "albums"), equals: [])
        }
    }

    @Test("The fault of a row that is gone reads as deleted, with nil values")
    func inaccessible() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            let (album, band) = try second.performAndWait {
                (try #require(try second.all(Album.self).first), try #require(try second.all(Band.self).first))
            }
            try first.performAndWait {
                for band in try first.all(Band.self) { first.delete(band) }
                try first.save()
            }
            second.performAndWait {
                #expect(album.isFault)
                expect(album.title, equals: "")
                #expect(album.band == nil)
                #expect(band.albums.isEmpty)
                #expect(second.pendingFaultError == nil)
                expect(
                    failure { _ = try second.existingObject(with: album.objectID) }?.code, equals: NSManagedObjectReferentialIntegrityError)
            }
        }
    }

    @Test("The fault of a row that is gone is an error that names the object, where the context says so")
    func inaccessibleAsError() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low") }
            second.shouldDeleteInaccessibleFaults = false
            let band = try second.performAndWait { try #require(try second.all(Band.self).first) }
            try first.performAndWait {
                for band in try first.all(Band.self) { first.delete(band) }
                try first.save()
            }
            try second.performAndWait {
                let thrown = try #require(failure { try band.fulfillFault() })
                expect(thrown.code, equals: NSManagedObjectReferentialIntegrityError)
                #expect(thrown.localizedDescription.contains(band.objectID.uriRepresentation().absoluteString))
                expect(band.name, equals: "")
                #expect(band.isFault)
                #expect(second.pendingFaultError != nil)
                #expect(try second.all(Band.self).isEmpty)
                #expect(failure { try second.save() }?.code == NSManagedObjectReferentialIntegrityError)
                try second.save()
            }
        }
    }

    @Test("A write to a fault that cannot be read is not lost silently: the save tells of it")
    func writeToUnreadableFault() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low") }
            second.shouldDeleteInaccessibleFaults = false
            let band = try second.performAndWait { try #require(try second.all(Band.self).first) }
            try first.performAndWait {
                for band in try first.all(Band.self) { first.delete(band) }
                try first.save()
            }
            second.performAndWait {
                band.name = "High"
                expect(failure { try second.save() }?.code, equals: NSManagedObjectReferentialIntegrityError)
            }
        }
    }
}
