import CoreData
import Songs
import Testing

/// The saves that all stores write alike: every test opens the file again, in a new coordinator.
struct SavingTests {
    @Test(arguments: SongLibrary.Kind.allCases)
    func newObjectsAndTheirRelationshipsAreInTheFile(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        try scratch.run(kind) { context in
            let album = Album(context: context)
            album.title = "Kettle Songs"
            album.year = 2025
            for number in 1...3 {
                let song = Song(context: context)
                song.name = "Kettle \(number)"
                song.duration = 60.5 * Double(number)
                song.trackNumber = Int16(number)
                song.album = album
                song.composers = Set(try context.all(Composer.self, NSPredicate(format: "name BEGINSWITH 'W' OR name BEGINSWITH 'P'")))
            }
            try context.save()
            #expect(!album.objectID.isTemporaryID)
        }
        for other in SongLibrary.Kind.allCases {
            try scratch.run(other) { context in
                let album = try #require(try context.all(Album.self, NSPredicate(format: "title == 'Kettle Songs'")).first)
                #expect(album.songs.map(\.duration).sorted() == [60.5, 121, 181.5])
                #expect(album.songs.allSatisfy { Set($0.composers.map(\.name)) == ["Wren Hollis", "Petra Lång"] })
                let petra = try context.all(Composer.self, NSPredicate(format: "name BEGINSWITH 'P'"))[0]
                #expect(petra.songs.isSuperset(of: album.songs))
            }
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func changesAreInTheFile(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        try scratch.run(kind) { context in
            let song = try context.song("Low Water Waltz")
            song.name = "High Water Waltz"
            song.album = try context.all(Album.self, NSPredicate(format: "year == 2021"))[0]
            song.composers.remove(try #require(song.composers.first { $0.name == "Wren Hollis" }))
            let other = try context.song("Nine Small Lighthouses")
            other.lyrics = nil
            other.album = nil
            try context.save()
        }
        try scratch.run(kind) { context in
            let song = try context.song("High Water Waltz")
            #expect(song.album?.title == "Ljusår")
            #expect(song.album?.songs.count == 4)
            #expect(song.composers.map(\.name) == ["Ilse Varga"])
            let other = try context.song("Nine Small Lighthouses")
            #expect(other.lyrics == nil)
            #expect(other.album == nil)
            try #expect(context.all(Album.self, NSPredicate(format: "year == 2014"))[0].songs.count == 2)
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func deletedObjectsAreGoneFromTheFileAndFromRelationships(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        try scratch.run(kind) { context in
            context.delete(try context.all(Album.self, NSPredicate(format: "year == 2017"))[0])
            context.delete(try context.song("Tidewriting"))
            context.delete(try context.all(Composer.self, NSPredicate(format: "name BEGINSWITH 'Noor'"))[0])
            try context.save()
        }
        try scratch.run(kind) { context in
            try #expect(context.all(Album.self).count == 2)
            try #expect(context.all(Song.self).count == 13)
            try #expect(context.song("Folded Stars").album == nil)
            try #expect(context.song("Folded Stars").composers.isEmpty)
            try #expect(context.all(Album.self, NSPredicate(format: "year == 2014"))[0].songs.count == 3)
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func everyKindOfTextComesBack(kind: SongLibrary.Kind) throws {
        let texts = [
            "", " ", "a,b", "\"", "\"\"", "two\nlines", "two\r\nlines", "\r", "ends with a quote\"", "💿 e\u{301}", "nul\u{0}nul", "\u{301}",
            "\"\u{301}", "\u{FEFF}mark", "it's; so|it is\t",
        ]
        let scratch = try Scratch(nil)
        try scratch.run(kind) { context in
            for (number, text) in texts.enumerated() {
                let song = Song(context: context)
                song.name = text
                song.lyrics = text
                song.trackNumber = Int16(number)
            }
            let silent = Song(context: context)
            silent.name = "No lyrics"
            silent.trackNumber = .max
            silent.duration = .leastNonzeroMagnitude
            try context.save()
        }
        try scratch.run(kind) { context in
            let songs = try context.all(Song.self, by: "trackNumber")
            // Scalars are compared: to Swift, texts that are composed differently are equal.
            #expect(songs.dropLast().map { Array($0.name.unicodeScalars) } == texts.map { Array($0.unicodeScalars) })
            #expect(songs.dropLast().map { $0.lyrics.map { Array($0.unicodeScalars) } } == texts.map { Array($0.unicodeScalars) })
            #expect(songs.last?.lyrics == nil)
            #expect(songs.last?.duration == .leastNonzeroMagnitude)
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func theURIOfAnObjectLeadsToItAfterReopening(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        let uri = try scratch.run(kind) { context in
            let song = Song(context: context)
            song.name = "Found Again"
            try context.save()
            return song.objectID.uriRepresentation()
        }
        // The product's store has a UUID of its own.
        for other in kind == .files ? [.files] : SongLibrary.Kind.handWritten {
            let container = try scratch.open(other)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                let id = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
                try #expect((context.existingObject(with: id) as? Song)?.name == "Found Again")
            }
        }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aFileIsBegunWhereThereIsNone(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch(nil)
        try scratch.run(kind) { context in
            try #expect(context.all(Song.self).isEmpty)
            let song = Song(context: context)
            song.name = "First"
            try context.save()
        }
        try #expect(scratch.text().hasPrefix("type,id,version,"))
        try scratch.run(kind) { context in try #expect(context.all(Song.self).map(\.name) == ["First"]) }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aFileKeepsItsFormAndTheOrderOfItsRowsAndColumns(kind: SongLibrary.Kind) throws {
        let id = "AAAAAAAA-0000-4000-8000-00000000000"
        let scratch = try Scratch(
            "\u{FEFF}name,type,id,version,composers,album,title,year,lyrics,trackNumber,duration\r\n"
                + "B,Song,\(id)1,4,,,,,,1,10\r\n\r\n" + "A,Song,\(id)2,1,,,,,,2,20")
        try scratch.run(kind) { context in
            try context.song("B").duration = 11
            let song = Song(context: context)
            song.name = "C"
            try context.save()
        }
        // The product's store leaves the empty line where it is.
        let lines = try scratch.text().replacingOccurrences(of: "\r\n\r\n", with: "\r\n").components(separatedBy: "\r\n")
        #expect(lines[0] == "\u{FEFF}name,type,id,version,composers,album,title,year,lyrics,trackNumber,duration")
        #expect(lines[1] == "B,Song,\(id)1,5,,,,,,1,11")
        #expect(lines[2] == "A,Song,\(id)2,1,,,,,,2,20")
        #expect(lines[3].hasPrefix("C,Song,"))
        #expect(lines[4].isEmpty && lines.count == 5)
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aFileWithNothingButAFirstLineWithoutAnEndTakesRows(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch("type,id,version,name,duration,trackNumber,lyrics,title,year,album,composers")
        try scratch.run(kind) { context in
            let song = Song(context: context)
            song.name = "First"
            try context.save()
        }
        try scratch.run(kind) { context in try #expect(context.all(Song.self).map(\.name) == ["First"]) }
    }

    @Test(arguments: SongLibrary.Kind.allCases)
    func aSecondSaveStartsFromTheFirst(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        try scratch.run(kind) { context in
            let song = Song(context: context)
            song.name = "One"
            try context.save()
            song.name = "Two"
            try context.save()
            context.delete(song)
            try context.song("Tidewriting").trackNumber = 9
            try context.save()
        }
        try scratch.run(kind) { context in
            try #expect(context.all(Song.self).count == 14)
            try #expect(context.song("Tidewriting").trackNumber == 9)
        }
    }
}
