import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service with one thing, which answers changes in a way of its own, and takes of them what it likes.
private final class Things: Transport {
    struct State {
        var thing: JSONObject? = ["id": 1, "title": "one", "n": 1, "rev": 1]
        var changes = 0
        var isReadable = true
    }
    private let state = Mutex(State())
    private let answer: @Sendable (WebRequest, inout State) -> WebResponse

    init(_ answer: @escaping @Sendable (WebRequest, inout State) -> WebResponse) { self.answer = answer }

    var thing: JSONObject? { state.withLock { $0.thing } }
    var changes: Int { state.withLock { $0.changes } }
    func setReadable(_ isReadable: Bool) { state.withLock { $0.isReadable = isReadable } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        state.withLock { state in
            switch (request.method, request.path) {
            case (.get, "/things"): return .json(state.thing.map { "[\(JSONValue.object($0))]" } ?? "[]")
            case (.get, _) where !state.isReadable: return .json("{}", status: 503)
            case (.get, _): return state.thing.map { .json(JSONValue.object($0).description) } ?? .json("{}", status: 404)
            default:
                state.changes += 1
                return answer(request, &state)
            }
        }
    }
}

extension Things.State {
    /// Takes what a request has, in a new version.
    fileprivate mutating func take(_ request: WebRequest, _ change: (inout JSONObject) -> Void = { _ in }) {
        guard var thing else { return }
        for member in request.json?.object ?? [:] where member.key != "rev" { thing[member.key] = member.value }
        thing["rev"] = .integer((thing["rev"]?.integer ?? 0) + 1)
        change(&thing)
        self.thing = thing
    }
}

@Suite("Changes that a service answers with success, and does not make") struct UntakenChangeTests {
    private static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        thing.properties = [NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "n", type: .integer64)]
        return NSManagedObjectModel(entities: [thing])
    }

    private static func backend(_ things: Things, hasVersions: Bool, _ errors: ErrorStyle = ErrorStyle()) throws -> WebBackend {
        var style = ServiceStyle.plain
        style.errors = errors
        if hasVersions {
            style.version = .number("rev")
            style.saving = SavingStyle(precondition: .field)
        }
        var options = WebClient.Options()
        options.retries = .never
        return try WebBackend(
            WebService(base, style: style, resources: [WebResource("Thing")]), model: model(), transport: things, options: options)
    }

    /// A program with a plain store.
    private static func plain(_ things: Things, hasVersions: Bool, _ errors: ErrorStyle = ErrorStyle()) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addRemoteStore(backend(things, hasVersions: hasVersions, errors))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A program with a cache, which sends when it is told.
    private struct Cached {
        let folder: ScratchFolder
        let store: CachedStore
        let coordinator: NSPersistentStoreCoordinator

        init(_ things: Things, hasVersions: Bool, _ errors: ErrorStyle = ErrorStyle()) throws {
            folder = try ScratchFolder("untaken")
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: UntakenChangeTests.model())
            var cache = CachedStoreOptions()
            cache.sendsAutomatically = false
            store = try coordinator.addCachedStore(
                UntakenChangeTests.backend(things, hasVersions: hasVersions, errors), at: folder.file("things.sqlite"), options: cache)
        }

        func context() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        func edit(_ change: @escaping @Sendable (NSManagedObject) -> Void) async throws -> NSManagedObjectID {
            let context = context()
            return try await context.perform {
                let request = fetch("Thing")
                request.cachePolicy = .networkOnly
                let thing = try #require(try context.fetch(request).first)
                change(thing)
                try context.save()
                return thing.objectID
            }
        }

        /// Sends until the change is set aside, or nothing is pending: what is not seen is looked for several times.
        func sendAll() async throws {
            for _ in 0..<12 where try !store.pendingChanges().allSatisfy({ $0.state != .pending }) { try await store.sendPending() }
        }

        func number(_ policy: CachePolicy) async throws -> Int? {
            let context = context()
            return try await context.perform {
                let request = fetch("Thing")
                request.cachePolicy = policy
                return try context.fetch(request).first?.value(forKey: "n") as? Int
            }
        }
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: WebResponse
        /// What the error says.
        var words = "“n” is as before"
    }

    /// Answers of success that say nothing of the resource.
    static let answers = [
        Answer(testDescription: "nothing", response: WebResponse(status: 204)),
        Answer(testDescription: "an empty object", response: .json("{}")),
        Answer(testDescription: "an error", response: .json(#"{"error": "title is too long", "code": 7}"#), words: "title is too long"),
        Answer(testDescription: "errors", response: .json(#"{"success": false, "errors": ["no"]}"#)),
        Answer(testDescription: "broken JSON", response: .json(#"{"id": 1, "tit"#)),
    ]

    @Test("A plain save throws, each time, where a read afterwards shows the values and the version of before", arguments: answers)
    func plainSave(answer: Answer) throws {
        let things = Things { _, _ in answer.response }
        let context = try Self.plain(things, hasVersions: true)
        context.performAndWait {
            for attempt in 1...2 {
                let error = #expect(throws: NSError.self) {
                    if attempt == 1 { try context.fetch(fetch("Thing")).first?.setValue(2, forKey: "n") }
                    try context.save()
                }
                let told = "\(error?.localizedDescription ?? "") \(error?.userInfo ?? [:])"
                #expect(told.contains(answer.words) && context.hasChanges, "\(told)")
            }
        }
        expect(things.changes, equals: 2)
    }

    @Test("The outbox says that it has failed, and keeps the edit", arguments: answers)
    func outbox(answer: Answer) async throws {
        let things = Things { _, _ in answer.response }
        let program = try Cached(things, hasVersions: true)
        defer { program.folder.remove() }
        let id = try await program.edit { $0.setValue(2, forKey: "n") }
        try await program.sendAll()
        try expect(program.store.syncState(of: id), equals: .failed)
        expect(things.changes, equals: 1)
        let told = try program.store.error(of: id)?.localizedDescription ?? ""
        #expect(told.contains(answer.words) || told.contains("has not made"), "\(told)")
        #expect(try await program.number(.cacheOnly) == 2)
        try program.store.drop(id)
        #expect(try await program.number(.cacheOnly) == 1)
    }

    @Test(
        "So it is where resources have no versions, and an answer has no body or is no resource", arguments: answers[..<1] + answers[2...])
    func withoutVersions(answer: Answer) async throws {
        let things = Things { _, _ in answer.response }
        let program = try Cached(things, hasVersions: false)
        defer { program.folder.remove() }
        let id = try await program.edit { $0.setValue(2, forKey: "n") }
        try await program.sendAll()
        try expect(program.store.syncState(of: id), equals: .failed)
        #expect(try await program.number(.cacheOnly) == 2)
        let context = try Self.plain(things, hasVersions: false)
        context.performAndWait {
            #expect(throws: NSError.self) {
                try context.fetch(fetch("Thing")).first?.setValue(2, forKey: "n")
                try context.save()
            }
            #expect(throws: NSError.self) { try context.save() }
        }
    }

    @Test("What a service has changed in its own way is saved, and shown as it is there", arguments: answers)
    func normalised(answer: Answer) async throws {
        let things = Things { request, state in
            state.take(request) { $0["title"] = "two" }
            return answer.response
        }
        let program = try Cached(things, hasVersions: true)
        defer { program.folder.remove() }
        let id = try await program.edit { $0.setValue(" two ", forKey: "title") }
        try await program.store.sendPending()
        let error = try program.store.error(of: id)
        try expect(program.store.pendingCount(), equals: 0, "\(String(describing: error))")
        let context = program.context()
        try await context.perform {
            let request = fetch("Thing")
            request.cachePolicy = .cacheOnly
            let found = try context.fetch(request).first?.text("title")
            #expect(found == "two")
        }
        expect(things.changes, equals: 1)
    }

    @Test("What nobody can look for stays pending until somebody can, and is not sent again")
    func nextRead() async throws {
        let things = Things { _, state in
            state.isReadable = false
            return WebResponse(status: 204)
        }
        let program = try Cached(things, hasVersions: true)
        defer { program.folder.remove() }
        let id = try await program.edit { $0.setValue(77, forKey: "n") }
        try await program.store.sendPending()
        try expect(program.store.syncState(of: id), equals: .pending)
        #expect(try await program.number(.cacheOnly) == 77)
        things.setReadable(true)
        #expect(try await program.number(.networkOnly) == 77)
        try await program.sendAll()
        try expect(program.store.syncState(of: id), equals: .failed)
        expect(things.changes, equals: 1)
        try program.store.drop(id)
        #expect(try await program.number(.networkOnly) == 1)
    }

    @Test("An answer that cannot be read, and no read after it, leave the outcome open: the next save sends what is not there")
    func unreadable() throws {
        let things = Things { request, state in
            if state.changes > 1 {
                state.take(request)
                return .json(JSONValue.object(state.thing ?? [:]).description)
            }
            state.isReadable = false
            return .json(#"{"success": false}"#)
        }
        let context = try Self.plain(things, hasVersions: true)
        try context.performAndWait {
            try context.fetch(fetch("Thing")).first?.setValue(2, forKey: "n")
            #expect(throws: NSError.self) { try context.save() }
            things.setReadable(true)
            try context.save()
            #expect(!context.hasChanges)
        }
        expect(things.thing?["n"], equals: 2)
    }

    @Test("What is accepted for later, by the status 202, has not failed because it is not there yet")
    func later() async throws {
        let things = Things { _, _ in .json(#"{"job": 7}"#, status: 202) }
        let program = try Cached(things, hasVersions: true)
        defer { program.folder.remove() }
        let id = try await program.edit { $0.setValue(2, forKey: "n") }
        try await program.store.sendPending()
        try expect(program.store.syncState(of: id), equals: .pending)
    }

    @Test("Where the description says where messages stand, one in an answer of 200 refuses a new object, too")
    func describedInsert() throws {
        let things = Things { _, _ in .json(#"{"error": "title is too long"}"#) }
        let context = try Self.plain(things, hasVersions: false, ErrorStyle(messages: ["error"]))
        context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue("long", forKey: "title")
            for _ in 0..<2 {
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect("\(error?.userInfo ?? [:])".contains("title is too long"), "\(String(describing: error))")
            }
        }
        // A refusal is sent again: it was not made, and so cannot be made twice.
        expect(things.changes, equals: 2)
    }

    @Test(
        "A deletion that is answered with a message is done where the resource is gone, and refused where it is not",
        arguments: [false, true])
    func deletion(isGone: Bool) async throws {
        let things = Things { _, state in
            if isGone { state.thing = nil }
            return .json(isGone ? #"{"message": "deleted"}"# : #"{"error": "locked"}"#)
        }
        let program = try Cached(things, hasVersions: false)
        defer { program.folder.remove() }
        let context = program.context()
        let id = try await context.perform {
            let request = fetch("Thing")
            request.cachePolicy = .networkOnly
            let thing = try #require(try context.fetch(request).first)
            context.delete(thing)
            try context.save()
            return thing.objectID
        }
        try await program.store.sendPending()
        try expect(program.store.pendingCount(), equals: isGone ? 0 : 1)
        if !isGone { #expect(try program.store.error(of: id)?.localizedDescription.contains("locked") ?? false) }
    }

    @Test("An answer with the value of before, in the version of before, is no success", arguments: [false, true])
    func answeredAsBefore(hasVersions: Bool) async throws {
        // It ignores the number, and answers with the whole resource.
        let things = Things { _, state in .json(JSONValue.object(state.thing ?? [:]).description) }
        let context = try Self.plain(things, hasVersions: hasVersions)
        try context.performAndWait {
            let thing = try #require(try context.fetch(fetch("Thing")).first)
            thing.setValue(7, forKey: "n")
            #expect(throws: NSError.self) { try context.save() }
            expect(thing.value(forKey: "n") as? Int, equals: 7)
        }
    }

    @Test("An answer of a copy that lags is looked at again, and what was made is shown")
    func answeredByALaggingCopy() async throws {
        let things = Things { request, state in
            let before = JSONValue.object(state.thing ?? [:]).description
            state.take(request)
            return .json(before)
        }
        let context = try Self.plain(things, hasVersions: true)
        try context.performAndWait {
            let thing = try #require(try context.fetch(fetch("Thing")).first)
            thing.setValue(7, forKey: "n")
            try context.save()
            expect(thing.value(forKey: "n") as? Int, equals: 7)
            // In the version that it has.
            thing.setValue(8, forKey: "n")
            try context.save()
        }
        expect(things.thing?["n"], equals: 8)
    }
}
