import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// What is asked of remote stores, of a cached store over a service behind a network that fails. Over Kinto: Tests/WebServers.
@Suite("A cache over a service") struct CachedServiceTests {
    /// A program with a cache over a service that has whole documents only.
    private struct Program {
        let store: CachedStore
        let context: NSManagedObjectContext
        let errors = Mutexed<[String]>([])

        init(_ transport: some Transport, _ change: (inout WebClient.Options) -> Void = { _ in }) throws {
            var style = ServiceStyle.plain
            style.version = .number("version")
            style.saving = SavingStyle(
                createIdentified: .init(.put, "{path}/{SELF}"), update: .init(.put, "{path}/{SELF}"), identity: .newUUID,
                replacesWholeResources: true, precondition: .ifMatch, createsIfNoneMatch: true)
            var client = WebClient.Options()
            client.retries = .never
            change(&client)
            var options = CachedStoreOptions(defaultPolicy: .immutable)
            options.conflicts = .preferMine
            options.sendsAutomatically = false
            options.didFail = { [errors] error in errors.withValue { $0.append("\(error) \(error.localizedDescription)") } }
            let album = NSEntityDescription(name: "Album")
            album.properties = [
                NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer64),
            ]
            let model = NSManagedObjectModel(entities: [album])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let service = WebService(base, style: style, resources: [WebResource("Album")])
            store = try coordinator.addCachedStore(
                WebBackend(service, model: model, transport: transport, options: client), at: nil, options: options)
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.automaticallyMergesChangesFromParent = true
        }

        @discardableResult func insert(_ title: String, year: Int = 1) throws -> NSManagedObjectID {
            try context.performAndWait {
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                album.setValuesForKeys(["title": title, "year": year])
                try context.save()
                return album.objectID
            }
        }

        func update(_ id: NSManagedObjectID, year: Int) throws {
            try context.performAndWait {
                context.object(with: id).setValue(year, forKey: "year")
                try context.save()
            }
        }

        func titles(_ policy: CachePolicy = .networkOnly) async throws -> [String] {
            let request = fetch("Album")
            request.cachePolicy = policy
            let found = try await context.fetchAsynchronously(request)
            return await context.perform { found.map { "\($0.text("title") ?? "nil") \($0.value(forKey: "year") ?? "nil")" }.sorted() }
        }
    }

    @Test("Fields that the model does not know survive whole-object writes from the outbox, also those that others have changed meanwhile")
    func unknownFields() async throws {
        let service = DocumentService()
        service.change("a") { album in
            album["title"] = "One"
            album["year"] = 1
            album["secret_note"] = ["deep": [1, 2.5, .null]]
        }
        let program = try Program(service)
        #expect(try await program.titles() == ["One 1"])
        let id = try await program.context.perform { try #require(program.context.fetch(fetch("Album")).first).objectID }
        try program.update(id, year: 2)
        // Between the edit and its sending others change what only they know, and something that both know.
        service.change("a") { album in
            album["shelf"] = 7
            album["title"] = "Uno"
        }
        try await program.store.sendPending()
        try expect(program.store.pendingCount(), equals: 0)
        let album = try #require(service.albums["a"])
        #expect(album["title"]?.string == "Uno" && album["year"]?.integer == 2)
        #expect(album["secret_note"] == ["deep": [1, 2.5, .null]] && album["shelf"]?.integer == 7)
        #expect(try await program.titles(.cacheOnly) == ["Uno 2"])
    }

    @Test(
        "Through a network that fails in every way, what was saved reaches the service once, what others know stays, and reads are right or errors"
    )
    func faults() async throws {
        let seed = TestSeed.current(for: "CachedServiceTests.faults")
        var random = SeededGenerator(seed: seed)
        let service = DocumentService()
        let network = FaultInjectingTransport(service, seed: seed, rates: .all(0.15), maximumDelay: 0.001)
        let program = try Program(network)
        var expected: [String: Int] = [:]
        var ids: [String: NSManagedObjectID] = [:]
        for step in 0..<120 {
            let title = "album \(step)"
            if step % 3 == 0 || ids.isEmpty {
                ids[title] = try program.insert(title)
                expected[title] = 1
            } else if let (known, id) = ids.sorted(by: { $0.key < $1.key }).randomElement(using: &random) {
                if step % 7 == 0 {
                    try await program.context.perform {
                        program.context.delete(program.context.object(with: id))
                        try program.context.save()
                    }
                    (ids[known], expected[known]) = (nil, nil)
                } else {
                    try program.update(id, year: step)
                    expected[known] = step
                }
            }
            if step % 4 == 0, let id = service.albums.keys.sorted().randomElement(using: &random) {
                service.change(id) { $0["theirs"] = 1 }
            }
            if step % 5 == 0 { try await program.store.sendPending() }
            if step % 6 == 0 {
                let shown = expected.map { "\($0.key) \($0.value)" }.sorted()
                do { #expect(try await program.titles() == shown, "seed \(seed), step \(step)") } catch let error where isFault(error) {}
                #expect(try await program.titles(.cacheOnly) == shown, "seed \(seed), step \(step)")
            }
        }
        for _ in 0..<200 where try program.store.pendingCount() > 0 { try await program.store.sendPending() }
        let left = try program.store.pendingChanges().map {
            "\($0.kind) \($0.state) \($0.attempts) \($0.error?.localizedDescription ?? "")"
        }
        expect(left, equals: [], "seed \(seed)")
        let stored = service.albums.values.map { "\($0["title"]?.string ?? "nil") \($0["year"]?.integer ?? 0)" }.sorted()
        expect(stored, equals: expected.map { "\($0.key) \($0.value)" }.sorted(), "seed \(seed), \(network.counts)")
        #expect(network.counts.faults > 0, "seed \(seed)")
        print("CachedServiceTests: seed \(seed), \(network.counts)")
    }

    /// Whether an error says which request has failed.
    private func isFault(_ error: any Error) -> Bool { (error as NSError).localizedDescription.lowercased().contains("album") }

    @Test("A credential that is taken no longer is read again once, and only the refused request is sent again") func credential()
        async throws
    {
        let service = DocumentService()
        let token = Mutexed("old")
        let asked = Mutexed<[String]>([])
        let gate = Gatekeeper(service) { request in
            asked.withValue { $0.append("\(request.method.rawValue) \(request.headers["Authorization"] ?? "")") }
            return request.headers["Authorization"] == "Bearer new"
        }
        let program = try Program(gate) { options in
            options.authentication = .bearer(
                .closure {
                    token.withValue { token in
                        defer { token = "new" }; return token
                    }
                })
        }
        #expect(try await program.titles() == [])
        try program.insert("One")
        try await program.store.sendPending()
        expect(asked.withValue { $0 }, equals: ["GET Bearer old", "GET Bearer new", "PUT Bearer new"])
        expect(service.albums.count, equals: 1)
    }

    @Test(
        "A change waits where the service is busy or has failed, and is set aside where the service has refused it",
        arguments: [(429, true), (503, true), (500, true), (408, true), (422, false), (403, false)])
    func statuses(status: Int, waits: Bool) async throws {
        let service = DocumentService()
        let isBusy = Mutexed(true)
        let gate = Gatekeeper(service, status: status) { _ in !isBusy.withValue { $0 } }
        let program = try Program(gate)
        let id = try program.insert("One")
        try await program.store.sendPending()
        try expect(program.store.syncState(of: id), equals: (waits ? .pending : .failed))
        try expect(program.store.error(of: id)?.localizedDescription.contains("\(status)"), equals: true)
        isBusy.withValue { $0 = false }
        try await program.store.sendPending()
        try expect(program.store.pendingCount(), equals: (waits ? 0 : 1))
        expect(service.albums.count, equals: (waits ? 1 : 0))
    }

    @Test("No error that the cache reports or keeps with a change shows a secret") func secrets() async throws {
        let service = DocumentService()
        let isTalkative = Mutexed(false)
        let gate = Gatekeeper(service, refusing: { "you sent \($0.headers["Authorization"] ?? "")" }) { _ in !isTalkative.withValue { $0 } }
        let program = try Program(gate) { $0.authentication = .bearer(.value("the-secret-token")) }
        let id = try program.insert("One")
        try await program.store.sendPending()
        #expect(try await program.titles() == ["One 1"])
        isTalkative.withValue { $0 = true }
        try program.update(id, year: 2)
        try await program.store.sendPending()
        #expect(try await program.titles(.cacheFirst(maximumAge: 0)) == ["One 2"])
        var said = program.errors.withValue { $0 }
        for change in try program.store.pendingChanges() { said.append("\(change) \(change.error?.localizedDescription ?? "")") }
        said.append(id.uriRepresentation().absoluteString)
        #expect(said.count >= 3, "\(said)")
        for text in said { #expect(!text.contains("the-secret-token"), "\(text)") }
    }
}

/// Lets only some requests through; the others are not authorised.
private final class Gatekeeper: Transport {
    private let transport: any Transport
    private let status: Int
    private let text: @Sendable (WebRequest) -> String
    private let lets: @Sendable (WebRequest) -> Bool

    init(
        _ transport: any Transport, status: Int = 401, refusing text: @escaping @Sendable (WebRequest) -> String = { _ in "no" },
        _ lets: @escaping @Sendable (WebRequest) -> Bool
    ) { (self.transport, self.status, self.text, self.lets) = (transport, status, text, lets) }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        if lets(request) { return try await transport.send(request, limits: limits) }
        return .json(JSONValue.object(["message": .string(text(request))]).description, status: status)
    }
}
