import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Playlists and songs, each of which is in an order of the other, or songs with an order only.
private enum Mix {
    static func coordinator(bothOrdered: Bool, store: String = NSInMemoryStoreType) throws -> NSPersistentStoreCoordinator {
        let list = NSEntityDescription(name: "List")
        let song = NSEntityDescription(name: "Song")
        let songs = NSRelationshipDescription(name: "songs", destination: song, toMany: true, isOrdered: true)
        let lists = NSRelationshipDescription(name: "lists", destination: list, toMany: true, isOrdered: bothOrdered)
        songs.inverse(to: lists)
        list.properties = [NSAttributeDescription(name: "name", type: .string), songs]
        song.properties = [NSAttributeDescription(name: "name", type: .string), lists]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [list, song]))
        NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: DictionaryStore.typeName)
        try coordinator.addPersistentStore(ofType: store, configurationName: nil, at: nil)
        return coordinator
    }

    static func run(bothOrdered: Bool, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = Music.context(try coordinator(bothOrdered: bothOrdered))
        try context.performAndWait { try body(context) }
    }
}

extension NSManagedObject {
    /// The names of the objects of a relationship, in order if it has one.
    fileprivate func names(_ key: String) -> [String] {
        let objects = mutableObjects(key)
        return objects.compactMap { $0.value(forKey: "name") as? String }
    }

    private func mutableObjects(_ key: String) -> [NSManagedObject] {
        if let order = value(forKey: key) as? NSOrderedSet { return order.array.compactMap { $0 as? NSManagedObject } }
        let objects = value(forKey: key) as? Set<NSManagedObject> ?? []
        return objects.sorted { ($0.value(forKey: "name") as? String ?? "") < ($1.value(forKey: "name") as? String ?? "") }
    }

    fileprivate func setOrder(_ key: String, _ objects: [NSManagedObject]) { setValue(NSOrderedSet(array: objects), forKey: key) }
}

@Suite("Ordered many-to-many relationships") struct OrderedManyToManyTests {
    @Test("Setting an order sets the other end, at the end of its order, and both come back from the store", arguments: [true, false])
    func bothEnds(_ bothOrdered: Bool) throws {
        let coordinator = try Mix.coordinator(bothOrdered: bothOrdered)
        let context = Music.context(coordinator)
        let ids = try context.performAndWait {
            let lists = ["x", "y"].map { context.insert("List", ["name": $0]) }
            let songs = ["a", "b", "c"].map { context.insert("Song", ["name": $0]) }
            lists[1].setOrder("songs", [songs[2], songs[0]])
            lists[0].setOrder("songs", [songs[1], songs[0], songs[2]])
            expect(songs[0].names("lists"), equals: (bothOrdered ? ["y", "x"] : ["x", "y"]))
            expect(songs[1].names("lists"), equals: ["x"])
            try context.save()
            return (lists + songs).map(\.objectID)
        }
        let other = Music.context(coordinator)
        try other.performAndWait {
            let objects = try ids.map { try other.existingObject(with: $0) }
            expect(objects[0].names("songs"), equals: ["b", "a", "c"])
            expect(objects[1].names("songs"), equals: ["c", "a"])
            expect(objects[2].names("lists"), equals: (bothOrdered ? ["y", "x"] : ["x", "y"]))
        }
    }

    @Test("Who is added by the other end comes last; who is taken out there leaves the order of the rest")
    func byTheOtherEnd() throws {
        try Mix.run(bothOrdered: true) { context in
            let list = context.insert("List", ["name": "x"])
            let songs = ["a", "b", "c", "d"].map { context.insert("Song", ["name": $0]) }
            list.setOrder("songs", [songs[2], songs[0], songs[1]])
            try context.save()
            songs[3].mutableOrderedSetValue(forKey: "lists").add(list)
            expect(list.names("songs"), equals: ["c", "a", "b", "d"])
            songs[0].setOrder("lists", [])
            expect(list.names("songs"), equals: ["c", "b", "d"])
            try context.save()
            expect(list.names("songs"), equals: ["c", "b", "d"])
        }
    }

    @Test("A reorder changes this end only, and is saved", arguments: [true, false])
    func reorder(_ bothOrdered: Bool) throws {
        try Mix.run(bothOrdered: bothOrdered) { context in
            let list = context.insert("List", ["name": "x"])
            let songs = ["a", "b", "c"].map { context.insert("Song", ["name": $0]) }
            list.setOrder("songs", songs)
            try context.save()
            list.setOrder("songs", songs.reversed())
            expect(context.updatedObjects, equals: [list])
            #expect(list.hasPersistentChangedValues)
            try context.save()
            context.reset()
            let again = try #require(try context.all("List").first)
            expect(again.names("songs"), equals: ["c", "b", "a"])
        }
    }

    @Test("A deleted object leaves its ordered relationships, and an undo restores its position")
    func deletion() throws {
        try Mix.run(bothOrdered: true) { context in
            context.undoManager = UndoManager()
            let lists = ["x", "y"].map { context.insert("List", ["name": $0]) }
            let songs = ["a", "b", "c"].map { context.insert("Song", ["name": $0]) }
            lists[0].setOrder("songs", songs)
            lists[1].setOrder("songs", songs.reversed())
            try context.save()
            context.undoManager?.removeAllActions()
            context.delete(songs[1])
            context.processPendingChanges()
            expect(lists.map { $0.names("songs") }, equals: [["a", "c"], ["c", "a"]])
            context.undo()
            expect(lists.map { $0.names("songs") }, equals: [["a", "b", "c"], ["c", "b", "a"]])
            expect(songs[1].names("lists"), equals: ["x", "y"])
            context.redo()
            try context.save()
            expect(lists.map { $0.names("songs") }, equals: [["a", "c"], ["c", "a"]])
            try expect(context.all("Song").count, equals: 2)
        }
    }

    @Test("What two contexts have added to one order is all there after a merge")
    func merging() throws {
        let coordinator = try Mix.coordinator(bothOrdered: true)
        let (first, second) = (Music.context(coordinator), Music.context(coordinator))
        let (id, song) = try first.performAndWait {
            let list = first.insert("List", ["name": "x"])
            let song = first.insert("Song", ["name": "a"])
            list.setOrder("songs", [song])
            try first.save()
            return (list.objectID, song.objectID)
        }
        let list = try second.performAndWait {
            let list = try second.existingObject(with: id)
            expect(list.names("songs"), equals: ["a"])
            list.setOrder("songs", [second.insert("Song", ["name": "mine"]), second.object(with: song)])
            return list
        }
        try first.performAndWait {
            first.insert("Song", ["name": "theirs"]).setOrder("lists", [first.object(with: id)])
            try first.save()
        }
        try second.performAndWait {
            second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try second.save()
            expect(Set(list.names("songs")), equals: ["a", "mine", "theirs"])
            expect(list.names("songs").count, equals: 3)
        }
    }

    @Test(
        "Random edits at both ends of a random graph come out as in a graph of plain arrays",
        arguments: [NSInMemoryStoreType, "DictionaryStore"])
    func random(_ store: String) throws {
        let seed = TestSeed.current(for: "Ordered many-to-many in \(store)")
        var generator = SeededGenerator(seed: seed)
        let coordinator = try Mix.coordinator(bothOrdered: true, store: store)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let lists = (0..<4).map { context.insert("List", ["name": "l\($0)"]) }
            let songs = (0..<6).map { context.insert("Song", ["name": "s\($0)"]) }
            try context.save()
            var songsOf = Array(repeating: [Int](), count: 4)
            var listsOf = Array(repeating: [Int](), count: 6)
            for step in 0..<300 {
                let list = Int.random(in: 0..<4, using: &generator)
                let song = Int.random(in: 0..<6, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0:
                    let new = Array((0..<6).shuffled(using: &generator).prefix(Int.random(in: 0...6, using: &generator)))
                    for gone in songsOf[list] where !new.contains(gone) { listsOf[gone].removeAll { $0 == list } }
                    for added in new where !songsOf[list].contains(added) { listsOf[added].append(list) }
                    songsOf[list] = new
                    lists[list].setOrder("songs", new.map { songs[$0] })
                case 1:
                    songs[song].mutableOrderedSetValue(forKey: "lists").add(lists[list])
                    if !listsOf[song].contains(list) {
                        listsOf[song].append(list)
                        songsOf[list].append(song)
                    }
                case 2:
                    lists[list].mutableOrderedSetValue(forKey: "songs").remove(songs[song])
                    songsOf[list].removeAll { $0 == song }
                    listsOf[song].removeAll { $0 == list }
                case 3: try context.save()
                case 4:
                    try context.save()
                    context.refreshAllObjects()
                default:
                    guard !listsOf[song].contains(list) else { continue }
                    let index = Int.random(in: 0...listsOf[song].count, using: &generator)
                    songs[song].insertObjects([lists[list]], at: IndexSet(integer: index), intoRelationship: "lists")
                    listsOf[song].insert(list, at: index)
                    songsOf[list].append(song)
                }
                expect(lists.map { $0.names("songs") }, equals: songsOf.map { $0.map { "s\($0)" } }, "seed \(seed), step \(step)")
                expect(songs.map { $0.names("lists") }, equals: listsOf.map { $0.map { "l\($0)" } }, "seed \(seed), step \(step)")
            }
        }
    }
}
