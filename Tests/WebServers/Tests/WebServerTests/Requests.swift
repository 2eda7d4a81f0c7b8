import CoreData
import Foundation
import RemoteStore
import WebBackend
import WebTransport

/// The requests that a client has sent.
// Unchecked: `lock` guards everything.
final class Requests: @unchecked Sendable {
    private let lock = NSLock()
    private var made: [RequestRecord] = []

    func note(_ record: RequestRecord) { lock.withLock { made.append(record) } }
    var all: [RequestRecord] { lock.withLock { made } }
    var count: Int { lock.withLock { made.count } }
    func clear() { lock.withLock { made = [] } }

    /// Returns the requests that were sent while something was done.
    func during<Value>(_ body: () throws -> Value) rethrows -> (value: Value, made: [RequestRecord]) {
        let before = count
        let value = try body()
        return (value, Array(all.dropFirst(before)))
    }

    private static let lock = NSLock()
    // Unchecked: `lock` guards it.
    nonisolated(unsafe) private static var places: [String: Requests] = [:]

    /// The requests to a place, which all stores there share.
    static func to(_ address: String) -> Requests {
        lock.withLock {
            if let known = places[address] { return known }
            let made = Requests()
            places[address] = made
            return made
        }
    }

    /// The requests of a coordinator's first store.
    static func of(_ coordinator: NSPersistentStoreCoordinator) -> Requests {
        to(coordinator.persistentStores.first?.url?.absoluteString ?? "")
    }
}

/// A store over a service, with a context.
struct WebStore {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    let requests: Requests

    init(_ service: WebService, _ model: NSManagedObjectModel, _ authentication: Authentication = .none) throws {
        requests = Requests.to(service.address)
        var options = WebClient.Options()
        options.authentication = authentication
        options.retries = .never
        let requests = requests
        options.observer = { requests.note($0) }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addRemoteStore(
            WebBackend(service, model: model, transport: AsyncHTTPClientTransport(), options: options))
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    /// Another context on the same store.
    func otherContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

/// Returns a request for an entity.
func request(_ entity: String, _ format: String? = nil, by keys: [String] = []) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0) }
    if !keys.isEmpty {
        request.sortDescriptors = keys.map {
            NSSortDescriptor(key: $0.hasPrefix("-") ? String($0.dropFirst()) : $0, ascending: !$0.hasPrefix("-"))
        }
    }
    return request
}
