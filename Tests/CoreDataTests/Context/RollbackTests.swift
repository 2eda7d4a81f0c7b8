import CoreData
import TestSupport
import Testing

@Suite("Going back") struct RollbackTests {
    @Test("A rollback undoes inserts, edits, deletes and relationships")
    func rollback() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust", "Secret"])
            let albums = band.albums.sorted { $0.title < $1.title }
            let new = Album(context: context)
            new.band = band
            albums[0].title = "edited"
            albums[0].band = nil
            context.delete(albums[1])
            context.rollback()
            #expect(!context.hasChanges)
            expect(albums.map(\.title), equals: ["Secret", "Trust"])
            expect(albums.map(\.band), equals: [band, band])
            expect(band.albums, equals: Set(albums))
            #expect(!albums[1].isDeleted)
            #expect(new.managedObjectContext == nil)
            try expect(context.all(Album.self).count, equals: 2)
            albums[0].title = "edited again"
            context.delete(albums[1])
            try context.save()
            try expect(context.all(Album.self).map(\.title), equals: ["edited again"])
        }
    }

    @Test("A rollback of changes to the relationships of faults undoes them, too")
    func rollbackOfFaults() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            try second.performAndWait {
                let band = try #require(try second.all(Band.self).first)
                Album(context: second).band = band
                second.rollback()
                expect(band.albums.map(\.title), equals: ["Trust"])
                #expect(!second.hasChanges)
            }
        }
    }

    @Test("A reset forgets every object")
    func reset() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            band.name = "High"
            _ = Album(context: context)
            context.reset()
            #expect(!context.hasChanges)
            #expect(context.registeredObjects.isEmpty)
            #expect(band.managedObjectContext == nil)
            let again = try #require(try context.all(Band.self).first)
            #expect(again !== band)
            expect(again.name, equals: "Low")
        }
    }

    @Test("A refresh without merging drops what is unsaved")
    func refreshWithoutMerging() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            band.name = "High"
            context.refresh(band, mergeChanges: false)
            #expect(band.isFault)
            #expect(!band.hasChanges)
            #expect(!context.hasChanges)
            expect(band.name, equals: "Low")
            band.name = "Higher"
            expect(context.updatedObjects, equals: [band])
        }
    }

    @Test("A refresh drops relationship changes of an object that is still a fault")
    func refreshOfChangedFault() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            try second.performAndWait {
                let band = try #require(try second.all(Band.self).first)
                let album = Album(context: second)
                album.band = band
                second.refresh(band, mergeChanges: false)
                #expect(!band.hasChanges)
                expect(band.albums.map(\.title), equals: ["Trust"])
            }
        }
    }

    @Test("A refresh with merging brings what others saved under what is unsaved here")
    func refreshWithMerging() throws {
        try withTwoContexts { first, second in
            let id = try first.performAndWait {
                let album = Album(context: first)
                album.title = "Trust"
                try first.save()
                return album.objectID
            }
            let album = try second.performAndWait { () -> Album in
                let album = try #require(try second.existingObject(with: id) as? Album)
                album.title = "edited here"
                return album
            }
            try first.performAndWait {
                let album = try #require(first.object(with: id) as? Album)
                album.title = "edited there"
                album.year = 1999
                try first.save()
            }
            try second.performAndWait {
                expect(album.year, equals: 2001)
                second.refresh(album, mergeChanges: true)
                expect(album.year, equals: 1999)
                expect(album.title, equals: "edited here")
                expect(Set(album.changedValues().keys), equals: ["title"])
                expect(album.committedValues(forKeys: ["title"])["title"] as? String, equals: "edited there")
                try second.save()
            }
            try first.performAndWait {
                first.refreshAllObjects()
                let titles = try first.all(Album.self).map(\.title)
                expect(titles, equals: ["edited here"])
            }
        }
    }

    @Test("A refresh with merging adds what others put into a to-many relationship to what was put in here")
    func refreshMergesToMany() throws {
        try withTwoContexts { first, second in
            let id = try first.performAndWait {
                let album = Album(context: first)
                for label in ["a", "b"] {
                    let tag = Tag(context: first)
                    tag.label = label
                    album.setValue(album.tags.union([tag]), forKey: "tags")
                }
                try first.save()
                return album.objectID
            }
            let album = try second.performAndWait { () -> Album in
                let album = try #require(try second.existingObject(with: id) as? Album)
                let tag = Tag(context: second)
                tag.label = "mine"
                album.tags = album.tags.filter { $0.label != "a" }.union([tag])
                return album
            }
            try first.performAndWait {
                let album = try #require(first.object(with: id) as? Album)
                let tag = Tag(context: first)
                tag.label = "theirs"
                album.tags = album.tags.filter { $0.label != "b" }.union([tag])
                try first.save()
            }
            second.performAndWait {
                second.refresh(album, mergeChanges: true)
                expect(Set(album.tags.compactMap(\.label)), equals: ["mine", "theirs"])
                #expect(album.changedValues()["tags"] != nil)
            }
        }
    }

    @Test("Refreshing everything keeps unsaved edits and shows what others saved")
    func refreshAll() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["A", "B"]) }
            let albums = try second.performAndWait { () -> [Album] in
                let albums = try second.all(Album.self, by: "title")
                albums[0].year = 7
                return albums
            }
            try first.performAndWait {
                for album in try first.all(Album.self) { album.rating = 5 }
                try first.save()
            }
            second.performAndWait {
                _ = albums[1].title
                second.refreshAllObjects()
                expect(albums.map(\.rating), equals: [5, 5])
                expect(albums.map(\.year), equals: [7, 2001])
                expect(second.updatedObjects, equals: [albums[0]])
            }
        }
    }

    @Test("A fetch neither clobbers unsaved edits nor makes objects dirty")
    func refetch() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low") }
            let band = try second.performAndWait { () -> Band in
                let band = try #require(try second.all(Band.self).first)
                expect(band.name, equals: "Low")
                return band
            }
            try first.performAndWait {
                try #require(try first.all(Band.self).first).name = "High"
                try first.save()
            }
            try second.performAndWait {
                _ = try second.all(Band.self)
                expect(band.name, equals: "Low")
                #expect(!second.hasChanges)
                band.name = "Mine"
                _ = try second.all(Band.self)
                expect(band.name, equals: "Mine")
            }
        }
    }
}
