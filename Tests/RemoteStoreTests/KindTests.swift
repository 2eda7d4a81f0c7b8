import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// References to entities with subentities, without a word about which of them it is.
@Suite("Kinds of destinations") struct KindTests {
    private func backend(info: Bool = true) -> ScriptedBackend {
        let people = info ? [Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])] : []
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource("Track", endpoints: [Endpoint("list")]),
                Resource("Person", endpoints: [Endpoint("list", cost: .init(request: 5))] + people),
            ])
        backend.put("Person", 1, ["name": "Brian"])
        backend.put("Singer", 2, ["name": "Ringo", "voice": "low"])
        for number in 0..<6 {
            backend.put(
                "Track", number, ["title": .value(.string("Track \(number)")), "writer": .one(.init(.integer(Int64(number % 3 + 1))))])
        }
        return backend
    }

    @Test("An object is of its own class, and only once, though the reference did not tell", arguments: [false, true])
    func fromReferences(isAwaited: Bool) async throws {
        let backend = backend()
        let context = try backend.context()
        let awaited = isAwaited ? try await context.fetchAsynchronously(fetchRequest("Track", by: ["title"])) : []
        defer { withExtendedLifetime(awaited) {} }
        try await context.perform {
            let tracks = try context.fetch(fetchRequest("Track", by: ["title"]))
            let writers = tracks.map { $0.value(forKey: "writer") as? NSManagedObject }
            #expect(writers[0]?.entity.name == "Person" && writers[1]?.entity.name == "Singer")
            expect(writers[1]?.value(forKey: "voice") as? String, equals: "low")
            #expect(writers[1] === writers[4])
            // What tells the kind is the row itself. The third, which does not exist, is asked for again.
            #expect(backend.requests.count(where: { $0.entity == "Person" }) <= 3)
            let people = try context.fetch(fetchRequest("Person", by: ["name"]))
            expect(people.map { $0.entity.name }, equals: ["Person", "Singer"])
            #expect(people[0] === writers[0] && people[1] === writers[1])
        }
    }

    @Test("Kinds that are known cost no request")
    func knownKinds() throws {
        let backend = backend()
        backend.remove("Track", 2)
        backend.remove("Track", 5)
        let context = try backend.context()
        try context.performAndWait {
            let people = try context.fetch(fetchRequest("Person", by: ["name"]))
            backend.forgetRequests()
            let tracks = try context.fetch(fetchRequest("Track", by: ["title"]))
            #expect(tracks[1].value(forKey: "writer") as? NSManagedObject === people[1])
            expect(backend.requests.map(\.entity), equals: ["Track"])
        }
    }

    @Test("Where nothing tells the kind, the reference is taken at its word")
    func untold() throws {
        let backend = ScriptedBackend(Shop.model(), [Resource("Track", endpoints: [Endpoint("list")])])
        backend.put("Track", 1, ["title": "Yesterday", "writer": .one(7)])
        let context = try backend.context()
        try context.performAndWait {
            let track = try #require(try context.fetch(fetchRequest("Track")).first)
            expect((track.value(forKey: "writer") as? NSManagedObject)?.entity.name, equals: "Person")
        }
    }

    @Test("Where one kind is asked for by its owners and another is read whole, no owner is lost")
    func kindsReadInTwoWays() throws {
        let embedded = Endpoint.Embedding("more")
        let backend = ScriptedBackend(
            RandomWorld.model(),
            [
                Resource("Place", endpoints: [Endpoint("list")]),
                Resource(
                    "Thing",
                    endpoints: [
                        Endpoint(
                            "of places", parameters: [Parameter("ANY more", operators: [.equal, .isIn], maximumValues: 5)],
                            properties: ["label", "flag"], embeddings: [embedded], includesSubentities: false)
                    ]),
                Resource("Special", endpoints: [Endpoint("list", embeddings: [.init("more", isAlwaysThere: true)])]),
            ])
        backend.put("Place", 1, ["label": 1])
        backend.put("Place", 2, ["label": 2])
        backend.put("Place", 3, ["label": 3])
        let places = [1, 2].map { ResourceReference(.integer(Int64($0)), entity: "Place") }
        backend.put("Thing", 4, ["flag": true, "more": .many([places[0]])])
        backend.put("Special", 5, ["flag": true, "more": .many([places[1]])])
        let context = try backend.context(RandomWorld.model())
        try context.performAndWait {
            let request = fetchRequest("Place", by: ["label"])
            request.predicate = NSPredicate(format: "ANY more.flag == TRUE")
            let found = try context.fetch(request)
            expect(found.map { $0.value(forKey: "label") as? Int }, equals: [1, 2])
        }
    }
}
