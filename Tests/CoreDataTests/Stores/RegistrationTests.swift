import CoreData
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A store that holds a fetch back, and notes what it is told meanwhile.
private final class HeldStore: DictionaryStore {
    let isExecuting = Guarded(false)
    let told = Guarded<[String]>([])
    nonisolated(unsafe) var holds = false
    let hasBegun = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)

    override class var typeName: String { "HeldStore" }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard holds else { return try super.execute(request, with: context) }
        isExecuting.withValue { $0 = true }
        hasBegun.signal()
        mayEnd.wait()
        isExecuting.withValue { $0 = false }
        return try super.execute(request, with: context)
    }

    private func note(_ what: String) {
        let isExecuting = isExecuting.withValue { $0 }
        told.withValue { $0.append(isExecuting ? "\(what) during a request" : what) }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) { note("registered \(objectIDs.count)") }
    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) { note("released \(objectIDs.count)") }
}

@Suite("What an incremental store is told of registered objects") struct RegistrationTests {
    @Test("A context that is deallocated while another one asks tells the store after the request, and does not wait for it")
    func deallocated() throws {
        let (made, coordinator) = try HeldStore.make()
        let store = try #require(made as? HeldStore)
        for key in 0..<3 { store.put("Tag", key, [:]) }
        var context: NSManagedObjectContext? = Music.context(coordinator)
        let count = try context?.performAndWait {
            context?.retainsRegisteredObjects = true
            return try context?.all("Tag").count
        }
        expect(count, equals: 3)
        store.holds = true
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let other = Music.context(coordinator)
            other.performAndWait { _ = try? other.count(for: NSFetchRequest<Tag>(entityName: "Tag")) }
            hasEnded.signal()
        }
        store.hasBegun.wait()
        weak let gone = context
        context = nil
        // A queue lets go of its context a little later.
        while gone != nil { sched_yield() }
        store.mayEnd.signal()
        hasEnded.wait()
        expect(store.told.withValue { $0.filter { !$0.hasPrefix("registered") } }, equals: ["released 3"])
    }
}
