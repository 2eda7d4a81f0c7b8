import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// How many requests it takes to walk relationships.
@Suite("Walks") struct WalkTests {
    /// Bands with albums with tracks, in pages of a hundred; relationships by identifiers of owners, at most a hundred at once.
    private func backend(_ bands: Int, _ children: Int, resources: [Resource]? = nil) -> ScriptedBackend {
        func resource(_ entity: String, _ owner: String?) -> Resource {
            var parameters = [Parameter("SELF", maximumValues: 1000)]
            if let owner { parameters.append(Parameter(owner, maximumValues: 1000)) }
            return Resource(
                entity, endpoints: [Endpoint("list", parameters: parameters, sorting: .by("title"), paging: .pages(of: 100))])
        }
        let backend = ScriptedBackend(
            Shop.model(),
            resources ?? [
                Resource(
                    "Band", endpoints: [Endpoint("list", parameters: [Parameter("SELF", maximumValues: 1000)], paging: .pages(of: 100))]),
                resource("Album", "band"), resource("Track", "album"),
                Resource(
                    "Person", endpoints: [Endpoint("list", parameters: [Parameter("SELF", maximumValues: 1000)], paging: .pages(of: 100))]),
            ])
        for person in 1...20 { backend.put(person % 2 == 0 ? "Person" : "Singer", person, ["name": .value(.string("P\(person)"))]) }
        var album = 0
        for band in 1...bands {
            backend.put("Band", band, ["name": .value(.string("Band \(band)"))])
            for _ in 0..<children {
                album += 1
                backend.put("Album", album, ["title": .value(.string("Album \(album)")), "band": .one(.init(.integer(Int64(band))))])
                backend.put(
                    "Track", album,
                    [
                        "title": .value(.string("Track \(album)")), "album": .one(.init(.integer(Int64(album)))),
                        "writer": .one(.init(.integer(Int64(album % 20 + 1)), entity: album % 2 == 0 ? "Singer" : nil)),
                    ])
            }
        }
        return backend
    }

    @Test("Owners to their many, and on to one of each: a request for each page and five more", arguments: [1, 10, 100], [false, true])
    func walks(children: Int, isAwaited: Bool) async throws {
        let bands = children == 100 ? 10 : 40
        let backend = backend(bands, children)
        let context = try backend.context()
        var rows = bands
        // What was loaded stays for as long as the objects do.
        let kept = isAwaited ? try await context.fetchAsynchronously(fetchRequest("Band")) : []
        if isAwaited { try await context.load(kept, "albums.tracks.writer") }
        defer { withExtendedLifetime(kept) {} }
        try await context.perform {
            var names = 0
            for band in try context.fetch(fetchRequest("Band")) {
                for album in band.value(forKey: "albums") as? Set<NSManagedObject> ?? [] {
                    #expect(album.value(forKey: "band") as? NSManagedObject === band)
                    rows += 1
                    for case let track as NSManagedObject in album.value(forKey: "tracks") as? NSOrderedSet ?? [] {
                        rows += 1
                        if (track.value(forKey: "writer") as? NSManagedObject)?.value(forKey: "name") != nil { names += 1 }
                    }
                }
            }
            expect(names, equals: bands * children)
        }
        rows += min(20, children * bands)
        // Three kinds of rows have pages of their own; an awaited walk fetches the owners again.
        #expect(
            backend.requests.count <= (rows + 99) / 100 + 5 + (isAwaited ? 1 : 0) + children * bands / 1000,
            "\(backend.requests.map { "\n\($0)" }.joined())")
    }

    @Test(
        "Owners to their many, and on to a different one of each: a request for each full page and five more", arguments: [1, 10, 100],
        [false, true])
    func distinctDestinations(children: Int, isAwaited: Bool) async throws {
        let owners = 40
        func resource(_ entity: String, _ owner: String?) -> Resource {
            var parameters = [Parameter("SELF", maximumValues: 1000)]
            if let owner { parameters.append(Parameter(owner, maximumValues: 1000)) }
            return Resource(entity, endpoints: [Endpoint("list", parameters: parameters, paging: .pages(of: 100))])
        }
        let backend = ScriptedBackend(Shop.model(), [resource("Album", nil), resource("Track", "album"), resource("Person", nil)])
        for owner in 1...owners {
            backend.put("Album", owner, ["title": .value(.string("Album \(owner)"))])
            for number in 1...children {
                let id = owner * 1000 + number
                backend.put(id % 3 == 0 ? "Singer" : "Person", id, ["name": .value(.string("P\(id)"))])
                backend.put(
                    "Track", id,
                    [
                        "title": .value(.string("T\(id)")), "album": .one(.init(.integer(Int64(owner)))),
                        "writer": .one(.init(.integer(Int64(id)), entity: id % 3 == 0 ? "Singer" : "Person")),
                    ])
            }
        }
        let context = try backend.context()
        let albums = try await context.fetchAsynchronously(fetchRequest("Album"))
        if isAwaited { try await context.load(albums, "tracks.writer") }
        await context.perform {
            var names: Set<String> = []
            for album in albums {
                for case let track as NSManagedObject in album.value(forKey: "tracks") as? NSOrderedSet ?? [] {
                    if let name = (track.value(forKey: "writer") as? NSManagedObject)?.value(forKey: "name") as? String {
                        names.insert(name)
                    }
                }
            }
            expect(names.count, equals: owners * children)
        }
        let rows = owners + 2 * owners * children
        #expect(backend.requests.count <= (rows + 99) / 100 + 5, "\(backend.requests.map { "\n\($0)" }.joined())")
    }

    @Test("Observed objects are walked by as few requests as others")
    func observed() async throws {
        let backend = backend(40, 1)
        let context = try backend.context()
        context.isObservationEnabled = true
        let bands = try await context.fetchAsynchronously(fetchRequest("Band"))
        try await context.load(bands, "albums.tracks")
        let requests = backend.requests.count
        await context.perform {
            for band in bands {
                for album in band.value(forKey: "albums") as? Set<NSManagedObject> ?? [] {
                    #expect(album.value(forKey: "band") as? NSManagedObject === band)
                    expect((album.value(forKey: "tracks") as? NSOrderedSet)?.count, equals: 1)
                }
            }
        }
        expect(backend.requests.count, equals: requests)
    }

    @Test("Members of lists that come with their owners are loaded together, whether or not something of the owner was read before")
    func listsOfOwners() throws {
        let list = Resource("Band", endpoints: [Endpoint("list", paging: .pages(of: 100))])
        let members = Resource(
            "Album", endpoints: [Endpoint("list", parameters: [Parameter("SELF", maximumValues: 50)], paging: .pages(of: 100))])
        let backend = backend(40, 3, resources: [list, members])
        for band in 1...40 {
            backend.put(
                "Band", band,
                ["name": .value(.string("Band \(band)")), "albums": .many((1...3).map { .init(.integer(Int64((band - 1) * 3 + $0))) })])
        }
        let context = try backend.context()
        try context.performAndWait {
            for band in try context.fetch(fetchRequest("Band")) {
                #expect(band.value(forKey: "name") != nil)
                let albums = try #require(band.value(forKey: "albums") as? Set<NSManagedObject>)
                expect(albums.compactMap { $0.value(forKey: "title") }.count, equals: 3)
            }
        }
        // Not one for each owner.
        #expect(backend.requests.count <= 4, "\(backend.requests)")
    }

    @Test("What an answer embeds costs nothing")
    func embedded() throws {
        let backend = backend(
            10, 3,
            resources: [
                Resource(
                    "Band",
                    endpoints: [
                        Endpoint("list", embeddings: [.init("albums", isAlwaysThere: true)])
                    ]), Resource("Album", endpoints: [Endpoint("info", parameters: [Parameter("SELF", isRequired: true)])]),
            ])
        // The lists are the bands' own here.
        for band in 1...10 {
            backend.put(
                "Band", band,
                ["name": .value(.string("Band \(band)")), "albums": .many((1...3).map { .init(.integer(Int64((band - 1) * 3 + $0))) })])
        }
        let context = try backend.context()
        try context.performAndWait {
            for band in try context.fetch(fetchRequest("Band")) {
                let albums = try #require(band.value(forKey: "albums") as? Set<NSManagedObject>)
                expect(albums.compactMap { $0.value(forKey: "title") }.count, equals: 3)
            }
        }
        expect(backend.requests.count, equals: 1)
    }

    @Test("Key paths to prefetch are embedded where the backend can")
    func prefetching() async throws {
        let backend = backend(
            5, 2,
            resources: [
                Resource("Album", endpoints: [Endpoint("list", embeddings: [.init("band")])]),
                Resource("Band", endpoints: [Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 10)])]),
            ])
        let context = try backend.context()
        let request = fetchRequest("Album")
        request.relationshipKeyPathsForPrefetching = ["band"]
        let albums = try await context.fetchAsynchronously(request)
        await context.perform {
            expect(albums.compactMap { ($0.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") }.count, equals: 10)
        }
        #expect(backend.requests.count == 1 && backend.requests[0].embeddings == ["band"])
        backend.forgetRequests()
        let other = try backend.context()
        try expect(other.texts(fetchRequest("Album", "band.name == 'Band 2'", by: ["title"])), equals: ["Album 3", "Album 4"])
        expect(backend.requests.count, equals: 1)
    }

    @Test("Lists of many to many come from either end: by owner, or for several owners where the answer tells whose it is")
    func manyToMany() throws {
        for cap in [1, 10] {
            let backend = ScriptedBackend(
                Shop.model(),
                [
                    Resource("Album", endpoints: [Endpoint("list")]),
                    Resource(
                        "Tag", endpoints: [Endpoint("of", parameters: [Parameter("ANY albums", isRequired: true, maximumValues: cap)])]),
                ])
            for tag in 1...4 {
                backend.put(
                    "Tag", tag, ["label": .value(.string("t\(tag)")), "albums": .many((1...tag).map { .init(.integer(Int64($0))) })])
            }
            for album in 1...5 { backend.put("Album", album, ["title": .value(.string("a\(album)"))]) }
            let context = try backend.context()
            try context.performAndWait {
                let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
                let labels = albums.map { album in
                    (album.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "label") as? String }
                        .sorted()
                }
                expect(labels, equals: [["t1", "t2", "t3", "t4"], ["t2", "t3", "t4"], ["t3", "t4"], ["t4"], []])
            }
            expect(backend.requests.count, equals: (cap == 1 ? 6 : 2))
        }
    }

    @Test("A relationship that no endpoint tells is an error that names it")
    func untold() throws {
        let backend = ScriptedBackend(
            Shop.model(), [Resource("Band", endpoints: [Endpoint("list")]), Resource("Album", endpoints: [])])
        backend.put("Band", 1, ["name": "A"])
        let context = try backend.context()
        try context.performAndWait {
            let band = try context.fetch(fetchRequest("Band"))[0]
            _ = band.value(forKey: "albums")
            let error = try #require(context.pendingFaultError as NSError?)
            #expect(error.localizedDescription.contains("Album"))
        }
    }

    @Test("Subentities come as what they are, from an endpoint for all of them or from one each")
    func kinds() throws {
        for isJoint in [true, false] {
            let endpoint = Endpoint("all", includesSubentities: isJoint)
            let backend = ScriptedBackend(
                Shop.model(),
                [Resource("Person", endpoints: [endpoint])] + (isJoint ? [] : [Resource("Singer", endpoints: [endpoint])]))
            backend.put("Person", 1, ["name": "Brian"])
            backend.put("Singer", 2, ["name": "Ringo", "voice": "low"])
            let context = try backend.context()
            try context.performAndWait {
                let all = try context.fetch(fetchRequest("Person", by: ["name"]))
                expect(all.map { $0.entity.name }, equals: ["Person", "Singer"])
                let singers = try context.texts(fetchRequest("Singer"), "name")
                expect(singers, equals: ["Ringo"])
                let request = fetchRequest("Person")
                request.includesSubentities = false
                let others = try context.texts(request, "name")
                expect(others, equals: ["Brian"])
            }
        }
    }
}
