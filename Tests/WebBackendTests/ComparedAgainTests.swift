import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Changes that the store compares itself, and conflicts that are none") struct ComparedAgainTests {
    private static let things: [String: JSONObject] = ["1": ["id": 1, "key": "a", "title": "one", "n": 1, "rev": 1]]
    private static let resource = WebResource("Thing", ignored: ["city", "street"])

    /// Changes the thing as the cache has it.
    private static func edit(_ program: Thing.Cached, _ title: String) async throws {
        let context = program.context()
        try await context.perform {
            let request = fetch("Thing")
            request.cachePolicy = .cacheOnly
            try #require(try context.fetch(request).first).setValue(title, forKey: "title")
            try context.save()
        }
    }

    @Test("After a change that was found, though its answer was lost, the next one is compared again")
    func afterALostAnswer() async throws {
        let service = ThingService(Self.things) { request, state in
            let isFirst = state.requests.filter { $0.method != .get }.count == 1
            let answer = ThingService.change(request, &state)
            if isFirst { throw TransportError(.lost, request: request.label) }
            return answer
        }
        var style = ServiceStyle.plain
        style.saving = SavingStyle()
        let program = try Thing.Cached(service, style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.edit(["title": "mine"])
        try await program.sendAll()
        try expect(program.store.pendingCount(), equals: 0)
        try await Self.edit(program, "mine again")
        service.meanwhile { $0.things["1"]?["title"] = "theirs" }
        try await program.sendAll()
        expect(service.things["1"]?["title"], equals: "theirs")
        try expect(program.store.pendingChanges().map(\.state), equals: [.conflicting])
    }

    @Test("A conflict that a service reports again and again, with the version that a change was made from, is a refusal")
    func conflictOfNoVersion() async throws {
        let service = ThingService(Self.things) { _, _ in .json(#"{"errors": {"title": "must be unique"}}"#, status: 409) }
        var style = ServiceStyle.plain
        style.version = .number("rev")
        style.saving = SavingStyle(precondition: .field)
        let program = try Thing.Cached(service, style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(["title": "mine"])
        for _ in 0..<8 { try await program.sendAll() }
        try expect(program.store.pendingChanges().map(\.state), equals: [.failed])
        #expect(try program.store.error(of: id)?.localizedDescription.contains("has the version that the change was made from") == true)
        #expect(service.requests.count < 20, "\(service.requests.count)")
    }

    @Test("A conflict after failures of another kind is compared, and others' value is not overwritten")
    func conflictAfterFailures() async throws {
        let service = ThingService(Self.things) { request, state in
            let count = state.requests.filter { $0.method != .get }.count
            if count < 6 { return .json("{}", status: 503) }
            if count == 6 {
                state.things["1"]?["title"] = "theirs"
                state.things["1"]?["rev"] = 2
                return .json("{}", status: 409)
            }
            return ThingService.change(request, &state)
        }
        var style = ServiceStyle.plain
        style.version = .number("rev")
        style.saving = SavingStyle(precondition: .field)
        let program = try Thing.Cached(service, style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.edit(["title": "mine"])
        for _ in 0..<10 { try await program.sendAll() }
        expect(service.things["1"]?["title"], equals: "theirs")
        try expect(program.store.pendingChanges().map(\.state), equals: [.conflicting])
    }
}
