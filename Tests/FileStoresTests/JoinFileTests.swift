import CoreData
import FileStores
import TestSupport
import Testing

@Suite("Many-to-many relationships have join files") struct JoinFileTests {
    /// Playlists with songs, in order where that is asked for.
    static func model(ordered: Bool = true) -> NSManagedObjectModel {
        let playlist = NSEntityDescription(name: "Playlist")
        let song = NSEntityDescription(name: "Song")
        let songs = NSRelationshipDescription(name: "songs", destination: song, toMany: true)
        songs.isOrdered = ordered
        let playlists = NSRelationshipDescription(name: "playlists", destination: playlist, toMany: true)
        songs.inverse(to: playlists)
        playlist.properties = [NSAttributeDescription(name: "name", type: .string), songs]
        song.properties = [NSAttributeDescription(name: "title", type: .string), playlists]
        return NSManagedObjectModel(entities: [playlist, song])
    }

    static var layout: FileLayout {
        var layout = FileLayout()
        layout["Playlist"].joins["songs"] = JoinLayout(
            file: "playlist_song", owner: ["playlist"], member: ["song"], order: "position")
        return layout
    }

    private func files(_ kind: String, _ scratch: Scratch) throws -> NSPersistentStoreDescription {
        if kind == "csv" {
            try scratch.write("id,name\n1,Morning\n2,Night\n", "Playlist.csv")
            try scratch.write("id,title\n7,Ink\n8,Salt\n9,Dust\n", "Song.csv")
            try scratch.write(
                "note,song,playlist,position\r\n\"a\",9,1,20\r\nb,7,1,10\r\nc,8,2,1\r\nd,99,2,2\r\n", "playlist_song.csv")
            return CSVStore.description(at: scratch.folder, layout: Self.layout)
        }
        try scratch.write(
            """
            {"Playlist": [{"id": 1, "name": "Morning"}, {"id": 2, "name": "Night"}],
             "Song": [{"id": 7, "title": "Ink"}, {"id": 8, "title": "Salt"}, {"id": 9, "title": "Dust"}],
             "playlist_song": [
               {"note": "a", "song": 9, "playlist": 1, "position": 2.0e1},
               {"song": 7, "playlist": 1, "position": 10},
               {"song": 8, "playlist": 2, "position": 1},
               {"song": 99, "playlist": 2, "position": 2}
             ]}
            """, "Music.json")
        return JSONStore.description(at: scratch.url("Music.json"), layout: Self.layout)
    }

    private func titles(_ playlist: NSManagedObject?) -> [String?] {
        let songs = playlist?.value(forKey: "songs") as? NSOrderedSet
        return songs?.array.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } ?? []
    }

    @Test("They are read in the order of their places, from both sides", arguments: ["csv", "json"])
    func read(_ kind: String) throws {
        let scratch = try Scratch()
        let context = try open(try files(kind, scratch), Self.model())
        let playlists = try context.all("Playlist", by: "name")
        expect(titles(playlists[0]), equals: ["Ink", "Dust"])
        let ink = try #require(try context.all("Song", "title == 'Ink'").first)
        expect((ink.value(forKey: "playlists") as? Set<NSManagedObject>)?.map { $0.value(forKey: "name") as? String }, equals: ["Morning"])
        try expect(context.all("Playlist", "ANY songs.title == 'Salt'").map { $0.value(forKey: "name") as? String }, equals: ["Night"])
        try expect(context.all("Song", "playlists.@count == 1").count, equals: 3)
    }

    @Test("A save writes the pairs that changed, and no other byte of the file")
    func written() throws {
        let scratch = try Scratch()
        let context = try open(try files("csv", scratch), Self.model())
        let playlists = try context.all("Playlist", by: "name")
        let songs = try context.all("Song", by: "title")
        // Ink, Salt, Dust: Dust keeps its place, 20, and Salt comes between.
        playlists[0].mutableOrderedSetValue(forKey: "songs").insert(songs[2], at: 1)
        context.insert("Playlist", ["name": "New", "songs": NSOrderedSet(array: [songs[0], songs[1]])])
        try context.save()
        let before = "note,song,playlist,position\r\n\"a\",9,1,20\r\nb,7,1,10\r\nc,8,2,1\r\nd,99,2,2\r\n"
        let written = try scratch.text("playlist_song.csv")
        #expect(written.hasPrefix(before))
        expect(Set(written.dropFirst(before.count).split(separator: "\r\n")), equals: [",8,1,11", ",9,3,1", ",7,3,2"])
        let again = try open(CSVStore.description(at: scratch.folder, layout: Self.layout), Self.model())
        let found = try again.all("Playlist", by: "name")
        expect(found.prefix(2).map(titles), equals: [["Ink", "Salt", "Dust"], ["Dust", "Ink"]])
        // The other side is changed, a song goes, and so do the pairs with it. Songs that are moved get new places.
        let dust = try #require(try again.all("Song", "title == 'Dust'").first)
        again.delete(try #require(try again.all("Song", "title == 'Ink'").first))
        dust.mutableSetValue(forKey: "playlists").add(try #require(found.last))
        found[0].mutableOrderedSetValue(forKey: "songs").moveObjects(at: [2], to: 0)
        try again.save()
        expect(titles(found[0]), equals: ["Dust", "Salt"])
        let lines = try scratch.text("playlist_song.csv").split(separator: "\r\n")
        expect(
            Set(lines), equals: ["note,song,playlist,position", "\"a\",9,1,20", "c,8,2,1", "d,99,2,2", ",8,1,21", ",9,3,1", ",9,2,3"])
    }

    @Test("Pairs of keys that are canonically equal are pairs of their own, in their order", arguments: [true, false])
    func twins(_ isOrdered: Bool) throws {
        let scratch = try Scratch()
        try scratch.write("id,name\n1,Morning\n", "Playlist.csv")
        try scratch.write("id,title\n\u{e9},composed\ne\u{301},decomposed\n", "Song.csv")
        try scratch.write(isOrdered ? "playlist,song,position\n" : "playlist,song\n", "playlist_song.csv")
        var layout = Self.layout
        if !isOrdered { layout["Playlist"].joins["songs"] = JoinLayout(file: "playlist_song", owner: ["playlist"], member: ["song"]) }
        let description = CSVStore.description(at: scratch.folder, layout: layout)
        let context = try open(description, Self.model(ordered: isOrdered))
        let songs = try context.all("Song", by: "title")
        let playlist = try #require(try context.all("Playlist").first)
        playlist.setValue(isOrdered ? NSOrderedSet(array: songs.reversed()) : Set(songs), forKey: "songs")
        try context.save()
        let again = try open(description, Self.model(ordered: isOrdered))
        let found = try #require(try again.all("Playlist").first).value(forKey: "songs")
        let objects = (found as? NSOrderedSet)?.array ?? Array(found as? Set<NSManagedObject> ?? [])
        let titles = objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
        expect(isOrdered ? titles : titles.sorted(by: >), equals: ["decomposed", "composed"])
    }

    @Test("In a document, they are a list, which keeps its form")
    func json() throws {
        let scratch = try Scratch()
        let context = try open(try files("json", scratch), Self.model())
        let before = try scratch.text("Music.json")
        let playlists = try context.all("Playlist", by: "name")
        let songs = try context.all("Song", by: "title")
        playlists[1].mutableOrderedSetValue(forKey: "songs").remove(songs[2])
        playlists[0].mutableOrderedSetValue(forKey: "songs").add(songs[2])
        try context.save()
        try expect(
            scratch.text("Music.json"),
            equals: before.replacingOccurrences(of: "{\"song\": 8, \"playlist\": 2, \"position\": 1},\n   ", with: "").replacingOccurrences(
                of: "\"position\": 2}", with: "\"position\": 2},\n   {\"playlist\": 1, \"song\": 8, \"position\": 21}"))
    }

    @Test("A new store gets them, and others' pairs stay with ours")
    func shared() throws {
        let scratch = try Scratch()
        var layout = FileLayout()
        layout["Song"].joins["playlists"] = JoinLayout(file: "pairs", owner: ["song"], member: ["list"])
        let model = Self.model(ordered: false)
        let context = try open(CSVStore.description(at: scratch.folder, layout: layout), model)
        let songs = ["a", "b", "c"].map { context.insert("Song", ["title": $0]) }
        let list = context.insert("Playlist", ["name": "x", "songs": Set(songs.prefix(2))])
        try context.save()
        let keys = songs.map { $0.objectID.uriRepresentation().lastPathComponent.dropFirst() }
        let listKey = list.objectID.uriRepresentation().lastPathComponent.dropFirst()
        let written = try scratch.text("pairs.csv")
        expect(Set(written.split(separator: "\n")), equals: ["song,list", "\(keys[0]),\(listKey)", "\(keys[1]),\(listKey)"])
        // Somebody adds one and removes one, while we add one.
        try scratch.write("song,list,who\n\(keys[1]),\(listKey),they\n\(keys[2]),\(listKey),they\n", "pairs.csv")
        let extra = context.insert("Song", ["title": "d"])
        list.mutableSetValue(forKey: "songs").add(extra)
        try context.save()
        context.reset()
        let found = try #require(try context.all("Playlist").first)
        expect(
            Set((found.value(forKey: "songs") as? Set<NSManagedObject> ?? []).map { $0.value(forKey: "title") as? String }),
            equals: [
                "b", "c", "d",
            ])
        #expect(try scratch.text("pairs.csv").hasPrefix("song,list,who\n\(keys[1]),\(listKey),they\n\(keys[2]),\(listKey),they\n"))
    }

    @Test("An order that others have changed meanwhile is a conflict of whoever changed it, too")
    func orderConflict() throws {
        let scratch = try Scratch()
        let context = try open(try files("csv", scratch), Self.model())
        let playlists = try context.all("Playlist", by: "name")
        expect(titles(playlists[0]), equals: ["Ink", "Dust"])
        let theirs = "note,song,playlist,position\r\n\"a\",9,1,5\r\nb,7,1,10\r\nc,8,2,1\r\nd,99,2,2\r\n"
        try scratch.write(theirs, "playlist_song.csv")
        playlists[0].mutableOrderedSetValue(forKey: "songs").removeObject(at: 0)
        let failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.code, equals: NSManagedObjectMergeError)
        try expect(scratch.text("playlist_song.csv"), equals: theirs)
    }

    @Test("An object that is related to others of its kind has each pair once")
    func symmetric() throws {
        let scratch = try Scratch()
        let person = NSEntityDescription(name: "Person")
        let friends = NSRelationshipDescription(name: "friends", destination: person, toMany: true)
        friends.inverseRelationship = friends
        person.properties = [NSAttributeDescription(name: "name", type: .string), friends]
        let model = NSManagedObjectModel(entities: [person])
        try scratch.write("id,name\n1,a\n2,b\n3,c\n", "Person.csv")
        try scratch.write("one,other\n1,2\n", "friends.csv")
        var layout = FileLayout()
        layout["Person"].joins["friends"] = JoinLayout(file: "friends", owner: ["one"], member: ["other"])
        let context = try open(CSVStore.description(at: scratch.folder, layout: layout), model)
        let people = try context.all("Person", by: "name")
        expect(people[1].value(forKey: "friends") as? Set<NSManagedObject>, equals: [people[0]])
        people[1].mutableSetValue(forKey: "friends").add(people[2])
        people[1].mutableSetValue(forKey: "friends").remove(people[0])
        try context.save()
        let written = try scratch.text("friends.csv")
        #expect(["one,other\n2,3\n", "one,other\n3,2\n"].contains(written))
    }

    struct Wrong: CustomTestStringConvertible {
        let text: String
        let place: (line: Int, column: Int)
        let expected: String
        var testDescription: String { expected }
    }

    @Test(
        "Each mistake is named by line and column",
        arguments: [
            Wrong(text: "playlist,song\n", place: (1, 1), expected: "a column “position” for the pairs of “Playlist.songs”"),
            Wrong(text: "playlist,song,position\n1,7,1\n1,7,2\n", place: (3, 1), expected: "line 2 has “1/7”"),
            Wrong(text: "playlist,song,position\n1,7,first\n", place: (2, 5), expected: "a number in “position”"),
            Wrong(text: "playlist,song,position\n1,,1\n", place: (2, 1), expected: "a key in “playlist/song”"),
            Wrong(text: "playlist,song,position\n1,99,1\n", place: (2, 3), expected: "the key of a record of “Song”"),
        ])
    func mistakes(_ wrong: Wrong) throws {
        let scratch = try Scratch()
        _ = try files("csv", scratch)
        try scratch.write(wrong.text, "playlist_song.csv")
        var layout = Self.layout
        layout.checksReferences = true
        let failure = #expect(throws: NSError.self) {
            _ = try open(CSVStore.description(at: scratch.folder, layout: layout), Self.model())
        }
        let text = failure?.localizedDescription ?? ""
        #expect(text.contains(wrong.expected), "\(text)")
        expect(failure?.userInfo[FileStoreLineErrorKey] as? Int, equals: wrong.place.line, "\(text)")
        expect(failure?.userInfo[FileStoreColumnErrorKey] as? Int, equals: wrong.place.column, "\(text)")
    }

    @Test("A layout that a relationship cannot have is an error")
    func wrongLayouts() throws {
        let scratch = try Scratch()
        _ = try files("csv", scratch)
        var withoutOrder = Self.layout
        withoutOrder["Playlist"].joins["songs"]?.order = nil
        var twoColumns = Self.layout
        twoColumns["Playlist"].joins["songs"]?.member = ["a", "b"]
        var entityFile = Self.layout
        entityFile["Playlist"].joins["songs"]?.file = "Song"
        for layout in [withoutOrder, twoColumns, entityFile] {
            let failure = #expect(throws: NSError.self) {
                _ = try open(CSVStore.description(at: scratch.folder, layout: layout), Self.model())
            }
            expect(failure?.code, equals: NSPersistentStoreIncompatibleSchemaError)
        }
    }

    @Test("A drafted model has the relationship that a file with two keys shows", arguments: [true, false])
    func drafted(_ isOrdered: Bool) throws {
        let scratch = try Scratch()
        try scratch.write("id,name\n1,Morning\n", "playlists.csv")
        try scratch.write("id,title\n7,Ink\n8,Salt\n", "song.csv")
        try scratch.write(isOrdered ? "playlist_id,song_id,position\n1,8,1\n1,7,2\n" : "playlist_id,song_id\n1,8\n1,7\n", "listed.csv")
        let model = try NSManagedObjectModel(describingCSV: scratch.folder)
        expect(Set(model.entities.compactMap(\.name)), equals: ["Playlists", "Song"])
        let context = try open(CSVStore.description(at: scratch.folder), model)
        let list = try #require(try context.all("Playlists").first)
        let relationship = try #require(list.entity.relationshipsByName["songs"])
        expect(relationship.isOrdered, equals: isOrdered)
        let titles = list.objectIDs(forRelationshipNamed: "songs").map { context.object(with: $0).value(forKey: "title") as? String }
        #expect(isOrdered ? titles == ["Salt", "Ink"] : Set(titles) == ["Salt", "Ink"])
        list.setValue(isOrdered ? NSOrderedSet() : Set<NSManagedObject>(), forKey: "songs")
        try context.save()
        try expect(scratch.text("listed.csv"), equals: (isOrdered ? "playlist_id,song_id,position\n" : "playlist_id,song_id\n"))
    }
}
