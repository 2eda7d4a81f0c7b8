import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("New resources that are put under an identifier that the program chooses") struct ChosenIdentifierTests {
    private static let theirs: [String: JSONObject] = ["Z": ["id": "Z", "title": "theirs", "n": 5, "city": .null, "street": .null]]

    private static func style(_ change: (inout SavingStyle) -> Void = { _ in }) -> ServiceStyle {
        var style = ServiceStyle.plain
        var saving = SavingStyle(
            createIdentified: .init(.put, "{path}/{SELF}"), update: .init(.put, "{path}/{SELF}"), identity: .attribute("key"),
            replacesWholeResources: true, answer: .nothing)
        change(&saving)
        style.saving = saving
        return style
    }

    private static let resource = WebResource("Thing", properties: ["key": "id"])

    private static func insert(_ values: [String: Any], into context: NSManagedObjectContext) {
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        for (name, value) in values { thing.setValue(value, forKey: name) }
    }

    @Test("A save over the resource of another client is a conflict, as where the service refuses it", arguments: [false, true])
    func plainSave(isRefused: Bool) throws {
        let service = ThingService(Self.theirs)
        let context = try Thing.plain(service, Self.style { $0.createsIfNoneMatch = isRefused }, Self.resource)
        context.performAndWait {
            Self.insert(["key": "Z", "title": "mine"], into: context)
            for _ in 0..<2 {
                let error = #expect(throws: NSError.self) { try context.save() }
                expect(error?.code, equals: NSManagedObjectMergeError, "\(String(describing: error))")
                #expect(error?.localizedDescription.contains("other values of n, title") ?? false, "\(String(describing: error))")
            }
        }
        expect(service.things["Z"]?["title"], equals: "theirs")
        expect(service.changes.map { $0.headers["If-None-Match"] }, equals: isRefused ? ["*", "*"] : [])
    }

    @Test("A merge policy settles it, and one that keeps its own changes what is there", arguments: [false, true])
    func merged(isRefused: Bool) throws {
        let service = ThingService(Self.theirs)
        let context = try Thing.plain(service, Self.style { $0.createsIfNoneMatch = isRefused }, Self.resource)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            Self.insert(["key": "Z", "title": "mine"], into: context)
            try context.save()
        }
        expect(service.things["Z"]?["title"], equals: "mine")
        expect(service.things["Z"]?["n"], equals: 5)
    }

    @Test("The outbox sets it aside, and shows what is there once it is given up", arguments: [false, true])
    func outbox(isRefused: Bool) async throws {
        let service = ThingService(Self.theirs)
        let program = try Thing.Cached(service, Self.style { $0.createsIfNoneMatch = isRefused }, Self.resource)
        defer { program.folder.remove() }
        let id = try await program.insert(["key": "Z", "title": "mine"])
        for _ in 0..<2 {
            try await program.store.sendPending()
            try expect(program.store.syncState(of: id), equals: .failed)
            let told = try program.store.error(of: id)?.localizedDescription ?? ""
            #expect(told.contains("conflict"), "\(told)")
            expect(service.things["Z"]?["title"], equals: "theirs")
            // Sent once more, it meets the same.
            try program.store.retry(id)
        }
        try program.store.drop(id)
        #expect(try await program.shown("title", .networkOnly) == ["theirs"])
        try expect(program.store.pendingCount(), equals: 0)
    }

    @Test("What was put by an attempt whose answer was lost is its own", arguments: [false, true])
    func lostAnswer(isCached: Bool) async throws {
        let service = ThingService { request, state in
            let isFirst = state.requests.filter { $0.method != .get }.count == 1
            let answer = ThingService.change(request, &state)
            if isFirst { throw TransportError(.lost, request: request.label) }
            return answer
        }
        if isCached {
            let program = try Thing.Cached(service, Self.style(), Self.resource)
            defer { program.folder.remove() }
            _ = try await program.insert(["key": "Z", "title": "mine"])
            try await program.sendAll()
            try expect(program.store.pendingChanges().map(\.state), equals: [])
        } else {
            let context = try Thing.plain(service, Self.style(), Self.resource)
            try context.performAndWait {
                Self.insert(["key": "Z", "title": "mine"], into: context)
                #expect(throws: NSError.self) { try context.save() }
                try context.save()
            }
        }
        expect(service.things["Z"]?["title"], equals: "mine")
        expect(service.changes.count, equals: 1)
    }

    @Test("So it is where the service knows keys of requests", arguments: [false, true])
    func lostAnswerWithKey(isCached: Bool) async throws {
        let service = ThingService { request, state in
            let isFirst = state.requests.filter { $0.method != .get }.count == 1
            let answer = ThingService.change(request, &state)
            if isFirst { throw TransportError(.lost, request: request.label) }
            return answer
        }
        let style = Self.style { $0.idempotencyHeader = "Idempotency-Key" }
        if isCached {
            let program = try Thing.Cached(service, style, Self.resource)
            defer { program.folder.remove() }
            _ = try await program.insert(["key": "Z", "title": "mine"])
            try await program.sendAll()
            try expect(program.store.pendingChanges().map(\.state), equals: [])
        } else {
            let context = try Thing.plain(service, style, Self.resource)
            try context.performAndWait {
                Self.insert(["key": "Z", "title": "mine"], into: context)
                #expect(throws: NSError.self) { try context.save() }
                try context.save()
            }
        }
        expect(service.things["Z"]?["title"], equals: "mine")
    }

    @Test("A deleted resource whose identifier a new one takes is in nobody's way", arguments: [false, true])
    func replaced(isCached: Bool) async throws {
        let service = ThingService(Self.theirs)
        if isCached {
            let program = try Thing.Cached(service, Self.style(), Self.resource)
            defer { program.folder.remove() }
            _ = try await program.edit([:], deletes: true)
            _ = try await program.insert(["key": "Z", "title": "mine"])
            try await program.sendAll()
            try expect(program.store.pendingChanges().map(\.state), equals: [])
        } else {
            let context = try Thing.plain(service, Self.style(), Self.resource)
            try context.performAndWait {
                for thing in try context.fetch(fetch("Thing")) { context.delete(thing) }
                try context.save()
                Self.insert(["key": "Z", "title": "mine"], into: context)
                try context.save()
            }
        }
        expect(service.things["Z"]?["title"], equals: "mine")
    }

    /// Saves three new things, and returns the requests.
    private static func targets(_ style: ServiceStyle, isCached: Bool = false) async throws -> [String] {
        let service = ThingService()
        if isCached {
            let program = try Thing.Cached(service, style, resource)
            defer { program.folder.remove() }
            for key in ["A", "B", "C"] { _ = try await program.insert(["key": key]) }
            try await program.store.sendPending()
            try expect(program.store.pendingCount(), equals: 0)
        } else {
            let context = try Thing.plain(service, style, resource)
            try context.performAndWait {
                for key in ["A", "B", "C"] { insert(["key": key], into: context) }
                try context.save()
            }
        }
        expect(service.things.count, equals: 3)
        return service.targets.sorted()
    }

    private static let puts = ["A", "B", "C"].map { "PUT /things/\($0)" }

    @Test("Each is looked for once, or all by one request where the service can be asked for several", arguments: [false, true])
    func requests(isCached: Bool) async throws {
        #expect(try await Self.targets(Self.style(), isCached: isCached) == ["A", "B", "C"].map { "GET /things/\($0)" } + Self.puts)
        if isCached { return }
        var style = Self.style()
        style.filters = FilterStyle(.parameters, [.isIn: "{name}__in={values}"], identifier: "id")
        let together = try await Self.targets(style)
        expect(together.count, equals: 4, "\(together)")
    }

    @Test("Nothing is read where the service refuses it, as the description says, or the last one wins, or nobody else can choose it")
    func withoutReading() async throws {
        expect(try await Self.targets(Self.style { $0.createsIfNoneMatch = true }), equals: Self.puts)
        expect(try await Self.targets(Self.style { $0.conflicts = .none }), equals: Self.puts)
        expect(try await Self.targets(Self.style { $0.createIdentified = .init(.post, "{path}/{SELF}") }).count, equals: 3)
        let service = ThingService()
        let style = Self.style { $0.identity = .newUUID }
        let context = try Thing.plain(service, style, WebResource("Thing", ignored: ["city", "street"]))
        try context.performAndWait {
            Self.insert(["title": "mine"], into: context)
            try context.save()
        }
        expect(service.requests.map(\.method), equals: [.put])
    }

    @Test("A batch insert looks before it sends, too")
    func batchInsert() throws {
        let service = ThingService(Self.theirs)
        let style = Self.style { $0.batch = .requests(.init(path: "batch")) }
        let context = try Thing.plain(service, style, Self.resource)
        context.performAndWait {
            let request = NSBatchInsertRequest(entityName: "Thing", objects: [["key": "Z", "title": "mine"]])
            #expect(throws: NSError.self) { try context.execute(request) }
        }
        expect(service.things["Z"]?["title"], equals: "theirs")
        expect(service.changes.map(\.target), equals: [])
    }

    @Test("A description by which such a resource cannot be looked for is refused")
    func notReadable() throws {
        let error = #expect(throws: NSError.self) {
            try Thing.backend(
                ThingService(), Self.style { ($0.update, $0.replacesWholeResources) = (nil, false) },
                WebResource("Thing", properties: ["key": "id"], ignored: ["city", "street"], calls: []))
        }
        #expect(error?.localizedDescription.contains("createsIfNoneMatch") ?? false, "\(String(describing: error))")
    }
}
