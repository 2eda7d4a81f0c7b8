import Foundation
import JSONReading
import TestSupport
import Testing

@testable import WebBackend

@Suite struct FileRoundTripTests {
    @Test func whatIsWrittenIsReadAsTheSameDescription() throws {
        let seed = TestSeed.current(for: "Descriptions that are written and read")
        var count = 0
        for round in TestRounds(seconds: 1.3, atLeast: 20) {
            var random = RandomDescription(seed: seed &+ UInt64(round) &* 7919)
            let service = random.service()
            let json = try service.json()
            let read = try WebService(json: json)
            if read != service {
                Issue.record("seed \(seed), round \(round): \(String(decoding: json, as: UTF8.self))")
                return
            }
            count += 1
        }
        print("\(count) descriptions were read as they were written.")
    }

    @Test(arguments: [
        ("plain", ServiceStyle.plain), ("jsonAPI", .jsonAPI), ("djangoREST", .djangoREST), ("kinto", .kinto), ("gitHub", .gitHub),
        ("couchDB", .couchDB),
        ("parse", .parse),
    ]) func aConventionIsWrittenByItsName(name: String, style: ServiceStyle) throws {
        let value = try JSONValue(parsing: Array(WebService("https://example.com", style: style).json()))
        expect(
            value,
            equals: (name == "plain" ? ["address": "https://example.com"] : ["address": "https://example.com", "style": .string(name)]))
    }

    @Test func whatIsWrittenSaysOnlyWhatDiffers() throws {
        let value = try JSONValue(parsing: Array(DescriptionExamples.bandsInSwift.json()))
        expect(
            value["style"]?["paging"],
            equals: ["page": "page", "size": "per_page", "of": 50, "next": "link:next", "total": "body:meta.total"])
        expect(value["resources"]?[0], equals: "Label")
        expect(value["resources"]?[1]?["calls"]?[0], equals: "list")
        expect(value["resources"]?[2]?["calls"]?[0], equals: ["list": "bands/{band}/albums", "filters": ["title"]])
        expect(value["resources"]?[2]?["calls"]?[2]?["paging"], equals: ["of": 10])
        expect(value["resources"]?[2]?["saving"], equals: ["create": "POST bands/{band}/albums"])
        expect(value["resources"]?[2]?["properties"]?["released"], equals: "release_date")
    }

    @Test func everyPropertyOfADescriptionHasAKey() {
        // A property that a type gets later needs a key in its table; this counts them.
        func count(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
        let schema = try? JSONValue(parsing: Array(WebService.schema.utf8))
        func keys(_ name: String) -> Int { schema?["$defs"]?[name]?["properties"]?.object?.count ?? 0 }
        let comparisons = 2 * 13
        expect(keys("style"), equals: count(ServiceStyle.plain) + 1)
        expect(keys("paging"), equals: count(PagingStyle.none) + 5 - 1)
        expect(keys("filters"), equals: count(FilterStyle.none) + comparisons - 1)
        expect(keys("sorting"), equals: count(SortStyle.none))
        expect(keys("saving"), equals: count(SavingStyle()))
        expect(keys("errors"), equals: count(ErrorStyle()))
        expect(keys("call"), equals: count(WebCall("", path: "")) + 2)
        expect(keys("parameter"), equals: count(WebParameter(keyPaths: [], templates: [:])) + comparisons)
        expect(keys("property"), equals: count(PropertyMapping()))
        expect(keys("resource"), equals: count(WebResource("")))
        expect(keys("envelope"), equals: count(Envelope()))
        expect(keys("collection"), equals: count(CollectionStyle()))
    }
}
