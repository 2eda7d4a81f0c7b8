import CoreData
import TestSupport
import Testing

/// What may be read on any queue. The thread sanitizer reports a read without a lock: `Scripts/test --sanitize=thread`.
@Suite("Reading on other queues") struct OffQueueReadingTests {
    @Test("The context of an object may be read while the object leaves it and enters it again")
    func contextOfAnObject() throws {
        let context = Music.context(try Music.coordinator())
        let albums = context.performAndWait { (0..<8).map { _ in QueueFree(Album(context: context)) } }
        let isOver = Guarded(false)
        let strangers = Guarded(0)
        let group = DispatchGroup()
        for _ in 0..<2 {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                repeat {
                    for album in albums {
                        if let seen = album.object.managedObjectContext, seen !== context { strangers.withValue { $0 += 1 } }
                    }
                } while !isOver.withValue { $0 }
            }
        }
        context.performAndWait {
            for _ in 0..<200 {
                for album in albums { context.delete(album.object) }
                context.processPendingChanges()
                #expect(albums.allSatisfy { $0.object.managedObjectContext == nil })
                for album in albums { context.insert(album.object) }
                #expect(albums.allSatisfy { $0.object.managedObjectContext === context })
            }
        }
        isOver.withValue { $0 = true }
        group.wait()
        expect(strangers.withValue { $0 }, equals: 0)
    }

    @Test("Whether a store is read-only may be read and set on any thread")
    func readOnlyStores() throws {
        let coordinator = try Music.coordinator()
        let store = try #require(coordinator.persistentStores.first)
        let context = Music.context(coordinator)
        let group = DispatchGroup()
        let held = QueueFree(store)
        group.enter()
        Thread.detachNewThread {
            for index in 0..<1000 { held.object.isReadOnly = index % 2 == 1 }
            group.leave()
        }
        try context.performAndWait {
            var saved = 0
            for _ in 0..<50 {
                _ = Album(context: context)
                do {
                    try context.save()
                    saved += 1
                } catch {
                    context.rollback()
                }
            }
            group.wait()
            #expect(store.isReadOnly)
            store.isReadOnly = false
            _ = Album(context: context)
            try context.save()
            let count = try context.count(for: NSFetchRequest<Album>(entityName: "Album"))
            expect(count, equals: saved + 1)
        }
    }
}

/// An object that is used on several threads, for members that allow it.
// The tests use such members only.
private struct QueueFree<Object: AnyObject>: @unchecked Sendable {
    let object: Object
    init(_ object: Object) { self.object = object }
}
