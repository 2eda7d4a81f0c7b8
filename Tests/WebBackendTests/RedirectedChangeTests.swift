import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Changes that a service answers with a redirect") struct RedirectedChangeTests {
    private static let things: [String: JSONObject] = ["1": ["id": 1, "key": "a", "title": "one", "n": 1]]
    private static let style: ServiceStyle = {
        var style = ServiceStyle.plain
        style.saving = SavingStyle()
        return style
    }()
    private static let resource = WebResource("Thing", ignored: ["city", "street"])

    /// A service that redirects changes whose address has no slash at its end, and makes them before that, or does not.
    private static func service(
        _ status: Int, _ things: [String: JSONObject] = things, to origin: String = "", isDone: Bool = false
    ) -> ThingService {
        ThingService(things) { request, state in
            if request.path.hasSuffix("/") { return nil }
            if isDone { _ = ThingService.change(request, &state) }
            return WebResponse(status: status, headers: ["Location": (origin.isEmpty ? base : origin) + request.path + "/"])
        }
    }

    @Test(
        "A new object is not taken for saved where it was redirected to a list: 301 refuses it, others leave that open",
        arguments: [301, 302, 303])
    func insert(status: Int) async throws {
        let service = Self.service(status, [:])
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.insert(["key": "a", "title": "one"])
        try await program.store.sendPending()
        try expect(program.store.syncState(of: id), equals: status == 301 ? .failed : .unknown)
        let told = try program.store.error(of: id)?.localizedDescription ?? ""
        #expect(told.contains("\(status)") && told.contains("/things/"), "\(told)")
        expect(service.changes.map(\.target), equals: ["POST /things"])
        let context = try Thing.plain(Self.service(status, [:]), Self.style, Self.resource)
        context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue("one", forKey: "title")
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.hasChanges)
        }
    }

    @Test("A change that was redirected to something else is looked for", arguments: [false, true])
    func update(isDone: Bool) async throws {
        let service = Self.service(303, isDone: isDone)
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(["n": 2])
        try await program.sendAll()
        if isDone {
            try expect(program.store.pendingChanges().map(\.state), equals: [])
        } else {
            try expect(program.store.syncState(of: id), equals: .failed)
            let told = try program.store.error(of: id)?.localizedDescription ?? ""
            #expect(told.contains("303"), "\(told)")
        }
        expect(service.changes.count, equals: 1)
    }

    @Test("A deletion that was redirected to something else is looked for", arguments: [false, true])
    func delete(isDone: Bool) async throws {
        let service = Self.service(303, isDone: isDone)
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.edit([:], deletes: true)
        try await program.sendAll()
        try expect(program.store.pendingChanges().map(\.state), equals: isDone ? [] : [.failed])
    }

    @Test("Redirects that keep the method are followed with the body, on the same host", arguments: [307, 308])
    func kept(status: Int) async throws {
        let service = Self.service(status, [:])
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        _ = try await program.insert(["key": "a", "title": "one"])
        try await program.sendAll()
        _ = try await program.edit(["n": 2])
        try await program.sendAll()
        try expect(program.store.pendingChanges().map(\.state), equals: [])
        expect(service.things["1"]?["n"], equals: 2)
        _ = try await program.edit([:], deletes: true)
        try await program.sendAll()
        expect(service.things.count, equals: 0)
    }

    @Test("No change goes to another host, and it is known that nothing was saved", arguments: [307, 308], [false, true])
    func elsewhere(status: Int, deletes: Bool) async throws {
        let service = Self.service(status, to: "https://other.example.com/v1")
        let program = try Thing.Cached(service, Self.style, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.edit(deletes ? [:] : ["n": 2], deletes: deletes)
        try await program.sendAll()
        try expect(program.store.syncState(of: id), equals: .failed)
        #expect(service.requests.allSatisfy { $0.url.hasPrefix(base) }, "\(service.requests.map(\.url))")
    }

    @Test("A batch that was redirected was not taken", arguments: [301, 303])
    func batch(status: Int) throws {
        let service = ThingService { request, _ in WebResponse(status: status, headers: ["Location": request.url + "/"]) }
        var style = Self.style
        style.saving?.batch = .requests(.init(path: "batch"))
        let context = try Thing.plain(service, style, Self.resource)
        context.performAndWait {
            for title in ["one", "two"] {
                NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(title, forKey: "title")
            }
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.hasChanges)
        }
        expect(service.changes.map(\.target), equals: ["POST /batch"])
    }
}
