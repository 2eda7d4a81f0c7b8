import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// A store is moved while contexts have its objects: they are those of the copy afterwards, with their changes.
@Suite("Objects of a store that is moved") struct MovedObjectsTests {
    struct Move: CustomTestStringConvertible {
        let from: String
        let to: String
        var testDescription: String { "\(from) to \(to)" }
    }

    private static let types = [NSInMemoryStoreType, NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]
    private static let moves = types.flatMap { from in types.map { Move(from: from, to: $0) } }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext { Music.context(coordinator) }

    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        return child
    }

    private func run(
        _ move: Move,
        _ body: (_ coordinator: NSPersistentStoreCoordinator, _ migrate: () throws -> NSPersistentStore) throws -> Void
    ) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(
            ofType: move.from, configurationName: nil, at: move.from == NSInMemoryStoreType ? nil : pad.url.appendingPathComponent("first"))
        try body(coordinator) {
            try coordinator.migratePersistentStore(store, to: pad.url.appendingPathComponent("second"), options: nil, withType: move.to)
        }
    }

    /// What another context reads.
    private func stored(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = context(coordinator)
        return try context.performAndWait {
            try context.all(Band.self, nil, by: "name").flatMap { band in
                [band.name]
                    + band.albums.sorted { $0.title < $1.title }.map { album in
                        let tracks = album.tracks?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } ?? []
                        return "\(album.title) \(album.tags.compactMap(\.label).sorted()) \(tracks)"
                    }
            }
        }
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        let band = try context.saveBand("Can", albums: ["Ege Bamyasi", "Tago Mago"])
        try context.saveBand("Neu!")
        let tag = context.insert("Tag", ["label": "kraut"])
        for album in band.albums {
            album.mutableSetValue(forKey: "tags").add(tag)
            album.tracks = NSOrderedSet(array: ["1", "2"].map { context.insert("Track", ["title": $0]) })
        }
        try context.save()
    }

    @Test("have the IDs, the values and the relationships of the copy, faults and others", arguments: moves)
    func read(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let context = context(coordinator)
            try context.performAndWait {
                try fill(context)
                let bands = try context.all(Band.self, nil, by: "name")
                let album = try #require(bands[0].albums.first { $0.title == "Tago Mago" })
                context.refresh(bands[1], mergeChanges: false)
                #expect(bands[1].isFault)
                let copy = try migrate()
                for object in bands + [album] {
                    #expect(object.objectID.persistentStore === copy)
                    #expect(object.managedObjectContext === context)
                    #expect(context.object(with: object.objectID) === object)
                }
                expect(bands.map(\.name), equals: ["Can", "Neu!"])
                #expect(bands[0].albums.contains(album))
                #expect(album.band === bands[0])
                expect(album.tracks?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }, equals: ["1", "2"])
                expect(album.tags.map(\.label), equals: ["kraut"])
                #expect(!context.hasChanges)
                // No object is there twice.
                try expect(context.all(Band.self, nil, by: "name"), equals: bands)
                try expect(context.all(Album.self, "title == 'Tago Mago'"), equals: [album])
                try expect(context.all(Album.self, nil, by: "title").map(\.band), equals: [bands[0], bands[0]])
            }
        }
    }

    @Test("keep their changes, which the copy gets at the next save", arguments: moves)
    func edited(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let context = context(coordinator)
            try context.performAndWait {
                try fill(context)
                let bands = try context.all(Band.self, nil, by: "name")
                let albums = try context.all(Album.self, nil, by: "title")
                bands[0].name = "CAN"
                albums[0].band = bands[1]
                let tracks = try #require(albums[1].tracks)
                albums[1].tracks = NSOrderedSet(array: tracks.array.reversed())
                albums[1].tags = [context.insert("Tag", ["label": "new"]) as! Tag]
                let new = Album(context: context)
                new.title = "Monster"
                new.band = bands[0]
                let early = Album(context: context)
                early.title = "Saw Delight"
                try context.obtainPermanentIDs(for: [early])
                early.band = bands[0]
                let gone = try #require(albums[0].tracks?.array[0] as? NSManagedObject)
                context.delete(gone)
                let copy = try migrate()
                expect(bands[0].name, equals: "CAN")
                #expect(albums[0].band === bands[1])
                expect(bands[0].albums, equals: [albums[1], new, early])
                expect(context.insertedObjects.count, equals: 3)
                expect(context.deletedObjects, equals: [gone])
                try context.save()
                #expect(new.objectID.persistentStore === copy)
                #expect(early.objectID.persistentStore === copy)
                bands[1].name = "NEU!"
                try context.save()
            }
            try expect(
                stored(coordinator),
                equals: [
                    "CAN", "Monster [] []", "Saw Delight [] []", "Tago Mago [\"new\"] [\"2\", \"1\"]", "NEU!",
                    "Ege Bamyasi [\"kraut\"] [\"2\"]",
                ])
        }
    }

    @Test("are kept in children and in several contexts, each on its own queue", arguments: moves)
    func contexts(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let roots = [context(coordinator), context(coordinator)]
            try roots[0].performAndWait { try fill(roots[0]) }
            let contexts = roots + [child(of: roots[0]), child(of: child(of: roots[1]))]
            let bands = try contexts.map { context in
                try context.performAndWait { try context.all(Band.self, "name == 'Can'")[0] }
            }
            for (index, context) in contexts.enumerated().dropFirst(2) {
                context.performAndWait { bands[index].setValue(Date(timeIntervalSinceReferenceDate: Double(index)), forKey: "founded") }
            }
            let copy = try migrate()
            for (index, context) in contexts.enumerated() {
                try context.performAndWait {
                    #expect(bands[index].objectID.persistentStore === copy)
                    expect(bands[index].name, equals: "Can")
                    expect(bands[index].albums.count, equals: 2)
                    try expect(context.all(Band.self, "name == 'Can'"), equals: [bands[index]])
                }
            }
            try contexts[2].performAndWait { try contexts[2].save() }
            try roots[0].performAndWait {
                try roots[0].save()
                bands[0].name = "CAN"
                try roots[0].save()
            }
            try contexts[3].performAndWait { try contexts[3].save() }
            try expect(stored(coordinator)[0], equals: "CAN")
        }
    }

    @Test("of a move that fails are as they were, and their changes can be saved", arguments: moves)
    func failed(_ move: Move) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(
            ofType: move.from, configurationName: nil, at: move.from == NSInMemoryStoreType ? nil : pad.url.appendingPathComponent("first"))
        // A folder that is a file; and for SQLite, options that are not valid.
        try Data("a file".utf8).write(to: pad.url.appendingPathComponent("no"))
        var places: [(name: String, options: [AnyHashable: Any])] = [("no/second", [:])]
        if move.to == NSSQLiteStoreType { places.append(("second", [NSSQLitePragmasOption: ["journal_mode": "no such mode"]])) }
        let context = context(coordinator)
        try context.performAndWait {
            try fill(context)
            let band = try context.all(Band.self, "name == 'Can'")[0]
            let id = band.objectID
            band.name = "C"
            try context.save()
            band.name = "CAN"
            for (name, options) in places where move.to != NSInMemoryStoreType {
                let place = pad.url.appendingPathComponent(name)
                #expect(failure { try coordinator.migratePersistentStore(store, to: place, options: options, withType: move.to) } != nil)
                #expect(!FileManager.default.fileExists(atPath: place.path))
            }
            expect(coordinator.persistentStores, equals: [store])
            #expect(band.objectID === id)
            expect(band.name, equals: "CAN")
            expect(band.albums.count, equals: 2)
            try context.save()
        }
        try expect(stored(coordinator)[0], equals: "CAN")
    }

    @Test("of the same type keep IDs and URIs, and others have new ones: the old IDs lead nowhere", arguments: moves)
    func keptIDs(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let context = context(coordinator)
            try context.performAndWait {
                try fill(context)
                let band = try context.all(Band.self, "name == 'Can'")[0]
                let (id, uri) = (band.objectID, band.objectID.uriRepresentation())
                let copy = try migrate()
                let keepsIDs = move.from == move.to && move.to != NSInMemoryStoreType
                #expect((band.objectID == id) == keepsIDs)
                #expect((band.objectID.uriRepresentation() == uri) == keepsIDs)
                #expect((coordinator.managedObjectID(forURIRepresentation: uri) == nil) != keepsIDs)
                for context in [context, self.context(coordinator)] {
                    try context.performAndWait {
                        if keepsIDs {
                            #expect(id.persistentStore === copy)
                            try expect((context.existingObject(with: id) as? Band)?.name, equals: "Can")
                        } else {
                            #expect(failure { _ = try context.existingObject(with: id) } != nil)
                        }
                        try expect((context.existingObject(with: band.objectID) as? Band)?.name, equals: "Can")
                    }
                }
            }
        }
    }

    @Test("that had IDs before they were saved share them with no other", arguments: moves)
    func earlyIDs(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let contexts = [context(coordinator), context(coordinator)]
            let early = try contexts[0].performAndWait {
                try fill(contexts[0])
                let early = ["Cluster", "Faust"].map { name in
                    let band = Band(context: contexts[0])
                    band.name = name
                    return band
                }
                try contexts[0].obtainPermanentIDs(for: early)
                _ = try migrate()
                return early
            }
            try contexts[1].performAndWait { for name in ["Amon", "Popol"] { try contexts[1].saveBand(name) } }
            try contexts[0].performAndWait { try contexts[0].save() }
            let names = try contexts[1].performAndWait { try contexts[1].all(Band.self, nil, by: "name").map(\.name) }
            expect(names, equals: ["Amon", "Can", "Cluster", "Faust", "Neu!", "Popol"])
            expect(contexts[0].performAndWait { early.map(\.name) }, equals: ["Cluster", "Faust"])
        }
    }

    @Test("conflict with what others save, as before", arguments: moves)
    func conflicts(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let contexts = [context(coordinator), context(coordinator)]
            try contexts[0].performAndWait { try fill(contexts[0]) }
            let bands = try contexts.map { context in try context.performAndWait { try context.all(Band.self, "name == 'Can'")[0] } }
            for (index, context) in contexts.enumerated() { context.performAndWait { bands[index].name = "\(index)" } }
            _ = try migrate()
            try contexts[0].performAndWait { try contexts[0].save() }
            let error = contexts[1].performAndWait { failure { try contexts[1].save() } }
            expect(error?.code, equals: NSManagedObjectMergeError)
            try contexts[1].performAndWait {
                contexts[1].mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try contexts[1].save()
            }
            try expect(stored(coordinator)[0], equals: "1")
        }
    }

    @Test("are followed by fetched results, which tell the new IDs")
    func fetchedResults() throws {
        try run(Move(from: NSSQLiteStoreType, to: NSBinaryStoreType)) { coordinator, migrate in
            let context = context(coordinator)
            try context.performAndWait {
                try fill(context)
                let request = NSFetchRequest<Band>(entityName: "Band")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                request.fetchBatchSize = 1
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                let listener = ResultsListener()
                defer { withExtendedLifetime(listener) {} }
                controller.delegate = listener
                try controller.performFetch()
                let copy = try migrate()
                let bands = try #require(controller.fetchedObjects)
                expect(bands.map(\.name), equals: ["Can", "Neu!"])
                #expect(bands.allSatisfy { $0.objectID.persistentStore === copy })
                bands[0].name = "Z"
                context.processPendingChanges()
                expect(controller.fetchedObjects?.map(\.name) ?? [], equals: ["Neu!", "Z"])
            }
        }
    }

    @Test("are read from the copy by a context that holds on to a state of the old store, and metadata that were set come along")
    func pinned() throws {
        try run(Move(from: NSSQLiteStoreType, to: NSSQLiteStoreType)) { coordinator, migrate in
            let pinned = context(coordinator)
            try pinned.performAndWait {
                try fill(pinned)
                try pinned.setQueryGenerationFrom(.current)
                let band = try pinned.all(Band.self, "name == 'Can'")[0]
                let store = coordinator.persistentStores[0]
                coordinator.setMetadata(coordinator.metadata(for: store).merging(["label": "krautrock"]) { $1 }, for: store)
                let copy = try migrate()
                expect(copy.metadata["label"] as? String, equals: "krautrock")
                let other = context(coordinator)
                try other.performAndWait {
                    try other.all(Band.self, "name == 'Can'")[0].name = "CAN"
                    try other.save()
                }
                pinned.refresh(band, mergeChanges: false)
                expect(band.name, equals: "CAN")
                let url = try #require(copy.url)
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
                expect(metadata["label"] as? String, equals: "krautrock")
            }
        }
    }

    @Test("can be read, changed and saved on their queues while the store is moved again and again")
    func busyQueues() async throws {
        let pad = try Scratchpad()
        defer { withExtendedLifetime(pad) {} }
        let folder = pad.url
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let root = context(coordinator)
        try root.performAndWait { for index in 0..<4 { try root.saveBand("\(index)", albums: ["a", "b"]) } }
        // Each has a band of its own, for two that save the same one are in conflict.
        let contexts = [root, context(coordinator), child(of: root), child(of: child(of: root))]
        let isMoved = Flag()
        let saves = try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, context) in contexts.enumerated() {
                group.addTask {
                    let band = try await context.perform { try context.all(Band.self, "name == '\(index)'")[0] }
                    var count = 0
                    while !isMoved.isSet || count < 3 {
                        try await context.perform {
                            count += 1
                            guard band.name == "\(index)", band.albums.count == 2, band.objectID.persistentStore != nil else {
                                throw Failure(text: "\(band.name) has \(band.albums.count) albums after \(count) saves.")
                            }
                            band.founded = Date(timeIntervalSinceReferenceDate: Double(count))
                            try self.saveUpwards(context)
                            if count % 3 == 0 { context.refreshAllObjects() }
                        }
                    }
                    return count
                }
            }
            group.addTask {
                defer { isMoved.set() }
                for (index, type) in [1, 1, 2, 2, 3, 3, 0, 1].enumerated() {
                    try coordinator.migratePersistentStore(
                        coordinator.persistentStores[0], to: folder.appendingPathComponent("\(index)"), withType: Self.types[type])
                }
                return 0
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expect(saves.filter { $0 >= 3 }.count, equals: 4)
        let reader = context(coordinator)
        let founded = try reader.performAndWait { try reader.all(Band.self).compactMap(\.founded?.timeIntervalSinceReferenceDate) }
        expect(founded.map { Int($0) }.sorted(), equals: saves.filter { $0 > 0 }.sorted())
    }

    @Test("do not keep a move from coming to its end while the main thread waits for it, where its context has none", arguments: moves)
    func mainThreadWaits(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let (main, context) = (NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType), context(coordinator))
            main.persistentStoreCoordinator = coordinator
            try context.performAndWait { try fill(context) }
            let isMoved = DispatchSemaphore(value: 0)
            DispatchQueue.main.async { isMoved.wait() }
            let copy = Result { try migrate() }
            isMoved.signal()
            let store = try copy.get()
            let bands = try main.performAndWait { try main.all(Band.self) }
            expect(bands.count, equals: 2)
            #expect(bands.allSatisfy { $0.objectID.persistentStore === store })
        }
    }

    private struct Failure: Error { let text: String }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    private func saveUpwards(_ context: NSManagedObjectContext) throws {
        try context.save()
        guard let parent = context.parent else { return }
        try parent.performAndWait { try saveUpwards(parent) }
    }

    @Test(
        "undo and redo their changes, and results follow them",
        arguments: [Move(from: NSSQLiteStoreType, to: NSSQLiteStoreType), Move(from: NSSQLiteStoreType, to: NSXMLStoreType)])
    func undo(_ move: Move) throws {
        try run(move) { coordinator, migrate in
            let context = context(coordinator)
            try context.performAndWait {
                try fill(context)
                context.undoManager = UndoManager()
                let bands = try context.all(Band.self, nil, by: "name")
                let album = try #require(bands[0].albums.first)
                bands[0].name = "Z"
                album.band = bands[1]
                context.processPendingChanges()
                _ = try migrate()
                context.undo()
                expect(bands[0].name, equals: "Can")
                #expect(album.band === bands[0])
                context.redo()
                #expect(album.band === bands[1])
                try context.save()
                bands[1].name = "ZZ"
                try context.save()
                try expect(context.all(Band.self, nil, by: "name").map(\.name), equals: ["Z", "ZZ"])
            }
        }
    }
}
