import CoreData
import ExampleSupport
import Testing

@Suite("What examples share") struct SupportTests {
    @Test("A text has one UUID, and another text another one") func derivedUUID() {
        #expect(UUID(derivedFrom: "http://api.bandcamp.com") == UUID(derivedFrom: "http://api.bandcamp.com"))
        #expect(UUID(derivedFrom: "http://api.bandcamp.com") != UUID(derivedFrom: "http://api.bandcamp.com/"))
        // Version 8, variant 1: a custom UUID according to RFC 9562.
        #expect(UUID(derivedFrom: "").uuidString == "6C62272E-07BB-8142-A2B8-21756295C58D")
    }

    private enum Code: Int, ServiceErrorCode {
        case unreachable = 7
        static var domain: String { "Domain" }
    }

    @Test("An error begins with the request and has the address, the reason and the cause") func failure() throws {
        let url = try #require(URL(string: "http://localhost/x?y=1"))
        let error = NSError.failure(Code.unreachable, asking: url, "No answer came.", cause: CocoaError(.fileNoSuchFile))
        #expect(error.domain == "Domain" && error.code == 7)
        #expect(error.localizedDescription == "GET http://localhost/x?y=1 failed. No answer came.")
        #expect(error.localizedFailureReason == "No answer came.")
        #expect(error.userInfo[NSURLErrorKey] as? URL == url)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == NSCocoaErrorDomain)
        #expect(NSError.failure(Code.unreachable, "Nothing was asked.").localizedDescription == "Nothing was asked.")
    }

    @Test("Offset and limit cut a page, and a limit of 0 is none") func page() {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Song")
        #expect(request.page([1, 2, 3]) == [1, 2, 3])
        request.fetchOffset = 1
        #expect(request.page([1, 2, 3]) == [2, 3])
        request.fetchLimit = 1
        #expect(request.page([1, 2, 3]) == [2])
        request.fetchOffset = 9
        #expect(request.page([1, 2, 3]).isEmpty)
    }
}
