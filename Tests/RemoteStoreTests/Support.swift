import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import StoreConformance
import Testing

extension ScriptedBackend {
    /// A context of a coordinator with a store over the backend.
    func context(_ model: NSManagedObjectModel? = nil, _ options: RemoteStoreOptions = RemoteStoreOptions()) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? Shop.model())
        try coordinator.addRemoteStore(self, options: options)
        return coordinator.context()
    }
}

extension NSPersistentStoreCoordinator {
    /// A context of the coordinator.
    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = self
        return context
    }
}

/// A fetch request.
func fetchRequest(
    _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by keys: [String] = [], limit: Int = 0, offset: Int = 0
) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = keys.map { key in
        key.hasPrefix("-")
            ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false) : NSSortDescriptor(key: key, ascending: true)
    }
    request.fetchLimit = limit
    request.fetchOffset = offset
    return request
}

extension NSManagedObjectContext {
    /// Fetches, and returns the values of a key.
    func texts(_ request: NSFetchRequest<NSManagedObject>, _ key: String = "title") throws -> [String] {
        try performAndWait { try self.fetch(request).map { $0.value(forKey: key) as? String ?? "nil" } }
    }

    /// Explains a request.
    func plan(_ request: NSFetchRequest<NSManagedObject>) throws -> FetchPlan { try performAndWait { try request.explain(in: self) } }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let state = Guarded(Duration.zero)
    var now: Duration { state.withValue { $0 } }
    func advance(_ time: Duration) { state.withValue { $0 += time } }
}

/// A value behind a lock.
// `lock` guards `value`.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value
    init(_ value: Value) { self.value = value }

    func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result { try lock.withLock { try body(&value) } }
}

/// The error that `body` throws; nil when it throws none.
func failure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch { return error as NSError }
}

/// A failure of a service.
struct ServiceFailure: Error, Equatable {
    let text: String
    init(_ text: String = "failed") { self.text = text }
}

/// Expects each behaviour that applies to a store; those of many objects have more of them than a page of the backends here.
func expectBehaviours(of store: StoreUnderTest, manyObjects: Int = 250) {
    var store = store
    store.manyObjects = manyObjects
    for behaviour in Behaviour.all where behaviour.applies(to: store) {
        do { try behaviour.run(on: store) } catch { Issue.record("\(behaviour.sentence): \(error)") }
    }
}
