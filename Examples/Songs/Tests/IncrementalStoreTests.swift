import CoreData
import Songs
import Testing

struct IncrementalStoreTests {
    private let scratch: Scratch
    private let container: NSPersistentContainer
    private let store: MyIncrementalStore
    private let context: NSManagedObjectContext

    init() throws {
        scratch = try Scratch()
        container = try scratch.open(.incremental)
        store = container.incrementalStore
        context = container.newBackgroundContext()
    }

    @Test func openingReadsWhatTheRowsAreKnownByAndNoValues() throws {
        #expect(store.statistics.scans == 1)
        #expect(store.statistics.rowsRead == 0)
    }

    @Test func aFetchGivesFaultsAndAFaultReadsOneRow() throws {
        try context.performAndWait {
            let songs = try context.all(Song.self)
            #expect(songs.count == 14)
            #expect(songs.allSatisfy { $0.isFault })
            #expect(store.statistics.rowsRead == 0)
            #expect(songs[0].name == "Harbour Arithmetic")
            #expect(songs[0].duration == 221.5)
            #expect(store.statistics.rowsRead == 1)
        }
        // A second context uses the values that the first has read.
        let second = container.newBackgroundContext()
        try second.performAndWait {
            try #expect(second.all(Song.self)[0].name == "Harbour Arithmetic")
            #expect(store.statistics.rowsRead == 1)
        }
    }

    @Test func relationshipsAreAnsweredWithoutReadingRows() throws {
        try context.performAndWait {
            let song = try context.all(Song.self)[0]
            let album = try #require(song.album)
            #expect(store.statistics.rowsRead == 1)
            #expect(album.songs.count == 4)
            #expect(song.composers.count == 1)
            #expect(store.statistics.rowsRead <= 2)
            #expect(store.statistics.relationshipFaults == 3)
        }
    }

    @Test func aFetchReadsOnlyTheRowsWhoseValuesItMustSee() throws {
        try context.performAndWait {
            let song = try context.all(Song.self)[0]
            let album = try context.all(Album.self)[0]
            try #expect(context.all(Song.self, NSPredicate(format: "SELF == %@", song)).count == 1)
            try #expect(context.all(Song.self, NSPredicate(format: "album == %@", album)).count == 4)
            try #expect(context.all(Song.self, NSPredicate(format: "composers.@count > 1")).count == 6)
            try #expect(context.count(for: NSFetchRequest<Composer>(entityName: "Composer")) == 5)
            #expect(store.statistics.rowsRead == 0)
            try #expect(context.all(Song.self, NSPredicate(format: "duration > 0 AND name != ''"), by: "name").count == 14)
            #expect(store.statistics.rowsRead == 14)
            try #expect(context.all(Song.self).allSatisfy { $0.isFault })
        }
    }

    @Test func aSortDescriptorWithoutAKeyIsRefused() throws {
        context.performAndWait {
            let request = NSFetchRequest<Song>(entityName: "Song")
            request.sortDescriptors = [NSSortDescriptor(key: nil, ascending: true) { _, _ in .orderedSame }]
            #expect((failure { _ = try context.fetch(request) } as? SongFileError)?.kind == .unanswerable)
        }
    }

    @Test func versionsAreKeptInTheFileAndCountTheEdits() throws {
        try context.performAndWait {
            let song = try context.song("Tidewriting")
            for round in 1...3 {
                song.trackNumber = Int16(10 + round)
                try context.save()
            }
            #expect(store.baseVersion(of: song) == 4)
            #expect(store.statistics.saves == 3)
        }
        try scratch.run(.incremental) { context in
            let song = try context.song("Tidewriting")
            #expect(song.trackNumber == 13)
            let store = context.persistentStoreCoordinator?.persistentStores[0] as? MyIncrementalStore
            #expect(store?.baseVersion(of: song) == 4)
        }
        let line = try scratch.text().components(separatedBy: "\n").first { $0.contains(",Tidewriting,") }
        #expect(line?.components(separatedBy: ",")[2] == "4")
    }

    @Test func rowsThatDoNotChangeStayByteForByte() throws {
        let before = Set(try scratch.text().components(separatedBy: "\n"))
        try context.performAndWait {
            try context.song("Zenith, Nadir").trackNumber = 7
            try context.save()
        }
        let after = Set(try scratch.text().components(separatedBy: "\n"))
        #expect(after.subtracting(before).count == 1)
        #expect(before.subtracting(after).count == 1)
    }

    @Test func whatAnotherProgramHasWrittenShowsInTheNextFetch() throws {
        try context.performAndWait { try #expect(context.all(Song.self).count == 14) }
        try scratch.run(.atomic) { other in
            let song = Song(context: other)
            song.name = "From outside"
            try other.save()
        }
        try context.performAndWait {
            try #expect(context.song("From outside").album == nil)
            #expect(store.statistics.scans == 2)
        }
    }

    /// Changes the track number and the name of a song in this context, and its name by another program.
    private func conflict(
        _ body: (Song) throws -> Void, theirs: (NSManagedObjectContext) throws -> Void
    ) throws {
        try context.performAndWait {
            let song = try context.song("Tidewriting")
            song.trackNumber = 20
            try scratch.run(.incremental) { other in
                try theirs(other)
                try other.save()
            }
            try body(song)
        }
    }

    private static func rename(_ context: NSManagedObjectContext) throws { try context.song("Tidewriting").name = "Theirs" }

    @Test(arguments: 1...2)
    func aRowThatAnotherProgramHasChangedIsAConflictHoweverOftenItIsTried(tries: Int) throws {
        try conflict(
            { song in
                let before = try scratch.text()
                var error: NSError?
                for _ in 1...tries { error = failure { try context.save() } as NSError? }
                #expect(error?.domain == NSCocoaErrorDomain)
                #expect(error?.code == 133020)
                let conflicts = try #require(error?.userInfo["conflictList"] as? [NSMergeConflict])
                #expect(conflicts.map(\.sourceObject) == [song])
                #expect(conflicts[0].oldVersionNumber == 1)
                #expect(conflicts[0].newVersionNumber == 2)
                #expect(conflicts[0].persistedSnapshot?["name"] as? String == "Theirs")
                #expect(song.trackNumber == 20)
                #expect(context.hasChanges)
                try #expect(scratch.text() == before)
            }, theirs: Self.rename)
    }

    @Test func aConflictIsSettledByTheMergePolicy() throws {
        try conflict(
            { song in
                context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
                try context.save()
                #expect(song.name == "Theirs")
                try scratch.run(.incremental) { other in
                    let song = try other.song("Theirs")
                    #expect(song.trackNumber == 20)
                    #expect(song.album?.title == "Salt Maps")
                }
            }, theirs: Self.rename)
    }

    @Test func aConflictThatIsRolledBackKeepsWhatTheOtherProgramWrote() throws {
        try conflict(
            { song in
                context.mergePolicy = NSRollbackMergePolicy
                try context.save()
                #expect(song.name == "Theirs")
                #expect(song.trackNumber == 3)
                #expect(!context.hasChanges)
            }, theirs: Self.rename)
    }

    @Test func aRefreshSettlesAConflictToo() throws {
        try conflict(
            { song in
                #expect(failure { try context.save() } != nil)
                context.refresh(song, mergeChanges: true)
                try context.save()
                try scratch.run(.incremental) { try #expect($0.song("Theirs").trackNumber == 20) }
            }, theirs: Self.rename)
    }

    @Test func aRowThatAnotherProgramHasDeletedIsAConflictWithVersion0() throws {
        try conflict(
            { song in
                let error = failure { try context.save() } as NSError?
                #expect(error?.code == 133020)
                let conflicts = try #require(error?.userInfo["conflictList"] as? [NSMergeConflict])
                #expect(conflicts[0].newVersionNumber == 0)
            }, theirs: { other in other.delete(try other.song("Tidewriting")) })
    }

    @Test func twoContextsThatChangeOneSongConflict() throws {
        let second = container.newBackgroundContext()
        // Automatic merging would prevent the conflict.
        second.automaticallyMergesChangesFromParent = false
        let id = try second.performAndWait {
            let song = try second.song("Tidewriting")
            song.name = "Second"
            return song.objectID
        }
        try context.performAndWait {
            (context.object(with: id) as? Song)?.name = "First"
            try context.save()
        }
        second.performAndWait {
            let error = failure { try second.save() } as NSError?
            #expect(error?.code == 133020)
            #expect((error?.userInfo["conflictList"] as? [NSMergeConflict])?.count == 1)
        }
    }
}
