import CoreData
import Platform
import Predicates
import TestSupport
import Testing

/// The notifications of one context, in order.
// Posted synchronously on the context's queue, read by the test on that queue.
private final class Listener: @unchecked Sendable {
    private(set) var posts: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ context: NSManagedObjectContext, _ names: Notification.Name...) {
        for name in names {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] in posts.append($0) })
        }
    }

    deinit { tokens.forEach(NotificationCenter.default.removeObserver) }

    func take() -> [Notification] {
        defer { posts = [] }
        return posts
    }
}

extension Notification {
    fileprivate func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
}

@Suite("A context's notifications") struct NotificationTests {
    @Test(
        "An observer may wait for other contexts, which save and post meanwhile: none waits for the end of another one's posts",
        .timeLimit(.minutes(30)))
    func observersThatWait() async throws {
        let coordinator = try Music.coordinator()
        let contexts = (0..<4).map { _ in
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let counts = LockedBox<[String]>([])
        var tokens: [any NSObjectProtocol] = []
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        // The save of each context is observed by one that waits for the save of the next.
        for (index, context) in contexts.enumerated().dropLast() {
            let next = contexts[index + 1]
            tokens.append(
                NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { _ in
                    counts.withLock { $0.append("begin \(index)") }
                    next.performAndWait {
                        Band(context: next).name = "\(index + 1)"
                        do { try next.save() } catch { Issue.record(error) }
                    }
                    counts.withLock { $0.append("end \(index)") }
                })
        }
        try await contexts[0].perform {
            Band(context: contexts[0]).name = "0"
            try contexts[0].save()
        }
        expect(counts.withLock { $0 }, equals: ["begin 0", "begin 1", "begin 2", "end 2", "end 1", "end 0"])
        let names = try await contexts[0].perform { try contexts[0].fetch(NSFetchRequest<Band>(entityName: "Band")).map(\.name) }
        expect(Set(names), equals: ["0", "1", "2", "3"])
    }

    @Test("Changes are told once, in their sets, when they are processed")
    func didChange() throws {
        try withMusic { context in
            let listener = Listener(context, .NSManagedObjectContextObjectsDidChange)
            let band = Band(context: context)
            band.name = "Low"
            context.processPendingChanges()
            var posts = listener.take()
            expect(posts.map { $0.objects(NSInsertedObjectsKey) }, equals: [[band]])
            expect(posts.map { $0.objects(NSUpdatedObjectsKey) }, equals: [[]])
            context.processPendingChanges()
            #expect(listener.take().isEmpty)
            try context.save()
            _ = listener.take()

            band.name = "High"
            band.name = "Higher"
            context.processPendingChanges()
            posts = listener.take()
            expect(posts.map { $0.objects(NSUpdatedObjectsKey) }, equals: [[band]])
            band.name = "Highest"
            context.processPendingChanges()
            expect(listener.take().count, equals: 1)

            context.delete(band)
            context.processPendingChanges()
            posts = listener.take()
            expect(posts.map { $0.objects(NSDeletedObjectsKey) }, equals: [[band]])
            expect(posts.map { $0.objects(NSUpdatedObjectsKey) }, equals: [[]])
        }
    }

    @Test("Both ends of a relationship are told")
    func bothEnds() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            let listener = Listener(context, .NSManagedObjectContextObjectsDidChange)
            album.band = nil
            context.processPendingChanges()
            expect(listener.take().map { $0.objects(NSUpdatedObjectsKey) }, equals: [[album, band]])
        }
    }

    @Test("What a delete does to others is told with it")
    func deletion() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            let tag = Tag(context: context)
            album.tags = [tag]
            try context.save()
            let listener = Listener(context, .NSManagedObjectContextObjectsDidChange)
            context.delete(band)
            context.processPendingChanges()
            let posts = listener.take()
            expect(posts.map { $0.objects(NSDeletedObjectsKey) }, equals: [[band, album]])
            expect(posts.map { $0.objects(NSUpdatedObjectsKey) }, equals: [[tag]])
        }
    }

    @Test("An object that was never told of is not told to be deleted")
    func annihilation() throws {
        try withMusic { context in
            let listener = Listener(context, .NSManagedObjectContextObjectsDidChange)
            context.delete(Tag(context: context))
            context.processPendingChanges()
            #expect(listener.take().isEmpty)
            let tag = Tag(context: context)
            context.processPendingChanges()
            context.delete(tag)
            context.processPendingChanges()
            let posts = listener.take()
            expect(posts.map { $0.objects(NSInsertedObjectsKey) }, equals: [[tag], []])
            expect(posts.map { $0.objects(NSDeletedObjectsKey) }, equals: [[], [tag]])
        }
    }

    @Test("A save is told before and after, once, with what was saved")
    func saving() throws {
        try withMusic { context in
            let old = try context.saveBand("Low", albums: ["Trust"])
            let doomed = try #require(old.albums.first)
            let listener = Listener(
                context, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs)
            let new = Band(context: context)
            new.name = "Duster"
            old.founded = Date()
            context.delete(doomed)
            try context.save()
            let posts = listener.take()
            expect(
                posts.map(\.name),
                equals: [
                    .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
                ])
            #expect(posts.allSatisfy { $0.object as? NSManagedObjectContext === context })
            let saved = try #require(posts.first { $0.name == .NSManagedObjectContextDidSave })
            expect(saved.objects(NSInsertedObjectsKey), equals: [new])
            expect(saved.objects(NSUpdatedObjectsKey), equals: [old])
            expect(saved.objects(NSDeletedObjectsKey), equals: [doomed])
            let ids = try #require(posts.last?.userInfo)
            expect(ids["inserted_objectIDs"] as? Set<NSManagedObjectID>, equals: [new.objectID])
            expect(ids["updated_objectIDs"] as? Set<NSManagedObjectID>, equals: [old.objectID])
            expect(ids["deleted_objectIDs"] as? Set<NSManagedObjectID>, equals: [doomed.objectID])
            #expect(!new.objectID.isTemporaryID)
            // One without changes is told as any other, with no objects.
            try context.save()
            let nothing = listener.take()
            expect(nothing.map(\.name), equals: posts.map(\.name))
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] { #expect(nothing[1].objects(key).isEmpty) }
        }
    }

    @Test("A failed save is announced, but not told to have happened")
    func failedSave() throws {
        try withMusic { context in
            let listener = Listener(context, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave)
            _ = Band(context: context)
            #expect(failure { try context.save() } != nil)
            expect(listener.take().map(\.name), equals: [.NSManagedObjectContextWillSave])
        }
    }

    @Test("Refresh, rollback and reset are told")
    func goingBack() throws {
        try withMusic { context in
            let band = try context.saveBand("Low")
            let listener = Listener(context, .NSManagedObjectContextObjectsDidChange)
            context.refresh(band, mergeChanges: false)
            expect(listener.take().map { $0.objects(NSRefreshedObjectsKey) }, equals: [[band]])
            band.name = "High"
            context.processPendingChanges()
            _ = listener.take()
            context.rollback()
            #expect(!listener.take().isEmpty)
            context.reset()
            #expect(listener.take().last?.userInfo?[NSInvalidatedAllObjectsKey] != nil)
        }
    }

    @Test("A perform block processes its changes at its end")
    func perform() async throws {
        let context = try Music.context()
        let listener = Listener(context, .NSManagedObjectContextObjectsDidChange)
        await context.perform {
            Tag(context: context).label = "slow"
            #expect(listener.take().isEmpty)
        }
        let count = await context.perform { listener.take().count }
        expect(count, equals: 1)
    }
}
