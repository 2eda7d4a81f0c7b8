import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Answers that are not whole, or late") struct HalfAnswerTests {
    private func backend() -> ScriptedBackend {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource("Band", endpoints: [Endpoint("all"), byID]),
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint(
                            "list", parameters: [Parameter("title")], sorting: .by("year"), paging: .pages(of: 4, takesLimit: true),
                            counts: true),
                        Endpoint("of", parameters: [Parameter("band", isRequired: true)], counts: true), byID,
                    ]),
            ])
        backend.setVersions(.numbers)
        backend.put("Band", 1, ["name": "Beatles"])
        for id in 1...6 { backend.put("Album", id, ["title": "A", "year": .value(.int64(Int64(id))), "band": .one(1)]) }
        return backend
    }

    @Test("A list that ends before all has come that the backend has told of is an error, on each of its pages")
    func lists() throws {
        for page in 0..<2 {
            let backend = backend()
            let context = try backend.context()
            backend.script { request in (request.page == nil) == (page == 0) ? .half : .answer }
            try context.performAndWait {
                let error = try #require(failure { _ = try context.fetch(fetchRequest("Album")) })
                #expect(error.localizedDescription.contains("not whole"))
                #expect(failure { _ = try context.fetch(fetchRequest("Album", by: ["year"], limit: page == 0 ? 4 : 6)) } != nil)
                backend.script { _ in .answer }
                try expect(context.fetch(fetchRequest("Album")).count, equals: 6)
                // What is wanted is there.
                try expect(context.fetch(fetchRequest("Album", by: ["year"], limit: 2)).count, equals: 2)
            }
        }
    }

    @Test(
        "A page that was half, and then whole, is there whole: with its first rows too",
        arguments: [(limit: 6, offset: 0, batch: 0), (limit: 3, offset: 3, batch: 0), (limit: 0, offset: 0, batch: 4)])
    func readAgain(limit: Int, offset: Int, batch: Int) throws {
        let backend = backend()
        let context = try backend.context()
        let isHalf = Guarded(true)
        backend.script { request in
            guard request.page != nil else { return .answer }
            return isHalf.withValue { isHalf in
                defer { isHalf = false }
                return isHalf ? .half : .answer
            }
        }
        let request = fetchRequest("Album", by: ["year"], limit: limit, offset: offset)
        request.fetchBatchSize = batch
        try context.performAndWait {
            let years = try context.fetch(request).map { $0.value(forKey: "year") as? Int64 }
            expect(years, equals: (Int64(offset) + 1...6).map { $0 })
        }
        #expect(!isHalf.withValue { $0 })
    }

    @Test("So is the list of a relationship, and it is whole when it is asked for again")
    func relationships() async throws {
        let backend = backend()
        let context = try backend.context()
        let bands = QueueValue(try await context.fetchAsynchronously(fetchRequest("Band")))
        backend.script { _ in .half }
        await #expect(throws: (any Error).self) { try await context.load(bands.value, "albums") }
        backend.script { _ in .answer }
        try await context.load(bands.value, "albums")
        await context.perform { expect((bands.value[0].value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 6) }
    }

    @Test("Others may add and remove while pages are read: that is no error")
    func changesBetweenPages() throws {
        let backend = backend()
        let context = try backend.context()
        backend.script { request in
            if request.page != nil { backend.remove("Album", 6) }
            return .answer
        }
        let count = try context.performAndWait { try context.fetch(fetchRequest("Album")).count }
        expect(count, equals: 5)
    }

    @Test("An answer that was overtaken by a newer one does not replace it")
    func overtaken() async throws {
        let backend = backend()
        let first = try backend.context()
        let second = try #require(first.persistentStoreCoordinator?.context())
        backend.script { request in request.sorts.isEmpty ? .overtaken : .hold }
        async let late = second.fetchAsynchronously(fetchRequest("Album", by: ["year"]))
        await backend.untilHeld()
        async let early = first.fetchAsynchronously(fetchRequest("Album"))
        while backend.requests.count < 2 { await Task.yield() }
        // The first has its answer, and waits until the other one is released, which has it as it is then.
        backend.change("Album", 1, ["title": "new"])
        backend.script { _ in .answer }
        backend.release()
        let others = QueueValue(try await late)
        let albums = QueueValue(try await early)
        let newer = await second.perform { others.value.map { $0.value(forKey: "title") as? String } }
        let titles = await first.perform { albums.value.map { $0.value(forKey: "title") as? String } }
        #expect(newer.first == "new" && newer.count == 6)
        #expect(titles.count == 6 && titles.contains("new"))
    }
}
