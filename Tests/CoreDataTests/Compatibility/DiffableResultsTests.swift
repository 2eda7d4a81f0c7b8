import CoreData
import TestSupport
import Testing

/// A delegate as programs for UIKit and AppKit write it.
private final class DataSource: NSObject, NSFetchedResultsControllerDelegate {
    var snapshot: NSDiffableDataSourceSnapshot<String, NSManagedObjectID>?

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        self.snapshot = snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>
    }
}

@Suite("Snapshots as diffable data sources take them") struct DiffableResultsTests {
    @Test("A delegate written for UIKit is given snapshots with sections and IDs")
    func snapshots() throws {
        try withMusic { context in
            let albums = [("a", 1), ("b", 1), ("c", 2)].map { title, year in
                let album = Album(context: context)
                album.title = title
                album.year = Int16(year)
                return album
            }
            try context.save()
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true), NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "year", cacheName: nil)
            let source = DataSource()
            controller.delegate = source
            try controller.performFetch()
            var snapshot = try #require(source.snapshot)
            expect(snapshot.sectionIdentifiers, equals: ["1", "2"])
            expect(snapshot.itemIdentifiers, equals: albums.map(\.objectID))
            expect(snapshot.itemIdentifiers(inSection: "1"), equals: albums.prefix(2).map(\.objectID))
            expect(snapshot.numberOfItems, equals: 3)
            expect(albums.map { snapshot.sectionIdentifier(containingItem: $0.objectID) }, equals: ["1", "1", "2"])
            albums[0].year = 2
            context.processPendingChanges()
            snapshot = try #require(source.snapshot)
            expect(snapshot.itemIdentifiers(inSection: "2"), equals: [albums[0], albums[2]].map(\.objectID))
            expect(snapshot.sectionIdentifier(containingItem: albums[0].objectID), equals: "2")
            #expect(snapshot.sectionIdentifier(containingItem: Album(context: context).objectID) == nil)
        }
    }
}
