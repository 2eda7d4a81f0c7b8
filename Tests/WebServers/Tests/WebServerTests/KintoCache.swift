import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

/// The network between a store and Kinto: it keeps what was sent, and does with it what a test wants.
// Unchecked: `lock` guards everything.
final class Wire: Transport, @unchecked Sendable {
    typealias Way = @Sendable (WebRequest, @Sendable (WebRequest) async throws -> WebResponse) async throws -> WebResponse

    private let network = AsyncHTTPClientTransport()
    private let lock = NSLock()
    private var way: Way?
    private var sent: [(request: WebRequest, status: Int?)] = []

    /// Lets a closure send the requests from now on; nil: as they are.
    func set(_ way: Way?) { lock.withLock { self.way = way } }

    /// Cuts the network off, before anything arrives.
    func cut() { set { request, _ in throw TransportError(.cannotConnect, request: request.label) } }

    /// The requests that were sent, with the status of the answer.
    var requests: [(request: WebRequest, status: Int?)] { lock.withLock { sent } }
    var targets: [String] { requests.map { "\($0.request.method.rawValue) \($0.request.label) \($0.status ?? 0)" } }
    func clear() { lock.withLock { sent = [] } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let (number, way) = lock.withLock {
            sent.append((request, nil))
            return (sent.count - 1, self.way)
        }
        let network = network
        let pass: @Sendable (WebRequest) async throws -> WebResponse = { try await network.send($0, limits: limits) }
        let response = if let way { try await way(request, pass) } else { try await pass(request) }
        lock.withLock { if number < sent.count { sent[number].status = response.status } }
        return response
    }
}

/// A program with a cached store over Kinto.
struct CachedMusic {
    let wire = Wire()
    let coordinator: NSPersistentStoreCoordinator
    let store: CachedStore
    let context: NSManagedObjectContext
    let address: String
    /// Who answers fetches. Objects that are changed are those of the file.
    private let policy: CachePolicy

    /// - Parameters:
    ///   - address: The collections of another program; nil for a bucket of its own.
    ///   - file: The place of the cache; nil for memory.
    init(
        at address: String? = nil, file: URL? = nil, _ policy: CachePolicy = .networkOnly, identity: SavingStyle.Identity = .newUUID,
        authentication: Authentication = Kinto.authentication, retries: RetryPolicy = .never,
        _ change: (inout CachedStoreOptions) -> Void = { _ in }
    ) throws {
        self.address = try address ?? Kinto.bucket("cached-\(UUID().uuidString.lowercased())", ["bands", "albums", "labels"])
        var style = ServiceStyle.kinto
        style.saving?.identity = identity
        var client = WebClient.Options()
        client.authentication = authentication
        client.retries = retries
        self.policy = policy
        var options = CachedStoreOptions(defaultPolicy: policy == .networkOnly ? .immutable : policy)
        options.sendsAutomatically = false
        change(&options)
        let model = Music.model()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addCachedStore(
            WebBackend(WebService(self.address, style: style), model: model, transport: wire, options: client), at: file, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
    }

    /// Another program with the same collections.
    func other(_ policy: CachePolicy = .networkOnly) throws -> CachedMusic { try CachedMusic(at: address, policy) }

    /// Saves an object, and returns its ID.
    @discardableResult
    func insert(_ entity: String, _ values: [String: any Sendable]) throws -> NSManagedObjectID {
        try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            try context.save()
            return object.objectID
        }
    }

    func update(_ id: NSManagedObjectID, _ values: [String: any Sendable]) throws {
        try context.performAndWait {
            context.object(with: id).setValuesForKeys(values)
            try context.save()
        }
    }

    func delete(_ id: NSManagedObjectID) throws {
        try context.performAndWait {
            context.delete(context.object(with: id))
            try context.save()
        }
    }

    /// What a fetch of albums shows: title and year.
    func albums(_ format: String? = nil, _ policy: CachePolicy? = nil) async throws -> [String] {
        let request = request("Album", format)
        request.cachePolicy = policy ?? self.policy
        let found = try await context.fetchAsynchronously(request)
        return await context.perform { found.map { "\($0.value(forKey: "title") ?? "nil") \($0.value(forKey: "year") ?? "nil")" }.sorted() }
    }

    /// The ID of the album with a title.
    func album(_ title: String) async throws -> NSManagedObjectID {
        let request = request("Album", "title == '\(title)'")
        request.cachePolicy = policy
        let found = try await context.fetchAsynchronously(request)
        return try #require(await context.perform { found.first?.objectID })
    }

    /// What Kinto has: title and year of the albums.
    func stored() throws -> [String] {
        try Kinto.records("\(address)/albums/records").map { "\($0["title"] ?? "nil") \($0["year"] ?? "nil")" }.sorted()
    }
}
