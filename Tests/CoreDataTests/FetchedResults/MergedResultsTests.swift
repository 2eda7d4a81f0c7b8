import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Two contexts of one store: the editor changes it, the viewer merges, and shows a list.
private struct MergedList {
    let viewer: NSManagedObjectContext
    let editor: NSManagedObjectContext
    let controller: NSFetchedResultsController<Album>
    let listener = ResultsListener()

    /// - Parameter isSQLite: Whether values have to be read that the viewer has not registered.
    init(_ count: Int, isSQLite: Bool = false, _ request: NSFetchRequest<Album>) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(
            ofType: isSQLite ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil,
            at: isSQLite ? URL(fileURLWithPath: "/dev/null") : nil)
        (viewer, editor) = (Music.context(coordinator), Music.context(coordinator))
        let writer = editor
        try writer.performAndWait {
            for number in 0..<count {
                let band = Band(context: writer)
                band.name = "\(number)"
                let album = Album(context: writer)
                (album.title, album.rating, album.band) = ("\(1000 + number)", 1, band)
            }
            try writer.save()
        }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: viewer, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = listener
        let controller = controller
        try viewer.performAndWait { try controller.performFetch() }
    }

    /// Makes changes of the bands or albums, saves them, and has the viewer merge them.
    func edit<Object: NSManagedObject>(_ entity: Object.Type, _ format: String, _ change: (Object) -> Void) throws {
        let ids = try editor.performAndWait {
            let request = NSFetchRequest<Object>(entityName: "\(entity)")
            request.predicate = NSPredicate(format: format)
            let objects = try editor.fetch(request)
            objects.forEach(change)
            try editor.save()
            return objects.map(\.objectID)
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [viewer])
    }

    var titles: [String] { viewer.performAndWait { (controller.fetchedObjects ?? []).map(\.title) } }
}

@Suite("What lists tell after merges") struct MergedResultsTests {
    @Test("A limited list, which is fetched again, tells of what has changed only")
    func touched() throws {
        let request = NSFetchRequest<Album>()
        request.fetchLimit = 5
        let list = try MergedList(9, request)
        try list.edit(Album.self, "title == '1002'") { $0.rating = 4 }
        expect(list.listener.objects.map { ($0.object as? Album)?.title }, equals: ["1002"])
        expect(list.listener.objects.map(\.type), equals: [.update])
        list.listener.clear()
        try list.edit(Band.self, "name == '3'") { $0.name = "other" }
        expect(list.listener.calls, equals: [])
    }

    @Test("More objects than are judged one by one come into a list that match now, and none that does not", arguments: [0, 650])
    func many(limit: Int) throws {
        let request = NSFetchRequest<Album>()
        request.predicate = NSPredicate(format: "rating > 3")
        request.fetchLimit = limit
        let list = try MergedList(700, isSQLite: true, request)
        expect(list.titles, equals: [])
        try list.edit(Album.self, "title != '1001'") { $0.rating = 5 }
        expect(list.titles.count, equals: limit == 0 ? 699 : limit)
        #expect(!list.titles.contains("1001"))
        // The other way, by those that the albums are related to.
        let bands = NSFetchRequest<Album>()
        bands.predicate = NSPredicate(format: "band.name BEGINSWITH 'x'")
        let related = try MergedList(700, isSQLite: true, bands)
        try related.edit(Band.self, "name != '1'") { $0.name = "x\($0.name)" }
        expect(related.titles.count, equals: 699)
        #expect(!related.titles.contains("1001"))
    }

    @Test("A predicate in code may read any object: its list follows the merges and saves of all")
    func code() throws {
        let request = NSFetchRequest<Album>()
        let isTaken = Mutex(false)
        request.predicate = NSPredicate { _, _ in isTaken.withLock { $0 } }
        let list = try MergedList(5, request)
        expect(list.titles, equals: [])
        isTaken.withLock { $0 = true }
        try list.edit(Band.self, "name == '2'") { $0.name = "x" }
        expect(list.titles.count, equals: 5)
        isTaken.withLock { $0 = false }
        try list.viewer.performAndWait {
            let bands = NSFetchRequest<Band>(entityName: "Band")
            bands.predicate = NSPredicate(format: "name == '4'")
            try list.viewer.fetch(bands).first?.name = "x"
            try list.viewer.save()
        }
        expect(list.titles, equals: [])
    }
}
