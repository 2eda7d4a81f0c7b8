import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Predicates over related objects, which are asked for first.
@Suite("Semi-joins") struct JoinTests {
    private func backend(albums: [Endpoint], bands: [Endpoint] = [Endpoint("search", parameters: [Parameter("name")])]) -> ScriptedBackend {
        let tags = Resource("Tag", endpoints: [Endpoint("search", parameters: [Parameter("label")])])
        let backend = ScriptedBackend(Shop.model(), [Resource("Album", endpoints: albums), Resource("Band", endpoints: bands), tags])
        for band in 1...6 { backend.put("Band", band, ["name": .value(.string("Band \(band % 3)"))]) }
        for tag in 1...4 { backend.put("Tag", tag, ["label": .value(.string("Tag \(tag)"))]) }
        for number in 0..<60 {
            backend.put(
                "Album", number,
                [
                    "title": .value(.string("Album \(number)")), "year": .value(.int64(Int64(1960 + number))),
                    "band": .one(.init(.integer(Int64(number % 6 + 1)))),
                    "tags": .many([ResourceReference(.integer(Int64(number % 4 + 1)))]),
                ])
        }
        return backend
    }

    private let ofBand = Endpoint(
        "ofBand", parameters: [Parameter("band", isRequired: true, maximumValues: 10)], sorting: .by("year"),
        paging: .pages(of: 50, takesLimit: true), counts: true, cost: .init(expectedRows: 10))

    @Test("Where a required parameter is a related object, those that match are asked for first")
    func onlyWay() throws {
        let backend = backend(albums: [ofBand])
        let context = try backend.context()
        let request = fetchRequest("Album", "band.name == 'Band 1' AND band.founded == nil AND year > 1970", by: ["-year"])
        _ = try? context.plan(request)
        let simple = fetchRequest("Album", "band.name == 'Band 1' AND year > 1970", by: ["-year"])
        let plan = try context.plan(simple)
        #expect(plan.joins.map(\.relationship) == ["band"] && plan.joins[0].entity == "Band")
        expect(plan.joins[0].plan.requests.map(\.endpoint), equals: ["search"])
        for part in [
            "first find “Band” where name == \"Band 1\", for band:", "  ask Band.search(name == \"Band 1\")",
            "then ask Album.ofBand(band IN {…}",
        ] { #expect("\(plan)".contains(part), "\(plan)") }
        #expect(backend.requests.isEmpty)
        let titles = try context.texts(simple)
        expect(titles, equals: (0..<60).filter { [0, 3].contains($0 % 6) && $0 > 10 }.reversed().map { "Album \($0)" })
        expect(backend.requests.map(\.endpoint), equals: ["search", "ofBand"])
        expect(backend.requests.last?.ids("band").count, equals: 2)
        // The destinations have come along.
        try backend.expectRequests(atMost: 2) {
            try context.performAndWait {
                let names = try context.fetch(simple).compactMap { ($0.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") }
                expect(names.count, equals: titles.count)
            }
        }
    }

    @Test("A list that is grouped by its owners here is read once for a fetch, however many pages the fetch goes on for")
    func groupedHere() throws {
        let list = Endpoint("all", paging: .pages(of: 10), cost: .init(expectedRows: 60))
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 10)])
        let backend = backend(albums: [list], bands: [Endpoint("all"), byID])
        let context = try backend.context()
        try backend.expectRequests(atMost: 20) {
            let titles = try context.texts(fetchRequest("Album", "band.albums.@count == 9", limit: 2))
            expect(titles, equals: [])
        }
        try backend.expectRequests(atMost: 20) {
            let titles = try context.texts(fetchRequest("Album", "band.albums.@count == 10", limit: 2))
            expect(titles.count, equals: 2)
        }
    }

    @Test("Order, limit and count are pushed down with the objects that were found")
    func pushedDown() throws {
        let backend = backend(albums: [ofBand])
        let context = try backend.context()
        let titles = try context.texts(fetchRequest("Album", "band.name == 'Band 2'", by: ["year"], limit: 3))
        expect(titles, equals: ["Album 1", "Album 4", "Album 7"])
        expect(backend.requests.last?.limit, equals: 3)
        backend.forgetRequests()
        let count = try context.performAndWait { try context.count(for: fetchRequest("Album", "band.name == 'Band 2'")) }
        expect(count, equals: 20)
        #expect(backend.requests.last?.wantsCount == true && backend.requests.count == 2)
        backend.forgetRequests()
        #expect(try context.texts(fetchRequest("Album", "band.name == 'nobody'")).isEmpty)
        expect(backend.requests.count, equals: 1)
    }

    @Test("ANY over many, by an endpoint of the relationship")
    func any() throws {
        let byTag = Endpoint("byTag", parameters: [Parameter("ANY tags", isRequired: true)], cost: .init(expectedRows: 10))
        let backend = backend(albums: [byTag])
        let context = try backend.context()
        let titles = try context.texts(fetchRequest("Album", "ANY tags.label == 'Tag 2' AND year < 1970", by: ["year"]))
        expect(titles, equals: ["Album 1", "Album 5", "Album 9"])
        expect(backend.requests.map(\.endpoint), equals: ["search", "byTag"])
    }

    @Test("Where reading everything is cheaper, or the destinations are too many, they are not asked for first")
    func tooMany() throws {
        let all = Endpoint("all", cost: .init(expectedRows: 20))
        let one = Endpoint("ofBand", parameters: [Parameter("band", isRequired: true)], cost: .init(expectedRows: 500))
        let context = try backend(albums: [all, one], bands: [Endpoint("all")]).context()
        #expect(try context.plan(fetchRequest("Album", "band.name == 'Band 1'")).joins.isEmpty)
        // More are found than was to be expected: what reads everything in one request is used after all.
        let bands = [Endpoint("search", parameters: [Parameter("name", operators: [.beginsWith])], cost: .init(expectedRows: 1))]
        let many = backend(albums: [Endpoint("all", cost: .init(request: 3, expectedRows: 60)), one], bands: bands)
        for band in 10..<100 { many.put("Band", band, ["name": "Band 0 too"]) }
        let other = try many.context()
        let request = fetchRequest("Album", "band.name BEGINSWITH 'Band 0'", by: ["year"])
        let titles = try other.texts(request)
        expect(titles, equals: (0..<60).filter { [2, 5].contains($0 % 6) }.map { "Album \($0)" })
        #expect(many.requests.count < 10)
    }
}
