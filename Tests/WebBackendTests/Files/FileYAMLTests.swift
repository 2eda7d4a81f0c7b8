#if YAML
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebTransport

@testable import WebBackend

@Suite struct FileYAMLTests {
    @Test func aDescriptionInYAMLIsTheSameAsTheOneInSwift() throws {
        let yaml = """
            # The example of the article.
            address: https://api.example.com/v1
            style:
              like: plain
              names: snakeCase
              paging: {page: page, size: per_page, of: 50, next: "link:next"}
              filters:
                equal: "{name}={value}"
                "<": "{name}__lt={value}"
            headers: {X-Version: 2}
            resources:
              - Label
              - entity: Band
                calls: [list, one]
              - entity: Album
                properties:
                  released: release_date
                  length: {path: duration, as: {scaled: 1e-3}}
                  state: {as: {enumeration: {1: open, no: closed}}}
                calls:
                  - {name: discography, path: "bands/{band}/albums", freshness: 60}
                  - one: albums/{SELF}
                saving:
                  create: POST bands/{band}/albums
                  delete: none
                  idempotencyHeader: ~
            """
        var style = ServiceStyle.plain
        style.names = .snakeCase
        style.paging = .pages("page", size: "per_page", of: 50, next: .link("next"))
        style.filters = FilterStyle(.parameters, [.equal: "{name}={value}", .lessThan: "{name}__lt={value}"])
        let expected = WebService(
            "https://api.example.com/v1", style: style, headers: ["X-Version": "2"],
            resources: [
                WebResource("Label"), WebResource("Band", calls: [.list(), .one]),
                WebResource(
                    "Album",
                    properties: [
                        "released": "release_date", "length": .at("duration", .scaled(by: 0.001)),
                        "state": PropertyMapping(.enumerationOfJSON(["1": "open", "\"no\"": "closed"])),
                    ], calls: [WebCall("discography", path: "bands/{band}/albums", freshness: 60), .one("albums/{SELF}")],
                    saving: SavingStyle(create: .init(.post, "bands/{band}/albums"), delete: nil)),
            ])
        try expect(WebService(yaml: yaml), equals: expected)
    }

    @Test func whatIsJSONIsYAMLToo() throws {
        try expect(WebService(yaml: DescriptionExamples.bands), equals: DescriptionExamples.bandsInSwift)
    }

    @Test(arguments: [
        (
            "address: https://a.b\nresources:\n  - entity: Album\n    calls:\n      - {list: a, paging: {page: p, sise: 5}}\n",
            "line 5, column 37 (resources[0].calls[0].paging.sise). “sise” is no key that is known here. Did you mean “size”?"
        ),
        (
            "address: https://a.b\nstyle:\n  paging:\n    page: p\n    of: many\n",
            "line 5, column 5 (style.paging.of). Expected a whole number"
        ),
        (
            "address: https://a.b\nresources:\n  - entity: A\n    readOnly: yes\n",
            "line 4, column 5 (resources[0].readOnly). Expected true or false, found a string."
        ),
        ("address: [\n", "This is not YAML"), ("", "There is no description."), ("a: 1\n---\nb: 2\n", "This is not YAML"),
        ("address: *unknown\n", "This is not YAML"), ("? [a]\n: 1\n", "A key must be a word."),
        ("address: https://a.b\nauthentication: {bearer: abc}\n", "line 2, column 18 (authentication.bearer). A secret never stands"),
    ]) func anErrorNamesLineAndColumn(yaml: String, expected: String) throws {
        let error = try #require(throws: NSError.self) { try WebServiceFile(yaml: yaml) }
        expect(error.code, equals: 134080)
        #expect(error.localizedDescription.contains(expected), "\(error.localizedDescription)")
    }

    @Test func namesForValuesThatMultiplyAreAnError() throws {
        var yaml = "a0: &a0 [x, x]\n"
        for level in 1...60 { yaml += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1), *a\(level - 1)]\n" }
        let error = try #require(throws: NSError.self) { try WebService(yaml: yaml) }
        #expect(error.localizedDescription.contains("There are more than 100000 values."), "\(error.localizedDescription)")
    }

    @Test func aNameForAValueStandsForIt() throws {
        let yaml = "address: https://a.b\nresources:\n  - {entity: A, calls: &calls [list]}\n  - {entity: B, calls: *calls}\n"
        try expect(WebService(yaml: yaml).resource("B")?.calls, equals: [.list()])
    }
}
#endif
