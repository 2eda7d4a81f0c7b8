import CoreData
import Foundation
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("A hostile web service") struct HostileServiceTests {
    private func error(_ service: WebService, _ answer: @escaping @Sendable (WebRequest) -> WebResponse) throws -> (
        error: NSError?, requests: Int
    ) {
        let transport = ScriptedService(answer)
        let context = try service.context(transport)
        let found = context.performAndWait { () -> NSError? in
            do {
                _ = try context.fetch(fetch("Album"))
                return nil
            } catch { return error as NSError }
        }
        return (found, transport.requests.count)
    }

    @Test("Pages that go on for ever without anything new end in an error", .timeLimit(.minutes(30))) func endlessPages() throws {
        let counter = Counter()
        let (error, requests) = try error(WebService(base, style: .djangoREST, resources: [WebResource("Album")])) { _ in
            .json(#"{"results": [{"id": 1, "title": "a"}], "next": "\#(base)/albums/?page=\#(counter.next())", "count": 5}"#)
        }
        #expect(error != nil)
        #expect(requests < 300)
        var style = ServiceStyle.plain
        style.envelope = Envelope(items: "results")
        style.paging = .following(.body("next"), of: 10)
        let (second, more) = try self.error(WebService(base, style: style, resources: [WebResource("Album")])) { _ in
            .json(#"{"results": [{"id": 1, "title": "a"}], "next": "\#(base)/albums/?page=\#(counter.next())"}"#)
        }
        expect(second?.localizedDescription.contains("do not end"), equals: true, "\(String(describing: second))")
        #expect(more < 300)
    }

    @Test("Pages that always bring something new end in an error after the store's limit", .timeLimit(.minutes(30))) func endlessResources()
        throws
    {
        let counter = Counter()
        var style = ServiceStyle.plain
        style.paging = .following(.header("X-Next"), of: 1)
        let transport = ScriptedService { _ in
            let number = counter.next()
            return .json(#"[{"id": \#(number)}]"#, headers: ["X-Next": "\(base)/albums?page=\(number)"])
        }
        let model = Music.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(
            WebBackend(WebService(base, style: style, resources: [WebResource("Album")]), model: model, transport: transport),
            options: RemoteStoreOptions(maximumResults: 50))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            expect(error?.localizedDescription.contains("maximumResults"), equals: true)
        }
        // The limit is noticed in the 51st page, and two more may be on their way.
        #expect(transport.requests.count <= 53)
    }

    @Test("Small pages that never end are given up after the limit of pages, long before that of rows", .timeLimit(.minutes(30)))
    func endlessPagesWithRows() throws {
        let counter = Counter()
        var style = ServiceStyle.plain
        style.paging = .following(.header("X-Next"), of: 1)
        let transport = ScriptedService { _ in
            let number = counter.next()
            return .json(#"[{"id": \#(number)}]"#, headers: ["X-Next": "\(base)/albums?page=\(number)"])
        }
        let model = Music.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(
            WebBackend(WebService(base, style: style, resources: [WebResource("Album")]), model: model, transport: transport))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            expect(error?.code, equals: NSPersistentStoreOperationError)
            expect(error?.localizedDescription.contains("raise maximumPages"), equals: true, "\(error?.localizedDescription ?? "")")
        }
        #expect(transport.requests.count <= RemoteStoreOptions.usualPages + 2)
    }

    @Test("A value nested deeper than the limit is an error with the place, wherever it is") func deepNesting() throws {
        let deep = String(repeating: "[", count: 100_000)
        for body in [deep, #"[{"id": 1, "title": "a", "x": "# + deep, #"[{"id": 1, "title": "# + deep] {
            let (error, _) = try error(WebService(base, resources: [WebResource("Album")])) { _ in .json(body) }
            expect(error?.localizedDescription.contains("line 1, column"), equals: true, "\(String(describing: error))")
        }
    }

    @Test("A million fields that the model does not have are skipped") func manyFields() throws {
        let fields = (0..<1_000_000).map { #""f\#($0)": 0"# }.joined(separator: ",")
        let transport = ScriptedService { _ in .json(#"[{"id": 1, "title": "a", \#(fields)}]"#) }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album"))
            expect(albums.map { $0.text("title") }, equals: ["a"])
        }
    }

    @Test("Garbage of every kind is an error or an answer, never the end of the program") func garbage() throws {
        let valid =
            #"{"results": [{"id": 1, "title": "a", "band": 5, "releaseDate": "2026-01-01", "rating": 1e3}], "next": null, "count": 1}"#
        let seed = TestSeed.current(for: "garbage")
        var random = SeededGenerator(seed: seed)
        let service = WebService(base, style: .djangoREST, resources: [WebResource("Album"), WebResource("Band")])
        var (tried, answered) = (0, 0)
        for _ in TestRounds(seconds: 1.7, atLeast: 50) {
            var bytes = Array(valid.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...)
                default:
                    let start = Int.random(in: 0..<bytes.count, using: &random)
                    bytes.insert(
                        contentsOf: bytes[start..<min(bytes.count, start + 20)], at: Int.random(in: 0..<bytes.count, using: &random))
                }
                if bytes.isEmpty { break }
            }
            let body = bytes
            if try error(service, { _ in WebResponse(status: 200, body: body) }).error == nil { answered += 1 }
            tried += 1
        }
        print("garbage: \(answered) of \(tried) were answers")
        #expect(tried > 0)
    }
}

/// Counts.
private final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
