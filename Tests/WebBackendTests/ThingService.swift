import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service with things, which does changes as HTTP says, or as a closure does.
final class ThingService: Transport {
    struct State {
        var things: [String: JSONObject] = [:]
        var requests: [WebRequest] = []
        /// What reads are answered with; nil for what there is: a copy that lags has something else.
        var copy: [String: JSONObject]?
    }
    typealias Answer = @Sendable (WebRequest, inout State) throws -> WebResponse?

    private let state: Synchronization.Mutex<State>
    private let answer: Answer

    /// - Parameter answer: Answers changes in a way of its own; nil for those that are done as usual.
    init(_ things: [String: JSONObject] = [:], _ answer: @escaping Answer = { _, _ in nil }) {
        state = Synchronization.Mutex(State(things: things))
        self.answer = answer
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        try state.withLock { state in
            state.requests.append(request)
            if request.method == .get { return Self.read(request, state) }
            return try answer(request, &state) ?? Self.change(request, &state)
        }
    }

    private static func read(_ request: WebRequest, _ state: State) -> WebResponse {
        let things = state.copy ?? state.things
        guard let id = id(request) else {
            let wanted = request.query("id__in").map { Set($0.split(separator: ",").map(String.init)) }
            let found = things.sorted { $0.key < $1.key }.filter { wanted?.contains($0.key) ?? true }
            return .json(JSONValue.array(found.map { .object($0.value) }).description)
        }
        return things[id].map { .json(JSONValue.object($0).description) } ?? .json("{}", status: 404)
    }

    /// Does a change as usual: members of a resource are replaced as they are sent.
    static func change(_ request: WebRequest, _ state: inout State) -> WebResponse {
        let sent = request.json?.object ?? JSONObject()
        let id = id(request) ?? "\(state.things.count + 1)"
        switch request.method {
        case .delete:
            return WebResponse(status: state.things.removeValue(forKey: id) == nil ? 404 : 204)
        case .patch:
            guard var thing = state.things[id] else { return .json("{}", status: 404) }
            for member in sent { thing[member.key] = member.value }
            state.things[id] = thing
        default:
            if request.headers["If-None-Match"] == "*", state.things[id] != nil { return .json("{}", status: 412) }
            var thing = sent
            if thing["id"] == nil { thing["id"] = Int64(id).map { .integer($0) } ?? .string(id) }
            state.things[id] = thing
        }
        return .json(JSONValue.object(state.things[id] ?? [:]).description, status: request.method == .patch ? 200 : 201)
    }

    static func id(_ request: WebRequest) -> String? { request.path.split(separator: "/").dropFirst().first.map(String.init) }

    /// What there is.
    var things: [String: JSONObject] { state.withLock { $0.things } }
    /// The methods and paths of the requests so far.
    var targets: [String] { requests.map(\.target) }
    var requests: [WebRequest] { state.withLock { $0.requests } }
    /// The requests for changes so far.
    var changes: [WebRequest] { requests.filter { $0.method != .get } }
    func forgetRequests() { state.withLock { $0.requests = [] } }
    /// Does what another client does.
    func meanwhile(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }
}

/// Programs over a ``ThingService``.
enum Thing {
    static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        thing.properties =
            ["key", "title", "city", "street"].map { NSAttributeDescription(name: $0, type: .string) } + [
                NSAttributeDescription(name: "n", type: .integer64)
            ]
        return NSManagedObjectModel(entities: [thing])
    }

    static func backend(_ service: ThingService, _ style: ServiceStyle, _ resource: WebResource) throws -> WebBackend {
        var options = WebClient.Options()
        options.retries = .never
        return try WebBackend(
            WebService(base, style: style, resources: [resource]), model: model(), transport: service, options: options)
    }

    /// A program with a plain store.
    static func plain(
        _ service: ThingService, _ style: ServiceStyle, _ resource: WebResource = WebResource("Thing")
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addRemoteStore(backend(service, style, resource))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A program with a cache, which sends when it is told.
    struct Cached {
        let folder: ScratchFolder
        let store: CachedStore
        let coordinator: NSPersistentStoreCoordinator

        init(_ service: ThingService, _ style: ServiceStyle, _ resource: WebResource = WebResource("Thing")) throws {
            folder = try ScratchFolder("things")
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: Thing.model())
            var cache = CachedStoreOptions()
            cache.sendsAutomatically = false
            store = try coordinator.addCachedStore(
                Thing.backend(service, style, resource), at: folder.file("things.sqlite"), options: cache)
        }

        func context() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        /// Saves a new thing.
        func insert(_ values: [String: (any Sendable)?]) async throws -> NSManagedObjectID {
            let context = context()
            return try await context.perform {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                for (name, value) in values { thing.setValue(value, forKey: name) }
                try context.save()
                return thing.objectID
            }
        }

        /// Changes the first thing that there is, or removes it, and saves.
        func edit(_ values: [String: (any Sendable)?], deletes: Bool = false) async throws -> NSManagedObjectID {
            let context = context()
            return try await context.perform {
                let request = fetch("Thing")
                request.cachePolicy = .networkOnly
                let thing = try #require(try context.fetch(request).first)
                for (name, value) in values { thing.setValue(value, forKey: name) }
                if deletes { context.delete(thing) }
                try context.save()
                return thing.objectID
            }
        }

        /// What is shown of an attribute, by the texts of its values.
        func shown(_ name: String, _ policy: CachePolicy = .cacheOnly) async throws -> [String] {
            let context = context()
            return try await context.perform {
                let request = fetch("Thing", by: ["key"])
                request.cachePolicy = policy
                return try context.fetch(request).map { thing in thing.value(forKey: name).map { "\($0)" } ?? "nil" }
            }
        }

        /// Sends until a change is set aside, or nothing is pending: what is looked for again takes several times.
        func sendAll() async throws {
            for _ in 0..<12 where try !store.pendingChanges().allSatisfy({ $0.state != .pending }) { try await store.sendPending() }
        }
    }
}
