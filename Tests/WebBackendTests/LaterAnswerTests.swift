import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Changes that are accepted for later, and answers about something else") struct LaterAnswerTests {
    private static let things: [String: JSONObject] = ["1": ["id": 1, "key": "a", "title": "one", "n": 1]]
    private static let style: ServiceStyle = {
        var style = ServiceStyle.plain
        style.saving = SavingStyle()
        return style
    }()
    private static let resource = WebResource("Thing", ignored: ["city", "street"])
    private static let job: JSONObject = ["id": 901, "title": "job queued", "n": -1]

    /// A service that answers with a job, and does what it was asked at once, or never.
    private static func service(_ status: Int, _ things: [String: JSONObject] = things, isDone: Bool = true) -> ThingService {
        ThingService(things) { request, state in
            if isDone { _ = ThingService.change(request, &state) }
            return .json(JSONValue.object(job).description, status: status)
        }
    }

    @Test("A new object does not become the job that its answer names: it is sought")
    func insert() async throws {
        let service = Self.service(202, [:])
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.insert(["key": "a", "title": "one", "n": 1])
        try await program.sendAll()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        try expect(program.store.resourceID(for: id), equals: .integer(1))
        #expect(try await program.shown("title") == ["one"])
        #expect(try await program.shown("title", .networkOnly) == ["one"])
        expect(service.changes.count, equals: 1)
    }

    @Test("So it is in a plain save: the next one goes on with what was found")
    func plainInsert() throws {
        let service = Self.service(202, [:])
        let context = try Thing.plain(service, Self.style, Self.resource)
        try context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue("one", forKey: "title")
            #expect(throws: NSError.self) { try context.save() }
            try context.save()
            expect(thing.text("title"), equals: "one")
            expect(thing.objectID.uriRepresentation().lastPathComponent, equals: "p1")
        }
        expect(service.changes.count, equals: 1)
    }

    @Test("A new object that an answer of 202 brings with its values is that one")
    func resource() async throws {
        let service = ThingService { request, state in
            var answer = ThingService.change(request, &state)
            answer.status = 202
            return answer
        }
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.insert(["key": "a", "title": "one", "n": 1])
        try await program.store.sendPending()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        #expect(try await program.shown("title", .networkOnly) == ["one"])
    }

    @Test("A changed object keeps its identifier and its values, whatever its answer names", arguments: [200, 201, 202])
    func update(status: Int) async throws {
        let service = Self.service(status)
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(["n": 2])
        try await program.sendAll()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        try expect(program.store.resourceID(for: id), equals: .integer(1))
        #expect(try await program.shown("title") == ["one"])
        #expect(try await program.shown("n") == ["2"])
        expect(service.changes.count, equals: 1)
    }

    @Test("A message in which a word stands where the object has a value is not taken for that value")
    func message() async throws {
        let service = ThingService(Self.things) { request, state in
            _ = ThingService.change(request, &state)
            return .json(#"{"title": "updated"}"#)
        }
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.edit(["n": 2])
        try await program.sendAll()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        #expect(try await program.shown("title") == ["one"])
        #expect(try await program.shown("n") == ["2"])
        expect(service.changes.count, equals: 1)
    }

    @Test("A job with the identifier of the object is not taken for it")
    func sameIdentifier() async throws {
        let service = ThingService(Self.things) { request, state in
            _ = ThingService.change(request, &state)
            return .json(#"{"id": 1, "title": "job queued", "n": -1}"#, status: 202)
        }
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.edit(["n": 2])
        try await program.sendAll()
        #expect(try await program.shown("title") == ["one"])
        #expect(try await program.shown("n") == ["2"])
    }

    @Test("What is done later stays pending until a read shows it, and is not sent again", arguments: [false, true])
    func later(deletes: Bool) async throws {
        let service = Self.service(202, isDone: false)
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(deletes ? [:] : ["n": 2], deletes: deletes)
        for _ in 0..<2 {
            try await program.store.sendPending()
            try expect(program.store.syncState(of: id), equals: .pending)
        }
        // What was edited since follows.
        if !deletes { _ = try await program.edit(["title": "two"]) }
        service.meanwhile { if deletes { $0.things = [:] } else { $0.things["1"]?["n"] = 2 } }
        try await program.store.sendPending()
        expect(service.changes.filter { $0.method == .delete || $0.json?["n"] != nil }.count, equals: 1)
        if !deletes {
            service.meanwhile { $0.things["1"]?["title"] = "two" }
            try await program.sendAll()
        }
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        #expect(try await program.shown("n") == (deletes ? [] : ["2"]))
    }

    @Test("What is never done is left to the application, which may send it again, or give it up", arguments: [false, true])
    func never(retries: Bool) async throws {
        let service = Self.service(202, isDone: false)
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(["n": 2])
        try await program.sendAll()
        let pending = try program.store.pendingChanges()
        #expect(pending.count == 1 && pending[0].state != .pending, "\(pending)")
        #expect(try await program.shown("n") == ["2"])
        expect(service.changes.count, equals: 1)
        if retries {
            try program.store.retry(id)
            try await program.store.sendPending()
            expect(service.changes.count, equals: 2)
        } else {
            try program.store.drop(id)
            #expect(try await program.shown("n") == ["1"])
        }
    }

    @Test("A plain save says so, too: it throws as long as the change is not there")
    func plainUpdate() throws {
        let service = Self.service(202, isDone: false)
        let context = try Thing.plain(service, Self.style, Self.resource)
        try context.performAndWait {
            try context.fetch(fetch("Thing")).first?.setValue(2, forKey: "n")
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.hasChanges)
            service.meanwhile { $0.things["1"]?["n"] = 2 }
            try context.save()
        }
        expect(service.changes.count, equals: 1)
    }

    @Test("A copy that lags behind a change that was made does not let it fail")
    func lagging() async throws {
        let service = ThingService(Self.things) { request, state in
            state.copy = state.things
            _ = ThingService.change(request, &state)
            return WebResponse(status: 204)
        }
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(["n": 2])
        try await program.store.sendPending()
        try expect(program.store.syncState(of: id), equals: .pending)
        #expect(try await program.shown("n") == ["2"])
        service.meanwhile { $0.copy = nil }
        try await program.store.sendPending()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        #expect(try await program.shown("n") == ["2"])
        expect(service.changes.count, equals: 1)
    }
}
