import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service with albums whose versions are tags, which lists do not tell. It takes several changes by one request, too.
private final class TaggedAlbums: Transport {
    struct State {
        var albums: [Int: JSONObject] = [:]
        var versions: [Int: Int] = [:]
        var requests: [WebRequest] = []
        /// What the changes were made on, by the number of the album; nil where one came without.
        var tags: [(album: Int, tag: String?)] = []
    }
    private let state = Mutex(State())
    private let isWeak: Bool
    /// Whether it compares its tags.
    private let compares: Bool

    init(_ count: Int, isWeak: Bool = false, compares: Bool = true) {
        (self.isWeak, self.compares) = (isWeak, compares)
        for number in 1...count {
            meanwhile(number) { album in
                (album["id"], album["title"]) = (.integer(Int64(number)), .string("album \(number)"))
                (album["kind"], album["band"]) = (.string("LP"), .integer(1))
            }
        }
    }

    /// Lets another client change an album.
    func meanwhile(_ number: Int, _ change: (inout JSONObject) -> Void) {
        state.withLock { state in
            change(&state.albums[number, default: JSONObject()])
            state.versions[number, default: 0] += 1
        }
    }

    func album(_ number: Int) -> JSONObject? { state.withLock { $0.albums[number] } }
    var tags: [(album: Int, tag: String?)] { state.withLock { $0.tags } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        state.withLock { state in
            if request.path == "/batch" {
                let answers = (request.json?["requests"]?.array ?? []).map { part -> JSONValue in
                    let number = Int(part["path"]?.string?.split(separator: "/").last ?? "") ?? 0
                    let method = WebRequest.Method(rawValue: part["method"]?.string ?? "")
                    let answer = change(number, method, part["body"], part["headers"]?["If-Match"]?.string, &state)
                    return ["status": .integer(Int64(answer.status)), "body": (try? JSONValue(parsing: answer.body)) ?? .null]
                }
                return .json(JSONValue.object(["responses": .array(answers)]).description)
            }
            if request.path == "/tracks" { return .json("[]") }
            if request.path == "/bands" {
                return .json(#"[{"id": 1, "name": "Low"}, {"id": 2, "name": "Ebb"}, {"id": 3, "name": "Flow"}]"#)
            }
            guard let number = Int(request.path.dropFirst(8)) else {
                return .json(JSONValue.array(state.albums.sorted { $0.key < $1.key }.map { .object($0.value) }).description)
            }
            if request.method == .get {
                guard let album = state.albums[number] else { return .json("{}", status: 404) }
                return .json(JSONValue.object(album).description, headers: ["ETag": tag(number, state)])
            }
            return change(number, request.method, request.json, request.headers["If-Match"], &state)
        }
    }

    private func tag(_ number: Int, _ state: State) -> String { (isWeak ? "W/" : "") + "\"\(state.versions[number] ?? 0)\"" }

    private func change(
        _ number: Int, _ method: WebRequest.Method?, _ body: JSONValue?, _ sent: String?, _ state: inout State
    ) -> WebResponse {
        guard var album = state.albums[number] else { return .json("{}", status: 404) }
        state.tags.append((number, sent))
        if let sent, !compares || sent != tag(number, state) { return .json("{}", status: 412) }
        state.versions[number, default: 0] += 1
        if method == .delete {
            state.albums[number] = nil
            return .json("{}")
        }
        for member in body?.object ?? JSONObject() { album[member.key] = member.value }
        state.albums[number] = album
        return .json("{}")
    }

    func backend(batches: Bool = false, _ model: NSManagedObjectModel) throws -> WebBackend {
        var style = ServiceStyle.plain
        style.version = .eTag
        var saving = SavingStyle(precondition: .ifMatch)
        if batches { saving.batch = .requests(.init(path: "/batch", hasWholePaths: false)) }
        style.saving = saving
        var options = WebClient.Options()
        options.retries = .never
        let service = WebService(
            base, style: style,
            resources: [
                WebResource("Album", calls: [.list(filters: []), .one]), WebResource("Band", calls: [.list(filters: [])]),
                WebResource("Track"),
            ])
        return try WebBackend(service, model: model, transport: self, options: options)
    }
}

@Suite("Preconditions of links, and of changes that go together") struct PreconditionGroupTests {
    private func album(_ number: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = fetch("Album", "title == %@", ["album \(number)"])
        return try #require(try context.fetch(request).first)
    }

    private func band(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(fetch("Band", "name == %@", [name])).first)
    }

    @Test(
        "A link that others have changed since is a conflict, of a change of the link and of a deletion, and nothing is written over it",
        arguments: [false, true], [false, true])
    func links(deletes: Bool, isOther: Bool) async throws {
        let (service, model) = (TaggedAlbums(1), Music.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(service.backend(model))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let error = try await context.perform { () -> NSError? in
            let album = try album(1, context)
            expect(album.value(forKeyPath: "band.name") as? String, equals: "Low")
            if isOther { service.meanwhile(1) { $0["band"] = .integer(2) } }
            if deletes { context.delete(album) } else { album.setValue(try band("Flow", context), forKey: "band") }
            do { try context.save() } catch { return error as NSError }
            return nil
        }
        if isOther {
            expect(error?.code, equals: NSManagedObjectMergeError, "\(String(describing: error))")
            expect(service.album(1)?["band"], equals: .integer(2))
            expect(service.tags.count, equals: 0)
        } else {
            #expect(error == nil)
            expect(service.album(1)?["band"], equals: deletes ? nil : .integer(3))
            expect(service.tags.map(\.tag), equals: ["\"1\""])
        }
    }

    @Test("So it is for what the outbox sends", arguments: [false, true], [false, true])
    func outbox(deletes: Bool, isOther: Bool) async throws {
        let (service, model) = (TaggedAlbums(1), Music.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var cache = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 3600))
        cache.sendsAutomatically = false
        let store = try coordinator.addCachedStore(service.backend(model), at: nil, options: cache)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            let flow = try band("Flow", context)
            let album = try album(1, context)
            expect(album.value(forKeyPath: "band.name") as? String, equals: "Low")
            if deletes { context.delete(album) } else { album.setValue(flow, forKey: "band") }
            try context.save()
        }
        if isOther { service.meanwhile(1) { $0["band"] = .integer(2) } }
        try await store.sendPending()
        try expect(store.pendingChanges().map(\.state), equals: isOther ? [.conflicting] : [])
        expect(service.album(1)?["band"], equals: isOther ? .integer(2) : deletes ? nil : .integer(3))
        expect(service.tags.map(\.tag), equals: isOther ? [] : ["\"1\""])
    }

    @Test("Each change of a batch goes out with a tag, and what others have changed is left out", arguments: [false, true])
    func batch(isWeak: Bool) async throws {
        let (service, model) = (TaggedAlbums(3, isWeak: isWeak), Music.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(service.backend(batches: true, model))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            let albums = try (1...3).map { try album($0, context) }
            for album in albums { album.setValue("EP", forKey: "kind") }
            service.meanwhile(2) { $0["kind"] = .string("single") }
            let error = #expect(throws: NSError.self) { try context.save() }
            // The others are saved.
            #expect(error?.code == NSPersistentStoreIncompleteSaveError, "\(String(describing: error))")
        }
        expect((1...3).map { service.album($0)?["kind"]?.string }, equals: ["EP", "single", "EP"])
        let prefix = isWeak ? "W/" : ""
        expect(service.tags.map(\.album), equals: [1, 3])
        expect(service.tags.map(\.tag), equals: ["\(prefix)\"1\"", "\(prefix)\"1\""])
    }

    @Test("In a batch, too, a service that cannot compare its weak tags is told apart from a conflict")
    func incomparable() async throws {
        let (service, model) = (TaggedAlbums(2, isWeak: true, compares: false), Music.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(service.backend(batches: true, model))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            for number in 1...2 { try album(number, context).setValue("EP", forKey: "kind") }
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code != NSManagedObjectMergeError, "\(String(describing: error))")
            let told = "\(error?.userInfo ?? [:])"
            #expect(told.contains("weak tag"), "\(told)")
        }
        expect((1...2).map { service.album($0)?["kind"]?.string }, equals: ["LP", "LP"])
    }
}
