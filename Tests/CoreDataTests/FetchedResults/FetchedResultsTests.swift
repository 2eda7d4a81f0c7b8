import CoreData
import TestSupport
import Testing

private func albums(by keys: String...) -> NSFetchRequest<Album> {
    let request = NSFetchRequest<Album>()
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return request
}

/// Runs `body` with saved albums of the given titles and years, fetched by a controller, and its delegate.
private func withResults(
    _ albumsByTitle: KeyValuePairs<String, Int16>, by keys: [String] = ["title"], sections: String? = nil,
    _ body: (NSManagedObjectContext, NSFetchedResultsController<Album>, ResultsListener, [String: Album]) throws -> Void
) throws {
    try withMusic { context in
        var all: [String: Album] = [:]
        for (title, year) in albumsByTitle {
            let album = Album(context: context)
            album.title = title
            album.year = year
            all[title] = album
        }
        try context.save()
        let request = NSFetchRequest<Album>()
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        try body(context, controller, listener, all)
    }
}

@Suite("Fetched results") struct FetchedResultsTests {
    @Test("Without a section key path there is one section, even while it is empty")
    func oneSection() throws {
        try withResults([:]) { context, controller, listener, _ in
            expect(controller.sections?.map(\.name), equals: [""])
            expect(controller.sections?.map(\.numberOfObjects), equals: [0])
            let album = Album(context: context)
            context.processPendingChanges()
            #expect(listener.sections.isEmpty)
            expect(listener.objects, equals: [ObjectChange(object: album, type: .insert, old: nil, new: [0, 0])])
            expect(controller.sections?.first?.objects as? [Album], equals: [album])
        }
    }

    @Test("Nothing is there before the first fetch")
    func beforeTheFetch() throws {
        try withMusic { context in
            let controller = NSFetchedResultsController(
                fetchRequest: albums(by: "title"), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            #expect(controller.fetchedObjects == nil)
            #expect(controller.sections == nil)
            #expect(controller.indexPath(forObject: Album(context: context)) == nil)
        }
    }

    @Test("A changed object that stays among its neighbours is updated, one that passes another has moved")
    func movesAndUpdates() throws {
        try withResults(["a": 1, "c": 2, "e": 3]) { context, controller, listener, albums in
            albums["c"]!.year = 9
            context.processPendingChanges()
            expect(listener.objects, equals: [ObjectChange(object: albums["c"]!, type: .update, old: [0, 1], new: [0, 1])])
            listener.clear()
            albums["c"]!.title = "d"
            context.processPendingChanges()
            expect(listener.objects, equals: [ObjectChange(object: albums["c"]!, type: .update, old: [0, 1], new: [0, 1])])
            listener.clear()
            albums["a"]!.title = "x"
            context.processPendingChanges()
            expect(listener.objects, equals: [ObjectChange(object: albums["a"]!, type: .move, old: [0, 0], new: [0, 2])])
            expect(listener.calls, equals: ["will", "object", "did"])
            expect(listener.before.map { ($0 as! Album).title }, equals: ["x", "d", "e"])
        }
    }

    @Test("Old places refer to what was before all changes, new ones to what is after")
    func places() throws {
        try withResults(["a": 1, "b": 1, "c": 1, "d": 1]) { context, controller, listener, albums in
            context.delete(albums["a"]!)
            context.delete(albums["c"]!)
            let new = Album(context: context)
            new.title = "aa"
            albums["d"]!.year = 5
            context.processPendingChanges()
            expect(
                listener.objects,
                equals: [
                    ObjectChange(object: albums["c"]!, type: .delete, old: [0, 2], new: nil),
                    ObjectChange(object: albums["a"]!, type: .delete, old: [0, 0], new: nil),
                    ObjectChange(object: new, type: .insert, old: nil, new: [0, 0]),
                    ObjectChange(object: albums["d"]!, type: .update, old: [0, 3], new: [0, 2]),
                ])
        }
    }

    @Test("Objects come and go as they begin and cease to match the predicate")
    func predicate() throws {
        try withMusic { context in
            let album = Album(context: context)
            let request = albums(by: "title")
            request.predicate = NSPredicate(format: "year > 2010")
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = ResultsListener()
            controller.delegate = listener
            try controller.performFetch()
            expect(controller.fetchedObjects, equals: [])
            album.year = 2020
            context.processPendingChanges()
            expect(listener.objects.map(\.type), equals: [.insert])
            album.year = 2000
            context.processPendingChanges()
            expect(listener.objects.map(\.type), equals: [.insert, .delete])
            listener.clear()
            album.year = 1999
            context.processPendingChanges()
            #expect(listener.calls.isEmpty)
        }
    }

    @Test("Sections come before objects, and are named by their key path")
    func sections() throws {
        try withResults(["a": 1, "b": 1, "c": 3], by: ["year", "title"], sections: "year") { context, controller, listener, albums in
            expect(controller.sections?.map(\.name), equals: ["1", "3"])
            expect(controller.sections?.map(\.numberOfObjects), equals: [2, 1])
            #expect(controller.object(at: IndexPath(item: 1, section: 0)) === albums["b"])
            albums["c"]!.year = 2
            context.processPendingChanges()
            expect(listener.calls, equals: ["will", "section", "section", "object", "did"])
            expect(
                listener.sections,
                equals: [
                    SectionChange(name: "3", type: .delete, index: 1), SectionChange(name: "2", type: .insert, index: 1),
                ])
            expect(listener.objects, equals: [ObjectChange(object: albums["c"]!, type: .move, old: [1, 0], new: [1, 0])])
            listener.clear()
            albums["b"]!.year = 2
            context.processPendingChanges()
            #expect(listener.sections.isEmpty)
            expect(listener.objects, equals: [ObjectChange(object: albums["b"]!, type: .move, old: [0, 1], new: [1, 0])])
            listener.clear()
            albums["a"]!.title = "changed"
            context.processPendingChanges()
            #expect(listener.sections.isEmpty)
            expect(listener.objects, equals: [ObjectChange(object: albums["a"]!, type: .update, old: [0, 0], new: [0, 0])])
        }
    }

    @Test("Index titles are the first letters of the section names, unless the delegate or a subclass has others")
    func indexTitles() throws {
        try withResults(["low": 1, "lower": 1, "high": 1], sections: "title") { _, controller, listener, _ in
            expect(controller.sectionIndexTitles, equals: ["H", "L"])
            expect(controller.sections?.map(\.indexTitle), equals: ["H", "L", "L"])
            expect(controller.section(forSectionIndexTitle: "L", at: 1), equals: 1)
            listener.indexTitle = { String($0.count) }
            expect(controller.sectionIndexTitles, equals: ["4", "3", "5"])
        }
        final class Titled: NSFetchedResultsController<Album> {
            override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "§" + sectionName }
        }
        try withMusic { context in
            Album(context: context).title = "x"
            let controller = Titled(
                fetchRequest: albums(by: "title"), managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
            try controller.performFetch()
            expect(controller.sectionIndexTitles, equals: ["§x"])
            let listener = ResultsListener()
            controller.delegate = listener
            expect(controller.sectionIndexTitles, equals: ["§x"])
        }
    }

    @Test("A fetch without sort descriptors, or not sorted by the section key path, is an error that says so")
    func errors() throws {
        try withMusic { context in
            for (title, year) in ["a": 1, "b": 2, "c": 1] as KeyValuePairs<String, Int16> {
                let album = Album(context: context)
                album.title = title
                album.year = year
            }
            let unsorted = NSFetchedResultsController(
                fetchRequest: NSFetchRequest<Album>(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            #expect(try #require(failure { try unsorted.performFetch() }).localizedDescription.contains("sort descriptors"))
            let apart = NSFetchedResultsController(
                fetchRequest: albums(by: "title"), managedObjectContext: context, sectionNameKeyPath: "year", cacheName: nil)
            let error = try #require(failure { try apart.performFetch() })
            #expect(error.localizedDescription.contains("“year”"))
            #expect(apart.fetchedObjects == nil)
        }
    }

    @Test("A section name that does not fit its place takes the object out and is told, and the next change fetches again")
    func outOfOrderLater() throws {
        try withResults(["a1": 1, "a2": 1, "b1": 2], sections: "year") { context, controller, listener, albums in
            albums["a2"]!.year = 7
            albums["a1"]!.title = "a9"
            context.processPendingChanges()
            #expect(controller.trackingError == nil)
            expect(controller.sections?.map(\.name), equals: ["7", "1", "2"])
            var mirror = ResultsMirror(controller.sections!)
            listener.clear()
            albums["b1"]!.title = "a20"
            albums["b1"]!.year = 1
            context.processPendingChanges()
            #expect(controller.trackingError == nil)
            listener.clear()
            mirror = ResultsMirror(controller.sections!)
            albums["b1"]!.year = 7
            albums["b1"]!.title = "z"
            context.processPendingChanges()
            expect((controller.trackingError as NSError?)?.localizedDescription.contains("“year”"), equals: true)
            mirror.apply(listener.sections, listener.objects)
            expect(mirror, equals: ResultsMirror(controller.sections!))
            #expect(controller.indexPath(forObject: albums["b1"]!) == nil)
            albums["b1"]!.title = "a0"
            context.processPendingChanges()
            #expect(controller.trackingError == nil)
            expect(controller.indexPath(forObject: albums["b1"]!), equals: [0, 0])
        }
    }

    @Test("Without a delegate the results stay as they were fetched; what a later delegate is told applies to them")
    func withoutDelegate() throws {
        try withResults(["b": 1]) { context, controller, listener, albums in
            controller.delegate = nil
            let first = Album(context: context)
            first.title = "a"
            context.processPendingChanges()
            expect(controller.fetchedObjects, equals: [albums["b"]!])
            controller.delegate = listener
            let second = Album(context: context)
            second.title = "c"
            context.processPendingChanges()
            expect(
                listener.objects,
                equals: [
                    ObjectChange(object: first, type: .insert, old: nil, new: [0, 0]),
                    ObjectChange(object: second, type: .insert, old: nil, new: [0, 2]),
                ])
            expect(controller.fetchedObjects, equals: [first, albums["b"]!, second])
        }
    }

    @Test("A reset tells nothing; the results come back with the next fetch")
    func reset() throws {
        try withResults(["b": 1]) { context, controller, listener, _ in
            context.reset()
            #expect(listener.calls.isEmpty)
            try controller.performFetch()
            expect(controller.fetchedObjects?.map(\.title), equals: ["b"])
            controller.fetchedObjects?.first?.title = "c"
            context.processPendingChanges()
            expect(listener.objects.map(\.type), equals: [.update])
        }
    }

    @Test("A delegate that takes snapshots is told nothing else, and has the first one from the fetch")
    func snapshots() throws {
        try withResults(["a": 1, "b": 2], by: ["year"], sections: "year") { context, controller, _, albums in
            let listener = SnapshotListener()
            controller.delegate = listener
            expect(listener.snapshots.count, equals: 1)
            try controller.performFetch()
            expect(listener.snapshots.last?.sectionIdentifiers, equals: ["1", "2"])
            albums["b"]!.title = "x"
            context.processPendingChanges()
            let last = try #require(listener.snapshots.last)
            expect(last.itemIdentifiers(inSection: "2"), equals: [albums["b"]!.objectID])
            expect(last.reloadedItemIdentifiers, equals: [albums["b"]!.objectID])
            #expect(last.numberOfItems == 2 && last.numberOfItems(inSection: "9") == 0)
            #expect(last.indexOfItem(albums["b"]!.objectID) == 1 && last.indexOfSection("2") == 1)
            expect(listener.otherCalls, equals: 0)
        }
    }

    @Test("The controller that a delegate sees is equal to the typed one")
    func erased() throws {
        final class Witness: NSFetchedResultsControllerDelegate {
            var seen: [Controller] = []
            func controllerDidChangeContent(_ controller: Controller) { seen.append(controller) }
        }
        try withResults(["a": 1]) { context, controller, _, albums in
            let witness = Witness()
            controller.delegate = witness
            albums["a"]!.year = 4
            context.processPendingChanges()
            let seen = try #require(witness.seen.first)
            expect(seen, equals: controller as NSObject)
            #expect(controller.isEqual(seen) && seen.hash == controller.hash)
            #expect(seen.object(at: IndexPath(row: 0, section: 0)) as? Album === albums["a"])
            expect(seen.fetchedObjects?.count, equals: 1)
        }
    }

    @Test("What another context saves arrives by refreshing")
    func refreshing() throws {
        try withTwoContexts { first, second in
            _ = try first.performAndWait { try first.saveBand("Low", albums: ["b"]) }
            try second.performAndWait {
                let controller = NSFetchedResultsController(
                    fetchRequest: albums(by: "title"), managedObjectContext: second, sectionNameKeyPath: nil, cacheName: nil)
                let listener = ResultsListener()
                controller.delegate = listener
                try controller.performFetch()
                let album = try #require(controller.fetchedObjects?.first)
                expect(album.title, equals: "b")
                try first.performAndWait {
                    try first.all(Album.self).first?.title = "c"
                    try first.save()
                }
                second.refresh(album, mergeChanges: true)
                expect(listener.objects.map(\.type), equals: [.update])
                expect(album.title, equals: "c")
            }
        }
    }

    @Test("One change among a hundred thousand objects compares a few dozen times")
    func comparisons() throws {
        try withMusic { context in
            // Used on the context's queue only.
            final class Counter: @unchecked Sendable { var count = 0 }
            let counter = Counter()
            var all: [Album] = []
            for number in 0..<100_000 {
                let album = Album(context: context)
                album.title = "\(1_000_000 + number * 7)"
                all.append(album)
            }
            let request = NSFetchRequest<Album>()
            request.sortDescriptors = [
                NSSortDescriptor(key: "title", ascending: true) { left, right in
                    counter.count += 1
                    return (left as! String).compare(right as! String)
                }
            ]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = ResultsListener()
            controller.delegate = listener
            try controller.performFetch()
            counter.count = 0
            all[50_000].title = "\(1_000_000 + 7 * 1234 + 1)"
            context.processPendingChanges()
            expect(listener.objects, equals: [ObjectChange(object: all[50_000], type: .move, old: [0, 50_000], new: [0, 1235])])
            #expect(counter.count > 0 && counter.count <= 40)
            counter.count = 0
            expect(controller.indexPath(forObject: all[77_777]), equals: [0, 77_777])
            #expect(controller.object(at: [0, 50_000]) === all[49_999])
            expect(counter.count, equals: 0)
            context.delete(all[3])
            context.processPendingChanges()
            expect(counter.count, equals: 0)
            expect(controller.indexPath(forObject: all[77_777]), equals: [0, 77_776])
        }
    }

    @Test("Saved objects that join with equal sort keys stand in the order of their IDs, before new ones in the order of their insertion")
    func newcomers() throws {
        try withTwoContexts { first, second in
            nonisolated(unsafe) var saved: Notification?
            let token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectsNotification, object: first, queue: nil
            ) { saved = $0 }
            defer { NotificationCenter.default.removeObserver(token) }
            try first.performAndWait {
                for _ in 0..<40 { Album(context: first).title = "Trust" }
                try first.save()
            }
            let notification = try #require(saved)
            try second.performAndWait {
                let controller = NSFetchedResultsController(
                    fetchRequest: albums(by: "title"), managedObjectContext: second, sectionNameKeyPath: nil, cacheName: nil)
                let listener = ResultsListener()
                controller.delegate = listener
                try controller.performFetch()
                second.mergeChanges(fromContextDidSave: notification)
                let new = (0..<5).map { _ in Album(context: second) }
                for album in new.reversed() { album.title = "Trust" }
                second.processPendingChanges()
                let shown = try #require(controller.fetchedObjects)
                let numbers = shown.prefix(40).compactMap { Int($0.objectID.uriRepresentation().lastPathComponent.dropFirst()) }
                #expect(numbers.count == 40 && numbers == numbers.sorted())
                expect(Array(shown.dropFirst(40)), equals: new)
            }
        }
    }
}
