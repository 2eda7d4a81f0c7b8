import CoreData
import TestSupport
import Testing

@Suite("A child context") struct ChildContextTests {
    /// A parent over a new store, and a child of it.
    private func family(_ body: (_ parent: NSManagedObjectContext, _ child: NSManagedObjectContext) throws -> Void) throws {
        let parent = try Music.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try body(parent, child)
    }

    private func stored(_ parent: NSManagedObjectContext, _ entity: String) throws -> Int {
        let other = Music.context(parent.persistentStoreCoordinator!)
        return try other.performAndWait { try other.all(entity).count }
    }

    @Test("Its save reaches the parent and not the store; the parent's save reaches the store")
    func save() throws {
        try family { parent, child in
            try child.performAndWait {
                Tag(context: child).label = "slow"
                try child.save()
                #expect(!child.hasChanges)
            }
            try parent.performAndWait {
                expect(parent.insertedObjects.count, equals: 1)
                try expect(parent.all(Tag.self).map(\.label), equals: ["slow"])
                try expect(stored(parent, "Tag"), equals: 0)
                try parent.save()
                try expect(stored(parent, "Tag"), equals: 1)
            }
            try child.performAndWait {
                let tags = try child.all(Tag.self)
                expect(tags.map(\.label), equals: ["slow"])
            }
        }
    }

    @Test("It sees what is unsaved in the parent, and the parent does not see what is unsaved in it")
    func visibility() throws {
        try family { parent, child in
            let band = try parent.performAndWait { () -> Band in
                let band = try parent.saveBand("Low", albums: ["Trust"])
                band.name = "High"
                band.albums.first?.title = "Distrust"
                let new = Album(context: parent)
                new.title = "New"
                new.band = band
                return band
            }
            try child.performAndWait {
                let copy = try #require(try child.existingObject(with: band.objectID) as? Band)
                #expect(copy !== band)
                expect(copy.name, equals: "High")
                expect(Set(copy.albums.map(\.title)), equals: ["Distrust", "New"])
                #expect(copy.albums.allSatisfy { $0.band === copy })
                try expect(child.all(Album.self, "title == 'New'").count, equals: 1)
                try expect(child.count(for: NSFetchRequest<Album>(entityName: "Album")), equals: 2)
                copy.name = "Lower"
                try expect(child.all(Band.self, "name == 'Lower'"), equals: [copy])
            }
            try parent.performAndWait {
                let lower = try parent.all(Band.self, "name == 'Lower'")
                #expect(lower.isEmpty)
                expect(band.name, equals: "High")
            }
        }
    }

    @Test("New objects that are related to each other arrive related, and stay so in the store")
    func relatedNewObjects() throws {
        try family { parent, child in
            try child.performAndWait {
                let band = Band(context: child)
                band.name = "Low"
                for title in ["A", "B"] {
                    let album = Album(context: child)
                    album.title = title
                    album.band = band
                    album.tracks = NSOrderedSet(array: [child.insert("Track", ["title": "1"]), child.insert("Track", ["title": "2"])])
                }
                try child.save()
            }
            try parent.performAndWait {
                let band = try #require(try parent.all(Band.self).first)
                expect(Set(band.albums.map(\.title)), equals: ["A", "B"])
                #expect(band.isInserted)
                try parent.save()
                #expect(!band.objectID.isTemporaryID)
                parent.refreshAllObjects()
                for album in band.albums {
                    #expect(album.band === band)
                    expect(album.tracks?.array.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }, equals: ["1", "2"])
                }
            }
        }
    }

    @Test("Edits, moves and deletes arrive as changes of the parent's objects")
    func edits() throws {
        try family { parent, child in
            let (band, album) = try parent.performAndWait {
                let band = try parent.saveBand("Low", albums: ["Trust"])
                return (band, try #require(band.albums.first))
            }
            try child.performAndWait {
                let copy = try #require(try child.existingObject(with: album.objectID) as? Album)
                copy.title = "Distrust"
                let other = Band(context: child)
                other.name = "Duster"
                copy.band = other
                child.delete(child.object(with: band.objectID))
                try child.save()
            }
            try parent.performAndWait {
                expect(album.title, equals: "Distrust")
                expect(album.band?.name, equals: "Duster")
                #expect(band.isDeleted)
                expect(parent.updatedObjects, equals: [album])
                try parent.save()
                try expect(parent.all(Band.self).map(\.name), equals: ["Duster"])
                try expect(parent.all(Album.self), equals: [album])
            }
        }
    }

    @Test("Only what the child has changed overwrites the parent's unsaved values")
    func partialEdits() throws {
        try family { parent, child in
            let album = try parent.performAndWait { () -> Album in
                let album = try #require(try parent.saveBand("Low", albums: ["Trust"]).albums.first)
                return album
            }
            let copy = try child.performAndWait { () -> Album in
                let copy = try #require(try child.existingObject(with: album.objectID) as? Album)
                copy.title = "child"
                return copy
            }
            parent.performAndWait { album.year = 1980 }
            try child.performAndWait { try child.save() }
            parent.performAndWait {
                expect(album.title, equals: "child")
                expect(album.year, equals: 1980)
            }
            child.performAndWait {
                child.refresh(copy, mergeChanges: true)
                expect(copy.year, equals: 1980)
            }
        }
    }

    @Test("A child's save of a relationship leaves what the parent has related since, by the ID that the parent's save has given too")
    func listDifferences() throws {
        try family { parent, child in
            let band = parent.performAndWait { () -> Band in
                let band = Band(context: parent)
                band.name = "Low"
                return band
            }
            try child.performAndWait {
                let copy = try #require(try child.all(Band.self).first)
                let album = Album(context: child)
                album.title = "theirs"
                album.band = copy
            }
            try parent.performAndWait {
                let album = Album(context: parent)
                album.title = "ours"
                album.band = band
                try parent.save()
            }
            try child.performAndWait { try child.save() }
            parent.performAndWait { expect(Set(band.albums.map(\.title)), equals: ["theirs", "ours"]) }
            try child.performAndWait {
                child.refreshAllObjects()
                let copies = try child.all(Band.self)
                expect(copies.map { Set($0.albums.map(\.title)) }, equals: [["theirs", "ours"]])
            }
        }
    }

    @Test("An object keeps its identity for the child after the parent has saved it")
    func identityAfterParentSave() throws {
        try family { parent, child in
            let tag = try child.performAndWait { () -> Tag in
                let tag = Tag(context: child)
                tag.label = "slow"
                try child.save()
                return tag
            }
            try parent.performAndWait { try parent.save() }
            try child.performAndWait {
                try expect(child.all(Tag.self), equals: [tag])
                tag.label = "slower"
                try child.save()
            }
            try parent.performAndWait {
                try expect(parent.all(Tag.self).map(\.label), equals: ["slower"])
                try parent.save()
            }
            try expect(stored(parent, "Tag"), equals: 1)
        }
    }

    @Test("An object that the parent has deleted is none for the child")
    func deletedInParent() throws {
        try family { parent, child in
            let id = try parent.performAndWait { () -> NSManagedObjectID in
                let band = try parent.saveBand("Low")
                parent.delete(band)
                return band.objectID
            }
            try child.performAndWait {
                let bands = try child.all(Band.self)
                #expect(bands.isEmpty)
                expect(failure { _ = try child.existingObject(with: id) }?.code, equals: NSManagedObjectReferentialIntegrityError)
            }
        }
    }

    @Test("A failed validation keeps everything in the child")
    func failedSave() throws {
        try family { parent, child in
            child.performAndWait {
                let band = Band(context: child)
                expect(failure { try child.save() }?.key, equals: "name")
                expect(child.insertedObjects, equals: [band])
            }
            parent.performAndWait { #expect(!parent.hasChanges) }
        }
    }

    @Test("A save that fails because the store does not deliver leaves the parent as it was and the child dirty")
    func failingStore() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let low = store.put("Band", 1, ["name": "Low"])
        let double = store.put("Album", 2, ["title": "Double Negative", "year": 2018, "band": low])
        let parent = Music.context(coordinator)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        struct Unplugged: Error {}
        try child.performAndWait {
            let hey = Album(context: child)
            hey.title = "HEY WHAT"
            let album = try child.existingObject(with: double) as! Album
            album.title = "Double"
            album.band = nil
            // The parent has let go of what it read for the child.
            parent.performAndWait { parent.reset() }
            store.nodeAnswer = { _ in throw Unplugged() }
            #expect(throws: Unplugged.self) { try child.save() }
            #expect(child.hasChanges)
            parent.performAndWait { #expect(!parent.hasChanges) }
            store.nodeAnswer = nil
            try child.save()
            #expect(!child.hasChanges)
        }
        try parent.performAndWait {
            try expect(parent.all(Album.self).map(\.title).sorted(), equals: ["Double", "HEY WHAT"])
            try parent.save()
        }
        expect(store.records[double]?.values["title"] as? String, equals: "Double")
    }

    @Test("Rollback in the child leaves the parent alone")
    func rollback() throws {
        try family { parent, child in
            let band = try parent.performAndWait { () -> Band in
                let band = try parent.saveBand("Low")
                band.name = "High"
                return band
            }
            try child.performAndWait {
                let copy = try #require(try child.existingObject(with: band.objectID) as? Band)
                copy.name = "Lower"
                child.rollback()
                expect(copy.name, equals: "High")
            }
            parent.performAndWait {
                expect(band.name, equals: "High")
                #expect(band.isUpdated)
            }
        }
    }

    @Test("Three generations save step by step")
    func grandchild() throws {
        try family { parent, child in
            let grandchild = NSManagedObjectContext(.privateQueue)
            grandchild.parent = child
            #expect(grandchild.persistentStoreCoordinator === parent.persistentStoreCoordinator)
            try grandchild.performAndWait {
                Tag(context: grandchild).label = "slow"
                try grandchild.save()
            }
            parent.performAndWait { #expect(!parent.hasChanges) }
            try child.performAndWait { try child.save() }
            try parent.performAndWait { try parent.save() }
            try expect(stored(parent, "Tag"), equals: 1)
        }
    }
}
