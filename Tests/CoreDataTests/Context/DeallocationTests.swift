import CoreData
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A context that looks at an object while it goes.
private final class LookingContext: NSManagedObjectContext, @unchecked Sendable {
    var object: NSManagedObject?
    var whatItSaw: (NSManagedObjectContext?) -> Void = { _ in }

    deinit { whatItSaw(object?.managedObjectContext) }
}

@Suite("Contexts that are deallocated") struct DeallocationTests {
    @Test("From when a context begins to be deallocated, its objects have none")
    func none() throws {
        let coordinator = try Music.coordinator()
        let hasLooked = Guarded(0)
        try {
            let context = LookingContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let album = Album(context: context)
                try context.save()
                #expect(album.managedObjectContext === context)
                context.object = album
            }
            context.whatItSaw = { seen in hasLooked.withValue { $0 += seen == nil ? 1 : 100 } }
        }()
        while hasLooked.withValue({ $0 }) == 0 { sched_yield() }
        expect(hasLooked.withValue { $0 }, equals: 1)
    }
}
