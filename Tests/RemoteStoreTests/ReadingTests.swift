import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Pages, batches, partial rows, and what is asked how often.
@Suite("Reading") struct ReadingTests {
    /// A list with some values, and the whole by identifier.
    private func backend(
        listed: Set<String>? = ["title", "band"], cap: Int = 100, pages: Int? = nil, expectedRows: Int = 1000
    ) -> ScriptedBackend {
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint(
                            "list", sorting: .by("title"), paging: Paging(size: pages), properties: listed,
                            cost: .init(expectedRows: expectedRows)),
                        Endpoint(
                            "info", parameters: [Parameter("SELF", isRequired: true, maximumValues: cap)], paging: Paging(size: pages)),
                    ]),
                Resource("Band", endpoints: [Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: cap)])]),
            ])
        backend.put("Band", 1, ["name": "Beatles"])
        for number in 0..<60 {
            backend.put(
                "Album", number,
                [
                    "title": .value(.string(String(format: "Album %02d", number))), "year": .value(.int64(Int64(1960 + number))),
                    "notes": .value(.string("note \(number)")), "band": .one(1),
                ])
        }
        return backend
    }

    @Test("What a list leaves out is asked for all of its objects at once, when it is read", arguments: [false, true])
    func partialRows(isAwaited: Bool) async throws {
        let backend = backend()
        let context = try backend.context()
        let request = fetchRequest("Album", by: ["title"])
        // Without them the context would forget the objects.
        let kept = isAwaited ? try await context.fetchAsynchronously(request) : []
        defer { withExtendedLifetime(kept) {} }
        if isAwaited {
            try await context.load(kept, "notes")
            expect(backend.requests.map(\.endpoint), equals: ["list", "info"])
        }
        try await context.perform {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            try backend.expectRequests(atMost: isAwaited ? 0 : 1) {
                expect(albums.map { $0.value(forKey: "notes") as? String }, equals: (0..<60).map { "note \($0)" })
                expect(albums.map { $0.value(forKey: "year") as? Int }, equals: (0..<60).map { 1960 + $0 })
            }
        }
    }

    @Test("A predicate over what a list leaves out completes the rows in one request")
    func completion() throws {
        let backend = backend()
        let context = try backend.context()
        try expect(context.texts(fetchRequest("Album", "year < 1963", by: ["title"])), equals: ["Album 00", "Album 01", "Album 02"])
        expect(backend.requests.map(\.endpoint), equals: ["list", "info"])
        backend.forgetRequests()
        try expect(context.texts(fetchRequest("Album", "band.name == 'Beatles' AND title ENDSWITH '7'")).count, equals: 6)
        expect(backend.requests.map(\.entity), equals: ["Album", "Band"])
    }

    @Test("An absent value clears nothing; null does, as does an empty list")
    func absence() throws {
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint("list", properties: ["title"]),
                        Endpoint(
                            "full", parameters: [Parameter("year", isRequired: true)], properties: ["title", "year", "notes", "tags"]),
                        Endpoint(
                            "info", parameters: [Parameter("SELF", isRequired: true)], properties: ["title", "year", "notes", "tags"]),
                    ]), Resource("Tag", endpoints: [Endpoint("all")]),
            ])
        backend.put("Tag", 1, ["label": "x"])
        backend.put("Album", 1, ["title": "A", "year": 1, "notes": "n", "tags": .many([1])])
        let context = try backend.context()
        try context.performAndWait {
            let album = try context.fetch(fetchRequest("Album", "year == 1"))[0]
            expect(album.value(forKey: "notes") as? String, equals: "n")
            expect((album.value(forKey: "tags") as? Set<NSManagedObject>)?.count, equals: 1)
            let request = fetchRequest("Album")
            request.shouldRefreshRefetchedObjects = true
            try backend.expectRequests(atMost: 3) {
                let again = try context.fetch(request)
                expect(again, equals: [album])
                expect(album.value(forKey: "notes") as? String, equals: "n")
                expect((album.value(forKey: "tags") as? Set<NSManagedObject>)?.count, equals: 1)
            }
            backend.put("Album", 1, ["title": "B", "year": 1, "notes": nil, "tags": .many([])])
            context.refresh(album, mergeChanges: false)
            #expect(album.value(forKey: "notes") == nil && album.value(forKey: "title") as? String == "B")
            expect((album.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty, equals: true)
        }
    }

    @Test("Sixty objects at a cap of twenty-five take three requests, and none of them is missing", arguments: [nil, 25])
    func cappedBatches(pages: Int?) throws {
        let backend = backend(listed: ["title"], cap: 1000, pages: nil)
        let context = try backend.context()
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            // The service ends its answers without a word.
            backend.setSilentLimit(25)
            backend.forgetRequests()
            expect(albums.map { $0.value(forKey: "year") as? Int }, equals: (0..<60).map { 1960 + $0 })
            expect(backend.requests.count, equals: 3)
            // Declared caps split beforehand.
            let declared = self.backend(listed: ["title"], cap: 25)
            let other = try declared.context()
            try other.performAndWait {
                let albums = try other.fetch(fetchRequest("Album"))
                declared.forgetRequests()
                expect(albums.compactMap { $0.value(forKey: "year") }.count, equals: 60)
                expect(declared.requests.count, equals: 3)
            }
        }
    }

    @Test("An object that does not exist any more is told from one that an answer has left out")
    func deletedObjects() throws {
        let backend = backend(listed: ["title"], cap: 1000)
        let context = try backend.context()
        try context.performAndWait {
            let ids = try context.fetch(fetchRequest("Album", by: ["title"])).map(\.objectID)
            context.reset()
            backend.remove("Album", 7)
            backend.setSilentLimit(25)
            backend.forgetRequests()
            let found = ids.filter { (try? context.existingObject(with: $0)) != nil }
            expect(found.count, equals: 59)
            let gone = try #require(failure { _ = try context.existingObject(with: ids[7]) })
            expect(gone.code, equals: NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test("Equal requests at the same time are one, and no more than the limit run side by side")
    func coalescing() async throws {
        let backend = backend(listed: nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(backend, options: RemoteStoreOptions(concurrentRequests: 3))
        backend.script { _ in .hold }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<5 {
                let context = coordinator.context()
                group.addTask {
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
                    request.resultType = .managedObjectIDResultType
                    return try await context.fetchAsynchronously(request).count
                }
            }
            await backend.untilHeld()
            // Those that come later join as long as it is held back.
            for _ in 0..<1000 { await Task.yield() }
            backend.script { _ in .answer }
            backend.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expect(counts, equals: [60, 60, 60, 60, 60])
        #expect(backend.requests.count < 5)
        let narrow = self.backend(listed: nil, cap: 5, expectedRows: 5000)
        narrow.script { _ in .delay(.milliseconds(5)) }
        let other = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try other.addRemoteStore(narrow, options: RemoteStoreOptions(concurrentRequests: 3))
        let second = other.context()
        let list = try await second.fetchAsynchronously(fetchRequest("Album"))
        narrow.forgetRequests()
        await second.perform { for album in list { second.refresh(album, mergeChanges: false) } }
        try await second.load(list, "notes")
        expect(narrow.requests.count, equals: 12)
        expect(narrow.mostConcurrentRequests, equals: 3)
    }

    @Test("A cancelled fetch cancels its request, unless others wait for it")
    func cancellation() async throws {
        let backend = backend()
        let context = try backend.context()
        backend.script { _ in .delay(.seconds(3600)) }
        @Sendable func count() async throws -> Int {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
            request.resultType = .managedObjectIDResultType
            return try await context.fetchAsynchronously(request).count
        }
        let task = Task { try await count() }
        while backend.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        backend.script { _ in .answer }
        #expect(try await count() == 60)
    }

    @Test("The error of a request reaches whoever asked, and the next attempt asks again")
    func errors() async throws {
        let backend = backend()
        let context = try backend.context()
        backend.script { _ in .fail(ServiceFailure("down")) }
        await #expect(throws: ServiceFailure.self) { try await context.fetchAsynchronously(fetchRequest("Album")) }
        backend.script { _ in .answer }
        try await context.perform {
            let album = try context.fetch(fetchRequest("Album", by: ["title"]))[0]
            backend.script { _ in .fail(ServiceFailure("down again")) }
            #expect(album.value(forKey: "notes") == nil)
            expect(context.pendingFaultError as? ServiceFailure, equals: ServiceFailure("down again"))
            #expect(throws: ServiceFailure.self) { try context.throwPendingFaultError() }
            backend.script { _ in .answer }
            #expect(album.value(forKey: "notes") == nil)
            expect(album.faultError as? ServiceFailure, equals: ServiceFailure("down again"))
            context.refresh(album, mergeChanges: true)
            #expect(album.faultError == nil)
            expect(album.value(forKey: "notes") as? String, equals: "note 0")
        }
    }

    @Test("Answers that come out of order never put an older row over a newer", arguments: ["none", "numbers", "tags"])
    func outOfOrder(versions: String) async throws {
        let backend = backend(listed: nil)
        backend.setVersions(versions == "none" ? .none : versions == "tags" ? .tags : .numbers)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(backend)
        let (slow, quick) = (coordinator.context(), coordinator.context())
        backend.script { $0.sorts.isEmpty ? .answer : .holdAnswer }
        let task = Task { _ = try await slow.fetchAsynchronously(fetchRequest("Album", by: ["title"])) }
        await backend.untilHeld()
        backend.change("Album", 3, ["title": "newer"])
        let id = try await quick.perform { () -> NSManagedObjectID in
            let album = try #require(try quick.fetch(fetchRequest("Album", "title == 'newer'")).first)
            return album.objectID
        }
        backend.release()
        try await task.value
        let title = try await slow.perform { try slow.existingObject(with: id).value(forKey: "title") as? String }
        expect(title, equals: "newer")
    }

    @Test("Pages that move lose and repeat nothing that stays, and pages without an end are an error")
    func movingPages() throws {
        let backend = backend(listed: nil, pages: 10)
        let context = try backend.context()
        // While pages are read, a new first one comes: the last of each page comes again with the next.
        let inserted = Guarded(false)
        backend.script { request in
            if request.page != nil,
                inserted.withValue({ was in
                    defer { was = true }; return !was
                })
            {
                backend.put("Album", 999, ["title": "AAA", "band": .one(1)])
            }
            return .answer
        }
        let titles = try context.texts(fetchRequest("Album", by: ["title"]))
        #expect(Set(titles).isSuperset(of: (0..<60).map { String(format: "Album %02d", $0) }))
        expect(Set(titles).count, equals: titles.count)
        struct Endless: Backend {
            let location = URL(string: "endless:")!
            let resources = [Resource("Album", endpoints: [Endpoint("list", paging: .pages(of: 1))])]
            func answer(_ request: BackendRequest) async throws -> BackendAnswer {
                var answer = request.answer()
                try answer.add(1, ["title": "again"])
                answer.next = PageToken("again")
                return answer
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(Endless())
        let error = try #require(failure { _ = try coordinator.context().texts(fetchRequest("Album")) })
        #expect(error.localizedDescription.contains("do not end"))
    }

    @Test("An endpoint that dumps everything serves all fetches and faults with one request for as long as it is fresh")
    func dumps() throws {
        let backend = ScriptedBackend(
            Shop.model(),
            ["Album", "Band"].map { Resource($0, endpoints: [Endpoint("dump", freshness: .seconds(60))], saving: .init()) })
        for band in 1...5 { backend.put("Band", band, ["name": .value(.string("Band \(band)"))]) }
        for number in 0..<50 {
            backend.put(
                "Album", number, ["title": .value(.string("Album \(number)")), "band": .one(.init(.integer(Int64(number % 5 + 1))))])
        }
        let clock = TestClock()
        let context = try backend.context(Shop.model(), RemoteStoreOptions(now: { clock.now }))
        try context.performAndWait {
            for band in try context.fetch(fetchRequest("Band")) {
                expect((band.value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 10)
                let ten = try context.count(for: fetchRequest("Album", "band == %@", [band]))
                expect(ten, equals: 10)
            }
            _ = try context.fetch(fetchRequest("Album", "band.name == 'Band 3'", by: ["-title"], limit: 2))
            expect(backend.requests.count, equals: 2)
            let plan = try fetchRequest("Album").explain(in: context)
            #expect(plan.usesKeptAnswer)
            clock.advance(.seconds(61))
            _ = try context.fetch(fetchRequest("Album"))
            expect(backend.requests.count, equals: 3)
            // What was saved is not hidden by what was kept.
            let new = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            new.setValue("Brand new", forKey: "title")
            try context.save()
            let found = try context.count(for: fetchRequest("Album", "title == 'Brand new'"))
            expect(found, equals: 1)
        }
    }

    @Test(
        "One resource that cannot be read does not lose its page where that is allowed, and is no silent loss where it is not",
        arguments: [true, false])
    func unreadable(isAllowed: Bool) throws {
        struct Partly: Backend {
            let location = URL(string: "partly:")!
            let resources: [Resource]
            func answer(_ request: BackendRequest) async throws -> BackendAnswer {
                var answer = request.answer()
                for (id, year) in [(1, "1969"), (2, "soon"), (3, "1971")] {
                    do {
                        try answer.add(id) { row in
                            try row.set(.value(.string("Album \(id)")), "title")
                            try row.set(Int64(year).map { .value(.int64($0)) } ?? .value(.string(year)), "year")
                        }
                    } catch { answer.unreadable.append(error) }
                }
                return answer
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        let resource =
            isAllowed
            ? Resource("Album", endpoints: [Endpoint("list")], unreadable: .reported) : Resource("Album", endpoints: [Endpoint("list")])
        try coordinator.addRemoteStore(Partly(resources: [resource]))
        let context = coordinator.context()
        if isAllowed { return try expect(context.texts(fetchRequest("Album", by: ["title"])), equals: ["Album 1", "Album 3"]) }
        let error = try #require(failure { _ = try context.texts(fetchRequest("Album")) })
        for part in ["1 of its 3", "year", "soon"] { #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)") }
    }
}
