import CoreData
import Observation
import Synchronization
import TestSupport
import Testing

extension Tag: Identifiable {}

/// Runs `read` under observation and answers how often a change was told.
private final class Watcher: Sendable {
    private let count = Atomic<Int>(0)
    var changes: Int { count.load(ordering: .acquiring) }

    func watch(_ read: () -> Void) {
        withObservationTracking(read) { [self] in count.add(1, ordering: .acquiringAndReleasing) }
    }
}

/// Runs `body` in a context whose objects are observed.
private func withObserved(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = try Music.context()
    context.isObservationEnabled = true
    try context.performAndWait { try body(context) }
}

@Suite("Observation") struct ObservationTests {
    @Test("A change of a property that was read is told once, before it happens")
    func typedAccess() throws {
        try withObserved { context in
            let album = Album(context: context)
            let watcher = Watcher()
            watcher.watch { _ = album.title }
            album.year = 3
            expect(watcher.changes, equals: 0)
            album.title = "new"
            expect(watcher.changes, equals: 1)
            album.title = "newer"
            expect(watcher.changes, equals: 1)
        }
        try withObserved { context in
            let album = Album(context: context)
            album.title = "old"
            nonisolated(unsafe) let observed = album
            let seen = Mutex("")
            withObservationTracking {
                _ = album.title
            } onChange: {
                seen.withLock { $0 = observed.title }
            }
            album.title = "new"
            expect(seen.withLock { $0 }, equals: "old")
        }
    }

    @Test("Objects are told apart, and so are their properties")
    func places() throws {
        try withObserved { context in
            let (first, second) = (Album(context: context), Album(context: context))
            let watcher = Watcher()
            watcher.watch { _ = (first.title, second.rating) }
            first.rating = 1
            second.title = "x"
            expect(watcher.changes, equals: 0)
            second.rating = 2
            expect(watcher.changes, equals: 1)
        }
    }

    @Test("Reading and writing by key take part")
    func byKey() throws {
        try withObserved { context in
            let track = context.insert("Track")
            let watcher = Watcher()
            watcher.watch { _ = track.value(forKey: "title") }
            track.setValue(3, forKey: "seconds")
            expect(watcher.changes, equals: 0)
            track.setValue("Amethyst", forKey: "title")
            expect(watcher.changes, equals: 1)
        }
    }

    @Test("A relationship that changes through its inverse is told")
    func inverses() throws {
        try withObserved { context in
            let band = Band(context: context)
            let watcher = Watcher()
            watcher.watch { _ = band.albums.count }
            Album(context: context).band = band
            expect(watcher.changes, equals: 1)
            watcher.watch { _ = band.albums.first?.title }
            band.albums.first?.title = "x"
            expect(watcher.changes, equals: 2)
        }
    }

    @Test("Fetched objects are observed; a refresh, a rollback and a deletion are changes of them")
    func wholeObjects() throws {
        let coordinator = try Music.coordinator()
        let writer = Music.context(coordinator)
        _ = try writer.performAndWait { try writer.saveBand("Low", albums: ["a"]) }
        let context = Music.context(coordinator)
        context.isObservationEnabled = true
        try context.performAndWait {
            let album = try #require(try context.all(Album.self).first)
            let watcher = Watcher()
            watcher.watch { _ = album.title }
            context.refresh(album, mergeChanges: false)
            expect(watcher.changes, equals: 1)
            expect(album.title, equals: "a")
            album.title = "b"
            context.processPendingChanges()
            watcher.watch { _ = album.title }
            context.rollback()
            expect(watcher.changes, equals: 2)
            watcher.watch { _ = album.title }
            context.delete(album)
            context.processPendingChanges()
            expect(watcher.changes, equals: 3)
        }
    }

    @Test("Contexts that were not asked to do not take part")
    func optIn() throws {
        try withMusic { context in
            let album = Album(context: context)
            let watcher = Watcher()
            watcher.watch { _ = album.title }
            album.title = "new"
            expect(watcher.changes, equals: 0)
        }
    }

    @Test("Predicates and sorts still tell entities apart while objects are observed")
    func filtering() throws {
        try withObserved { context in
            let album = Album(context: context)
            album.title = "x"
            let tag = Tag(context: context)
            tag.label = "x"
            let track = context.insert("Track", ["title": "x"])
            let mixed: [NSManagedObject] = [album, track, album]
            let found = try mixed.filtered(matching: NSPredicate(format: "title == \"x\""))
            let fetched = try context.all(Album.self, "title == \"x\"")
            expect(found.count, equals: 3)
            expect(fetched, equals: [album])
        }
    }

    @Test("An identifiable class is identified by its object ID")
    func identity() throws {
        try withMusic { context in
            let tag = Tag(context: context)
            let id: NSManagedObjectID = tag.id
            expect(id, equals: tag.objectID)
        }
    }
}
