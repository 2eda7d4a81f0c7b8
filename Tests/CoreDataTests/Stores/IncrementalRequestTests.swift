import CoreData
import TestSupport
import Testing

/// A request that says more than Core Data's: a store of its own kind reads it.
private final class AgedRequest: NSFetchRequest<Album> {
    var longestAge = 0
}

/// The same over the type that stores are handed.
private final class ErasedAgedRequest: NSFetchRequest<any NSFetchRequestResult> {
    var longestAge = 0

    override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! ErasedAgedRequest
        copy.longestAge = longestAge
        return copy
    }
}

/// Notes how many requests it answers at once.
// `counts` has a lock.
private final class BusyStore: DictionaryStore {
    override class var typeName: String { "BusyStore" }
    nonisolated(unsafe) static var takesMany = false
    let counts = Guarded((now: 0, most: 0))
    let gate = DispatchSemaphore(value: 0)

    override var acceptsConcurrentRequests: Bool { Self.takesMany }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        let now = counts.withValue {
            $0.now += 1
            $0.most = max($0.most, $0.now)
            return $0.now
        }
        // Where another request may come in meanwhile, it does.
        if Self.takesMany { if now == 1 { _ = gate.wait(timeout: .now() + 300) } else { gate.signal() } }
        defer { counts.withValue { $0.now -= 1 } }
        return [NSNumber(value: 0)]
    }
}

@Suite("The requests of an incremental store", .serialized) struct IncrementalRequestTests {
    @Test("A store is handed the caller's own request, subclass and all")
    func ownRequest() throws {
        try DictionaryStore.run { store, context in
            let request = ErasedAgedRequest(entityName: "Album")
            request.longestAge = 7
            nonisolated(unsafe) var seen: [NSPersistentStoreRequest] = []
            store.fetchAnswer = { fetch, _ in
                seen.append(fetch)
                return [NSManagedObject]()
            }
            _ = try context.fetch(request)
            #expect(seen.last === request)
            // With something pending it asks for more than the request says: a copy, of the same class.
            request.fetchLimit = 1
            _ = Album(context: context)
            _ = try context.fetch(request)
            expect((seen.last as? ErasedAgedRequest)?.longestAge, equals: 7)
            expect((seen.last as? ErasedAgedRequest)?.fetchLimit, equals: 2)
            expect(request.fetchLimit, equals: 1)
        }
    }

    @Test("A request of another result type is at hand behind the one that stands for it")
    func requestOfAnotherType() throws {
        try DictionaryStore.run { store, context in
            let request = AgedRequest(entityName: "Album")
            request.longestAge = 9
            request.predicate = NSPredicate(format: "title != nil")
            nonisolated(unsafe) var age: Int?
            nonisolated(unsafe) var predicate: NSPredicate?
            store.fetchAnswer = { fetch, _ in
                age = (fetch.callersRequest as? AgedRequest)?.longestAge
                predicate = fetch.predicate
                return [NSManagedObject]()
            }
            _ = try context.fetch(request)
            expect(age, equals: 9)
            #expect(predicate === request.predicate)
        }
    }

    @Test("A store gets one request at a time unless it says that it takes more", arguments: [false, true])
    func oneAtATime(takesMany: Bool) throws {
        BusyStore.takesMany = takesMany
        NSPersistentStoreCoordinator.registerStoreClass(BusyStore.self, forStoreType: BusyStore.typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(ofType: BusyStore.typeName, configurationName: nil, at: nil) as! BusyStore
        try onOwnThreads(takesMany ? 2 : 4) { _ in
            for _ in 0..<(takesMany ? 1 : 50) {
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                context.performAndWait { _ = try? context.count(for: NSFetchRequest<Album>(entityName: "Album")) }
            }
        }
        expect(store.counts.withValue { $0.most }, equals: (takesMany ? 2 : 1))
    }
}
