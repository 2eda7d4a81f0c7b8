import CoreData
import Songs
import Testing

/// The fetches that all stores answer alike.
struct FetchTests {
    @Test(arguments: SongLibrary.Kind.allCases)
    func theSampleHasItsSongsAlbumsAndComposers(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            try #expect(context.count(for: NSFetchRequest<Song>(entityName: "Song")) == 14)
            try #expect(context.all(Album.self, by: "year").map(\.title) == ["Salt Maps", "The Paper Observatory", "Ljusår"])
            try #expect(context.all(Composer.self).count == 5)
            let song = try context.song("Nine Small Lighthouses")
            #expect(song.duration == 187)
            #expect(song.trackNumber == 2)
            #expect(song.lyrics?.contains("none of them lit,\nand the \"good ship\" Patience") == true)
            try #expect(context.song("Tidewriting").lyrics == nil)
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func theSampleCanBeOpenedForReadingInItsPlace(kind: SongLibrary.Kind) throws {
        let container = try SongLibrary.open(csv: SongLibrary.sampleFile, kind: kind, isReadOnly: true)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            try context.song("Tidewriting").name = "Another"
            #expect((failure { try context.save() } as NSError?)?.code == NSPersistentStoreSaveError)
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func predicatesAndSortDescriptorsAreObeyed(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            let request = NSFetchRequest<Song>(entityName: "Song")
            request.predicate = NSPredicate(format: "duration > %d AND album.year < 2020", 220)
            request.sortDescriptors = [NSSortDescriptor(key: "duration", ascending: false)]
            let names = ["Letter to a Cartographer", "The Night Shift", "Tidewriting", "Folded Stars", "Harbour Arithmetic"]
            try #expect(context.fetch(request).map(\.name) == names)
            request.fetchOffset = 1
            request.fetchLimit = 2
            try #expect(context.fetch(request).map(\.name) == ["The Night Shift", "Tidewriting"])
            try #expect(context.count(for: request) == 2)
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func predicatesFollowRelationshipsInBothDirections(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            let byNoor = try context.all(Song.self, NSPredicate(format: "ANY composers.name == %@", "Noor Adeyemi"))
            #expect(byNoor.count == 5)
            try #expect(context.all(Album.self, NSPredicate(format: "songs.@count == 5")).map(\.title) == ["The Paper Observatory"])
            try #expect(context.all(Song.self, NSPredicate(format: "album == nil")).count == 2)
            let album = try context.all(Album.self, NSPredicate(format: "title == %@", "Ljusår"))[0]
            try #expect(context.all(Song.self, NSPredicate(format: "album == %@", album)).count == 3)
            try #expect(context.all(Song.self, NSPredicate(format: "SELF IN %@", Array(byNoor.prefix(2)))).count == 2)
            try #expect(context.all(Song.self, NSPredicate(format: "name BEGINSWITH[cd] 'forM'")).map(\.name) == ["Förmörkelse"])
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func idsDictionariesAndObjectsAgree(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            let songs = try context.all(Song.self, by: "name")
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Song")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            try #expect(context.fetch(ids) == songs.map(\.objectID))
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Song")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["name", "album.title"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let found = try context.fetch(dictionaries)
            #expect(found.map { $0.object(forKey: "name" as NSString) as? String } == songs.map(\.name))
            #expect(found.map { $0.object(forKey: "album.title" as NSString) as? String } == songs.map { $0.album?.title })
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aBlockPredicateSeesTheValues(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            let block = NSPredicate { object, _ in (object as? [String: Any])?["name"] as? String == "Tidewriting" }
            try #expect(context.all(Song.self, block).map(\.trackNumber) == [3])
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aPredicateWithAnUnknownKeyIsAnErrorThatNamesIt(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            let error = try #require(failure { _ = try context.all(Song.self, NSPredicate(format: "tempo > 3")) })
            #expect("\(error)".contains("tempo"))
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func relationshipsLeadBothWays(kind: SongLibrary.Kind) throws {
        try Scratch().run(kind) { context in
            let song = try context.song("The Night Shift")
            let album = try #require(song.album)
            #expect(album.title == "The Paper Observatory")
            #expect(album.songs.contains(song))
            #expect(Set(song.composers.map(\.name)) == ["Noor Adeyemi", "Tomás Quirke"])
            #expect(song.composers.allSatisfy { $0.songs.contains(song) })
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aSecondContextSeesWhatTheFirstHasSaved(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        let container = try scratch.open(kind)
        let first = container.newBackgroundContext()
        let second = container.newBackgroundContext()
        let id = try second.performAndWait { try second.song("Tidewriting").objectID }
        try first.performAndWait {
            (first.object(with: id) as? Song)?.name = "Tide, rewritten"
            try first.save()
        }
        try second.performAndWait {
            try #expect(second.count(for: NSFetchRequest<Song>(entityName: "Song")) == 14)
            let song = try #require(second.object(with: id) as? Song)
            second.refresh(song, mergeChanges: false)
            #expect(song.name == "Tide, rewritten")
        }
    }
}
