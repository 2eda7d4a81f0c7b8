import CoreData
import TestSupport
import Testing

@Suite("Undo in a context") struct ContextUndoTests {
    /// A context with an undo manager.
    private func withUndo(_ body: (NSManagedObjectContext, UndoManager) throws -> Void) throws {
        try withMusic { context in
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            try body(context, manager)
        }
    }

    private func group(_ manager: UndoManager, _ body: () throws -> Void) rethrows {
        manager.beginUndoGrouping()
        try body()
        manager.endUndoGrouping()
    }

    @Test("No context has an undo manager unless it is given one, and without one undo does nothing")
    func none() throws {
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        #expect(container.viewContext.undoManager == nil)
        #expect(container.newBackgroundContext().undoManager == nil)
        try withMusic { context in
            let album = Album(context: context)
            context.undo()
            context.redo()
            #expect(album.isInserted)
        }
    }

    @Test("Values, relationships at both ends, insertions and cascaded deletions come back, as the same instances")
    func everything() throws {
        try withUndo { context, manager in
            let band = try context.saveBand("Low", albums: ["Trust", "Secret"])
            let albums = band.albums.sorted { $0.title < $1.title }
            let tracks = (0..<3).map { context.insert("Track", ["title": "\($0)"]) }
            albums[0].tracks = NSOrderedSet(array: tracks)
            try context.save()
            manager.removeAllActions()
            group(manager) {
                albums[0].title = "edited"
                albums[1].band = nil
                context.delete(tracks[1])
            }
            group(manager) { context.delete(band) }
            expect(context.deletedObjects, equals: [band, albums[0], tracks[0], tracks[1], tracks[2]])
            context.undo()
            expect(context.deletedObjects, equals: [tracks[1]])
            #expect(band.name == "Low" && band.albums == [albums[0]])
            expect(albums[0].tracks?.array as? [NSManagedObject], equals: [tracks[0], tracks[2]])
            context.undo()
            #expect(context.deletedObjects.isEmpty)
            #expect(albums[0].title == "Secret" && albums[1].band === band && band.albums == Set(albums))
            expect(albums[0].tracks?.array as? [NSManagedObject], equals: tracks)
            #expect(context.updatedObjects.allSatisfy { !$0.hasPersistentChangedValues })
            #expect(!manager.canUndo)
            context.redo()
            context.redo()
            expect(context.deletedObjects, equals: [band, albums[0], tracks[0], tracks[1], tracks[2]])
            try context.save()
            #expect(try context.all(Band.self).isEmpty)
            try expect(context.all(Album.self), equals: [albums[1]])
        }
    }

    @Test("A deletion that was saved is undone by inserting the same instance again, with what it led to")
    func afterSave() throws {
        try withUndo { context, manager in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            album.tags = [Tag(context: context)]
            try context.save()
            context.refreshAllObjects()
            manager.removeAllActions()
            group(manager) { context.delete(band) }
            try context.save()
            #expect(band.managedObjectContext == nil)
            context.undo()
            expect(context.insertedObjects, equals: [band, album])
            #expect(band.name == "Low" && band.albums == [album] && album.title == "Trust" && album.tags.count == 1)
            #expect(band.objectID.isTemporaryID)
            try context.save()
            context.refreshAllObjects()
            try expect(context.all(Band.self), equals: [band])
            #expect(album.band === band && album.tags.count == 1)
            context.redo()
            expect(context.deletedObjects, equals: [band, album])
            try context.save()
            #expect(try context.all(Band.self).isEmpty)
        }
    }

    @Test("An insertion and an edit that were saved are undone by a deletion and an edit for the next save")
    func insertAfterSave() throws {
        try withUndo { context, manager in
            let band = try context.saveBand("Low")
            manager.removeAllActions()
            var album: Album?
            group(manager) {
                album = Album(context: context)
                album?.band = band
                band.name = "High"
            }
            try context.save()
            context.undo()
            #expect(album?.isDeleted == true && band.name == "Low" && band.albums.isEmpty)
            expect(band.changedValues()["name"] as? String, equals: "Low")
            try context.save()
            #expect(try context.all(Album.self).isEmpty)
            context.redo()
            #expect(album?.isInserted == true && album?.band === band && band.name == "High")
            try context.save()
            try expect(context.all(Album.self).count, equals: 1)
        }
    }

    @Test("An inserted object that is undone is gone, and back as the same one after a redo")
    func insertion() throws {
        try withUndo { context, manager in
            var album: Album?
            group(manager) {
                album = Album(context: context)
                album?.title = "Trust"
            }
            let id = album?.objectID
            context.undo()
            #expect(album?.managedObjectContext == nil && !context.hasChanges)
            #expect(try context.all(Album.self).isEmpty)
            context.redo()
            try expect(context.all(Album.self), equals: [album])
            #expect(album?.title == "Trust" && album?.objectID == id)
            try context.save()
            try expect(context.all(Album.self, "title == 'Trust'"), equals: [album])
        }
    }

    @Test("The changes of one block are one group, and each block is another")
    func events() throws {
        let context = try Music.context()
        let band = try context.performAndWait {
            let band = try context.saveBand("0")
            context.undoManager = UndoManager()
            return band
        }
        for number in 1...3 {
            context.performAndWait {
                band.name = "\(number)a"
                context.processPendingChanges()
                band.name = "\(number)"
            }
        }
        context.performAndWait {
            expect(context.undoManager?.undoCount, equals: 3)
            context.undo()
            expect(band.name, equals: "2")
            context.undo()
            expect(band.name, equals: "1")
            context.redo()
            expect(band.name, equals: "2")
        }
    }

    @Test("Asynchronous blocks are groups, too")
    func asynchronousEvents() async throws {
        let context = try Music.context()
        try await context.perform {
            try context.saveBand("0")
            context.undoManager = UndoManager()
        }
        for number in 1...2 { try await context.perform { try context.all(Band.self).first?.name = "\(number)" } }
        let names = try await context.perform {
            let band = try #require(try context.all(Band.self).first)
            var names = [band.name]
            context.undo()
            names.append(band.name)
            context.undo()
            return names + [band.name]
        }
        expect(names, equals: ["2", "1", "0"])
    }

    @Test("Changes made while registration is disabled, and processed then, are not undone")
    func disabled() throws {
        try withUndo { context, manager in
            let band = try context.saveBand("Low")
            manager.removeAllActions()
            group(manager) { band.name = "High" }
            context.processPendingChanges()
            manager.disableUndoRegistration()
            let founded = Date(timeIntervalSinceReferenceDate: 5)
            band.founded = founded
            Album(context: context).band = band
            context.processPendingChanges()
            manager.enableUndoRegistration()
            expect(manager.undoCount, equals: 1)
            context.undo()
            #expect(band.name == "Low" && band.founded == founded && band.albums.count == 1)
            context.redo()
            #expect(band.name == "High" && band.founded == founded)
        }
    }

    @Test("An unregistered change of a relationship stays when an older one is undone, at both ends")
    func disabledRelationship() throws {
        try withUndo { context, manager in
            let band = try context.saveBand("Low", albums: ["A", "B", "C"])
            let albums = band.albums.sorted { $0.title < $1.title }
            manager.removeAllActions()
            group(manager) { band.albums = [albums[0]] }
            manager.disableUndoRegistration()
            let new = Album(context: context)
            new.band = band
            context.processPendingChanges()
            manager.enableUndoRegistration()
            context.undo()
            expect(band.albums, equals: Set(albums + [new]))
            #expect(new.band === band && albums.allSatisfy { $0.band === band })
        }
    }

    @Test("A rollback empties the stacks, and a reset forgets what the context has registered")
    func rollbackAndReset() throws {
        try withUndo { context, manager in
            let band = try context.saveBand("Low")
            group(manager) { band.name = "High" }
            context.rollback()
            #expect(!manager.canUndo && band.name == "Low")
            group(manager) { band.name = "Higher" }
            context.reset()
            #expect(!manager.canUndo)
            context.undo()
        }
    }

    @Test("Objects are told what has restored them")
    func snapshotEvents() throws {
        try Scraps.run { context in
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            let scrap = Scrap(context: context)
            try context.save()
            manager.removeAllActions()
            func events(_ body: () -> Void) -> [NSSnapshotEventType] {
                scrap.snapshotEvents = []
                body()
                return scrap.snapshotEvents
            }
            group(manager) { scrap.setValue("text", forKey: "text") }
            expect(events { context.undo() }, equals: [.undoUpdate])
            expect(events { context.redo() }, equals: [.undoUpdate])
            group(manager) { context.delete(scrap) }
            expect(events { context.undo() }, equals: [.undoDeletion])
            expect(events { context.refresh(scrap, mergeChanges: true) }, equals: [.refresh])
            expect(events { context.rollback() }, equals: [.rollback])
            var new: Scrap?
            group(manager) { new = Scrap(context: context) }
            context.undo()
            expect(new?.snapshotEvents, equals: [.undoInsertion])
        }
    }

    @Test("Faults are not fired to record a change, and an undo leaves the store's objects alone")
    func faults() throws {
        try DictionaryStore.run { store, context in
            context.undoManager = UndoManager()
            let albums = (2...4).map { store.put("Album", $0, ["title": "\($0)"]) }
            let band = context.object(with: store.put("Band", 1, ["name": "Low", "albums": albums]))
            store.calls = []
            let new = Album(context: context)
            new.setValue(band, forKey: "band")
            context.processPendingChanges()
            #expect(store.calls.isEmpty, "\(store.calls)")
            context.undo()
            #expect(store.calls.isEmpty, "\(store.calls)")
            expect((band.value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 3)
        }
    }

    @Test("A context that goes takes its actions with it, and its objects go")
    func lifetime() throws {
        let manager = UndoManager()
        weak var object: NSManagedObject?
        try autoreleased {
            let context = try Music.context()
            try context.performAndWait {
                context.undoManager = manager
                let band = try context.saveBand("Low", albums: ["A"])
                object = band
                context.delete(band)
                context.processPendingChanges()
                #expect(manager.canUndo)
            }
            // The end of the event, which the queue runs, holds the context: it is done after this.
            context.performAndWait {}
        }
        #expect(!manager.canUndo)
        #expect(object == nil)
    }

    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

    /// The time that this thread has had a processor, whatever else the machine does.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("Ten thousand edits, each its own group, are undone one by one in time that grows with their number only")
    func manyEdits() throws {
        func seconds(_ count: Int) throws -> Double {
            var time = 0.0
            try withUndo { context, manager in
                let band = try context.saveBand("Low")
                let start = Self.processorSeconds
                for number in 0..<count {
                    group(manager) {
                        band.name = "\(number)"
                        Album(context: context).band = band
                    }
                }
                for _ in 0..<count { context.undo() }
                time = Self.processorSeconds - start
                #expect(band.name == "Low" && band.albums.isEmpty)
            }
            return time
        }
        let few = try seconds(1_000)
        let many = try seconds(10_000)
        #expect(many < few * 60, "\(few) processor s for 1,000 and \(many) s for 10,000")
    }
}
