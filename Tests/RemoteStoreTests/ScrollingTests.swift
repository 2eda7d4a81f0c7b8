import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Fetched results controllers that read page by page.
@Suite("Scrolling") struct ScrollingTests {
    private func backend(_ sorting: Sorting = .by("year")) -> ScriptedBackend {
        let backend = ScriptedBackend(
            Shop.model(),
            [Resource("Album", endpoints: [Endpoint("list", sorting: sorting, paging: .pages(of: 10, takesOffset: true))])])
        for number in 0..<100 {
            backend.put("Album", number, ["title": .value(.string("Album \(number)")), "year": .value(.int64(Int64(10 * number)))])
        }
        return backend
    }

    private func controller(
        _ context: NSManagedObjectContext, _ format: String? = nil, size: Int = 10
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = fetchRequest("Album", format, by: ["year"])
        request.fetchBatchSize = size
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    }

    /// Notes what a delegate is told.
    private final class Listener: NSFetchedResultsControllerDelegate {
        var inserted: [IndexPath] = []
        var deleted: [IndexPath] = []
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange object: Any, at indexPath: IndexPath?,
            for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            if type == .insert, let newIndexPath { inserted.append(newIndexPath) }
            if type == .delete, let indexPath { deleted.append(indexPath) }
        }
    }

    private func titles(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
        (controller.fetchedObjects ?? []).map { $0.value(forKey: "title") as? String ?? "" }
    }

    @Test("The first page is read at once, the next ones ahead of what is shown, each once")
    func readsAhead() async throws {
        let backend = backend()
        let context = try backend.context()
        let (controller, listener) = await context.perform { (Guarded(self.controller(context)), Guarded(Listener())) }
        try await context.perform {
            let results = controller.withValue { $0 }
            results.delegate = listener.withValue { $0 }
            try results.performFetch()
            expect(backend.requests.count, equals: 1)
            #expect(results.fetchedObjects?.count == 10 && results.mayHaveMoreObjects)
            _ = results.object(at: IndexPath(row: 0, section: 0))
        }
        // Whoever asks waits for what is read ahead.
        try await controller.withValue { $0 }.fetchMoreObjects()
        #expect((2...3).contains(backend.requests.count))
        await context.perform {
            let results = controller.withValue { $0 }
            #expect([19, 28].contains(self.titles(results).count))
            expect(self.titles(results), equals: (0..<self.titles(results).count).map { "Album \($0)" })
            _ = results.object(at: IndexPath(row: 0, section: 0))
        }
        while await context.perform({ controller.withValue { $0 }.mayHaveMoreObjects }) {
            try await controller.withValue { $0 }.fetchMoreObjects()
        }
        await context.perform {
            let results = controller.withValue { $0 }
            expect(self.titles(results), equals: (0..<100).map { "Album \($0)" })
            expect(listener.withValue { $0.inserted.count }, equals: 90)
            #expect(backend.requests.count <= 12)
        }
    }

    @Test("What is shown keeps its place when rows come and go at the backend")
    func keepsItsPlace() async throws {
        let backend = backend()
        let context = try backend.context()
        let (controller, listener) = await context.perform { (Guarded(self.controller(context)), Guarded(Listener())) }
        let shown = try await context.perform { () -> [NSManagedObjectID] in
            let results = controller.withValue { $0 }
            results.delegate = listener.withValue { $0 }
            try results.performFetch()
            return results.fetchedObjects?.map(\.objectID) ?? []
        }
        // Two go, one of them at the end of what is shown, and one comes among those that are still to be read.
        backend.remove("Album", 3)
        backend.remove("Album", 9)
        backend.put("Album", 500, ["title": "new", "year": 155])
        while await context.perform({ controller.withValue { $0 }.mayHaveMoreObjects }) {
            try await controller.withValue { $0 }.fetchMoreObjects()
        }
        await context.perform {
            let results = controller.withValue { $0 }
            let titles = self.titles(results)
            let all = (0..<100).map { "Album \($0)" }
            expect(Set(titles).count, equals: titles.count)
            #expect(Set(titles).isSuperset(of: Set(all).subtracting(["Album 3", "Album 9"])))
            expect(titles.firstIndex(of: "new"), equals: titles.firstIndex(of: "Album 15").map { $0 + 1 })
            let years = results.fetchedObjects?.compactMap { $0.value(forKey: "year") as? Int } ?? []
            expect(years, equals: years.sorted())
            // The objects are those that were shown, in their order.
            let ids = results.fetchedObjects?.map(\.objectID) ?? []
            expect(shown.filter(ids.contains), equals: ids.filter(shown.contains))
        }
    }

    @Test("With a call that brings identifiers only, a fetch reads those, and the values batch by batch as the objects are read")
    func identifiersFirst() throws {
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint("identifiers", sorting: .by("year"), properties: [], cost: .init(row: 0.0001)),
                        Endpoint("list", sorting: .by("year"), paging: .pages(of: 10)),
                        Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)]),
                    ])
            ])
        for number in 0..<100 { backend.put("Album", number, ["title": .init("Album \(number)"), "year": .init(10 * number)]) }
        let context = try backend.context()
        try context.performAndWait {
            let request = fetchRequest("Album", by: ["year"])
            request.fetchBatchSize = 20
            let albums = try context.fetch(request)
            #expect(albums.count == 100 && backend.requests.map(\.endpoint) == ["identifiers"])
            for (number, album) in albums.prefix(40).enumerated() {
                expect(album.value(forKey: "title") as? String, equals: "Album \(number)")
            }
            expect(backend.requests.map(\.endpoint), equals: ["identifiers", "info", "info"])
        }
    }

    @Test("Where the order is made in memory everything is read first, and the plan says so")
    func everythingFirst() throws {
        let backend = backend(.none)
        let context = try backend.context()
        try context.performAndWait {
            let results = controller(context)
            #expect("\(try results.fetchRequest.explain(in: context))".contains("everything first"))
            try results.performFetch()
            #expect(results.fetchedObjects?.count == 100 && !results.mayHaveMoreObjects)
            let scrolling = try self.backend().context()
            try scrolling.performAndWait {
                let plan = try self.controller(scrolling).fetchRequest.explain(in: scrolling)
                #expect(plan.scrolling == true && "\(plan)".contains("page by page"))
                #expect("\(plan)".contains("fetch(_:) reads everything"))
            }
        }
    }

    @Test("A page that fails leaves the results as they are, and is read by the next attempt")
    func failure() async throws {
        let backend = backend()
        let context = try backend.context()
        let controller = await context.perform { Guarded(self.controller(context, "year >= 50")) }
        try await context.perform { try controller.withValue { try $0.performFetch() } }
        let before = await context.perform { self.titles(controller.withValue { $0 }) }
        backend.script { _ in .fail(ServiceFailure("down")) }
        await #expect(throws: ServiceFailure.self) { try await controller.withValue { $0 }.fetchMoreObjects() }
        #expect(await context.perform { self.titles(controller.withValue { $0 }) } == before)
        backend.script { _ in .answer }
        while await context.perform({ controller.withValue { $0 }.mayHaveMoreObjects }) {
            try await controller.withValue { $0 }.fetchMoreObjects()
        }
        #expect(await context.perform { self.titles(controller.withValue { $0 }) } == (5..<100).map { "Album \($0)" })
    }
}
