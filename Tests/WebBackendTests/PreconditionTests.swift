import CoreData
import Foundation
import JSONReading
import RemoteStore
import RemoteStoreTesting
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service with bands whose versions are tags: those of lists are not told, and a change without the current one is refused only where one is sent.
private final class TaggedService: Transport {
    struct State {
        var name = "Low"
        var homepage = "https://low.example"
        var version = 1
        var isThere = true
        var requests: [WebRequest] = []
    }
    let state = Mutex(State())
    private let isWeak: Bool
    /// Whether it compares its tags.
    private let compares: Bool
    /// Whether it tells tags at all.
    private let tells: Bool

    init(isWeak: Bool = false, compares: Bool = true, tells: Bool = true) {
        (self.isWeak, self.compares, self.tells) = (isWeak, compares, tells)
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        state.withLock { state in
            state.requests.append(request)
            let band = #"{"id": 1, "name": "\#(state.name)", "homepage": "\#(state.homepage)"}"#
            let tag = (isWeak ? "W/" : "") + "\"\(state.version)\""
            let headers: WebHeaders = tells ? ["ETag": tag] : [:]
            switch (request.method, request.path) {
            case (.get, "/bands"): return .json(state.isThere ? "[\(band)]" : "[]")
            case (.get, _): return state.isThere ? .json(band, headers: headers) : .json("{}", status: 404)
            default:
                guard state.isThere else { return .json("{}", status: 404) }
                if let sent = request.headers["If-Match"], !compares || sent != tag { return .json("{}", status: 412) }
                if request.method == .delete {
                    state.isThere = false
                    return WebResponse(status: 204)
                }
                state.version += 1
                if let name = request.json?["name"]?.string { state.name = name }
                if let homepage = request.json?["homepage"]?.string { state.homepage = homepage }
                return .json("{}", headers: [:])
            }
        }
    }

    /// Lets another client change something.
    func meanwhile(_ change: @escaping @Sendable (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.version += 1
        }
    }

    var changes: [WebRequest] { state.withLock { $0.requests.filter { $0.method != .get } } }
    var name: String { state.withLock { $0.name } }
}

@Suite("Preconditions that a description promises") struct PreconditionTests {
    private static func service() -> WebService {
        var style = ServiceStyle.plain
        style.version = .eTag
        style.saving = SavingStyle(precondition: .ifMatch)
        return WebService(base, style: style, resources: [WebResource("Band")])
    }

    private static func model() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band")
        band.properties = ["name", "homepage"].map { NSAttributeDescription(name: $0, type: .string) }
        return NSManagedObjectModel(entities: [band])
    }

    /// Fetches the band by the list, and lets another client and this one change it.
    private func save(
        over service: TaggedService, deletes: Bool = false, _ others: (@Sendable (inout TaggedService.State) -> Void)?
    ) async throws -> NSError? {
        let context = try Self.service().context(service, Self.model())
        return try await context.perform {
            let band = try #require(try context.fetch(fetch("Band")).first)
            #expect(band.text("name") == "Low")
            if let others { service.meanwhile(others) }
            if deletes { context.delete(band) } else { band.setValue("Slow", forKey: "name") }
            do { try context.save() } catch { return error as NSError }
            return nil
        }
    }

    @Test("An object that came by a list is read before its change, which goes out with the tag of what was read")
    func read() async throws {
        let service = TaggedService()
        #expect(try await save(over: service, nil) == nil)
        expect(service.changes.map { $0.headers["If-Match"] }, equals: ["\"1\""])
        expect(service.name, equals: "Slow")
    }

    @Test("What others have made of the same property since is a conflict, and nothing is written over it", arguments: [false, true])
    func conflict(deletes: Bool) async throws {
        let service = TaggedService()
        let error = try await save(over: service, deletes: deletes) { $0.name = "Ebb" }
        #expect(error?.code == NSManagedObjectMergeError, "\(String(describing: error))")
        #expect(error?.localizedDescription.contains("other values of name. Refresh") == true, "\(String(describing: error))")
        expect(service.name, equals: "Ebb")
        expect(service.changes.map(\.target), equals: [])
    }

    @Test("What others have made of another property stands beside the change")
    func otherProperty() async throws {
        let service = TaggedService()
        #expect(try await save(over: service) { $0.homepage = "https://ebb.example" } == nil)
        expect(service.name, equals: "Slow")
        expect(service.state.withLock { $0.homepage }, equals: "https://ebb.example")
    }

    @Test("A change that the service has already, by an attempt whose answer was lost or by others, is not sent again")
    func alreadyThere() async throws {
        let service = TaggedService()
        #expect(try await save(over: service) { $0.name = "Slow" } == nil)
        expect(service.changes.map(\.target), equals: [])
    }

    @Test("A deletion of what others have deleted is done")
    func deletedTwice() async throws {
        let service = TaggedService()
        #expect(try await save(over: service, deletes: true) { $0.isThere = false } == nil)
    }

    @Test("A service that tells no version by any call gets no change without the precondition that its description promises")
    func noVersion() async throws {
        let service = TaggedService(tells: false)
        let error = try await save(over: service, nil)
        let told = "\(error?.userInfo ?? [:])"
        #expect(told.contains("tells no version"))
        expect(service.changes.map(\.target), equals: [])
    }

    @Test("Weak tags go back as they were issued")
    func weak() async throws {
        let service = TaggedService(isWeak: true)
        #expect(try await save(over: service, nil) == nil)
        expect(service.changes.map { $0.headers["If-Match"] }, equals: ["W/\"1\""])
        expect(service.name, equals: "Slow")
    }

    @Test("A service that cannot compare the weak tags that it issues is told apart from a conflict")
    func incomparable() async throws {
        let service = TaggedService(isWeak: true, compares: false)
        let error = try await save(over: service, nil)
        #expect(error?.code != NSManagedObjectMergeError, "\(String(describing: error))")
        let told = "\(error?.userInfo ?? [:])"
        #expect(told.contains("weak tag"))
        expect(service.name, equals: "Low")
    }

    @Test("The outbox compares with what its change was made on, too", arguments: [false, true], [false, true])
    func outbox(deletes: Bool, isOther: Bool) async throws {
        let service = TaggedService()
        let folder = try ScratchFolder("precondition")
        defer { folder.remove() }
        var options = WebClient.Options()
        options.retries.maximumTries = 1
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var cache = CachedStoreOptions()
        cache.sendsAutomatically = false
        let backend = try WebBackend(Self.service(), model: model, transport: service, options: options)
        let store = try coordinator.addCachedStore(backend, at: folder.file("bands.sqlite"), options: cache)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let request = fetch("Band")
        request.cachePolicy = .networkOnly
        let id = try await context.perform {
            let band = try #require(try context.fetch(request).first)
            if deletes { context.delete(band) } else { band.setValue("Slow", forKey: "name") }
            try context.save()
            return band.objectID
        }
        if isOther { service.meanwhile { $0.name = "Ebb" } }
        try await store.sendPending()
        let pending = try store.pendingChanges()
        if isOther {
            expect(pending.map(\.state), equals: [.conflicting], "\(pending)")
            expect(service.name, equals: "Ebb")
            expect(service.changes.map(\.target), equals: [])
            // The application decides for its own.
            try store.retry(id)
            try await store.sendPending()
        }
        try expect(store.pendingChanges().map(\.state), equals: [])
        expect(service.changes.map { $0.headers["If-Match"] == nil }, equals: [false])
        if deletes { #expect(!service.state.withLock { $0.isThere }) } else { expect(service.name, equals: "Slow") }
    }

    @Test("A value that is set to nil is not taken for saved where a conflict comes without values", arguments: [false, true])
    func nilValue(isOther: Bool) async throws {
        let service = TaggedService()
        let folder = try ScratchFolder("precondition")
        defer { folder.remove() }
        var options = WebClient.Options()
        options.retries.maximumTries = 1
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var cache = CachedStoreOptions()
        cache.sendsAutomatically = false
        let backend = try WebBackend(Self.service(), model: model, transport: service, options: options)
        let store = try coordinator.addCachedStore(backend, at: folder.file("bands.sqlite"), options: cache)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let request = fetch("Band")
        request.cachePolicy = .networkOnly
        try await context.perform {
            let band = try #require(try context.fetch(request).first)
            // It is read alone, with its tag.
            context.stalenessInterval = 0
            context.refresh(band, mergeChanges: false)
            #expect(band.text("homepage") != nil)
            context.stalenessInterval = -1
            band.setValue(nil, forKey: "homepage")
            try context.save()
        }
        if isOther { service.meanwhile { $0.homepage = "https://ebb.example" } }
        try await store.sendPending()
        try expect(store.pendingChanges().map(\.state), equals: isOther ? [.conflicting] : [])
    }
}
