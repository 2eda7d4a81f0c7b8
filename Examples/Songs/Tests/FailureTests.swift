import CoreData
import Songs
import Testing

/// The failures that both handwritten stores report alike.
struct FailureTests {
    private static let columns = "type,id,version,name,duration,trackNumber,lyrics,title,year,album,composers"
    private static let id = "AAAAAAAA-0000-4000-8000-000000000001"

    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let line: Int
        let column: Int
        let word: String

        init(_ name: String, _ text: String, _ line: Int, _ column: Int, says word: String) {
            (testDescription, self.text, self.line, self.column, self.word) = (name, text, line, column, word)
        }
    }

    static let mistakes = [
        Mistake("an empty file", "\n", 1, 1, says: "empty"),
        Mistake("an unknown column", "type,id,version,tempo\n", 1, 17, says: "tempo"),
        Mistake("a column twice", columns + ",name\n", 1, 77, says: "two columns"),
        Mistake("a missing column", "type,id,version\n", 1, 1, says: "no column"),
        Mistake("an unknown type", columns + "\nBand,\(id),1,,,,,,,,\n", 2, 1, says: "Band"),
        Mistake("no identifier", columns + "\nSong,7,1,A,1,1,,,,,\n", 2, 6, says: "UUID"),
        Mistake("no version", columns + "\nSong,\(id),x,A,1,1,,,,,\n", 2, 43, says: "version"),
        Mistake("too few fields", columns + "\nSong,\(id),1,A\n", 2, 45, says: "4 fields"),
        Mistake("too many fields", columns + "\nSong,\(id),1,A,1,1,,,,,,\n", 2, 56, says: "12 fields"),
        Mistake("a quote inside a field", columns + "\nSong,\(id),1,a\"b,1,1,,,,,\n", 2, 46, says: "quote"),
        Mistake("text behind a quote", columns + "\nSong,\(id),1,\"a\"b,1,1,,,,,\n", 2, 48, says: "behind"),
        Mistake("an open quote", columns + "\nSong,\(id),1,\"a,1,1\n,,,,,\n", 2, 45, says: "closed"),
        Mistake("a lone carriage return", columns + "\nSong,\(id),1,a\rb,1,1,,,,,\n", 2, 47, says: "carriage"),
        Mistake("the same identifier twice", columns + "\nSong,\(id),1,A,1,1,,,,,\nSong,\(id),1,B,1,1,,,,,\n", 3, 6, says: "Line 2"),
        Mistake("a reference to nothing", columns + "\nSong,\(id),1,A,1,1,,,,\(id),\n", 2, 1, says: "album"),
        Mistake("two albums", columns + "\nSong,\(id),1,A,1,1,,,,\(id) \(UUID().uuidString),\n", 2, 54, says: "one object"),
    ]

    @Test(arguments: mistakes, SongLibrary.Kind.handWritten)
    func aMalformedFileIsAnErrorThatNamesThePlace(mistake: Mistake, kind: SongLibrary.Kind) throws {
        let scratch = try Scratch(mistake.text)
        let error = try #require(failure { _ = try scratch.open(kind) } as? SongFileError)
        #expect(error.kind == .malformed)
        #expect(error.url == scratch.csv)
        #expect(error.line == mistake.line)
        #expect(error.column == mistake.column)
        #expect(error.localizedDescription.contains(mistake.word))
        #expect(!error.advice.isEmpty)
        try #expect(scratch.text() == mistake.text)
    }

    @Test func aWrongValueIsFoundByTheAtomicStoreWhenItOpensAndByTheIncrementalOneWhenItReads() throws {
        let scratch = try Scratch(Self.columns + "\nSong,\(Self.id),1,A,fast,1,,,,,\n")
        let atomic = try #require(failure { _ = try scratch.open(.atomic) } as? SongFileError)
        #expect((atomic.line, atomic.column) == (2, 47))
        try scratch.run(.incremental) { context in
            let song = try context.all(Song.self)[0]
            let incremental = try #require(failure { _ = try context.existingObject(with: song.objectID) } as? SongFileError)
            #expect((incremental.line, incremental.column) == (2, 47))
            #expect(incremental.localizedDescription.contains("fast"))
        }
    }

    @Test(arguments: SongLibrary.Kind.handWritten)
    func textThatIsNotUTF8IsAnErrorThatNamesThePlace(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch(nil)
        try (Data((Self.columns + "\nSong,\(Self.id),1,caf").utf8) + [0xE9] + Data(",1,1,,,,,\n".utf8)).write(to: scratch.csv)
        let error = try #require(failure { _ = try scratch.open(kind) } as? SongFileError)
        #expect((error.line, error.column) == (2, 45))
        #expect(error.reason.contains("UTF-8"))
    }

    @Test(arguments: SongLibrary.Kind.handWritten)
    func aPlaceThatCannotBeReachedIsAnErrorWhenTheStoreIsAdded(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch(nil)
        let nowhere = scratch.directory.appendingPathComponent("missing").appendingPathComponent("Songs.csv")
        let places = [
            (nowhere, false), (scratch.directory, false), (scratch.csv, true), (URL(string: "https://example.com/Songs.csv")!, false),
        ]
        for (url, isReadOnly) in places {
            let error = failure { _ = try SongLibrary.open(csv: url, kind: kind, isReadOnly: isReadOnly) } as? SongFileError
            #expect(error?.kind == .unreachable, "\(url)")
        }
    }

    @Test(arguments: SongLibrary.Kind.handWritten)
    func aReadOnlyFileOpensForReadingOnly(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        try scratch.setPermissions(0o444)
        let error = failure { _ = try scratch.open(kind) } as? SongFileError
        #expect(error?.kind == .readOnly)
        let container = try SongLibrary.open(csv: scratch.csv, kind: kind, isReadOnly: true)
        let context = container.newBackgroundContext()
        try context.performAndWait { try #expect(context.all(Song.self).count == 14) }
    }

    @Test(arguments: SongLibrary.Kind.handWritten)
    func aFailedSaveLeavesTheFileAndTheChangesAsTheyWere(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        let before = try scratch.text()
        let container = try scratch.open(kind)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let changed = try context.song("Tidewriting")
            changed.trackNumber = 8
            let new = Song(context: context)
            new.name = "New"
            new.album = changed.album
            context.delete(try context.song("Zenith, Nadir"))
            try scratch.setPermissions(0o444)
            let error = failure { try context.save() } as? SongFileError
            #expect(error?.kind == .readOnly)
            #expect(error?.localizedDescription.contains("Change its permissions") == true)
            #expect(context.insertedObjects == [new])
            #expect(context.deletedObjects.count == 1)
            #expect(context.updatedObjects.contains(changed))
            #expect(new.objectID.isTemporaryID)
            try #expect(scratch.text() == before)
            try #expect(FileManager.default.contentsOfDirectory(atPath: scratch.directory.path) == ["Songs.csv"])

            // Once the cause is gone, the same save succeeds.
            try scratch.setPermissions(0o644)
            try context.save()
        }
        try scratch.run(kind) { context in
            try #expect(context.song("Tidewriting").trackNumber == 8)
            try #expect(context.song("New").album?.title == "Salt Maps")
            try #expect(context.all(Song.self).count == 14)
        }
    }

    @Test(arguments: SongLibrary.Kind.handWritten)
    func theIdentifierOfASavedObjectCannotBeChanged(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        let before = try scratch.text()
        try scratch.run(kind) { context in
            try context.song("Tidewriting").id = UUID()
            let error = failure { try context.save() } as? SongFileError
            #expect(error?.kind == .unstorable)
            context.rollback()
            try #expect(context.song("Tidewriting").name == "Tidewriting")
        }
        try #expect(scratch.text() == before)
    }

    @Test(arguments: SongLibrary.Kind.handWritten)
    func aDurationWithoutTextIsRefused(kind: SongLibrary.Kind) throws {
        let scratch = try Scratch()
        let before = try scratch.text()
        try scratch.run(kind) { context in
            try context.song("Tidewriting").duration = .infinity
            #expect(failure { try context.save() } != nil)
        }
        try #expect(scratch.text() == before)
    }
}
