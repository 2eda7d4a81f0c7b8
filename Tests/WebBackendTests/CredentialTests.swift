import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A program with a cache over a service that wants a token.
struct TokenProgram {
    let store: CachedStore
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator
    let errors = Mutexed<[NSError]>([])

    init(
        _ service: some Transport, at url: URL? = nil, token: @escaping @Sendable () -> String,
        _ change: (inout CachedStoreOptions, inout WebClient.Options) -> Void = { _, _ in }
    ) throws {
        var style = ServiceStyle.plain
        style.version = .number("version")
        style.saving?.precondition = .ifMatch
        style.saving?.current = "current"
        style.saving?.idempotencyHeader = "Idempotency-Key"
        var client = WebClient.Options()
        client.retries = .never
        client.authentication = .bearer(.closure(token))
        var options = CachedStoreOptions(defaultPolicy: .cachedThenFresh)
        options.sendsAutomatically = false
        options.didFail = { [errors] error in errors.withValue { $0.append(error as NSError) } }
        change(&options, &client)
        let album = NSEntityDescription(name: "Album")
        album.properties = [NSAttributeDescription(name: "title", type: .string)]
        let model = NSManagedObjectModel(entities: [album])
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let description = WebService(base, style: style, resources: [WebResource("Album", calls: [.list(), .one])])
        store = try coordinator.addCachedStore(
            WebBackend(description, model: model, transport: service, options: client), at: url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
    }

    @discardableResult func insert(_ title: String) throws -> NSManagedObjectID {
        try context.performAndWait {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue(title, forKey: "title")
            try context.save()
            return album.objectID
        }
    }

    func update(_ id: NSManagedObjectID, _ title: String) throws {
        try context.performAndWait {
            defer { context.rollback() }
            context.object(with: id).setValue(title, forKey: "title")
            try context.save()
        }
    }

    func delete(_ id: NSManagedObjectID) throws {
        try context.performAndWait {
            defer { context.rollback() }
            context.delete(context.object(with: id))
            try context.save()
        }
    }

    func titles(_ policy: CachePolicy = .networkOnly) async throws -> [String] {
        let request = fetch("Album")
        request.cachePolicy = policy
        let found = try await context.fetchAsynchronously(request)
        return await context.perform { found.map { $0.text("title") ?? "nil" }.sorted() }
    }
}

@Suite("Credentials that have run out") struct CredentialTests {
    @Test(
        "Changes wait for credentials however the service says that they have run out, and go out when they come",
        arguments: TokenService.Refusal.allCases)
    func waits(refusal: TokenService.Refusal) async throws {
        let service = TokenService { refusal }
        service.signIn("anna", "t1")
        let token = Mutexed("t1")
        let program = try TokenProgram(service, token: { token.withValue { $0 } })
        let (kept, gone) = (try program.insert("One"), try program.insert("Two"))
        try await program.store.sendPending()
        try expect(program.store.pendingCount(), equals: 0)
        service.expire("anna")
        try program.update(kept, "Uno")
        try program.delete(gone)
        let new = try program.insert("Three")
        for _ in 0..<2 {
            try await program.store.sendPending()
            try expect(program.store.pendingCount(), equals: 3)
            for id in [kept, new] { try expect(program.store.syncState(of: id), equals: .pending) }
        }
        expect(service.titles.values.sorted(), equals: ["One", "Two"])
        service.signIn("anna", "t2")
        token.withValue { $0 = "t2" }
        try await program.store.sendPending()
        try expect(program.store.pendingCount(), equals: 0)
        expect(service.titles.values.sorted(), equals: ["Three", "Uno"])
        expect(service.taken.count, equals: 5)
    }

    @Test("A read is an error with a code of its own, never an empty list", arguments: TokenService.Refusal.allCases)
    func reads(refusal: TokenService.Refusal) async throws {
        let service = TokenService { refusal }
        service.change("a1", title: "One")
        let program = try TokenProgram(service, token: { "none" })
        for policy in [CachePolicy.networkOnly, .cachedThenFresh, .cacheFirst(maximumAge: 10)] {
            let error = await #expect(throws: NSError.self) { try await program.titles(policy) }
            expect(error?.domain, equals: NSCocoaErrorDomain)
            expect(error?.code, equals: 134598, "\(String(describing: error))")
        }
    }

    @Test(
        "A save without a cache has the same code for each change, and a trace tells of each request that was refused",
        arguments: TokenService.Refusal.allCases)
    func plainSave(refusal: TokenService.Refusal) async throws {
        let service = TokenService { refusal }
        let model = Music.model()
        var options = WebClient.Options()
        (options.retries, options.authentication) = (.never, .bearer(.value("none")))
        let backend = try WebBackend(
            WebService(base, resources: [WebResource("Album", calls: [.list(), .one])]), model: model, transport: service, options: options)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let (code, trace) = await backend.tracing {
            await context.perform { () -> Int? in
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                album.setValue("One", forKey: "title")
                do { try context.save() } catch {
                    return ((error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError])?.first?.code
                }
                return nil
            }
        }
        expect(code, equals: CredentialsExpiredError)
        expect(trace.requests.map { $0.failure?.contains("credentials") }, equals: [true], "\(trace)")
        #expect(service.taken.isEmpty)
    }

    @Test("A page that nobody signs in on is no answer either: nothing is taken for saved, read or deleted") func pages() async throws {
        let isAway = Mutexed(false)
        let pages: [WebResponse] = [
            WebResponse(status: 200, body: Array("<html><title>Welcome to the hotel</title></html>".utf8)),
            WebResponse(status: 302, headers: ["Location": "/welcome"]),
        ]
        for page in pages {
            isAway.withValue { $0 = false }
            let service = TokenService { .unauthorized }
            service.signIn("anna", "t1")
            let network = ScriptedNetwork(service) { request in
                if !request.url.hasPrefix(base) { return .json("{}", status: 404) }
                return isAway.withValue { $0 } ? page : nil
            }
            let program = try TokenProgram(network, token: { "t1" })
            let ids = (try program.insert("One"), try program.insert("Two"))
            try await program.store.sendPending()
            isAway.withValue { $0 = true }
            try program.update(ids.0, "Uno")
            try program.delete(ids.1)
            try await program.store.sendPending()
            try expect(program.store.pendingCount(), equals: 2)
            try expect(program.store.status().awaitingCredentialsCount, equals: 0)
            let error = await #expect(throws: NSError.self) { try await program.titles() }
            #expect(error?.code != CredentialsExpiredError)
            #expect(try await program.titles(.cacheOnly) == ["Uno"])
            // As without a network, the file answers.
            #expect(try await program.titles(.cacheFirst(maximumAge: 0)) == ["Uno"])
            isAway.withValue { $0 = false }
            try await program.store.sendPending()
            try expect(program.store.pendingCount(), equals: 0)
            expect(Array(service.titles.values), equals: ["Uno"])
        }
    }

    @Test("A conflict that is set aside tells of itself") func conflict() async throws {
        let service = TokenService { .unauthorized }
        service.signIn("anna", "t1")
        // A refresh behind what is read here would bring the change of others before the one that meets it.
        let program = try TokenProgram(service, token: { "t1" }) { options, _ in options.defaultPolicy = .cacheOnly }
        let id = try program.insert("One")
        try await program.store.sendPending()
        let album = try #require(service.titles.keys.first)
        service.change(album, title: "theirs")
        try program.update(id, "mine")
        try await program.store.sendPending()
        try expect(program.store.syncState(of: id), equals: .conflicting)
        try expect(program.store.error(of: id)?.code, equals: NSManagedObjectMergeError)
    }
}

/// Answers in place of a service where a closure says so.
private final class ScriptedNetwork: Transport {
    private let service: any Transport
    private let answer: @Sendable (WebRequest) -> WebResponse?

    init(_ service: any Transport, _ answer: @escaping @Sendable (WebRequest) -> WebResponse?) {
        (self.service, self.answer) = (service, answer)
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        if let answer = answer(request) { return answer }
        return try await service.send(request, limits: limits)
    }
}
