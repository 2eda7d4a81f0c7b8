import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Notes what a controller tells.
private final class Listener: NSFetchedResultsControllerDelegate {
    private(set) var changes: [(type: NSFetchedResultsChangeType, title: String)] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { changes.append((type, (anObject as? NSManagedObject)?.value(forKey: "title") as? String ?? "nil")) }
}

/// A list of a service, its listener, and a context that changes what the service has.
// All is used on the queue of the context that shows the list.
private struct ShownList: @unchecked Sendable {
    let controller: NSFetchedResultsController<NSManagedObject>
    let listener: Listener

    /// Albums by title, in a context of a coordinator.
    init(_ context: NSManagedObjectContext, limit: Int, _ format: String? = nil) throws {
        let request = fetchRequest("Album", format, by: ["title"])
        request.fetchLimit = limit
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        listener = Listener()
        controller.delegate = listener
        try controller.performFetch()
    }

    var titles: [String] { (controller.fetchedObjects ?? []).map { $0.value(forKey: "title") as? String ?? "nil" } }
}

@Suite("What a merge costs a list over a service") struct MergedListTests {
    private static func backend() -> ScriptedBackend {
        let backend = OutboxWorld.backend(.init(isIdempotent: true), .numbers)
        for number in 1..<20 {
            backend.put("Album", number, ["title": .value(.string("A\(10 + number)")), "year": .value(.int64(Int64(1960 + number)))])
        }
        backend.put("Band", 1, ["name": .value(.string("Blur"))])
        return backend
    }

    /// Lets what waits for a queue come to its end.
    private func settle(_ context: NSManagedObjectContext) async {
        for _ in 0..<5 {
            await context.perform { context.processPendingChanges() }
            await Task.yield()
        }
    }

    @Test("A merge of what the list does not read costs no request, and nothing is told", arguments: [0, 5])
    func other(limit: Int) async throws {
        let backend = Self.backend()
        let shown = try backend.context()
        let editor = try #require(shown.persistentStoreCoordinator).context()
        let list = try await shown.perform { try ShownList(shown, limit: limit, "year > 1961") }
        let saved = Guarded<[NSManagedObjectID]>([])
        try await editor.perform {
            let band = try #require(try editor.fetch(fetchRequest("Band")).first)
            band.setValue("Oasis", forKey: "name")
            try editor.save()
            saved.withValue { $0 = [band.objectID] }
        }
        let before = backend.requests.count
        await shown.perform {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: saved.withValue { $0 }], into: [shown])
        }
        await settle(shown)
        expect(backend.requests.count, equals: before)
        await shown.perform { expect(list.listener.changes.count, equals: 0) }
    }

    @Test("Several merges until the queue is free do not cost a request each, and what has not changed is not told", arguments: [0, 5])
    func several(limit: Int) async throws {
        let backend = Self.backend()
        let shown = try backend.context()
        let list = try await shown.perform { try ShownList(shown, limit: limit, "year > 1961") }
        let ids = try await shown.perform { try shown.fetch(fetchRequest("Album", by: ["title"])).prefix(5).map(\.objectID) }
        for number in 1...5 { backend.change("Album", number, ["title": .value(.string("A\(10 + number)+"))]) }
        let before = backend.requests.count
        let within = await shown.perform {
            for id in ids { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [shown]) }
            return backend.requests.count
        }
        // A shown object reads its own row at each merge, as anywhere; the list does not.
        #expect(within - before <= 5, "\(backend.requests.dropFirst(before).map { "\($0)" })")
        await settle(shown)
        #expect(backend.requests.count - within <= (limit == 0 ? 2 : 1), "\(backend.requests.dropFirst(within).map { "\($0)" })")
        await shown.perform {
            expect(list.titles.prefix(4).map { $0 }, equals: ["A12+", "A13+", "A14+", "A15+"])
            let told = Set(list.listener.changes.map(\.title))
            #expect(told.isSubset(of: ["A11+", "A12+", "A13+", "A14+", "A15+"]), "\(told)")
        }
    }
}
