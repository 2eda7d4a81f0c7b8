import CoreData
import Songs
import Testing

struct AtomicStoreTests {
    @Test func everyRowIsANodeAndTheNodesAreConnected() throws {
        let scratch = try Scratch()
        let container = try scratch.open(.atomic)
        let store = container.persistentStoreCoordinator.persistentStores[0] as! MyAtomicStore
        let nodes = store.cacheNodes()
        #expect(nodes.count == 14 + 3 + 5)
        let albums = nodes.filter { $0.objectID.entity.name == "Album" }
        for album in albums {
            let songs = try #require(album.value(forKey: "songs") as? Set<NSAtomicStoreCacheNode>)
            #expect(!songs.isEmpty)
            for song in songs { #expect(song.value(forKey: "album") as? NSAtomicStoreCacheNode === album) }
        }
    }

    @Test func theMetadataNameTheTypeAndAnIdentifierThatFollowsFromThePlace() throws {
        let scratch = try Scratch()
        let stores = try (1...2).map { _ in try scratch.open(.atomic).persistentStoreCoordinator.persistentStores[0] }
        #expect(stores[0].type == "MyAtomicStore")
        #expect(stores[0].identifier == stores[1].identifier)
        let other = try Scratch()
        let elsewhere = try other.open(.atomic).persistentStoreCoordinator.persistentStores[0]
        #expect(elsewhere.identifier != stores[0].identifier)
    }

    @Test func aFileThatAnotherProgramHasWrittenIsNotOverwritten() throws {
        let scratch = try Scratch()
        let container = try scratch.open(.atomic)
        try scratch.run(.atomic) { context in
            try context.song("Tidewriting").name = "Theirs"
            try context.save()
        }
        let theirs = try scratch.text()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            try context.song("Zenith, Nadir").name = "Ours"
            let error = failure { try context.save() } as? SongFileError
            #expect(error?.kind == .changedOutside)
            #expect(context.hasChanges)
        }
        try #expect(scratch.text() == theirs)
    }

    @Test func anAlbumThatIsSavedAfterItsSongsInOneSaveIsWhole() throws {
        let scratch = try Scratch(nil)
        try scratch.run(.atomic) { context in
            // The song comes first, so its node refers to an album without a node.
            let song = Song(context: context)
            song.name = "Song"
            let album = Album(context: context)
            album.title = "Album"
            song.album = album
            try context.save()
            try #expect(context.all(Album.self).map(\.title) == ["Album"])
        }
        try scratch.run(.atomic) { context in
            try #expect(context.all(Album.self)[0].songs.map(\.name) == ["Song"])
        }
    }
}
