import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing

/// Pages that are asked for while the one before is read.
@Suite("Reading ahead") struct ReadAheadTests {
    /// Pages of two tracks. Each tells the next one early, and then waits for something.
    private struct Pages: EarlyPagingBackend {
        let location = URL(string: "pages:tracks")!
        let resources = [Resource("Track", endpoints: [Endpoint("list", paging: .pages(of: 2, stability: .cursors))])]
        var count = 3
        let begun = Guarded<[Int]>([])
        let told = Guarded<[Int]>([])
        let cancelled = Guarded<[Int]>([])
        let whileReading: @Sendable (Pages, Int) async throws -> Void

        func answer(_ request: BackendRequest) async throws -> BackendAnswer { try await answer(request, tellingNext: nil) }

        func answer(_ request: BackendRequest, tellingNext teller: PageTeller?) async throws -> BackendAnswer {
            let number = request.page.flatMap { Int($0.text) } ?? 0
            begun.withValue { $0.append(number) }
            if number < count - 1 {
                teller?.tell(PageToken("\(number + 1)"))
                told.withValue { $0.append(number) }
            }
            // Not by a handler of the cancellation: a task that has seen by itself that it is cancelled may have left it before it is called.
            do { try await whileReading(self, number) } catch let error as CancellationError {
                cancelled.withValue { $0.append(number) }
                throw error
            }
            var answer = request.answer()
            for index in 0..<2 { try answer.add(number * 2 + index, ["title": .value(.string("Track \(number * 2 + index)"))]) }
            if number < count - 1 { answer.next = PageToken("\(number + 1)") }
            return answer
        }

        func wait(until isDone: () -> Bool) async throws {
            while !isDone() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    private struct Broken: Error {}

    private func context(_ backend: Pages) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(backend)
        return coordinator.context()
    }

    @Test("While a page is read, the next one is on its way; each is asked for once", .timeLimit(.minutes(30)))
    func overlap() throws {
        // No page is ready before the next one is asked for: without reading ahead the fetch would never end.
        let backend = Pages { pages, number in try await pages.wait { number == 2 || pages.begun.withValue { $0.contains(number + 1) } } }
        let titles = try context(backend).texts(fetchRequest("Track"))
        expect(titles.sorted(), equals: (0..<6).map { "Track \($0)" })
        expect(backend.begun.withValue { $0.sorted() }, equals: [0, 1, 2])
    }

    @Test("No page is asked for while two before it are not wanted yet", .timeLimit(.minutes(30)))
    func atMostTwo() throws {
        let early = Guarded<[Int]>([])
        let backend = Pages(count: 6) { pages, number in
            guard number == 0 else { return }
            try await pages.wait { pages.told.withValue { $0.contains(2) } }
            early.withValue { $0 = pages.begun.withValue { $0.sorted() } }
        }
        try expect(context(backend).texts(fetchRequest("Track")).count, equals: 12)
        expect(early.withValue { $0 }, equals: [0, 1, 2])
        expect(backend.begun.withValue { $0 }.sorted(), equals: Array(0..<6))
    }

    @Test("A fetch that fails gives up the pages that it has asked for", .timeLimit(.minutes(30)))
    func givenUp() async throws {
        let backend = Pages { pages, number in
            if number == 0 {
                try await pages.wait { pages.begun.withValue { $0.contains(2) } }
                throw Broken()
            }
            try await pages.wait { false }
        }
        let context = try context(backend)
        #expect(throws: Broken.self) { try context.texts(fetchRequest("Track")) }
        try await backend.wait { backend.cancelled.withValue { $0.sorted() == [1, 2] } }
    }

    @Test("A fetch with a limit asks for no page that it may not want", .timeLimit(.minutes(30)))
    func limited() throws {
        let backend = Pages { _, _ in }
        try expect(context(backend).texts(fetchRequest("Track", limit: 2)).count, equals: 2)
        expect(backend.begun.withValue { $0 }, equals: [0])
    }
}
