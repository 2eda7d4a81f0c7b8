import Foundation
import RemoteStore
import TestSupport
import Testing
import WebTransport

@testable import WebBackend

@Suite struct FileReadingTests {
    @Test func aDescriptionInJSONIsTheSameAsTheOneInSwift() throws {
        let service = try WebService(json: Data(DescriptionExamples.bands.utf8))
        let expected = DescriptionExamples.bandsInSwift
        expect(service.style, equals: expected.style)
        expect(service.resources, equals: expected.resources)
        expect(service, equals: expected)
    }

    @Test func aDescriptionWithoutResourcesHasOneForEachEntity() throws {
        let service = try WebService(json: Data(#"{"address": "https://example.com", "style": "couchDB"}"#.utf8))
        expect(service, equals: WebService("https://example.com", style: .couchDB))
        #expect(service.includesAllEntities)
        #expect(try !WebService(json: Data(#"{"address": "https://example.com", "resources": []}"#.utf8)).includesAllEntities)
    }

    @Test(arguments: [
        (#""none""#, PagingStyle.none), (#"{"page": "p"}"#, PagingStyle(.number("p", first: 1))),
        (#"{"page": "p", "first": 0, "of": 20}"#, PagingStyle(.number("p", first: 0), size: 20)),
        (
            #"{"offset": "skip", "size": "limit", "of": 7, "total": "contentRange"}"#,
            .offsets("skip", size: "limit", of: 7, total: .contentRange)
        ),
        (#"{"next": "link:next", "size": "n"}"#, .following(.link("next"), size: "n", stability: .offsets)),
        (#"{"next": {"body": ["a.b", 0]}}"#, .following(.body(JSONPath(steps: [.key("a.b"), .element(0)])), stability: .offsets)),
        (
            #"{"cursor": "c", "next": "header:Next-Page", "stability": "offsets"}"#,
            .following(.header("Next-Page"), parameter: "c", stability: .offsets)
        ),
        (
            #"{"form": "address", "hasMore": "body:more", "endsEmpty": true}"#,
            PagingStyle(.address, hasMore: .body("more"), endsEmpty: true)
        ),
    ]) func pagesAreDescribedByHowTheNextOneIsFound(text: String, paging: PagingStyle) throws {
        try expect(service(style: "{\"paging\": \(text)}").style.paging, equals: paging)
    }

    @Test func aStyleChangesWhatDiffersFromAConvention() throws {
        var style = ServiceStyle.kinto
        style.paging.size = 20
        style.filters.templates[.contains] = nil
        style.saving?.batch = .requests(.init(path: "batch", maximum: 5))
        style.changeFeed = nil
        let text = """
            {"like": "kinto", "paging": {"of": 20}, "filters": {"contains": null},
             "saving": {"batch": {"requests": {"path": "batch", "maximum": 5}}}, "changeFeed": "none"}
            """
        try expect(service(style: text).style, equals: style)
    }

    @Test func credentialsAndLimitsOfAFileAreTheClientsOptions() throws {
        let file = try WebServiceFile(json: Data(DescriptionExamples.kinto.utf8))
        expect(file.service, equals: WebService("https://kinto.example.com/v1/buckets/default/collections", style: .kinto))
        guard case .basic(let user, let password) = file.options.authentication else {
            Issue.record("The authentication is \(file.options.authentication)")
            return
        }
        expect(user, equals: "anna")
        expect(password.description, equals: "the environment variable KINTO_PASSWORD")
        expect(file.options.limits, equals: TransportLimits(requestSeconds: 20, maximumBytes: 1_000_000))
        expect(file.options.maximumConcurrentRequestsPerHost, equals: 2)
        expect(file.options.rateLimit, equals: RateLimit(requests: 5))
        expect(file.options.retries, equals: RetryPolicy(maximumTries: 2))
        expect(file.options.redirects, equals: .never)
    }

    @Test func aServiceAloneIsNotReadFromAFileWithCredentials() {
        let error = #expect(throws: NSError.self) { try WebService(json: Data(DescriptionExamples.kinto.utf8)) }
        expect(error?.code, equals: 134080)
        expect(error?.localizedDescription.contains("authentication, limits"), equals: true)
        expect(error?.localizedDescription.contains("WebServiceFile"), equals: true)
    }

    @Test(arguments: DescriptionExamples.authentications) func everyAuthenticationIsReadAndWritten(text: String) throws {
        let json = DescriptionExamples.description(authentication: text)
        let written = try WebServiceFile(json: Data(json.utf8)).json()
        // What was written is read, and written in the same way again.
        try expect(WebServiceFile(json: written).json(), equals: written)
        let hasSecretPlace = text.contains("environment") || text.contains("file")
        let text = String(decoding: written, as: UTF8.self)
        #expect(!hasSecretPlace || text.contains("environment") || text.contains("file"))
    }

    @Test func aFileIsReadByItsURL() throws {
        let folder = try ScratchFolder("descriptions")
        defer { folder.remove() }
        let url = folder.file("bands.json")
        try Data(DescriptionExamples.bands.utf8).write(to: url)
        try expect(WebService(contentsOf: url), equals: DescriptionExamples.bandsInSwift)
        #expect(throws: (any Error).self) { try WebService(contentsOf: folder.file("missing.json")) }

        let yaml = folder.file("bands.yaml")
        try Data("address: https://example.com\nstyel: kinto\n".utf8).write(to: yaml)
        let error = #expect(throws: NSError.self) { try WebService(contentsOf: yaml) }
        expect(error?.code, equals: 134080)
        #if YAML
        #expect(
            error?.localizedDescription.contains("bands.yaml, line 2, column 1 (styel). “styel” is no key") == true
                && error?.localizedDescription.contains("Did you mean “style”?") == true, "\(String(describing: error))")
        #else
        expect(error?.localizedDescription.contains("trait WebBackend"), equals: true)
        #endif
    }

    private func service(style: String) throws -> WebService {
        try WebService(json: Data("{\"address\": \"https://example.com\", \"style\": \(style)}".utf8))
    }
}
